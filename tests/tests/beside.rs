//! Real processes at one store: one appends, rolls and cleans, three follow it at their own pace
//! and check every message. None of them meets anything but messages and what is gone.

use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use spanlog::{QueueOffset, ReadLimits, Store};
use spanlog_tests::beside::{END, QUEUES, TOPIC, options};

fn start(words: &[&str], dir: &Path) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_beside"));
    command.arg(words[0]).arg(dir).args(&words[1..]);
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts")
}

/// The numbers that a process printed.
fn numbers(output: &Output) -> Vec<u64> {
    let text = String::from_utf8_lossy(&output.stdout);
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}{told}");
    let words = text.split(|c: char| !c.is_ascii_digit()).filter(|word| !word.is_empty());
    words.map(|word| word.parse().unwrap()).collect()
}

#[test]
fn three_readers_follow_a_writer_that_rolls_and_cleans() {
    let dir = tempfile::tempdir().unwrap();
    let writer = start(&["write", "3000"], dir.path());
    // One that keeps up, one that does not always, one that is overtaken by far.
    let readers = ["0", "30", "700"].map(|pause| start(&["read", pause], dir.path()));
    let written = numbers(&writer.wait_with_output().unwrap());
    let (start, offsets) = (written[0], &written[1..=QUEUES as usize]);
    let all: u64 = offsets.iter().map(|count| count + 1).sum();
    assert!(start > 20 * 64 * 1024, "too little was dropped: {written:?}");
    for reader in readers {
        let found = numbers(&reader.wait_with_output().unwrap());
        let (seen, gone, ends) = (found[0], found[1], &found[2..]);
        assert_eq!(seen + gone, all, "{found:?} of {written:?}");
        assert!(seen > 0);
        assert!(ends.iter().zip(offsets).all(|(end, count)| *end == count + 1), "{found:?}");
    }
    let store = Store::open(dir.path().join("root"), options(dir.path())).unwrap();
    assert!(store.recovery().was_clean, "no reader left a trace");
    for queue in 0..QUEUES {
        let last = QueueOffset::new(offsets[queue as usize]);
        let batch = store.read(TOPIC, queue, last, ReadLimits::default()).unwrap();
        assert_eq!(batch.get(0).unwrap().decode_verified().unwrap().body(), END);
    }
}
