//! `spanlog read`: messages in the order in which they were appended.

pub mod merge;

use std::time::Instant;

use clap::{Args, value_parser};
use indicatif::{HumanBytes, HumanCount};
use serde_json::json;
use spanlog::{ErrorKind, MessageView, QueueReport, Store, TagFilter};

use crate::failure::{Failure, Outcome};
use crate::interrupt::Interrupt;
use crate::message::{MessageLine, text_line, time_ms};
use crate::opening::StoreArgs;
use crate::output::Output;
use crate::progress::{self, Unit};

use merge::{Begin, Merge, Step};

const AFTER_HELP: &str = "\
Examples:
  spanlog read --root /data/log --topic orders --queue 0 --from 100 --count 10
  spanlog read --root /data/log --topic orders --json | jq -r .body
  spanlog read --root /data/log --topic web --queue 0 --bodies > copy.log
  spanlog read --root /data/log --topic orders --tags 'paid || shipped' --from-time 2026-11-30T08:00:00Z
  spanlog read --root /data/log --verify --summary

Each message in JSON is one object on a line:
  topic, queue, offset, position, size_bytes, stored_ms, born_ms, tags (null if none), keys (array),
  properties (object, without tags and keys), and body (text) or body_base64.

Reading changes nothing: it works beside a writer and on read-only media. It sees what was in the
log when it began.";

/// What to read.
#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct ReadArgs {
    /// The topic [default: all of them]
    #[arg(long)]
    pub topic: Option<String>,
    /// The queue [default: all of the topic's]
    #[arg(long, value_name = "N", requires = "topic")]
    pub queue: Option<u32>,
    /// Begins each queue at this offset [default: its first message]
    #[arg(long, value_name = "OFFSET")]
    pub from: Option<u64>,
    /// Begins each queue with the first message stored at this time or later: RFC 3339 as in
    /// 2026-11-30T08:00:00Z, or milliseconds since 1970
    #[arg(long, value_name = "TIME", value_parser = time_ms, allow_hyphen_values = true,
        conflicts_with = "from")]
    pub from_time: Option<i64>,
    /// Only messages with one of these tags, as in 'paid || shipped'
    #[arg(long, value_name = "TAGS", value_parser = TagFilter::parse, default_value = "*")]
    pub tags: TagFilter,
    /// Ends after so many messages
    #[arg(long, value_name = "N", value_parser = value_parser!(u64).range(1..))]
    pub count: Option<u64>,
    /// Checks every checksum, and goes on behind damage; ends with exit code 11 if there was any
    #[arg(long)]
    pub verify: bool,
    /// Prints no messages but how many there are
    #[arg(long)]
    pub summary: bool,
    /// Prints bodies alone, as they are, a newline after each
    #[arg(long, conflicts_with_all = ["json", "summary"])]
    pub bodies: bool,
    /// The store.
    #[command(flatten)]
    pub store: StoreArgs,
}

/// What was read.
#[derive(Debug, Default)]
struct Tally {
    messages: u64,
    body_bytes: u64,
    damaged: u64,
    offline: u64,
    first: Option<Failure>,
}

/// Reads.
///
/// # Errors
/// What the store says; `corrupt` at the end if a check failed.
pub fn run(args: &ReadArgs, output: &mut Output) -> Outcome<()> {
    let interrupt = Interrupt::listen()?;
    let store = args.store.target()?.open_to_read(output)?;
    let queues = args.queues(&store)?;
    let began = Instant::now();
    let mut tally = Tally::default();
    args.read_all(&store, &queues, &mut tally, &interrupt, output)?;
    if args.summary {
        tally.print(args, queues.len(), began, output)?;
    }
    match tally.first {
        Some(first) => {
            let count = tally.damaged + tally.offline;
            Err(first.during(format!("{count} messages cannot be read, the first")))
        }
        None if interrupt.is_asked() => Err(Failure::interrupted("stopped")),
        None => Ok(()),
    }
}

