//! Appending touches no allocator once it is warm.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::path::Path;
use std::time::Duration;

use spanlog::{Message, Options, Queue, QueueBatch, QueueOptions, Store};

/// The system's allocator, which counts what each thread asks of it.
struct Counting;

thread_local! {
    static ASKED: Cell<u64> = const { Cell::new(0) };
}

fn count() {
    ASKED.with(|asked| asked.set(asked.get() + 1));
}

// SAFETY: every call is handed on as it is; counting allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: what the caller promised is what the system asks for.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        count();
        // SAFETY: what the caller promised is what the system asks for.
        unsafe { System.dealloc(block, layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, len: usize) -> *mut u8 {
        count();
        // SAFETY: what the caller promised is what the system asks for.
        unsafe { System.realloc(block, layout, len) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const KEYS: [&str; 2] = ["order-17", "customer-4"];
const PROPERTIES: [(&str, &str); 1] = [("region", "north")];

fn message(queue: u32, body: &[u8]) -> Message<'_> {
    Message::new("orders", queue, body).tags("paid").keys(&KEYS).properties(&PROPERTIES)
}

/// How often this thread asks the allocator while it runs `work`.
fn asked_by(work: impl FnOnce()) -> u64 {
    let before = ASKED.get();
    work();
    ASKED.get() - before
}

fn open(name: &str) -> Store {
    let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    if root.exists() {
        std::fs::remove_dir_all(&root).expect("what an earlier run left goes away");
    }
    // One segment for everything: making the next one allocates, once in so many megabytes.
    Store::open(root, Options::new().segment_len_bytes(64 << 20)).expect("a new store")
}

#[test]
fn the_allocator_of_this_test_counts() {
    assert!(asked_by(|| drop(std::hint::black_box(Box::new(1)))) >= 2);
}

#[test]
fn ten_thousand_appends_ask_for_nothing() {
    let store = open("appends");
    let body = [7; 300];
    let append = |count: u32| {
        for number in 0..count {
            store.append(&message(number % 8, &body)).expect("there is room");
        }
    };
    append(1_000);
    assert_eq!(asked_by(|| append(10_000)), 0);
    store.close().expect("closes");
}

#[test]
fn a_thousand_batches_ask_for_nothing() {
    let store = open("batches");
    let body = [7; 100];
    let batches: Vec<Vec<_>> =
        (0..8).map(|queue| (0..16).map(|_| message(queue, &body)).collect()).collect();
    let append = |count: usize| {
        for number in 0..count {
            store.append_batch(&batches[number % 8]).expect("there is room");
        }
    };
    append(100);
    assert_eq!(asked_by(|| append(1_000)), 0);
    store.close().expect("closes");
}

/// Over the ends of many segments: their files are used again by a thread of the queue.
#[test]
fn ten_thousand_pushes_and_pops_ask_for_nothing() {
    let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join("queue");
    if root.exists() {
        std::fs::remove_dir_all(&root).expect("what an earlier run left goes away");
    }
    let queue = Queue::open(root, QueueOptions::new()).expect("a new queue");
    let reader = queue.reader("reader").expect("a reader");
    let (mut batch, body) = (QueueBatch::new(), [7; 300]);
    let mut round = |count: u32| {
        for _ in 0..count {
            queue.push(&body).expect("there is room");
            let popped = reader.pop_into(&mut batch, 1, u64::MAX, Duration::ZERO);
            assert_eq!(popped.expect("a record"), 1);
        }
        reader.commit(batch.end().expect("a record")).expect("it is popped");
    };
    (0..20).for_each(|_| round(1_000));
    // Enough segments are ready for all that follows.
    std::thread::sleep(Duration::from_millis(500));
    assert_eq!(asked_by(|| (0..10).for_each(|_| round(1_000))), 0);
    queue.close().expect("closes");
}
