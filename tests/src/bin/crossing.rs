//! `crossing write|read ROOT`: see `tests/crossing/README.md`.

use std::process::ExitCode;

use spanlog::{Message, MessageView, Options, QueueOffset, ReadLimits, Result, Store};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let outcome = match &arguments[..] {
        [what, root] if what == "write" => open(root).and_then(|store| write(&store)),
        [what, root] if what == "read" => open(root).and_then(|store| read(&store)),
        _ => return ExitCode::from(2),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn open(root: &str) -> Result<Store> {
    Store::open(root, Options::new().segment_len_bytes(4096))
}

fn write(store: &Store) -> Result<()> {
    for number in 0..8_usize {
        let body: Vec<u8> =
            (0..40 * number * number).map(|at| ((7 * at + number) % 256) as u8).collect();
        let (tags, key, region) =
            (format!("t{number}"), format!("k{number}"), format!("north-{number}"));
        let message = Message {
            tags: (number % 2 == 0).then_some(&*tags),
            keys: &[&key, "all"],
            properties: &[("region", &region)],
            flag: number as i32 - 3,
            ..Message::new("orders", (number % 2) as u32, &body)
        };
        store.append(&message)?;
    }
    store.close()
}

fn read(store: &Store) -> Result<()> {
    for queue in 0..2 {
        let batch = store.read("orders", queue, QueueOffset::ZERO, ReadLimits::default())?;
        for stored in batch.iter() {
            print(&stored.decode_verified()?, stored.queue_offset().get());
        }
    }
    store.close()
}

fn print(message: &MessageView<'_>, offset: u64) {
    let keys: Vec<_> = message.keys().collect();
    let body: String = message.body().iter().map(|byte| format!("{byte:02x}")).collect();
    println!(
        "{} {offset} {} {} {} {} {body}",
        message.queue(),
        message.flag(),
        message.tags().unwrap_or("-"),
        keys.join(","),
        message.property("region").unwrap_or("-"),
    );
}
