//! `spanlog import`: appends what `export` wrote.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use clap::Args;
use serde_json::json;
use spanlog::{Message, Store};

use crate::export::Line;
use crate::failure::{Failure, Outcome};
use crate::interrupt::Interrupt;
use crate::lines::{Event, Lines};
use crate::opening::StoreArgs;
use crate::output::{Output, counted};
use crate::progress::{self, Unit};

const AFTER_HELP: &str = "\
Examples:
  spanlog import --root /data/other all.jsonl
  spanlog export --root /data/log | spanlog import --root /data/other --segment-size 64MiB -

Each line is one message as `spanlog export` writes it; what is left out has its default, and
topic and queue must be there. Topic, queue, body, tags, keys, properties with the unique id,
flags, born time and host are the message's own and stay. Offset, position, store time and store
host are the store's own: the messages of a queue go on where that queue ends.";

/// Longest line, in bytes: the largest body as base64, and what belongs to it.
const LONGEST_LINE: u64 = 3 << 30;

/// What to import.
#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct ImportArgs {
    /// The file, or - for standard input
    pub file: PathBuf,
    /// The store.
    #[command(flatten)]
    pub store: StoreArgs,
}

/// Imports.
///
/// # Errors
/// What is wrong with a line, and its number; what the store says. What came before is kept.
pub fn run(args: &ImportArgs, output: &mut Output) -> Outcome<()> {
    let interrupt = Interrupt::listen()?;
    let mut lines = Lines::open(&args.file, LONGEST_LINE)?;
    let store = args.store.target()?.open(output)?;
    let bar = progress::bar(output.shows_progress(), Unit::Bytes, lines.len_bytes(), "importing");
    let mut count = 0;
    let outcome = all(&store, &mut lines, &interrupt, &mut |bytes| {
        count += 1;
        bar.inc(bytes);
    });
    bar.finish_and_clear();
    store.close()?;
    outcome.map_err(|failure| failure.during(format!("after {}", counted(count, "message"))))?;
    match output.is_json() {
        true => output.object(&json!({"messages": count})),
        false => output.line(format_args!("imported {}", counted(count, "message"))),
    }
}

fn all(
    store: &Store,
    lines: &mut Lines,
    interrupt: &Interrupt,
    done: &mut dyn FnMut(u64),
) -> Outcome<()> {
    loop {
        if interrupt.is_asked() {
            return Err(Failure::interrupted("stopped"));
        }
        match lines.next()? {
            Event::Line(line) if line.iter().all(u8::is_ascii_whitespace) => {}
            Event::Line(line) => {
                append(store, &line).map_err(|failure| failure.during(lines.place()))?;
                done(line.len() as u64 + 1);
            }
            Event::Idle => {}
            Event::End => return Ok(()),
        }
    }
}

fn append(store: &Store, line: &[u8]) -> Outcome<()> {
    let line: Line<'_> = serde_json::from_slice(line)
        .map_err(|error| bad(format!("this is no message: {error}")))?;
    let body = body(&line)?;
    let born_host = match &*line.born_host {
        "" => SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
        host => host.parse().map_err(|error| bad(format!("born_host: {error}")))?,
    };
    let keys: Vec<_> = line.keys.iter().map(String::as_str).collect();
    let properties: Vec<_> =
        line.properties.iter().map(|(name, value)| (&**name, &**value)).collect();
    store.append(&Message {
        tags: line.tags.as_deref(),
        keys: &keys,
        properties: &properties,
        flag: line.flag,
        sys_flag: line.sys_flag,
        born_ms: Some(line.born_ms).filter(|&ms| ms != 0),
        born_host,
        reconsume_times: line.reconsume_times,
        prepared_position: line.prepared_position,
        ..Message::new(&line.topic, line.queue, &body)
    })?;
    Ok(())
}

fn bad(what: String) -> Failure {
    spanlog::Error::new(spanlog::ErrorKind::Invalid, what).into()
}

fn body(line: &Line<'_>) -> Outcome<Vec<u8>> {
    match (&line.body, &line.body_base64) {
        (Some(text), None) => Ok(text.as_bytes().to_vec()),
        (None, Some(text)) => {
            STANDARD.decode(text).map_err(|error| bad(format!("body_base64: {error}")))
        }
        (None, None) => Ok(Vec::new()),
        _ => Err(bad("it has both a body and a body_base64".into())),
    }
}
