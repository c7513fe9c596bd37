//! `spanlog tail`: the last messages, and those that come.

use clap::Args;
use spanlog::TagFilter;

use crate::failure::Outcome;
use crate::output::Output;
use crate::read::{Begin, Reading, Shown};

const AFTER_HELP: &str = "\
Examples:
  spanlog tail --root /data/log
  spanlog tail --root /data/log --topic orders -n 100 -f
  spanlog tail --root /data/log --tags 'paid || shipped' -f

Messages come in the order in which they were appended, as `spanlog read` prints them. It works
beside a writer and changes nothing.";

/// What to show the end of.
#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct TailArgs {
    /// How many of the last messages
    #[arg(short = 'n', long, value_name = "N", default_value_t = 10)]
    pub last: u64,
    /// Only messages with one of these tags, as in 'paid || shipped'
    #[arg(long, value_name = "TAGS", value_parser = TagFilter::parse, default_value = "*")]
    pub tags: TagFilter,
    /// What to show of them.
    #[command(flatten)]
    pub shown: Shown,
}

/// Shows the end.
///
/// # Errors
/// What the store says.
pub fn run(args: &TailArgs, output: &mut Output) -> Outcome<()> {
    let begin = Begin::Last(args.last);
    let (shown, tags) = (&args.shown, &args.tags);
    Reading { shown, begin, tags, wanted: None, verify: false, summary: false }.run(output)
}
