//! `spanlog verify`: reads everything of a store and tells what is wrong with it.

use std::path::Path;
use std::time::Instant;

use anstyle::{AnsiColor, Style};
use clap::Args;
use indicatif::{HumanBytes, ProgressBar};
use serde_json::json;
use spanlog::{Error, ErrorKind, Finding, FindingKind, Part, Progress, Verification};

use crate::failure::{Failure, Outcome};
use crate::interrupt::Interrupt;
use crate::opening::StoreArgs;
use crate::output::{Output, counted};
use crate::progress::{self, Unit};
use crate::report;

const AFTER_HELP: &str = "\
Examples:
  spanlog verify --root /data/log
  spanlog verify --conf /etc/rocketmq/broker.conf --json

Everything is read: every record and its checksums, the chain of segments over all directories,
every queue unit and index entry against its record and every record against its unit and its
entries, marks, offsets, checkpoint and cursors. Nothing is changed, and a store may be open
while it is verified.

A torn tail, which a crash leaves at the end of the log, is told and is no damage: the next
opening cuts it off. `spanlog repair` mends what can be mended.

Exit code: 0 sound, 1 damaged; others as in `spanlog --help`.

In JSON each finding is one object on a line: kind, damage, path, offset, len_bytes, range,
text; the last line is the sum: sound, was_closed, records, range, damages, findings,
elapsed_ms.";

/// Which store to verify.
#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct VerifyArgs {
    /// The store.
    #[command(flatten)]
    pub store: StoreArgs,
}

/// Verifies.
///
/// # Errors
/// `Damaged` if the store is; what the store says if it cannot be looked at.
pub fn run(args: &VerifyArgs, output: &mut Output) -> Outcome<()> {
    let target = args.store.target()?;
    let began = Instant::now();
    let mut verification = match Verification::new(&target.root, &target.options) {
        Err(error) if error.kind() == ErrorKind::Corrupt => {
            print_finding(&registry_finding(&error), output)?;
            return Err(Failure::damaged());
        }
        begun => begun?,
    };
    drive(&mut verification, output)?;
    for finding in verification.findings() {
        print_finding(finding, output)?;
    }
    print_sum(&verification, began, output)?;
    match verification.is_sound() {
        true => Ok(()),
        false => Err(Failure::damaged()),
    }
}

/// Without its registry nobody knows where a store's directories are.
fn registry_finding(error: &Error) -> Finding {
    Finding {
        kind: FindingKind::Registry,
        is_damage: true,
        path: error.path().unwrap_or(Path::new("")).to_owned(),
        offset: error.offset().unwrap_or(0),
        len_bytes: 0,
        range: None,
        text: error.message().to_owned(),
    }
}

/// Runs all steps behind a bar.
///
/// # Errors
/// What a step says; that somebody asked to stop.
pub fn drive(verification: &mut Verification, output: &Output) -> Outcome<()> {
    let interrupt = Interrupt::listen()?;
    let mut bar = Bar { shown: output.shows_progress(), part: None, bar: ProgressBar::hidden() };
    while let Some(progress) = verification.step()? {
        bar.show(progress);
        if interrupt.is_asked() {
            return Err(Failure::interrupted("stopped before everything was read"));
        }
    }
    bar.bar.finish_and_clear();
    Ok(())
}

/// One bar per part.
struct Bar {
    shown: bool,
    part: Option<Part>,
    bar: ProgressBar,
}

impl Bar {
    fn show(&mut self, progress: Progress) {
        if self.part != Some(progress.part) {
            self.bar.finish_and_clear();
            let unit = if progress.part == Part::Log { Unit::Bytes } else { Unit::Count };
            let text = format!("verifying the {}", progress.part.name());
            self.bar = progress::bar(self.shown, unit, Some(progress.total), &text);
            self.part = Some(progress.part);
        }
        self.bar.set_position(progress.done);
    }
}

/// A finding in JSON.
pub fn finding_json(finding: &Finding) -> serde_json::Value {
    json!({
        "kind": finding.kind.name(),
        "damage": finding.is_damage,
        "path": report::path(&finding.path),
        "offset": finding.offset,
        "len_bytes": finding.len_bytes,
        "range": finding.range.as_ref().map(report::range),
        "text": finding.text,
    })
}

/// Writes one finding.
///
/// # Errors
/// That nobody reads the output.
pub fn print_finding(finding: &Finding, output: &mut Output) -> Outcome<()> {
    if output.is_json() {
        return output.object(&finding_json(finding));
    }
    let (word, color) = match finding.is_damage {
        true => ("damage", AnsiColor::Red),
        false => ("note", AnsiColor::Yellow),
    };
    let style = Style::new().bold().fg_color(Some(color.into()));
    let word = output.paint(style, format!("{word:<6}"));
    output.line(format_args!("{word}  {finding}"))
}

fn print_sum(verification: &Verification, began: Instant, output: &mut Output) -> Outcome<()> {
    let range = verification.range();
    let bytes = range.end.since(range.start);
    let elapsed = began.elapsed();
    let findings = verification.findings();
    let damages = findings.iter().filter(|finding| finding.is_damage).count() as u64;
    let count = findings.len() as u64 + verification.more_findings();
    if output.is_json() {
        return output.object(&json!({
            "sound": verification.is_sound(),
            "was_closed": verification.was_closed(),
            "records": verification.records(),
            "range": report::range(&(range.start.get()..range.end.get())),
            "damages": damages,
            "findings": count,
            "elapsed_ms": u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX),
        }));
    }
    if verification.more_findings() > 0 {
        let more = counted(verification.more_findings(), "more finding");
        output.line(format_args!("... and {more}"))?;
    }
    let verdict = match (verification.is_sound(), count) {
        (true, 0) => "everything is sound".to_owned(),
        (true, _) => "sound".to_owned(),
        (false, _) => format!("DAMAGED: {}", counted(count, "finding")),
    };
    let (records, bytes) = (counted(verification.records(), "record"), HumanBytes(bytes));
    let seconds = elapsed.as_secs_f64();
    output.line(format_args!("{verdict}; read {records}, {bytes}, in {seconds:.2} s"))
}
