//! Appends a few messages and reads them back: `quickstart DIRECTORY`.

use spanlog::{Message, Options, QueueOffset, ReadLimits, Result, Store};

fn main() -> Result<()> {
    let root = std::env::args().nth(1).unwrap_or_else(|| "quickstart-store".into());
    let store = Store::open(&root, Options::new())?;

    for (number, item) in ["tea", "coffee", "cocoa"].iter().enumerate() {
        let key = format!("order-{number}");
        let keys = [key.as_str()];
        let message = Message::new("orders", 0, item.as_bytes()).tags("drink").keys(&keys);
        let receipt = store.append(&message)?;
        println!("{item} is message {} at {}", receipt.queue_offset, receipt.position);
    }

    // What this thread appended can be read once it is in its queue.
    store.catch_up()?;
    let batch = store.read("orders", 0, QueueOffset::ZERO, ReadLimits::default())?;
    for stored in batch.iter() {
        let message = stored.decode_verified()?;
        let body = String::from_utf8_lossy(message.body());
        println!("{}: {body} [{}]", stored.queue_offset(), message.tags().unwrap_or("-"));
    }
    store.close()
}
