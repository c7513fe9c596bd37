//! The real kernel: a process that acknowledges and commits is killed with SIGKILL at a random
//! moment, again and again. What it had committed never comes again, and of what it had not
//! acknowledged nothing is left out.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use spanlog::{CursorOptions, Options, ReadLimits, Store};

const KILLS: usize = 20;

type Messages = BTreeSet<(u32, u64)>;

/// What is known of the cursor: acknowledged for certain and durable, and perhaps acknowledged.
#[derive(Default)]
struct Known {
    durable: Messages,
    perhaps: Messages,
}

/// Runs the consumer, kills it after so many lines, and notes what it told.
fn run_and_kill(dir: &Path, lines: usize, known: &mut Known) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_consumer"))
        .arg(dir)
        .stdout(Stdio::piped())
        .spawn()
        .expect("the consumer starts");
    let mut told = BufReader::new(child.stdout.take().expect("piped")).lines();
    let mut seen: Vec<String> = told.by_ref().take(lines).map(Result::unwrap).collect();
    assert_eq!(seen.len(), lines, "the consumer ended by itself");
    child.kill().expect("it can be killed");
    seen.extend(told.map_while(Result::ok));
    child.wait().expect("it is gone");
    let mut committing = Messages::new();
    for line in seen {
        match line.split(' ').collect::<Vec<_>>()[..] {
            ["ack", queue, offset] => {
                known.perhaps.insert((queue.parse().unwrap(), offset.parse().unwrap()));
            }
            ["commit"] => committing = known.perhaps.clone(),
            ["done"] => known.durable.clone_from(&committing),
            // A line that the kill cut off.
            _ => {}
        }
    }
}

/// All messages that there are, and those that the cursor still delivers.
fn look(dir: &Path) -> (Messages, Messages) {
    let store = Store::open(dir, Options::new().create(false)).unwrap();
    let all = (0..3).flat_map(|queue| {
        let max = store.bounds("orders", queue).map_or(0, |bounds| bounds.max.get());
        (0..max).map(move |offset| (queue, offset))
    });
    let all = all.collect();
    let wide = CursorOptions { max_pending: 3600, ..CursorOptions::default() };
    let cursor = store.cursor("billing", "orders", wide).unwrap();
    let mut delivered = Messages::new();
    loop {
        let delivery = cursor.poll(ReadLimits::default(), Duration::ZERO).unwrap();
        if delivery.is_empty() {
            break;
        }
        for one in delivery.iter() {
            let place = (one.queue, one.message.queue_offset().get());
            assert!(delivered.insert(place), "{place:?} was delivered twice");
        }
    }
    (all, delivered)
}

#[test]
fn a_killed_consumer_goes_on_where_it_committed() {
    let dir = tempfile::tempdir().unwrap();
    let mut known = Known::default();
    let mut came_again = 0;
    for kill in 0..KILLS {
        run_and_kill(dir.path(), 20 + kill * 37 % 101, &mut known);
        let (all, delivered) = look(dir.path());
        let lost: Vec<_> = known.durable.intersection(&delivered).collect();
        assert!(lost.is_empty(), "kill {kill}: committed, and delivered again: {lost:?}");
        let rest: Messages = all.difference(&known.perhaps).copied().collect();
        let skipped: Vec<_> = rest.difference(&delivered).collect();
        assert!(skipped.is_empty(), "kill {kill}: never acknowledged, and left out: {skipped:?}");
        came_again += known.perhaps.intersection(&delivered).count();
        // From here on it is known again.
        known.perhaps = all.difference(&delivered).copied().collect();
        known.durable.clone_from(&known.perhaps);
    }
    assert!(came_again > 0, "no kill came between an acknowledgement and its commit");
}
