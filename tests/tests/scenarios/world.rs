//! A scenario's folder, its open stores, and what each operation does with them.

use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};
use spanlog::record::sys_flag;
use spanlog::{
    Boundary, Error, KeyQuery, Message, Position, QueueOffset, ReadLimits, Receipt, RepairAction,
    RepairPlan, Result, Role, Store, TagFilter, Task, Usage, Verification,
};
use tempfile::TempDir;

use crate::answers;
use crate::consumers::Cursors;
use crate::queue_mode::Queues;
use crate::settings;
use crate::values::{bytes_of_body, bytes_of_hex, difference, integer, number, text};

/// A folder of its own and the stores in it.
pub struct World {
    cursors: Cursors,
    queues: Queues,
    stores: HashMap<String, Store>,
    path: PathBuf,
    _folder: TempDir,
}

/// A message of a step, with everything that the engine's borrows.
struct Draft<'a> {
    topic: &'a str,
    queue: u32,
    body: Vec<u8>,
    tags: Option<&'a str>,
    keys: Vec<&'a str>,
    properties: Vec<(&'a str, &'a str)>,
    flag: i32,
    sys_flag: i32,
    born_ms: Option<i64>,
}

impl<'a> Draft<'a> {
    fn new(given: &'a Value) -> Self {
        let texts = |name: &str| given[name].as_array().into_iter().flatten();
        let pairs = given["properties"].as_object().into_iter().flatten();
        let int = |name: &str| integer(&given[name]).map(|value| i32::try_from(value).unwrap());
        Self {
            topic: text(given, "topic"),
            queue: u32::try_from(number(given, "queue", 0)).expect("32 bits"),
            body: bytes_of_body(&given["body"]),
            tags: given["tags"].as_str(),
            keys: texts("keys").map(|key| key.as_str().expect("a key")).collect(),
            properties: pairs.map(|(name, value)| (&**name, value.as_str().unwrap())).collect(),
            flag: int("flag").unwrap_or(0),
            sys_flag: int("sys_flag").unwrap_or(0) & !(sys_flag::BORN_V6 | sys_flag::STORE_V6),
            born_ms: integer(&given["born_ms"]).map(|ms| i64::try_from(ms).expect("64 bits")),
        }
    }

    fn message(&self) -> Message<'_> {
        Message {
            tags: self.tags,
            keys: &self.keys,
            properties: &self.properties,
            flag: self.flag,
            sys_flag: self.sys_flag,
            born_ms: self.born_ms,
            ..Message::new(self.topic, self.queue, &self.body)
        }
    }
}

