//! Queue mode on the real kernel: threads that wait for each other, processes that are killed,
//! file systems that are full.

use std::io::{BufRead, BufReader};
use std::os::fd::AsRawFd;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use spanlog::{ErrorKind, OnFull, Queue, QueueBatch, QueueDurability, QueueOptions, QueueReader};
use spanlog_tests::mounts::{Kind, Mount, mounted};
use spanlog_tests::pusher::{options, payload, push_len};

const NOW: Duration = Duration::ZERO;

/// Long enough for a busy machine; a stall would last for ever.
const LONG: Duration = Duration::from_secs(60);

fn small() -> QueueOptions {
    QueueOptions::new().segment_len_bytes(4096).capacity_segments(6).max_in_memory_segments(6)
}

/// What the consumers of [`soak`] do: takes until it has seen `count` records, in order by
/// producer.
fn consume(reader: &QueueReader, producers: u64, count: u64) {
    let mut next = vec![0; producers as usize];
    let mut batch = QueueBatch::new();
    for _ in 0..count {
        if batch.is_empty() {
            assert!(reader.pop_into(&mut batch, 7, 9000, LONG).unwrap() > 0, "{next:?}");
            for own in batch.iter() {
                let word = |at: usize| u64::from_be_bytes(own[at..at + 8].try_into().unwrap());
                assert_eq!(word(8), next[word(0) as usize], "producer {}", word(0));
                next[word(0) as usize] += 1;
            }
            reader.commit(batch.end().unwrap()).unwrap();
            batch.clear();
        }
        if next.iter().sum::<u64>() == count {
            return;
        }
    }
}

/// Two producers push into a queue that is full nearly always; two readers take everything.
fn soak(options: QueueOptions, is_retried: bool) {
    let dir = tempfile::tempdir().unwrap();
    let queue = Queue::open(dir.path(), options).unwrap();
    let readers = ["a", "b"].map(|name| queue.reader(name).unwrap());
    let (producers, each) = (2_u64, 15_000_u64);
    let push = |producer: u64| {
        for number in 0..each {
            let mut record = [producer.to_be_bytes(), number.to_be_bytes()].concat();
            record.resize(16 + (number * 37 % 900) as usize, 7);
            while let Err(error) = queue.push(&record) {
                assert!(is_retried && error.kind() == ErrorKind::Full, "{error}");
            }
        }
    };
    std::thread::scope(|scope| {
        (0..producers).for_each(|producer| drop(scope.spawn(move || push(producer))));
        for reader in &readers {
            scope.spawn(move || consume(reader, producers, producers * each));
        }
    });
    let stat = queue.stat();
    assert_eq!((stat.records, stat.pushed), (0, producers * each));
    assert!(stat.segments <= 6, "{stat:?}");
    queue.close().unwrap();
}

/// The original deadlocks here: nine times of nine.
#[test]
fn a_full_queue_and_a_producer_that_tries_again_come_to_an_end() {
    soak(small(), true);
}

#[test]
fn a_full_queue_and_a_producer_that_waits_come_to_an_end() {
    soak(small().on_full(OnFull::Block(LONG)).durability(QueueDurability::None), false);
}

#[test]
fn waiting_ends_at_its_deadline_and_at_the_close() {
    let dir = tempfile::tempdir().unwrap();
    let timeout = Duration::from_millis(50);
    let queue = Queue::open(dir.path(), small().on_full(OnFull::Block(timeout))).unwrap();
    let start = Instant::now();
    assert!(queue.pop(timeout).unwrap().is_none());
    assert!(start.elapsed() >= timeout);
    while queue.push(&[0; 1000]).is_ok() {}
    assert!(start.elapsed() >= 2 * timeout);
    let reader = queue.reader("waiting").unwrap();
    while reader.pop(NOW).unwrap().is_some() {}
    std::thread::scope(|scope| {
        let waits = scope.spawn(|| reader.pop(LONG).unwrap_err().kind());
        std::thread::sleep(timeout);
        queue.close().unwrap();
        assert_eq!(waits.join().unwrap(), ErrorKind::Closed);
    });
}

