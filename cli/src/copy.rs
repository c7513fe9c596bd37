//! `spanlog copy`: a store in other directories, or of another segment length.

use std::path::PathBuf;

use clap::Args;
use clap::builder::{OsStringValueParser, TypedValueParser};
use indicatif::HumanBytes;
use serde_json::json;
use spanlog::{Options, Store, StoreCopy, Verification, quantity};

use crate::directory::DirectoryArg;
use crate::failure::{Failure, Outcome};
use crate::interrupt::Interrupt;
use crate::opening::StoreArgs;
use crate::output::{Output, counted};
use crate::progress::{self, Unit};
use crate::report;
use crate::verify::drive;

const AFTER_HELP: &str = "\
Examples:
  spanlog copy --root /data/log --to /data/new --to-path /mnt/a/log --to-path /mnt/b/log
  spanlog copy --conf broker.conf --to /data/new --to-segment-size 256MiB

Every record is copied, also those that stand in no queue. Queue offsets, store times, ids,
properties and bodies stay; positions, and with them RocketMQ's offset message ids, are the new
log's. Queues without a message left go on at their next offset. The source is read only and may
be damaged where `--on-damage skip` passes by. At the end the copy is verified: exit code 1 if
it is not sound.";

/// What to copy, and where.
#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct CopyArgs {
    /// The copy's root; there must be no store
    #[arg(long, value_name = "DIR")]
    pub to: PathBuf,
    /// A directory of the copy's segments; repeat it for each [default: commitlog under its root]
    #[arg(long, value_name = "DIR[=ROLE]",
        value_parser = OsStringValueParser::new().try_map(|text| DirectoryArg::parse(&text)))]
    pub to_path: Vec<DirectoryArg>,
    /// Length of the copy's segment files [default: the source's]
    #[arg(long, value_name = "SIZE", value_parser = quantity::parse_size_bytes)]
    pub to_segment_size: Option<u64>,
    /// The store to copy.
    #[command(flatten)]
    pub store: StoreArgs,
}

/// Copies.
///
/// # Errors
/// What either store says; `Damaged` if the copy is not sound.
pub fn run(args: &CopyArgs, output: &mut Output) -> Outcome<()> {
    let source = args.store.target()?.open_to_read(output)?;
    let options = args.options(&source)?;
    let target = Store::open(&args.to, options.clone())?;
    let records = copy(&source, &target, output)?;
    let bytes = target.watermarks().appended.get();
    target.close()?;
    let mut verification = Verification::new(&args.to, &Options::new())?;
    drive(&mut verification, output)?;
    let is_sound = verification.is_sound() && verification.records() == records;
    match output.is_json() {
        true => output.object(&json!({
            "root": report::path(&args.to),
            "records": records,
            "bytes": bytes,
            "segment_len_bytes": options.segment_len_bytes,
            "sound": is_sound,
        }))?,
        false => output.line(format_args!(
            "copied {}, {}; the copy is {}",
            counted(records, "record"),
            HumanBytes(bytes),
            if is_sound { "sound" } else { "NOT SOUND" }
        ))?,
    }
    if is_sound { Ok(()) } else { Err(Failure::damaged()) }
}

impl CopyArgs {
    /// Options of a new store. A body that was stored once is not too large.
    fn options(&self, source: &Store) -> Outcome<Options> {
        let len = self.to_segment_size.unwrap_or(source.inspect()?.segment_len_bytes);
        let largest = i32::MAX.unsigned_abs().into();
        let defaults = Options::new();
        let directories = self.to_path.iter().map(|path| path.options(defaults.thresholds));
        Ok(Options { directories: directories.collect(), ..defaults }
            .segment_len_bytes(len)
            .max_body_bytes(largest))
    }
}

fn copy(source: &Store, target: &Store, output: &Output) -> Outcome<u64> {
    let interrupt = Interrupt::listen()?;
    let mut copy = StoreCopy::new(source, target)?;
    let bar = progress::bar(output.shows_progress(), Unit::Bytes, None, "copying");
    while let Some(progress) = copy.step()? {
        bar.set_length(progress.total);
        bar.set_position(progress.done);
        if interrupt.is_asked() {
            let text = "stopped: what was copied so far is in the new store, and not all of it";
            return Err(Failure::interrupted(text));
        }
    }
    bar.finish_and_clear();
    Ok(copy.records())
}
