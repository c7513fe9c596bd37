//! What JavaScript can ask of a store, by name: messages, answers at once, and work that may wait.

use std::time::Duration;

use serde_json::{Value, json};
use spanlog::{Error, Next, QueueOffset, ReadLimits, Result, Store, TagFilter, Task, Thresholds};

use crate::answers;
use crate::failure::invalid;
use crate::found::Found;
use crate::given::{Given, directory};

/// Messages.
pub fn find(store: &Store, what: &str, given: &Given) -> Result<Found<'static>> {
    Ok(Found::Batch(match what {
        "get" => return Ok(Found::Record(store.get(given.position("position")?)?)),
        "query" => store.query(given.text("topic")?, given.text("key")?, &given.query()?)?,
        "findById" => store.find_by_id(given.text("topic")?, given.text("id")?)?,
        _ => return Err(unknown(what)),
    }))
}

/// Messages of a queue.
pub fn read(
    store: &Store,
    (topic, queue): (&str, u32),
    from: QueueOffset,
    tags: Option<&str>,
    limits: ReadLimits,
) -> Result<Found<'static>> {
    Ok(Found::Batch(match tags.map(TagFilter::parse).transpose()? {
        None => store.read(topic, queue, from, limits)?,
        Some(filter) => store.read_filtered(topic, queue, from, &filter, limits)?,
    }))
}

/// What is answered at once.
pub fn ask(store: &Store, what: &str, given: &Given) -> Result<Value> {
    Ok(match what {
        "bounds" => {
            let bounds = store.bounds(given.text("topic")?, given.queue()?);
            bounds.as_ref().map_or(Value::Null, answers::bounds)
        }
        "isThere" => match given.get("topic") {
            None => json!(store.wait_appended(given.position("from")?, Duration::ZERO)?),
            Some(topic) => {
                let (queue, from) = (given.queue()?, given.offset("from")?);
                json!(store.wait(topic.text()?, queue, from, Duration::ZERO)?)
            }
        },
        "offsetAt" => {
            let (topic, queue) = (given.text("topic")?, given.queue()?);
            let time_ms = given.need("timeMs")?.whole()? as i64;
            answers::digits(store.offset_at(topic, queue, time_ms, given.boundary()?)?.get())
        }
        "watermarks" => answers::watermarks(&store.watermarks()),
        "inspect" => answers::inspection(&store.inspect()?),
        "disks" => answers::disks(&store.disks()?),
        "queues" => answers::queues(&store.queues()),
        "segments" => answers::segments(&store.segments()),
        "dropped" => answers::dropped(&store.dropped()),
        "recovery" => answers::recovery(store.recovery()),
        "cursors" => answers::cursors(&store.cursors()?),
        "exportConsumerOffsets" => json!(store.export_consumer_offsets()?),
        "root" => answers::path(store.root()),
        "planClean" => {
            let manual = given.get("manual").map_or(Ok(false), |field| field.switch())?;
            answers::plan(&store.plan_clean(manual)?)
        }
        "refresh" => json!(store.refresh()?),
        "cleanNow" => json!(store.clean_now()?),
        "run" => run(store, given.text("step")?)?,
        _ => return Err(unknown(what)),
    })
}

/// What may wait for a disk.
pub fn act(store: &Store, what: &str, given: &Given) -> Result<Value> {
    let name = |field| given.text(field);
    match what {
        "flush" => store.flush()?,
        "catchUp" => store.catch_up()?,
        "addDirectory" => {
            store.add_directory(&directory(given.need("directory")?, Thresholds::default())?)?;
        }
        "setRole" => store.set_role(name("path")?, name("role")?.parse()?)?,
        "setUsage" => store.set_usage(name("path")?, given.usage()?)?,
        "removeDirectory" => store.remove_directory(name("path")?)?,
        "copyCursor" => store.copy_cursor(name("topic")?, name("name")?, name("to")?)?,
        "resetCursor" => store.reset_cursor(name("topic")?, name("name")?, given.seek()?)?,
        "deleteCursor" => store.delete_cursor(name("topic")?, name("name")?)?,
        "importConsumerOffsets" => {
            return Ok(json!(store.import_consumer_offsets(name("text")?.as_bytes())?));
        }
        _ => return Err(unknown(what)),
    }
    Ok(Value::Null)
}

/// Runs a step of a store without threads; says when it wants to run again.
fn run(store: &Store, step: &str) -> Result<Value> {
    let task = match step {
        "flush" => Task::Flush,
        "index" => Task::Index,
        "checkpoint" => Task::Checkpoint,
        "probe" => Task::Probe,
        "clean" => Task::Clean,
        "prepare" => Task::Prepare,
        _ => return Err(unknown(step)),
    };
    store.run(task).map(next)
}

/// When a step wants to run again.
pub fn next(next: Next) -> Value {
    match next {
        Next::Again => json!("again"),
        Next::Soon => json!("soon"),
        Next::Idle => json!("idle"),
        Next::At(time_ms) => json!(time_ms),
    }
}

/// What nobody can be asked.
pub fn unknown(what: &str) -> Error {
    invalid(format!("there is no {what}"))
}
