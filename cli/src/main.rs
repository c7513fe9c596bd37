//! The `spanlog` command: a store of messages from the command line.
// The engine takes its files, its clock and its threads through seams; a command is where the
// real ones come from.
#![allow(clippy::disallowed_types, clippy::disallowed_methods)]

mod append;
mod args;
mod bench;
mod clean;
mod conf;
mod copy;
mod cursors;
mod destroy;
mod directory;
mod disks;
mod dump;
mod explain;
mod export;
mod failure;
mod generate;
mod import;
mod inspect;
mod interrupt;
mod lines;
mod logger;
mod map;
mod message;
mod opening;
mod output;
mod progress;
mod properties;
mod query;
mod queue;
mod read;
mod recover;
mod repair;
mod report;
mod table;
mod tail;
mod verify;

use std::process::ExitCode;

use args::{Cli, Command};
use failure::Outcome;
use output::Output;

fn main() -> ExitCode {
    let cli = match args::parse() {
        Ok(cli) => cli,
        Err(code) => return code,
    };
    logger::start(cli.verbose, cli.json);
    let mut output = Output::new(cli.json, cli.no_color);
    let outcome = run(&cli, &mut output);
    let flushed = output.flush();
    match outcome.and(flushed) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(cli.json),
    }
}

fn run(cli: &Cli, output: &mut Output) -> Outcome<()> {
    match &cli.command {
        Command::Tail(args) => tail::run(args, output),
        Command::Cursors(args) => cursors::run(args, output),
        Command::Append(args) => append::run(args, output),
        Command::Read(args) => read::run(args, output),
        Command::Query(args) => query::query(args, output),
        Command::Get(args) => query::get(args, output),
        Command::Inspect(args) => inspect::run(args, output),
        Command::Disks(args) => disks::run(args, output),
        Command::Clean(args) => clean::run(args, output),
        Command::Recover(args) => recover::run(args, output),
        Command::Verify(args) => verify::run(args, output),
        Command::Repair(args) => repair::run(args, output),
        Command::Dump(args) => dump::run(args, output),
        Command::Map(args) => map::run(args, output),
        Command::Export(args) => export::run(args, output),
        Command::Import(args) => import::run(args, output),
        Command::Copy(args) => copy::run(args, output),
        Command::Destroy(args) => destroy::run(args, output),
        Command::Bench(args) => bench::run(args, output),
        Command::Queue(args) => queue::run(args, output),
        Command::Completions(args) => generate::completions(args, output),
        Command::Man(args) => generate::man(args, output),
    }
}
