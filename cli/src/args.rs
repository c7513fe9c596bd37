//! The command line.

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{ArgAction, ColorChoice, CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::failure::Failure;
use crate::{
    append, bench, clean, copy, cursors, destroy, disks, dump, export, generate, import, inspect,
    map, query, queue, read, recover, repair, tail, verify,
};

const AFTER_HELP: &str = "\
Examples:
  spanlog append --root /data/log --topic orders 'two teapots'
  spanlog append --root /data/log --path /mnt/a/log --path /mnt/b/log --topic web --lines access.log
  spanlog read --root /data/log --topic web --queue 0 --count 10
  spanlog inspect --conf /etc/rocketmq/broker.conf
  spanlog disks --root /data/log --json

Units: sizes are B, kB, MB, GB, TB (powers of 1000) or KiB, MiB, GiB, TiB (powers of 1024);
durations are ms, s, m, h, d; ratios are 0.75 or 75%.

Exit codes:
   0  done; also when whoever read the output had enough
   1  anything that is not below; verify: the store is damaged; repair: something is left to do
   2  the command line is wrong
   3  invalid    an argument, option or configuration is unusable; also: there is no store
   4  too_large  the message is larger than a limit
   5  full       no writable directory has room
   6  gone       the range was dropped by retention
   7  offline    a directory or a range is not there
   8  foreign    a directory belongs to another store
   9  locked     somebody has the store open
  10  version    the store was written by a later release
  11  corrupt    bytes on disk are not what was written
  12  io         an operation of the system failed
  13  poisoned   a flush failed: what was appended last may be lost
  14  closed     the store was closed
 130  stopped by a signal, the store closed cleanly

Errors go to standard error: text, or with --json one object
  {\"error\":{\"kind\",\"message\",\"path\",\"offset\",\"limit\",\"range\"}}
whose kind is a name above, `usage` or `other`; what does not apply is null.";

/// Appends to, reads, looks into, cleans and measures a store of messages: one log over many
/// disks, in RocketMQ's format.
#[derive(Debug, Parser)]
#[command(name = "spanlog", version, after_long_help = AFTER_HELP, max_term_width = 100)]
#[command(after_help = "`spanlog --help` shows examples and exit codes.")]
#[command(subcommand_required = true, arg_required_else_help = true)]
pub struct Cli {
    /// Answer in JSON, one object a line; errors too
    #[arg(long, global = true)]
    pub json: bool,
    /// Use no colours, as with NO_COLOR in the environment
    #[arg(long, global = true)]
    pub no_color: bool,
    /// Tell what the store does, on standard error; -vv and -vvv tell more
    #[arg(short, long, global = true, action = ArgAction::Count)]
    pub verbose: u8,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Append one message, or each line of a file or of standard input
    Append(append::AppendArgs),
    /// Read messages, in the order in which they were appended
    Read(read::ReadArgs),
    /// Find messages by key, unique id or tag
    Query(query::QueryArgs),
    /// Show the message at a position, or with an id
    Get(query::GetArgs),
    /// Show the last messages, and follow those that come
    Tail(tail::TailArgs),
    /// List, move and exchange named consumers
    Cursors(cursors::CursorsArgs),
    /// Show positions, directories, segments and queues
    Inspect(inspect::InspectArgs),
    /// Show usage and state of each directory, and what the policy will do next
    Disks(disks::DisksArgs),
    /// Drop expired segments now, or show which would go and why
    Clean(clean::CleanArgs),
    /// Open the store, recovering it if need be, and tell what was found and done
    Recover(recover::RecoverArgs),
    /// Read everything and tell what is damaged, and where
    Verify(verify::VerifyArgs),
    /// Mend what can be mended; shows its plan, and does it with --apply
    Repair(repair::RepairArgs),
    /// Explain a file of a store byte for byte, field by field
    Dump(dump::DumpArgs),
    /// Draw the store as an HTML page
    Map(map::MapArgs),
    /// Write messages as lines of JSON, bodies exact
    Export(export::ExportArgs),
    /// Append what `export` wrote
    Import(import::ImportArgs),
    /// Copy the store to other directories or another segment length, and verify the copy
    Copy(copy::CopyArgs),
    /// Remove the store from all its directories, and nothing else
    Destroy(destroy::DestroyArgs),
    /// Measure appending and reading
    Bench(bench::BenchArgs),
    /// Queue mode: push, pop, look at and measure a queue of records
    Queue(queue::QueueCommand),
    /// Print completions for a shell
    Completions(generate::CompletionsArgs),
    /// Print the manual page, or write all of them into a directory
    Man(generate::ManArgs),
}

/// Reads the command line, or says what is wrong with it.
///
/// # Errors
/// The exit code: 0 after help was asked for, else 2.
pub fn parse() -> Result<Cli, ExitCode> {
    let words: Vec<OsString> = std::env::args_os().collect();
    let has = |word: &str| words.iter().any(|other| other == word);
    let color = if has("--no-color") { ColorChoice::Never } else { ColorChoice::Auto };
    let matches = Cli::command().color(color).try_get_matches_from(&words);
    let parsed = matches.and_then(|matches| Cli::from_arg_matches(&matches));
    parsed.map_err(|error| refuse(&error, has("--json")))
}

fn refuse(error: &clap::Error, json: bool) -> ExitCode {
    if json && error.use_stderr() {
        let text = error.to_string();
        return Failure::usage(text.trim().trim_start_matches("error: ")).report(true);
    }
    // Help that nobody reads to its end is no failure.
    let _ = error.print();
    ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn the_help_lists_every_exit_code() {
        for (kind, code) in crate::failure::STORE_CODES {
            assert!(AFTER_HELP.contains(&format!("{code:>4}  {:<9} ", kind.name())), "{kind}");
        }
    }
}