/// Whether a descriptor of a reader is readable.
fn is_raised(fd: &impl AsRawFd) -> bool {
    let path = format!("/proc/self/fdinfo/{}", fd.as_raw_fd());
    let text = std::fs::read_to_string(path).unwrap();
    let count = text.lines().find_map(|line| line.strip_prefix("eventfd-count:"));
    count.expect("an eventfd").trim() != "0"
}

#[test]
fn a_push_wakes_whoever_waits_and_raises_the_descriptor() {
    let dir = tempfile::tempdir().unwrap();
    let queue = Queue::open(dir.path(), small()).unwrap();
    let reader = queue.reader("waiting").unwrap();
    let raised = || is_raised(&reader.event_fd().unwrap());
    assert!(!raised());
    std::thread::scope(|scope| {
        let waits = scope.spawn(|| reader.pop(LONG).unwrap().expect("a record").number);
        std::thread::sleep(Duration::from_millis(20));
        queue.push(b"wake").unwrap();
        assert_eq!(waits.join().unwrap(), 0);
    });
    assert!(raised());
    reader.clear_event().unwrap();
    assert!(!raised());
    queue.push(b"again").unwrap();
    assert!(raised());
}

#[test]
fn removing_a_reader_wakes_whoever_waits_for_its_records() {
    let dir = tempfile::tempdir().unwrap();
    let queue = Queue::open(dir.path(), small()).unwrap();
    let reader = queue.reader("waiting").unwrap();
    assert!(!is_raised(&reader.event_fd().unwrap()));
    let watched = reader.event_fd().unwrap().try_clone_to_owned().unwrap();
    std::thread::scope(|scope| {
        let start = Instant::now();
        let waits = scope.spawn(|| reader.pop(LONG).unwrap_err().kind());
        std::thread::sleep(Duration::from_millis(20));
        queue.remove_reader("waiting").unwrap();
        assert_eq!(waits.join().unwrap(), ErrorKind::Closed);
        assert!(start.elapsed() < LONG, "it slept on, and found out at its deadline");
    });
    assert!(is_raised(&watched));
}

#[test]
fn removing_the_slowest_reader_wakes_a_push_that_waits_for_its_room() {
    let dir = tempfile::tempdir().unwrap();
    let queue = Queue::open(dir.path(), small().on_full(OnFull::Block(10 * LONG))).unwrap();
    let [fast, _slow] = ["fast", "slow"].map(|name| queue.reader(name).unwrap());
    let fill = || queue.push(&[0; 4000]).map(drop);
    (0..6).for_each(|_| fill().unwrap());
    let all = fast.pop_many(6, u64::MAX, NOW).unwrap();
    fast.commit(all.end().unwrap()).unwrap();
    drop(all);
    std::thread::scope(|scope| {
        let pushes = scope.spawn(fill);
        std::thread::sleep(Duration::from_millis(20));
        assert!(!pushes.is_finished(), "the slow reader holds the space");
        queue.remove_reader("slow").unwrap();
        let start = Instant::now();
        while !pushes.is_finished() && start.elapsed() < LONG {
            std::thread::sleep(Duration::from_millis(1));
        }
        let is_woken = pushes.is_finished();
        queue.close().unwrap();
        assert!(is_woken && pushes.join().unwrap().is_ok());
    });
}

/// A process that pushes, killed at the latest when the test ends.
struct Pusher {
    child: Child,
    lines: std::io::Lines<BufReader<std::process::ChildStdout>>,
}

impl Pusher {
    fn start(dir: &Path, durability: &str, first: u64) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_pusher"))
            .arg(dir)
            .args([durability, &first.to_string()])
            .stdout(Stdio::piped())
            .spawn()
            .expect("the pusher starts");
        let lines = BufReader::new(child.stdout.take().expect("piped")).lines();
        Self { child, lines }
    }

    fn next(&mut self) -> Option<u64> {
        Some(self.lines.next()?.unwrap().parse().unwrap())
    }

    /// Kills it after `count` pushes and says which was acknowledged last.
    fn kill_after(mut self, count: u64) -> u64 {
        let mut last = (0..count).map_while(|_| self.next()).last().expect("it pushes");
        self.child.kill().expect("it can be killed");
        while let Some(next) = self.next() {
            last = next;
        }
        last
    }
}