impl ReadArgs {
    /// The queues that are asked for.
    fn queues(&self, store: &Store) -> Outcome<Vec<QueueReport>> {
        let is_asked = |row: &QueueReport| {
            self.topic.as_ref().is_none_or(|topic| row.topic == *topic)
                && self.queue.is_none_or(|queue| row.queue == queue)
        };
        let queues: Vec<_> = store.queues().into_iter().filter(is_asked).collect();
        let Some(topic) = self.topic.as_ref().filter(|_| queues.is_empty()) else {
            return Ok(queues);
        };
        let what = match self.queue {
            Some(queue) => format!("there is no queue {topic}/{queue}"),
            None => format!("there is no topic {topic}"),
        };
        Err(spanlog::Error::new(ErrorKind::Invalid, what).at(store.root()).into())
    }

    fn begin(&self) -> Begin {
        match (self.from, self.from_time) {
            (Some(offset), _) => Begin::Offset(offset),
            (None, Some(time)) => Begin::Time(time),
            (None, None) => Begin::First,
        }
    }

    fn read_all(
        &self,
        store: &Store,
        queues: &[QueueReport],
        tally: &mut Tally,
        interrupt: &Interrupt,
        output: &mut Output,
    ) -> Outcome<()> {
        let total: u64 = queues.iter().map(|row| row.bounds.max.since(row.bounds.min)).sum();
        let shown = output.shows_progress() && self.summary;
        let wanted = self.count.unwrap_or(u64::MAX);
        let bar = progress::bar(shown, Unit::Count, Some(total.min(wanted)), "reading");
        let mut merge = Merge::new(store, queues, self.begin(), &self.tags, self.verify)?;
        while tally.messages < wanted && !interrupt.is_asked() {
            match merge.next(|view| self.show(view, tally, output))? {
                Step::Message(shown) => shown?,
                Step::Failed(error) => tally.fail(error.into()),
                Step::End => break,
            }
            bar.inc(1);
        }
        bar.finish_and_clear();
        Ok(())
    }

    fn show(&self, view: &MessageView<'_>, tally: &mut Tally, output: &mut Output) -> Outcome<()> {
        tally.messages += 1;
        tally.body_bytes += view.body().len() as u64;
        if self.summary {
            return Ok(());
        }
        if self.bodies {
            output.bytes(view.body())?;
            return output.bytes(b"\n");
        }
        if output.is_json() {
            return output.object(&MessageLine::new(view));
        }
        let line = text_line(view, output);
        output.line(line)
    }
}

impl Tally {
    fn fail(&mut self, failure: Failure) {
        log::error!("{failure}");
        let is_offline = failure.cause == crate::failure::Cause::Store(ErrorKind::Offline);
        *(if is_offline { &mut self.offline } else { &mut self.damaged }) += 1;
        self.first.get_or_insert(failure);
    }

    fn print(
        &self,
        args: &ReadArgs,
        queues: usize,
        began: Instant,
        output: &mut Output,
    ) -> Outcome<()> {
        let elapsed = began.elapsed();
        if output.is_json() {
            return output.object(&json!({
                "messages": self.messages,
                "queues": queues,
                "body_bytes": self.body_bytes,
                "verified": args.verify,
                "damaged": self.damaged,
                "offline": self.offline,
                "elapsed_ms": u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX),
            }));
        }
        let (messages, bytes) = (HumanCount(self.messages), HumanBytes(self.body_bytes));
        let seconds = elapsed.as_secs_f64();
        let checked = match (args.verify, self.damaged + self.offline) {
            (false, _) => String::new(),
            (true, 0) => "; every checksum is right".into(),
            (true, count) => format!("; {count} messages CANNOT be read"),
        };
        output.line(format_args!(
            "read {messages} messages of {queues} queues, {bytes}, in {seconds:.2} s{checked}"
        ))
    }
}
