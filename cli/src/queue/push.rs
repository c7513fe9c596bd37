//! `spanlog queue push`.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use clap::{Args, value_parser};
use serde_json::json;
use spanlog::{Position, Queue};

use super::{QueueArgs, closing};
use crate::failure::{Failure, Outcome};
use crate::interrupt::Interrupt;
use crate::lines::{Event, Lines};
use crate::output::{Output, counted};

/// What to push.
#[derive(Args, Debug)]
#[command(group = clap::ArgGroup::new("input").required(true).args(["payload", "lines"]))]
pub struct PushArgs {
    /// The record
    pub payload: Option<OsString>,
    /// Pushes each line of a file, by default of standard input
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "-")]
    pub lines: Option<PathBuf>,
    /// Pushes N lines together, all or none of them
    #[arg(long, value_name = "N", default_value_t = 1, conflicts_with = "payload",
        value_parser = value_parser!(u32).range(1..=1_000_000))]
    pub batch: u32,
    /// Prints one line for each push once it is done: the records so far and where they end
    #[arg(long)]
    pub acks: bool,
    /// The queue.
    #[command(flatten)]
    pub queue: QueueArgs,
}

/// Pushes.
///
/// # Errors
/// What reading the input, the queue or a signal says.
pub fn run(args: &PushArgs, output: &mut Output) -> Outcome<()> {
    let interrupt = Interrupt::listen()?;
    let longest = args.queue.options.options().max_record_bytes;
    // Before the queue is opened: input that is not there must not make one.
    let lines = args.lines.as_ref().map(|path| Lines::open(path, longest)).transpose()?;
    let queue = args.queue.open()?;
    let mut pusher =
        Pusher { queue: &queue, args, output, waiting: Vec::new(), pushed: 0, end: None };
    let outcome = match (lines, &args.payload) {
        (Some(lines), _) => pusher.lines(lines, &interrupt),
        (None, Some(payload)) => pusher.add(payload.as_bytes().to_vec()),
        (None, None) => Err(Failure::usage("give a record or --lines")),
    };
    let outcome = outcome.and_then(|()| pusher.finish());
    closing(&queue, outcome)
}

/// Pushes records, so many at a time.
struct Pusher<'a> {
    queue: &'a Queue,
    args: &'a PushArgs,
    output: &'a mut Output,
    waiting: Vec<Vec<u8>>,
    pushed: u64,
    end: Option<Position>,
}

impl Pusher<'_> {
    fn add(&mut self, payload: Vec<u8>) -> Outcome<()> {
        self.waiting.push(payload);
        if self.waiting.len() < self.args.batch as usize { Ok(()) } else { self.push() }
    }

    fn push(&mut self) -> Outcome<()> {
        if self.waiting.is_empty() {
            return Ok(());
        }
        let end = self.queue.push_many(&self.waiting).map_err(|error| {
            Failure::from(error).during(format!("after {}", counted(self.pushed, "record")))
        })?;
        self.pushed += self.waiting.len() as u64;
        self.waiting.clear();
        self.end = Some(end);
        if self.args.acks {
            self.report()?;
            self.output.flush()?;
        }
        Ok(())
    }

    fn lines(&mut self, mut lines: Lines, interrupt: &Interrupt) -> Outcome<()> {
        while !interrupt.is_asked() {
            match lines.next()? {
                Event::Line(line) => self.add(line)?,
                // What waits for its batch does not wait for ever.
                Event::Idle => self.push()?,
                Event::End => return Ok(()),
            }
        }
        self.push()?;
        Err(Failure::interrupted(format!("stopped after {}, kept", counted(self.pushed, "record"))))
    }

    fn finish(&mut self) -> Outcome<()> {
        self.push()?;
        if self.args.acks { Ok(()) } else { self.report() }
    }

    fn report(&mut self) -> Outcome<()> {
        let end = self.end.map(Position::get);
        match (self.output.is_json(), end) {
            (true, _) => self.output.object(&json!({"pushed": self.pushed, "end": end})),
            (false, Some(end)) => self
                .output
                .line(format_args!("pushed {}, up to {end}", counted(self.pushed, "record"))),
            (false, None) => self.output.line("pushed nothing"),
        }
    }
}
