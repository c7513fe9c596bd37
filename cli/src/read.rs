//! `spanlog read`: messages in the order in which they were appended.

pub mod merge;

use std::time::{Duration, Instant};

use clap::{Args, value_parser};
use indicatif::HumanBytes;
use serde_json::json;
use spanlog::{ErrorKind, MessageView, PropertyFilter, QueueReport, Store, TagFilter, Watched};

use crate::failure::{Failure, Outcome};
use crate::interrupt::Interrupt;
use crate::message::{MessageLine, text_line, time_ms};
use crate::opening::StoreArgs;
use crate::output::{Output, counted};
use crate::progress::{self, Unit};

pub use merge::Begin;
use merge::{Merge, Step};

const AFTER_HELP: &str = "\
Examples:
  spanlog read --root /data/log --topic orders --queue 0 --from 100 --count 10
  spanlog read --root /data/log --topic orders --json | jq -r .body
  spanlog read --root /data/log --topic web --queue 0 --bodies > copy.log
  spanlog read --root /data/log --tags 'paid || shipped' --from-time 2026-11-30T08:00:00Z
  spanlog read --root /data/log --topic orders --where \"price > 10 AND region = 'eu'\"
  spanlog read --root /data/log --verify --summary
  spanlog read --root /data/log --topic orders --follow --json

Each message in JSON is one object on a line:
  topic, queue, offset, position, size_bytes, stored_ms, born_ms, tags (null if none), keys (array),
  properties (object, without tags and keys), and body (text) or body_base64.

Reading changes nothing: it works beside a writer and on read-only media. It sees what was in the
log when it began, and with --follow what comes.";

/// What to read.
#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct ReadArgs {
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
    /// Only messages whose properties meet a condition in RocketMQ's subset of SQL-92, as in
    /// "price > 10 AND region = 'eu'"
    #[arg(long = "where", value_name = "CONDITION", value_parser = PropertyFilter::parse)]
    pub wanted: Option<PropertyFilter>,
    /// Checks every checksum, and goes on behind damage; ends with exit code 11 if there was any
    #[arg(long)]
    pub verify: bool,
    /// Prints no messages but how many there are
    #[arg(long, conflicts_with_all = ["bodies", "follow"])]
    pub summary: bool,
    /// What to show of them.
    #[command(flatten)]
    pub shown: Shown,
}

/// Which messages are shown, and how.
#[derive(Args, Debug)]
pub struct Shown {
    /// The topic [default: all of them]
    #[arg(long)]
    pub topic: Option<String>,
    /// The queue [default: all of the topic's]
    #[arg(long, value_name = "N", requires = "topic")]
    pub queue: Option<u32>,
    /// Ends after so many messages
    #[arg(long, value_name = "N", value_parser = value_parser!(u64).range(1..))]
    pub count: Option<u64>,
    /// Goes on with the messages that come, until it is stopped
    #[arg(short, long)]
    pub follow: bool,
    /// Prints bodies alone, as they are, a newline after each
    #[arg(long, conflicts_with = "json")]
    pub bodies: bool,
    /// The store.
    #[command(flatten)]
    pub store: StoreArgs,
}

/// One run of a command that reads.
#[derive(Debug)]
pub struct Reading<'a> {
    /// What is shown.
    pub shown: &'a Shown,
    /// Where it begins.
    pub begin: Begin,
    /// Which tags it is about.
    pub tags: &'a TagFilter,
    /// What the properties are to be.
    pub wanted: Option<&'a PropertyFilter>,
    /// Whether every checksum is checked.
    pub verify: bool,
    /// Whether messages are counted and not printed.
    pub summary: bool,
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

/// How often somebody who follows looks whether to stop.
const LOOK: Duration = Duration::from_millis(100);

/// Reads.
///
/// # Errors
/// What the store says; `corrupt` at the end if a check failed.
pub fn run(args: &ReadArgs, output: &mut Output) -> Outcome<()> {
    let begin = match (args.from, args.from_time) {
        (Some(offset), _) => Begin::Offset(offset),
        (None, Some(time)) => Begin::Time(time),
        (None, None) => Begin::First,
    };
    let ReadArgs { shown, verify, summary, tags, wanted, .. } = args;
    let (verify, summary, wanted) = (*verify, *summary, wanted.as_ref());
    Reading { shown, begin, tags, wanted, verify, summary }.run(output)
}

