//! Reading in queue order, hot.

use std::hint::black_box;

use spanlog::{QueueOffset, ReadLimits, ReadStatus, Store, Stored};

use crate::harness::{Figure, Outcome, Setup, median, per_second};
use crate::load::{QUEUES, TOPIC, append, body, store};

/// What is done with each message.
type Touch = fn(Stored<'_>) -> Outcome<()>;

/// 1 KiB messages, as slices and with every checksum verified, in turns over one store.
pub fn hot(setup: &Setup) -> Outcome<Vec<Figure>> {
    let store = store(&setup.dir.join("store"), setup.sizes.options())?;
    append(&store, setup.sizes.read, &body(1024))?;
    store.catch_up()?;
    read_all(&store, check)?;
    let (mut slices, mut checked) = (Vec::new(), Vec::new());
    for round in 0..setup.sizes.rounds {
        slices.push(read_all(&store, look)?);
        checked.push(read_all(&store, check)?);
        eprintln!("  round {}: {:.0} | {:.0}", round + 1, slices[round], checked[round]);
    }
    Ok(vec![
        Figure { name: "read_1k_slices", value: median(&mut slices), baseline: None },
        Figure { name: "read_1k_checked", value: median(&mut checked), baseline: None },
    ])
}

/// Where the bytes are, how many, and the first one.
fn look(stored: Stored<'_>) -> Outcome<()> {
    let bytes = stored.bytes();
    black_box((bytes.as_ptr(), bytes.len(), bytes[0]));
    Ok(())
}

fn check(stored: Stored<'_>) -> Outcome<()> {
    black_box(stored.decode_verified()?);
    Ok(())
}

/// Messages per second over all queues, one after the other.
fn read_all(store: &Store, touch: Touch) -> Outcome<f64> {
    let all: u64 = (0..QUEUES)
        .filter_map(|queue| store.bounds(TOPIC, queue))
        .map(|bounds| bounds.max - bounds.min)
        .sum();
    per_second(all, || {
        let mut found = 0;
        for queue in 0..QUEUES {
            found += read_queue(store, queue, touch)?;
        }
        assert_eq!(found, all, "every message was read");
        Ok(())
    })
}

/// Reads one queue from its start to its end, 256 messages at a time.
pub fn read_queue(store: &Store, queue: u32, touch: Touch) -> Outcome<u64> {
    let (mut from, mut found) = (QueueOffset::ZERO, 0);
    loop {
        let batch = store.read(TOPIC, queue, from, ReadLimits::default())?;
        if batch.status() != ReadStatus::Found {
            return Ok(found);
        }
        for stored in batch.iter() {
            touch(stored)?;
        }
        found += batch.len() as u64;
        from = batch.next();
    }
}