impl World {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().canonicalize().expect("it is there");
        Self {
            cursors: Cursors::default(),
            queues: Queues::default(),
            stores: HashMap::new(),
            path,
            _folder: folder,
        }
    }

    /// Runs one step and compares its outcome.
    ///
    /// # Errors
    /// What is not as it should be.
    pub fn step(&mut self, step: &Value) -> Result<(), String> {
        let operation = text(step, "op");
        let outcome = match self.on_files(operation, step) {
            Some(()) => Ok(Value::Null),
            None => self.on_handles(operation, step)?,
        };
        match (outcome, &step["error"]) {
            (Ok(found), Value::Null) => match &step["expect"] {
                Value::Null => Ok(()),
                expected => difference(expected, &found, "expect").map_or(Ok(()), Err),
            },
            (Ok(found), _) => Err(format!("it should have failed; it gave {found}")),
            (Err(error), Value::Null) => Err(error.to_string()),
            (Err(error), expected) => {
                let found = answers::error(&error, &self.path);
                difference(expected, &found, "error").map_or(Ok(()), Err)
            }
        }
    }

    fn at(&self, step: &Value) -> PathBuf {
        self.path.join(text(step, "path"))
    }

    /// What the runner itself does to the files of a scenario.
    fn on_files(&self, operation: &str, step: &Value) -> Option<()> {
        match operation {
            "write_file" => write_file(&self.at(step), step),
            "patch_file" => {
                let file = fs::OpenOptions::new().write(true).open(self.at(step)).unwrap();
                file.write_all_at(&bytes_of_hex(&step["hex"]), number(step, "at", 0)).unwrap();
            }
            "remove_file" => fs::remove_file(self.at(step)).unwrap(),
            _ => return None,
        }
        Some(())
    }

    /// What is done with stores, cursors and queues.
    ///
    /// # Errors
    /// As [`World::on_stores`].
    fn on_handles(&mut self, operation: &str, step: &Value) -> Result<Result<Value>, String> {
        if let Some(found) = self.queues.step(operation, step, &self.path) {
            return Ok(found);
        }
        match self.cursors.step(operation, step) {
            Some(found) => Ok(found),
            None => self.on_stores(operation, step),
        }
    }

    /// What is done with stores.
    ///
    /// # Errors
    /// That there is no such operation.
    fn on_stores(&mut self, operation: &str, step: &Value) -> Result<Result<Value>, String> {
        let name = step["store"].as_str().unwrap_or("main").to_owned();
        let none = |()| Value::Null;
        match operation {
            "open" => return Ok(self.open(name, step).map(none)),
            "destroy" => return Ok(self.destroy(step).map(none)),
            "verify" => return Ok(self.verify(step).map(|found| answers::verdict(&found))),
            "repair" => return Ok(self.repair(step)),
            _ => {}
        }
        let store = self.stores.get(&name).ok_or_else(|| format!("no store {name} is open"))?;
        if let Some(found) = self.cursors.of_store(store, operation, step) {
            return Ok(found);
        }
        Ok(match operation {
            "close" => store.close().map(none),
            "flush" => store.flush().map(none),
            "catch_up" => store.catch_up().map(none),
            "run" => run(store, step).map(none),
            "refresh" => store.refresh().map(|news| json!({ "news": news })),
            "clean_now" => store.clean_now().map(none),
            "append" | "append_durable" | "append_batch" | "append_batch_durable" => {
                append(store, operation, step).map(answers::receipt)
            }
            "read" => read(store, step),
            "get" => get(store, step),
            "read_filtered" => read_filtered(store, step),
            "query" => query(store, step),
            "find_by_id" => store
                .find_by_id(text(step, "topic"), text(step, "id"))
                .and_then(|found| answers::batch(&found)),
            "offset_at" => offset_at(store, step),
            "wait" => wait(store, step),
            "bounds" => Ok(answers::bounds(store.bounds(text(step, "topic"), queue(step)))),
            "queues" => Ok(answers::queues(&store.queues())),
            "watermarks" => Ok(answers::watermarks(store.watermarks())),
            "segments" => Ok(answers::segments(&store.segments(), &self.path)),
            "recovery" => Ok(answers::recovery(store.recovery())),
            "plan_clean" => {
                store.plan_clean(step["manual"] == json!(true)).map(|plan| answers::plan(&plan))
            }
            "disks" => store.disks().map(|disks| answers::directories(&disks, &self.path)),
            "set_usage" => store.set_usage(self.at(step), usage(step)).map(none),
            "set_role" => set_role(store, &self.at(step), step).map(none),
            "add_directory" => settings::directory(&step["directory"], &self.path)
                .and_then(|directory| store.add_directory(&directory))
                .map(none),
            "remove_directory" => store.remove_directory(self.at(step)).map(none),
            _ => return Err(format!("there is no operation {operation}")),
        })
    }

    fn open(&mut self, name: String, step: &Value) -> Result<()> {
        let options = settings::options(&step["options"], &self.path)?;
        let store = Store::open(self.path.join(text(step, "root")), options)?;
        self.stores.insert(name, store);
        Ok(())
    }

    fn destroy(&self, step: &Value) -> Result<()> {
        let options = settings::options(&step["options"], &self.path)?;
        Store::destroy(self.path.join(text(step, "root")), &options)
    }

    fn verify(&self, step: &Value) -> Result<Verification> {
        let options = settings::options(&step["options"], &self.path)?;
        let mut verification = Verification::new(self.path.join(text(step, "root")), &options)?;
        verification.run().map(|()| verification)
    }

    fn repair(&self, step: &Value) -> Result<Value> {
        let plan = RepairPlan::of(&self.verify(step)?)?;
        let actions: Vec<_> = plan.actions().iter().map(RepairAction::name).collect();
        let saved = plan.apply()?.saved.len();
        Ok(json!({ "actions": actions, "saved": saved }))
    }
}