impl Reading<'_> {
    /// Reads.
    ///
    /// # Errors
    /// What the store says; `corrupt` at the end if a check failed.
    pub fn run(&self, output: &mut Output) -> Outcome<()> {
        let interrupt = Interrupt::listen()?;
        let store = self.shown.store.target()?.open_to_read(output)?;
        let queues = self.queues(&store)?;
        let began = Instant::now();
        let mut tally = Tally::default();
        self.read_all(&store, &queues, &mut tally, &interrupt, output)?;
        if self.summary {
            tally.print(self.verify, queues.len(), began, output)?;
        }
        match tally.first {
            Some(first) => {
                let count = tally.damaged + tally.offline;
                Err(first
                    .during(format!("{} cannot be read, the first", counted(count, "message"))))
            }
            None if interrupt.is_asked() => Err(Failure::interrupted("stopped")),
            None => Ok(()),
        }
    }

    /// The queues that are asked for; who follows may wait for the first.
    fn queues(&self, store: &Store) -> Outcome<Vec<QueueReport>> {
        let is_asked = |row: &QueueReport| {
            self.shown.topic.as_ref().is_none_or(|topic| row.topic == *topic)
                && self.shown.queue.is_none_or(|queue| row.queue == queue)
        };
        let queues: Vec<_> = store.queues().into_iter().filter(is_asked).collect();
        let is_missing = queues.is_empty() && !self.shown.follow;
        let Some(topic) = self.shown.topic.as_ref().filter(|_| is_missing) else {
            return Ok(queues);
        };
        let what = match self.shown.queue {
            Some(queue) => format!("there is no queue {topic}/{queue}"),
            None => format!("there is no topic {topic}"),
        };
        Err(spanlog::Error::new(ErrorKind::Invalid, what).at(store.root()).into())
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
        let is_shown = output.shows_progress() && self.summary;
        let wanted = self.shown.count.unwrap_or(u64::MAX);
        let bar = progress::bar(is_shown, Unit::Count, Some(total.min(wanted)), "reading");
        let watch = store.watch(Watched::Tail)?;
        let mut merge = Merge::new(store, self.tags, self.verify);
        let mut passed = merge.begin(queues, self.begin)?;
        loop {
            watch.clear();
            merge.go_on(self.queues(store)?);
            while tally.messages < wanted && !interrupt.is_asked() {
                let step = merge.next(|view| match passed {
                    0 => self.show(view, tally, output),
                    _ => Ok(()),
                })?;
                match step {
                    Step::Message(shown) => shown?,
                    Step::Failed(error) => tally.fail(error.into()),
                    Step::End => break,
                }
                passed = passed.saturating_sub(1);
                bar.inc(1);
            }
            if !self.shown.follow || tally.messages >= wanted {
                break;
            }
            output.flush()?;
            while !interrupt.is_asked() && !watch.wait(LOOK)? {}
            if interrupt.is_asked() {
                break;
            }
        }
        bar.finish_and_clear();
        Ok(())
    }

    fn show(&self, view: &MessageView<'_>, tally: &mut Tally, output: &mut Output) -> Outcome<()> {
        if self.wanted.is_some_and(|wanted| !wanted.matches(view)) {
            return Ok(());
        }
        tally.messages += 1;
        tally.body_bytes += view.body().len() as u64;
        if self.summary {
            return Ok(());
        }
        if self.shown.bodies {
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
        is_verified: bool,
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
                "verified": is_verified,
                "damaged": self.damaged,
                "offline": self.offline,
                "elapsed_ms": u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX),
            }));
        }
        let (messages, bytes) = (counted(self.messages, "message"), HumanBytes(self.body_bytes));
        let queues = counted(queues as u64, "queue");
        let seconds = elapsed.as_secs_f64();
        let checked = match (is_verified, self.damaged + self.offline) {
            (false, _) => String::new(),
            (true, 0) => "; every checksum is right".into(),
            (true, count) => format!("; {} CANNOT be read", counted(count, "message")),
        };
        output
            .line(format_args!("read {messages} of {queues}, {bytes}, in {seconds:.2} s{checked}"))
    }
}
