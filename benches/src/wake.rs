//! How long it takes from an append to the waking of a thread that waits for it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use spanlog::QueueOffset;

use crate::harness::{Figure, Outcome, Setup, median};
use crate::load::{TOPIC, body, message, store};

/// So long nothing happens between two appends: who waits sleeps by then, and so does the store.
const QUIET: Duration = Duration::from_millis(2);

/// Microseconds from the call of an append until a thread that waited for the message goes on.
pub fn measure(setup: &Setup) -> Outcome<Vec<Figure>> {
    let store = store(&setup.dir.join("store"), setup.sizes.options())?;
    let (body, start) = (body(1024), Instant::now());
    let micros = || start.elapsed().as_nanos() as f64 / 1000.0;
    let woken = AtomicU64::new(0);
    let mut samples = Vec::new();
    thread::scope(|scope| -> Outcome<()> {
        let waiter = scope.spawn(|| -> spanlog::Result<()> {
            for number in 0..setup.sizes.wakes {
                let from = QueueOffset::new(number);
                while !store.wait(TOPIC, 0, from, Duration::from_secs(10))? {}
                woken.store(micros().to_bits(), Ordering::Release);
            }
            Ok(())
        });
        for _ in 0..setup.sizes.wakes {
            thread::sleep(QUIET);
            woken.store(0, Ordering::Relaxed);
            let before = micros();
            store.append(&message(0, &body))?;
            thread::sleep(QUIET);
            match woken.load(Ordering::Acquire) {
                0 => samples.push(f64::INFINITY),
                after => samples.push(f64::from_bits(after) - before),
            }
        }
        Ok(waiter.join().expect("the waiter does not panic")?)
    })?;
    Ok(vec![Figure { name: "wake", value: median(&mut samples), baseline: None }])
}
