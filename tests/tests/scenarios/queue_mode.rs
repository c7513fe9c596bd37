//! What scenarios do with queue mode.

use std::collections::HashMap;
use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};
use spanlog::{OnFull, Position, Queue, QueueOptions, QueueReader, QueueRecord, QueueStat, Result};

use crate::values::{bytes_of_body, hex, number, text};
use crate::world::limits;

/// The open queues of a scenario, by the names of their handles.
#[derive(Default)]
pub struct Queues(HashMap<String, Queue>);

impl Queues {
    /// What is done with queues; nothing for another operation.
    pub fn step(&mut self, operation: &str, step: &Value, world: &Path) -> Option<Result<Value>> {
        let name = step["handle"].as_str().unwrap_or("main");
        let none = |()| Value::Null;
        if operation == "queue_open" {
            let root = world.join(text(step, "root"));
            let opened = Queue::open(root, options(&step["options"]));
            let put = |queue| self.0.insert(name.to_owned(), queue);
            return Some(opened.map(put).map(|_| Value::Null));
        }
        let queue = || self.0.get(name).unwrap_or_else(|| panic!("no queue {name} is open"));
        let reader = || queue().reader(step["reader"].as_str().unwrap_or("default"));
        let end = |end: Position| json!({ "end": end.get() });
        Some(match operation {
            "queue_close" => queue().close().map(none),
            "queue_flush" => queue().flush().map(none),
            "queue_push" => queue().push(&bytes_of_body(&step["body"])).map(end),
            "queue_push_many" => push_many(queue(), step).map(end),
            "queue_pop" => reader().and_then(|reader| pop(&reader, step)),
            "queue_peek" => reader().and_then(|reader| Ok(records(reader.peek()?.as_slice()))),
            "queue_commit" => reader()
                .and_then(|reader| reader.commit(Position::new(number(step, "end", 0))))
                .map(none),
            "queue_rewind" => reader().and_then(|reader| reader.rewind()).map(none),
            "queue_wait" => reader()
                .and_then(|reader| reader.wait(timeout(step)))
                .map(|told| json!({ "told": told })),
            "queue_remove_reader" => queue().remove_reader(text(step, "reader")).map(none),
            "queue_stat" => Ok(stat(&queue().stat())),
            _ => return None,
        })
    }
}

fn options(given: &Value) -> QueueOptions {
    let mut options = QueueOptions::new().background(false);
    for (name, value) in given.as_object().into_iter().flatten() {
        let count = || number(given, name, 0);
        match name.as_str() {
            "segment_len_bytes" => options.segment_len_bytes = count(),
            "capacity_segments" => options.capacity_segments = count(),
            "max_record_bytes" => options.max_record_bytes = count(),
            "on_full" => options.on_full = on_full(value),
            other => panic!("there is no option {other}"),
        }
    }
    options
}

fn on_full(value: &Value) -> OnFull {
    match value.as_str() {
        Some("refuse") => OnFull::Refuse,
        Some("drop-oldest") => OnFull::DropOldest,
        Some(other) => panic!("there is no {other}"),
        None => OnFull::Block(Duration::from_millis(number(value, "block_ms", 0))),
    }
}

fn timeout(step: &Value) -> Duration {
    Duration::from_millis(number(step, "timeout_ms", 0))
}

fn push_many(queue: &Queue, step: &Value) -> Result<Position> {
    let bodies: Vec<_> = step["bodies"].as_array().expect("a list").iter().collect();
    queue.push_many(&bodies.into_iter().map(bytes_of_body).collect::<Vec<_>>())
}

fn pop(reader: &QueueReader, step: &Value) -> Result<Value> {
    let limits = limits(step);
    let batch = reader.pop_many(limits.max_messages, limits.max_bytes, timeout(step))?;
    let found: Vec<_> = (0..batch.len()).filter_map(|at| batch.get(at)).collect();
    Ok(records(&found))
}

fn records(found: &[QueueRecord]) -> Value {
    let row = |record: &QueueRecord| {
        json!({
            "body": hex(&record.payload),
            "number": record.number,
            "position": record.position.get(),
            "end": record.end.get(),
        })
    };
    json!({ "records": found.iter().map(row).collect::<Vec<_>>() })
}

fn stat(stat: &QueueStat) -> Value {
    let readers = stat.readers.iter().map(|reader| {
        json!({
            "name": reader.name,
            "committed": reader.committed.get(),
            "reading": reader.reading.get(),
            "records": reader.records,
        })
    });
    json!({
        "start": stat.start.get(),
        "end": stat.end.get(),
        "records": stat.records,
        "dropped": stat.dropped,
        "readers": readers.collect::<Vec<_>>(),
    })
}
