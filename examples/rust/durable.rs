//! Two ways to survive a loss of power: `durable DIRECTORY`.

use spanlog::{Durability, Message, Options, Result, Store};

fn main() -> Result<()> {
    let root = std::env::args().nth(1).unwrap_or_else(|| "durable-store".into());

    // One message at a time: the store flushes in the background, this append waits.
    let store = Store::open(&root, Options::new())?;
    store.append(&Message::new("audit", 0, b"soon on disk"))?;
    let receipt = store.append_durable(&Message::new("audit", 0, b"on disk now"))?;
    assert!(store.watermarks().flushed >= receipt.end);
    store.close()?;

    // Every message: an append returns when it is flushed. Threads that append at the same time
    // share one flush, and a batch needs one for all its messages.
    let store = Store::open(&root, Options::new().durability(Durability::Group))?;
    let bodies: Vec<String> = (0..100).map(|number| format!("entry {number}")).collect();
    let batch: Vec<_> = bodies.iter().map(|b| Message::new("audit", 0, b.as_bytes())).collect();
    let receipt = store.append_batch(&batch)?;
    println!("messages up to {} are durable", receipt.queue_offset + (batch.len() as u64 - 1));
    store.close()
}