impl Drop for Pusher {
    fn drop(&mut self) {
        // It may be gone already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Pops pushes from number `from` on, each whole, and commits some; returns the next number.
fn take(queue: &Queue, from: u64) -> u64 {
    let (mut number, mut member) = (from, 0);
    let mut last = None;
    while let Some(record) = queue.pop(NOW).unwrap() {
        assert_eq!(*record.payload, *payload(number, member), "record {member} of push {number}");
        member += 1;
        if member == push_len(number) {
            (number, member) = (number + 1, 0);
        }
        last = Some(record.end);
    }
    assert_eq!(member, 0, "push {number} is there in part");
    last.map_or(Ok(()), |end| queue.commit(end)).unwrap();
    number
}

/// The original lost up to a second of pushes, or read on without end.
#[test]
fn what_was_pushed_survives_sigkill() {
    let mut rng = fastrand::Rng::new();
    println!("seed {}", rng.get_seed());
    for durability in ["interval", "group", "each"] {
        let dir = tempfile::tempdir().unwrap();
        let mut next = 0;
        for kill in 0..8 {
            let count = rng.u64(1..if durability == "interval" { 800 } else { 60 });
            let last = Pusher::start(dir.path(), durability, next).kill_after(count);
            let queue = Queue::open(dir.path().join("root"), options(dir.path(), durability));
            let queue = queue.unwrap_or_else(|error| panic!("{durability} {kill}: {error}"));
            next = take(&queue, next);
            // One more may have been on its way.
            assert!(next == last + 1 || next == last + 2, "{durability} {kill}: {last}, {next}");
            queue.close().unwrap();
        }
    }
}

#[test]
fn a_second_process_is_kept_out_of_a_queue() {
    let dir = tempfile::tempdir().unwrap();
    let mut pusher = Pusher::start(dir.path(), "interval", 0);
    assert_eq!(pusher.next(), Some(0));
    let refused = Queue::open(dir.path().join("root"), options(dir.path(), "interval"));
    let refused = refused.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Locked);
}

/// Pushes until the file system has no room, takes everything, and goes on until it is full again.
/// Returns how much there was, and how much of it found room again.
fn fill_and_go_on(mount: &Mount) -> (u64, u64) {
    let options = QueueOptions::new().segment_len_bytes(64 * 1024).capacity_segments(4000);
    let queue = Queue::open(mount.dir().join("queue"), options).unwrap();
    let mut count = 0_u64;
    let full = loop {
        match queue.push(&[count as u8; 1000]) {
            Ok(_) => count += 1,
            Err(error) => break error,
        }
    };
    assert_eq!(full.kind(), ErrorKind::Full, "{full}");
    let ballast = mount.fill();
    let mut taken = 0_u64;
    while let Some(record) = queue.pop(NOW).unwrap() {
        assert_eq!(*record.payload, [taken as u8; 1000]);
        taken += 1;
        if taken.is_multiple_of(100) {
            queue.commit(record.end).unwrap();
        }
    }
    assert_eq!(taken, count);
    let mut again = 0;
    while again < count / 2 {
        match queue.push(&[1; 1000]) {
            Ok(_) => again += 1,
            Err(error) if error.kind() == ErrorKind::Full => break,
            Err(error) => panic!("{error}"),
        }
    }
    queue.close().unwrap();
    std::fs::remove_file(ballast).unwrap();
    (count, again)
}

#[test]
fn a_full_file_system_is_full_and_never_a_signal() {
    let test = "a_full_file_system_is_full_and_never_a_signal";
    let dir = tempfile::tempdir().unwrap();
    let Some(mount) = mounted(test, Mount::tmpfs(&dir.path().join("small"), 8 << 20)) else {
        return;
    };
    let (count, again) = fill_and_go_on(&mount);
    assert_eq!(again, count / 2, "files are used again although there is no byte left");
}

/// ext2 cannot reserve blocks: they are written before they are mapped.
#[test]
fn where_blocks_cannot_be_reserved_a_full_file_system_is_no_signal_either() {
    let test = "where_blocks_cannot_be_reserved_a_full_file_system_is_no_signal_either";
    let dir = tempfile::tempdir().unwrap();
    let image = Mount::image(&dir.path().join("small"), Kind::Ext2, 8 << 20);
    let Some(mount) = mounted(test, image) else { return };
    // A new name may take a block of its directory there: `Full`, until there is one.
    let (count, _) = fill_and_go_on(&mount);
    assert!(count > 0);
}
