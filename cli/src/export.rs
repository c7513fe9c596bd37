//! `spanlog export`: messages as lines of JSON, from which `import` makes the same messages.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use clap::Args;
use serde::{Deserialize, Serialize};
use spanlog::record::property;
use spanlog::{MessageView, QueueReport, TagFilter};

use crate::failure::{Failure, Outcome};
use crate::interrupt::Interrupt;
use crate::opening::StoreArgs;
use crate::output::{Output, counted};
use crate::progress::{self, Unit};
use crate::read::merge::{Begin, Merge, Step};

const AFTER_HELP: &str = "\
Examples:
  spanlog export --root /data/log > all.jsonl
  spanlog export --root /data/log --topic orders --output orders.jsonl
  spanlog export --conf broker.conf | spanlog import --root /data/other -

Each message is one object on a line: topic, queue, offset, position, stored_ms, store_host,
born_ms, born_host, flag, sys_flag, reconsume_times, prepared_position, tags (null if none),
keys (array), properties (object, without tags, keys and the record's checksum), and body (text)
or body_base64.

Every checksum is checked. Exported are the messages that stand in queues, in the order in which
they were appended; prepared and rolled-back messages of transactions do not.";

/// What to export.
#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct ExportArgs {
    /// The topic [default: all of them]
    #[arg(long)]
    pub topic: Option<String>,
    /// The file to write [default: standard output]
    #[arg(long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// The store.
    #[command(flatten)]
    pub store: StoreArgs,
}

/// A message on a line. The names and their order are a contract.
#[derive(Debug, Serialize, Deserialize)]
pub struct Line<'a> {
    /// The topic.
    pub topic: String,
    /// The queue.
    pub queue: u32,
    /// Its number in the queue.
    #[serde(default)]
    pub offset: u64,
    /// Where its record begins.
    #[serde(default)]
    pub position: u64,
    /// When it was stored.
    #[serde(default)]
    pub stored_ms: i64,
    /// Who stored it.
    #[serde(default)]
    pub store_host: String,
    /// When it was made.
    #[serde(default)]
    pub born_ms: i64,
    /// Who made it.
    #[serde(default)]
    pub born_host: String,
    /// The caller's number.
    #[serde(default)]
    pub flag: i32,
    /// The system flags.
    #[serde(default)]
    pub sys_flag: i32,
    /// How often it was given back.
    #[serde(default)]
    pub reconsume_times: i32,
    /// The position of its prepared message.
    #[serde(default)]
    pub prepared_position: u64,
    /// What consumers filter by.
    #[serde(default)]
    pub tags: Option<String>,
    /// What it is found by.
    #[serde(default)]
    pub keys: Vec<String>,
    /// All other properties.
    #[serde(default)]
    pub properties: BTreeMap<String, String>,
    /// The payload, where it is text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<std::borrow::Cow<'a, str>>,
    /// The payload, where it is not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body_base64: Option<String>,
}

/// Properties that have fields of their own, or follow from the rest.
const OWN: [&str; 3] = [property::TAGS, property::KEYS, property::RECORD_CHECKSUM];

impl<'a> Line<'a> {
    /// The line of a message.
    pub fn new(view: &MessageView<'a>) -> Self {
        let body = std::str::from_utf8(view.body()).ok();
        let others = view.properties().filter(|(name, _)| !OWN.contains(name));
        Self {
            topic: view.topic().to_owned(),
            queue: view.queue(),
            offset: view.queue_offset(),
            position: view.position(),
            stored_ms: view.store_ms(),
            store_host: view.store_host().to_string(),
            born_ms: view.born_ms(),
            born_host: view.born_host().to_string(),
            flag: view.flag(),
            sys_flag: view.sys_flag(),
            reconsume_times: view.reconsume_times(),
            prepared_position: view.prepared_position(),
            tags: view.tags().map(str::to_owned),
            keys: view.keys().map(str::to_owned).collect(),
            properties: others.map(|(name, value)| (name.to_owned(), value.to_owned())).collect(),
            body: body.map(Into::into),
            body_base64: body.is_none().then(|| STANDARD.encode(view.body())),
        }
    }
}

/// Exports.
///
/// # Errors
/// What the store says of the first message that cannot be read.
pub fn run(args: &ExportArgs, output: &mut Output) -> Outcome<()> {
    let interrupt = Interrupt::listen()?;
    let store = args.store.target()?.open_to_read(output)?;
    let is_asked = |row: &QueueReport| args.topic.as_ref().is_none_or(|topic| row.topic == *topic);
    let queues: Vec<_> = store.queues().into_iter().filter(is_asked).collect();
    let total = queues.iter().map(|row| row.bounds.max.since(row.bounds.min)).sum();
    let shown = output.shows_progress() && args.output.is_some();
    let bar = progress::bar(shown, Unit::Count, Some(total), "exporting");
    let mut sink = Sink::open(args.output.as_deref())?;
    let all = TagFilter::parse("*")?;
    let mut merge = Merge::new(&store, &all, true);
    merge.begin(&queues, Begin::First)?;
    let mut count = 0_u64;
    loop {
        if interrupt.is_asked() {
            return Err(Failure::interrupted(format!(
                "stopped after {}",
                counted(count, "message")
            )));
        }
        match merge.next(|view| sink.write(&Line::new(view), output))? {
            Step::Message(written) => written?,
            Step::Failed(error) => return Err(error.into()),
            Step::End => break,
        }
        count += 1;
        bar.inc(1);
    }
    bar.finish_and_clear();
    sink.finish(count, output)
}

/// Where lines go.
enum Sink {
    Output,
    File(PathBuf, BufWriter<File>),
}

impl Sink {
    fn open(path: Option<&Path>) -> Outcome<Self> {
        let Some(path) = path else { return Ok(Self::Output) };
        let file = File::create_new(path);
        let file = file.map_err(|error| Failure::file("make the file", path, &error))?;
        Ok(Self::File(path.to_owned(), BufWriter::new(file)))
    }

    fn write(&mut self, line: &Line<'_>, output: &mut Output) -> Outcome<()> {
        match self {
            Self::Output => output.object(line),
            Self::File(path, file) => serde_json::to_writer(&mut *file, line)
                .map_err(std::io::Error::from)
                .and_then(|()| file.write_all(b"\n"))
                .map_err(|error| Failure::file("write the file", path, &error)),
        }
    }

    fn finish(self, count: u64, output: &mut Output) -> Outcome<()> {
        let Self::File(path, mut file) = self else { return Ok(()) };
        let flushed = file.flush().and_then(|()| file.get_ref().sync_all());
        flushed.map_err(|error| Failure::file("write the file", &path, &error))?;
        match output.is_json() {
            true => output.object(&serde_json::json!({"messages": count})),
            false => output.line(format_args!(
                "exported {} to {}",
                counted(count, "message"),
                path.display()
            )),
        }
    }
}
