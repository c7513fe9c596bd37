//! Appends, polls, acknowledges in any order and commits until somebody kills it, and tells each
//! step: what is about to be acknowledged, that a commit begins, that it is done.

use std::error::Error;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use spanlog::{CursorOptions, Message, Options, ReadLimits, Store};

fn main() -> ExitCode {
    let Some(dir) = std::env::args_os().nth(1) else { return ExitCode::FAILURE };
    match consume(Path::new(&dir)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn consume(dir: &Path) -> Result<(), Box<dyn Error>> {
    let options = Options::new().segment_len_bytes(64 * 1024).queue_file_len_bytes(2000);
    let store = Store::open(dir, options)?;
    let cursor = store.cursor("billing", "orders", CursorOptions::default())?;
    let mut out = std::io::stdout();
    let limits = ReadLimits { max_messages: 16, ..ReadLimits::default() };
    for round in 0_u64.. {
        for queue in 0..3 {
            store.append_batch(&vec![Message::new("orders", queue, b"a"); 5])?;
        }
        store.catch_up()?;
        let delivery = cursor.poll(limits, Duration::ZERO)?;
        let mut delivered: Vec<_> =
            delivery.iter().map(|one| (one.queue, one.message.queue_offset())).collect();
        delivered
            .sort_by_key(|(queue, offset)| (offset.get() * 7 + round) % 13 + u64::from(*queue));
        for (queue, offset) in delivered {
            if (offset.get() + u64::from(queue)) % 11 == round % 11 {
                continue;
            }
            // Told first: what was acknowledged and not told of would look like a lie.
            out.write_all(format!("ack {queue} {offset}\n").as_bytes())?;
            cursor.ack(queue, offset)?;
        }
        if round.is_multiple_of(3) {
            out.write_all(b"commit\n")?;
            cursor.commit()?;
            out.write_all(b"done\n")?;
        }
    }
    Ok(())
}
