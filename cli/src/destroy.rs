//! `spanlog destroy`: removes a store, after asking.

use std::io::{self, BufRead, IsTerminal, Write};
use std::path::Path;

use clap::Args;
use indicatif::HumanBytes;
use serde_json::json;
use spanlog::{Inspection, Options, Store};

use crate::failure::{Failure, Outcome};
use crate::opening::StoreArgs;
use crate::output::{Output, counted};
use crate::report;

const AFTER_HELP: &str = "\
Examples:
  spanlog destroy --root /data/log
  spanlog destroy --root /data/log --yes --json

Removes segments, queues, indexes and marks in all directories of the store, and directories that
are empty then. Files that are not the store's stay. Fails while somebody has the store open.";

/// What to destroy.
#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct DestroyArgs {
    /// Does not ask
    #[arg(long, short)]
    pub yes: bool,
    /// The store.
    #[command(flatten)]
    pub store: StoreArgs,
}

/// Destroys.
///
/// # Errors
/// A usage error if nobody can be asked; what the store says.
pub fn run(args: &DestroyArgs, output: &mut Output) -> Outcome<()> {
    let target = args.store.target()?;
    let known = inspect(&target.root, &target.options);
    if !args.yes {
        confirm(&target.root, known.as_ref())?;
    }
    let spinner = output.spinner("removing");
    let outcome = Store::destroy(&target.root, &target.options);
    spinner.finish_and_clear();
    outcome?;
    let (segments, bytes) = known.as_ref().map_or((0, 0), extent);
    if output.is_json() {
        let root = report::path(&target.root);
        return output.object(&json!({"destroyed": root, "segments": segments, "bytes": bytes}));
    }
    let (root, bytes) = (target.root.display(), HumanBytes(bytes));
    output.line(format_args!("destroyed {root}: {}, {bytes}", counted(segments as u64, "segment")))
}

/// What there is, for the question; a store too damaged to open is destroyed all the same.
fn inspect(root: &Path, options: &Options) -> Option<Inspection> {
    let options = options.clone().read_only(true).allow_offline(true);
    Store::open(root, options).and_then(|store| store.inspect()).ok()
}

fn extent(inspection: &Inspection) -> (usize, u64) {
    let segments = &inspection.segments;
    (segments.len(), segments.iter().map(|segment| segment.len_bytes).sum())
}

fn confirm(root: &Path, known: Option<&Inspection>) -> Outcome<()> {
    if !io::stdin().is_terminal() {
        return Err(Failure::usage("nobody can be asked here: give --yes to destroy the store"));
    }
    let mut stderr = anstream::stderr();
    let failed = |error: io::Error| Failure::other("ask", &error);
    let what = known.map_or("a store that cannot be opened".into(), |known| {
        let (segments, bytes) = extent(known);
        format!("{}, {}", counted(segments as u64, "segment"), HumanBytes(bytes))
    });
    let directories = known.iter().flat_map(|known| &known.directories);
    let paths: Vec<_> = directories.map(|row| format!("  {}\n", row.path.display())).collect();
    let (paths, root) = (paths.concat(), root.display());
    write!(stderr, "{root}: {what} in\n{paths}Type yes to destroy all of it: ").map_err(failed)?;
    stderr.flush().map_err(failed)?;
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer).map_err(failed)?;
    if answer.trim() == "yes" { Ok(()) } else { Err(Failure::usage("nothing was destroyed")) }
}
