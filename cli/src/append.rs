//! `spanlog append`: one message, or one for each line.

mod draft;
mod tally;

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use clap::{Args, value_parser};
use spanlog::{Error, ErrorKind};

use crate::failure::{Failure, Outcome};
use crate::interrupt::Interrupt;
use crate::lines::{Event, Lines};
use crate::opening::StoreArgs;
use crate::output::{Output, counted};
use crate::progress::{self, Unit};

use draft::{Appender, Draft};

const AFTER_HELP: &str = "\
Examples:
  spanlog append --root /data/log --topic orders --tags new --keys order-17 'two teapots'
  spanlog append --root /data/log --topic photos --body-file cat.jpg --durable
  spanlog append --root /data/log --path /mnt/a --path /mnt/b --topic web \\
      --lines access.log --queues 8 --tag-column 9 --key-column 7
  tail -F app.log | spanlog append --root /data/log --topic app --lines --acks --json

One message is answered by one line. Lines are answered by a summary; with --acks, or with --json,
by one line for each message once it is in the log (with --durable: on the device):
  {\"topic\",\"queue\",\"offset\",\"position\",\"stored_ms\"}";

/// What to append.
#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
#[command(group = clap::ArgGroup::new("input").required(true).args(["body", "body_file", "lines"]))]
pub struct AppendArgs {
    /// The message's body
    pub body: Option<OsString>,
    /// Takes the body from a file; - is standard input
    #[arg(long, value_name = "FILE")]
    pub body_file: Option<PathBuf>,
    /// Appends each line of a file, by default of standard input, as a message
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "-")]
    pub lines: Option<PathBuf>,
    /// The topic
    #[arg(long)]
    pub topic: String,
    /// The queue
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub queue: u32,
    /// Spreads over N queues instead: by the hash of the first key, without keys in turn
    #[arg(long, value_name = "N", conflicts_with = "queue",
        value_parser = value_parser!(u32).range(1..))]
    pub queues: Option<u32>,
    /// What consumers filter by
    #[arg(long, alias = "tag")]
    pub tags: Option<String>,
    /// What the message is found by: words, and the option can be repeated
    #[arg(long, alias = "key", value_name = "KEY")]
    pub keys: Vec<String>,
    /// A further property; can be repeated
    #[arg(long = "property", value_name = "NAME=VALUE", value_parser = property)]
    pub properties: Vec<(String, String)>,
    /// Takes the tags from this column of each line, counted from 1, between blanks
    #[arg(long, value_name = "N", conflicts_with_all = ["body", "body_file"],
        value_parser = value_parser!(u16).range(1..))]
    pub tag_column: Option<u16>,
    /// Takes a key from this column of each line
    #[arg(long, value_name = "N", conflicts_with_all = ["body", "body_file"],
        value_parser = value_parser!(u16).range(1..))]
    pub key_column: Option<u16>,
    /// Answers each message only once it is on the device
    #[arg(long)]
    pub durable: bool,
    /// Appends N messages of a queue together, all or none of them
    #[arg(long, value_name = "N", default_value_t = 1, conflicts_with_all = ["body", "body_file"],
        value_parser = value_parser!(u32).range(1..=1_000_000))]
    pub batch: u32,
    /// Prints one line for each message once it is in the log
    #[arg(long)]
    pub acks: bool,
    /// With --json: prints only a summary of all lines
    #[arg(long, conflicts_with = "acks")]
    pub no_acks: bool,
    /// The store.
    #[command(flatten)]
    pub store: StoreArgs,
}

fn property(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("a property is NAME=VALUE".into()),
    }
}

/// What the messages are made of.
enum Source {
    Body(Vec<u8>),
    Lines(Lines),
}

/// Appends.
///
/// # Errors
/// What reading the input, the store or a signal says.
pub fn run(args: &AppendArgs, output: &mut Output) -> Outcome<()> {
    let interrupt = Interrupt::listen()?;
    let target = args.store.target()?;
    // Before the store is opened: input that is not there must not make one.
    let source = args.source(target.options.max_body_bytes)?;
    let store = target.open(output)?;
    let mut appender = Appender::new(&store, args, output);
    let outcome = match source {
        Source::Body(body) => appender.one(body),
        Source::Lines(lines) => appender.lines(lines, &interrupt),
    };
    let closed = store.close().map_err(Failure::from);
    outcome.map_err(Failure::while_working).and(closed)
}

impl AppendArgs {
    fn source(&self, longest: u64) -> Outcome<Source> {
        match (&self.body, &self.body_file, &self.lines) {
            (Some(body), ..) => Ok(Source::Body(body.as_bytes().to_vec())),
            (_, Some(path), _) => Ok(Source::Body(read_body(path, longest)?)),
            (.., Some(path)) => Ok(Source::Lines(Lines::open(path, longest)?)),
            _ => Err(Failure::usage("give a body, --body-file or --lines")),
        }
    }
}

/// Reads a whole body, but never more than is allowed.
fn read_body(path: &Path, longest: u64) -> Outcome<Vec<u8>> {
    let failed = |error: io::Error| Failure::file("read the body", path, &error);
    let mut body = Vec::new();
    let (mut source, known): (Box<dyn Read>, _) = if path == Path::new("-") {
        (Box::new(io::stdin()), 0)
    } else {
        let file = File::open(path).map_err(failed)?;
        let len = file.metadata().map_err(failed)?.len();
        (Box::new(file), len)
    };
    source.by_ref().take(longest + 1).read_to_end(&mut body).map_err(failed)?;
    let len = known.max(body.len() as u64);
    if len <= longest {
        return Ok(body);
    }
    let text = format!("the body has {len} bytes, {longest} are allowed");
    Err(Error::new(ErrorKind::TooLarge, text).at(path).with_offset(len).with_limit(longest).into())
}

impl Appender<'_> {
    fn one(&mut self, body: Vec<u8>) -> Outcome<()> {
        let draft = Draft::new(self.args, body)?;
        self.add(draft)?;
        self.finish()
    }

    fn lines(&mut self, mut lines: Lines, interrupt: &Interrupt) -> Outcome<()> {
        let shown = self.output.shows_progress();
        let bar = progress::bar(shown, Unit::Bytes, lines.len_bytes(), "appending");
        let outcome = self.all_lines(&mut lines, interrupt, |bytes| bar.inc(bytes));
        bar.finish_and_clear();
        let done = self.tally.messages;
        outcome.map_err(|failure| match failure.cause {
            crate::failure::Cause::Store(_) => {
                failure.during(format!("after {}", counted(done, "message")))
            }
            _ => failure,
        })?;
        if interrupt.is_asked() {
            return Err(Failure::interrupted(format!(
                "stopped after {}, kept",
                counted(done, "message")
            )));
        }
        self.summary()
    }

    fn all_lines(
        &mut self,
        lines: &mut Lines,
        interrupt: &Interrupt,
        advance: impl Fn(u64),
    ) -> Outcome<()> {
        while !interrupt.is_asked() {
            match lines.next()? {
                Event::Line(line) => {
                    advance(line.len() as u64 + 1);
                    let drafted = Draft::new(self.args, line);
                    let added = drafted.and_then(|draft| self.add(draft));
                    added.map_err(|failure| at_line(failure, lines))?;
                }
                // What waits for its batch does not wait for ever.
                Event::Idle => self.finish()?,
                Event::End => break,
            }
        }
        self.finish()
    }
}

fn at_line(failure: Failure, lines: &Lines) -> Failure {
    match failure.cause {
        crate::failure::Cause::Store(_) => failure.during(lines.place()),
        _ => failure,
    }
}
