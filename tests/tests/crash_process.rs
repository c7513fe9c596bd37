//! The real kernel: a process that appends over three directories is killed with SIGKILL at a
//! random moment, again and again. Whatever it acknowledged is there, byte for byte, whatever the
//! durability: what a process wrote survives its death.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStdout, Command, Stdio};

use spanlog::{ErrorKind, Placement, QueueOffset, ReadLimits, ReadStatus, Store};
use spanlog_tests::appender::{Plan, QUEUES, TOPIC, batch_len, body, parse, queue};

/// Kills per durability and placement: 48 in all.
const KILLS: u64 = 8;

/// An acknowledged batch: where it is and its first offset.
type Acknowledged = BTreeMap<u64, (u64, u64)>;

/// The child, killed at the latest when the test ends.
struct Appender {
    child: Child,
    lines: std::io::Lines<BufReader<ChildStdout>>,
}

impl Appender {
    fn start(plan: &Plan, first: u64) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_appender"))
            .arg(first.to_string())
            .args(plan.arguments())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the appender starts");
        let lines = BufReader::new(child.stdout.take().expect("piped")).lines();
        Self { child, lines }
    }

    /// The next acknowledgement; nothing once the process is gone.
    fn next(&mut self) -> Option<(u64, (u64, u64))> {
        let line = self.lines.next()?.expect("the pipe can be read");
        let numbers: Vec<u64> = line.split(' ').map(|word| word.parse().unwrap()).collect();
        Some((numbers[0], (numbers[1], numbers[2])))
    }

    /// Kills it after `count` acknowledgements and returns them, and those already in the pipe.
    fn kill_after(mut self, count: u64) -> Acknowledged {
        let mut acknowledged: Acknowledged = (0..count).map_while(|_| self.next()).collect();
        assert_eq!(acknowledged.len() as u64, count, "the appender ended by itself");
        self.child.kill().expect("it can be killed");
        acknowledged.extend(std::iter::from_fn(|| self.next()));
        acknowledged
    }
}

impl Drop for Appender {
    fn drop(&mut self) {
        // It may be gone already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn plan(group: bool, placement: Placement, dir: &std::path::Path) -> Plan {
    Plan { dir: dir.to_owned(), group, placement }
}

/// Every batch that is in the store, with the position and offset of its first message. A batch
/// is there whole or not at all.
fn found(store: &Store) -> Acknowledged {
    store.catch_up().unwrap();
    let mut found = Acknowledged::new();
    for queue in 0..QUEUES {
        found.extend(found_in(store, queue));
    }
    found
}

fn found_in(store: &Store, own: u32) -> Acknowledged {
    let mut found = Acknowledged::new();
    let mut members = BTreeMap::new();
    let mut next = QueueOffset::ZERO;
    loop {
        let batch = store.read(TOPIC, own, next, ReadLimits::default()).unwrap();
        if batch.status() != ReadStatus::Found {
            break;
        }
        for stored in batch.iter() {
            let view = stored.decode_verified().unwrap();
            let (number, member) = parse(view.body()).expect("one of our payloads");
            assert_eq!(view.body(), body(number, member), "{number}");
            assert_eq!(queue(number), own, "{number}");
            assert_eq!(members.insert(number, member).map_or(0, |last| last + 1), member);
            let place = (view.position(), view.queue_offset());
            found.entry(number).or_insert(place);
        }
        next = batch.next();
    }
    for (number, last) in members {
        assert_eq!(last + 1, batch_len(number), "batch {number} is there in part");
    }
    found
}

#[test]
fn what_was_acknowledged_survives_sigkill() {
    let mut rng = fastrand::Rng::new();
    println!("seed {}", rng.get_seed());
    for group in [false, true] {
        for placement in Placement::ALL {
            let dir = tempfile::tempdir().unwrap();
            let plan = plan(group, placement, dir.path());
            let (mut all, mut first) = (Acknowledged::new(), 0);
            for kill in 0..KILLS {
                let count = rng.u64(1..if group { 60 } else { 400 });
                let context = format!("{plan:?}, kill {kill} after {count}");
                all.extend(Appender::start(&plan, first).kill_after(count));
                let store = Store::open(plan.root(), plan.options()).expect(&context);
                let there = found(&store);
                for (number, place) in &all {
                    assert_eq!(there.get(number), Some(place), "{context}: batch {number}");
                }
                // One more may have been on its way.
                let last = *all.last_key_value().unwrap().0;
                assert!(there.len() as u64 <= last + 2, "{context}: {} batches", there.len());
                let numbers: Vec<_> = there.keys().copied().collect();
                assert_eq!(numbers, (0..there.len() as u64).collect::<Vec<_>>(), "{context}");
                first = there.len() as u64;
                all = there;
                store.close().unwrap();
            }
            let is_used =
                |name: &&str| std::fs::read_dir(dir.path().join(*name)).unwrap().next().is_some();
            // A hash may pass by one of three directories where there are few segments.
            let least = if placement == Placement::Hash { 2 } else { 3 };
            assert!(["a", "b", "c"].into_iter().filter(is_used).count() >= least, "{placement}");
        }
    }
}

#[test]
fn a_second_process_is_kept_out_while_the_first_one_works() {
    let dir = tempfile::tempdir().unwrap();
    let plan = plan(false, Placement::Rocketmq, dir.path());
    let mut appender = Appender::start(&plan, 0);
    let mut acknowledged: Acknowledged = (0..50).map_while(|_| appender.next()).collect();
    for _ in 0..5 {
        let refused = Store::open(plan.root(), plan.options()).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Locked, "{refused}");
        assert!(refused.to_string().contains(&appender.child.id().to_string()), "{refused}");
        acknowledged.extend((0..50).map_while(|_| appender.next()));
    }
    acknowledged.extend(appender.kill_after(10));
    assert!(acknowledged.len() >= 310);
    let store = Store::open(plan.root(), plan.options()).unwrap();
    let there = found(&store);
    assert!(acknowledged.iter().all(|(number, place)| there.get(number) == Some(place)));
}
