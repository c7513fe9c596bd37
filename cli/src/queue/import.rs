//! `spanlog queue import`.

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use indicatif::HumanBytes;
use serde_json::json;
use spanlog::{OsDisk, Queue, SatelliteQueue};

use super::{QueueArgs, closing};
use crate::failure::{Failure, Outcome};
use crate::interrupt::Interrupt;
use crate::output::{Output, counted};

/// Records that are pushed together.
const BATCH: usize = 64;

/// What to import.
#[derive(Args, Debug)]
pub struct ImportArgs {
    /// The directory: `meta.dat` and `N_segment.dat`. Satellite must not be running
    pub directory: PathBuf,
    /// The queue that takes the records.
    #[command(flatten)]
    pub queue: QueueArgs,
}

/// Imports.
///
/// # Errors
/// What either queue or a signal says; what was pushed before stays pushed.
pub fn run(args: &ImportArgs, output: &mut Output) -> Outcome<()> {
    let interrupt = Interrupt::listen()?;
    let mut source = SatelliteQueue::open(Arc::new(OsDisk::new()), &args.directory)?;
    let queue = args.queue.open()?;
    let outcome = import(&mut source, &queue, &interrupt).and_then(|(records, bytes)| {
        let taken = source.taken_beyond_watermark_bytes();
        let left = source.left_beyond_watermark_bytes();
        if output.is_json() {
            return output.object(&json!({
                "imported": records,
                "payload_bytes": bytes,
                "taken_beyond_watermark_bytes": taken,
                "left_beyond_watermark_bytes": left,
            }));
        }
        let bytes = HumanBytes(bytes);
        output.line(format_args!("imported {}, {bytes} of payload", counted(records, "record")))?;
        output.line(format_args!(
            "behind the watermark: {taken} bytes parse and were taken, {left} do not and were left"
        ))
    });
    closing(&queue, outcome)
}

fn import(
    source: &mut SatelliteQueue,
    queue: &Queue,
    interrupt: &Interrupt,
) -> Outcome<(u64, u64)> {
    let (mut records, mut bytes) = (0, 0);
    let mut batch = Vec::with_capacity(BATCH);
    loop {
        let record = source.next_record()?;
        let is_over = record.is_none();
        batch.extend(record);
        if batch.len() == BATCH || is_over {
            queue.push_many(&batch)?;
            records += batch.len() as u64;
            bytes += batch.iter().map(|own| own.len() as u64).sum::<u64>();
            batch.clear();
        }
        if is_over {
            queue.flush()?;
            return Ok((records, bytes));
        }
        if interrupt.is_asked() {
            return Err(Failure::interrupted(format!(
                "stopped after {}, kept",
                counted(records, "record")
            )));
        }
    }
}
