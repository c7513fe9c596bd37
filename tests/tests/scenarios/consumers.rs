//! What scenarios do with cursors.

use std::collections::HashMap;
use std::time::Duration;

use serde_json::{Value, json};
use spanlog::{
    Cursor, CursorOptions, CursorQueue, CursorReport, Delivered, Delivery, Error, Hold, Overtaken,
    QueueOffset, Result, Seek, Store,
};

use crate::values::{hex, number, text};
use crate::world::{limits, queue};

/// The open cursors of a scenario, by the names of their handles.
#[derive(Default)]
pub struct Cursors(HashMap<String, Cursor>);

fn handle(step: &Value) -> String {
    step["cursor"].as_str().unwrap_or("main").to_owned()
}

impl Cursors {
    /// What is done with an open cursor; nothing for another operation.
    pub fn step(&mut self, operation: &str, step: &Value) -> Option<Result<Value>> {
        let name = handle(step);
        let cursor = || self.0.get(&name).unwrap_or_else(|| panic!("no cursor {name} is open"));
        let none = |()| Value::Null;
        Some(match operation {
            "poll" => poll(cursor(), step),
            "ack" => cursor().ack(queue(step), offset(step, "offset")).map(none),
            "ack_up_to" => cursor().ack_up_to(queue(step), offset(step, "end")).map(none),
            "commit" => cursor().commit().map(none),
            "seek" => cursor().seek(seek(step)).map(none),
            "lag" => cursor().lag().map(|lag| json!({ "messages": lag.messages })),
            "report" => cursor().report().map(|report| queues(&report)),
            "close_cursor" => self.0.remove(&name).expect("it is open").close().map(none),
            _ => return None,
        })
    }

    /// What a store does with its cursors; nothing for another operation.
    pub fn of_store(
        &mut self,
        store: &Store,
        operation: &str,
        step: &Value,
    ) -> Option<Result<Value>> {
        let none = |()| Value::Null;
        let (topic, name) = (|| text(step, "topic"), || text(step, "name"));
        Some(match operation {
            "open_cursor" => self.open(store, step).map(none),
            "cursors" => store.cursors().map(|reports| all(&reports)),
            "copy_cursor" => store.copy_cursor(topic(), name(), text(step, "copy")).map(none),
            "reset_cursor" => store.reset_cursor(topic(), name(), seek(step)).map(none),
            "delete_cursor" => store.delete_cursor(topic(), name()).map(none),
            "import_offsets" => store
                .import_consumer_offsets(text(step, "text").as_bytes())
                .map(|count| json!({ "count": count })),
            "export_offsets" => store.export_consumer_offsets().map(|text| json!({ "text": text })),
            _ => return None,
        })
    }

    fn open(&mut self, store: &Store, step: &Value) -> Result<()> {
        let (name, topic) = (text(step, "name"), text(step, "topic"));
        let cursor = store.cursor(name, topic, options(&step["options"]))?;
        self.0.insert(handle(step), cursor);
        Ok(())
    }
}

fn options(given: &Value) -> CursorOptions {
    let mut options = CursorOptions::default();
    for (name, value) in given.as_object().into_iter().flatten() {
        let count = || number(given, name, 0);
        match name.as_str() {
            "queues" => {
                let row = |row: &Value| u32::try_from(row.as_u64().expect("a number")).unwrap();
                options.queues = Some(value.as_array().expect("a list").iter().map(row).collect());
            }
            "from_end" => options.from_end = value.as_bool().expect("true or false"),
            "visibility_ms" => options.visibility_ms = count(),
            "max_pending" => options.max_pending = count() as usize,
            "hold_bytes" => {
                options.hold = Some(Hold { max_age_ms: None, max_bytes: Some(count()) });
            }
            other => panic!("there is no option {other}"),
        }
    }
    options
}

fn offset(step: &Value, name: &str) -> QueueOffset {
    QueueOffset::new(number(step, name, 0))
}

fn seek(step: &Value) -> Seek {
    match step["to"].as_str() {
        Some("start") => Seek::Start,
        Some("end") => Seek::End,
        Some(other) => panic!("there is no place {other}"),
        None if !step["time_ms"].is_null() => {
            Seek::Time { time_ms: i64::try_from(number(step, "time_ms", 0)).expect("63 bits") }
        }
        None => Seek::Offset { queue: queue(step), offset: offset(step, "offset") },
    }
}

fn poll(cursor: &Cursor, step: &Value) -> Result<Value> {
    let timeout = Duration::from_millis(number(step, "timeout_ms", 0));
    delivery(&cursor.poll(limits(step), timeout)?)
}

fn delivery(delivery: &Delivery) -> Result<Value> {
    let message = |delivered: Delivered<'_>| {
        let view = delivered.message.decode_verified()?;
        Ok(json!({
            "queue": delivered.queue,
            "queue_offset": delivered.message.queue_offset().get(),
            "body": hex(view.body()),
            "attempt": delivered.attempt,
        }))
    };
    let overtaken = |row: &Overtaken| {
        let (from, to) = (row.gone.start.get(), row.gone.end.get());
        json!({ "queue": row.queue, "from": from, "to": to })
    };
    Ok(json!({
        "messages": delivery.iter().map(message).collect::<Result<Vec<_>, Error>>()?,
        "overtaken": delivery.overtaken().iter().map(overtaken).collect::<Vec<_>>(),
    }))
}

fn queues(report: &CursorReport) -> Value {
    let row = |row: &CursorQueue| {
        json!({
            "queue": row.queue,
            "acknowledged": row.acknowledged.get(),
            "committed": row.committed.get(),
            "next": row.next.get(),
            "min": row.bounds.min.get(),
            "max": row.bounds.max.get(),
            "lag": row.lag.messages,
        })
    };
    json!({ "queues": report.queues.iter().map(row).collect::<Vec<_>>() })
}

fn all(reports: &[CursorReport]) -> Value {
    let row = |report: &CursorReport| {
        json!({
            "topic": report.topic,
            "name": report.name,
            "is_open": report.is_open,
            "lag": report.lag().messages,
        })
    };
    json!({ "cursors": reports.iter().map(row).collect::<Vec<_>>() })
}