fn write_file(path: &Path, step: &Value) {
    fs::create_dir_all(path.parent().expect("a folder")).expect("it can be made");
    let mut bytes = vec![0; number(step, "bytes", 0) as usize];
    for part in step["parts"].as_array().into_iter().flatten() {
        let (at, part) = (number(part, "at", 0) as usize, bytes_of_hex(&part["hex"]));
        bytes[at..at + part.len()].copy_from_slice(&part);
    }
    fs::write(path, bytes).expect("it can be written");
}

pub fn queue(step: &Value) -> u32 {
    u32::try_from(number(step, "queue", 0)).expect("32 bits")
}

fn append(store: &Store, operation: &str, step: &Value) -> Result<Receipt> {
    let many = step["messages"].as_array();
    let given = many.map_or(std::slice::from_ref(&step["message"]), Vec::as_slice);
    let drafts: Vec<_> = given.iter().map(Draft::new).collect();
    let messages: Vec<_> = drafts.iter().map(Draft::message).collect();
    match operation {
        "append" => store.append(&messages[0]),
        "append_durable" => store.append_durable(&messages[0]),
        "append_batch" => store.append_batch(&messages),
        _ => store.append_batch_durable(&messages),
    }
}

pub fn limits(step: &Value) -> ReadLimits {
    let default = ReadLimits::default();
    ReadLimits {
        max_messages: number(step, "max_messages", default.max_messages as u64) as usize,
        max_bytes: number(step, "max_bytes", default.max_bytes),
    }
}

fn from(step: &Value) -> QueueOffset {
    QueueOffset::new(number(step, "from", 0))
}

fn read(store: &Store, step: &Value) -> Result<Value> {
    answers::batch(&store.read(text(step, "topic"), queue(step), from(step), limits(step))?)
}

fn read_filtered(store: &Store, step: &Value) -> Result<Value> {
    let filter = TagFilter::parse(text(step, "tags"))?;
    let topic = text(step, "topic");
    answers::batch(&store.read_filtered(topic, queue(step), from(step), &filter, limits(step))?)
}

fn query(store: &Store, step: &Value) -> Result<Value> {
    let default = KeyQuery::default();
    let max_messages = number(step, "max_messages", default.max_messages as u64) as usize;
    let query = KeyQuery { max_messages, ..default };
    answers::batch(&store.query(text(step, "topic"), text(step, "key"), &query)?)
}

fn offset_at(store: &Store, step: &Value) -> Result<Value> {
    let boundary = match text(step, "boundary") {
        "lower" => Boundary::Lower,
        "upper" => Boundary::Upper,
        other => panic!("there is no boundary {other}"),
    };
    let time_ms = i64::try_from(number(step, "time_ms", 0)).expect("63 bits");
    let offset = store.offset_at(text(step, "topic"), queue(step), time_ms, boundary)?;
    Ok(json!({ "offset": offset.get() }))
}

fn wait(store: &Store, step: &Value) -> Result<Value> {
    let timeout = Duration::from_millis(number(step, "timeout_ms", 0));
    let told = store.wait(text(step, "topic"), queue(step), from(step), timeout)?;
    Ok(json!({ "told": told }))
}

fn get(store: &Store, step: &Value) -> Result<Value> {
    let slice = store.get(Position::new(number(step, "position", 0)))?;
    let view = spanlog::MessageView::parse(&slice).expect("the store found a record");
    Ok(answers::message(view))
}

fn run(store: &Store, step: &Value) -> Result<()> {
    let task = match text(step, "task") {
        "flush" => Task::Flush,
        "index" => Task::Index,
        "checkpoint" => Task::Checkpoint,
        "probe" => Task::Probe,
        "clean" => Task::Clean,
        "prepare" => Task::Prepare,
        other => panic!("there is no task {other}"),
    };
    (0..number(step, "times", 1)).try_for_each(|_| store.run(task).map(drop))
}

fn usage(step: &Value) -> Option<Usage> {
    Usage::new(number(step, "used_bytes", 0), number(step, "available_bytes", 0))
}

fn set_role(store: &Store, path: &Path, step: &Value) -> Result<()> {
    let role: Role = text(step, "role").parse().map_err(|error: Error| error)?;
    store.set_role(path, role)
}
