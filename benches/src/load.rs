//! What is appended, how much of it, and to what.

use std::path::Path;

use spanlog::record::{Encoding, Stamp, UniqueIds, encode, stamp};
use spanlog::{Durability, Message, Options, Store};

use crate::harness::Outcome;

/// The topic: 16 characters.
pub const TOPIC: &str = "orders-of-europe";

/// Queues that messages go to in turn.
pub const QUEUES: u32 = 8;

const KEYS: [&str; 1] = ["order-0000012345"];
const PROPERTIES: [(&str, &str); 1] = [("region", "north-west")];

/// How much of everything.
pub struct Sizes {
    /// Rounds of each side.
    pub rounds: usize,
    /// Messages of 128 bytes in one run.
    pub small: u64,
    /// Messages of 1 KiB in one run.
    pub large: u64,
    /// Groups of 100 messages in one run.
    pub groups: u64,
    /// Messages of 1 KiB that are read.
    pub read: u64,
    /// Bytes of records in the store that is opened again.
    pub store_bytes: u64,
    /// Bytes that lie in the segment before bytes on the device are counted.
    pub fill_bytes: u64,
    /// Durable appends between two looks at the device's counter.
    pub durable: u64,
    /// Appends that somebody waits for.
    pub wakes: u64,
    /// Messages that a tag filter goes over.
    pub tagged: u64,
    /// Messages that are looked up by key, two keys each.
    pub keyed: u64,
    /// Look-ups in one run.
    pub lookups: u64,
    /// Length of a segment, in bytes.
    pub segment_bytes: u64,
}

impl Sizes {
    const FULL: Self = Self {
        rounds: 5,
        small: 1_200_000,
        large: 400_000,
        groups: 2_000,
        read: 500_000,
        store_bytes: 4 << 30,
        fill_bytes: 160 << 20,
        durable: 5_000,
        wakes: 2_000,
        tagged: 10_000_000,
        keyed: 5_000_000,
        lookups: 500_000,
        segment_bytes: 1 << 30,
    };

    /// For seeing that everything runs; the figures mean nothing.
    const QUICK: Self = Self {
        rounds: 1,
        small: 2_000,
        large: 2_000,
        groups: 3,
        read: 2_000,
        store_bytes: 8 << 20,
        fill_bytes: 1 << 20,
        durable: 10,
        wakes: 10,
        tagged: 20_000,
        keyed: 2_000,
        lookups: 1_000,
        segment_bytes: 4 << 20,
    };

    /// What `BENCH_QUICK` says.
    pub fn from_environment() -> Self {
        match std::env::var("BENCH_QUICK") {
            Ok(text) if !text.is_empty() && text != "0" => Self::QUICK,
            _ => Self::FULL,
        }
    }

    /// The options of every store that is measured: the defaults, but for the sizes of a quick
    /// run.
    pub fn options(&self) -> Options {
        Options::new().segment_len_bytes(self.segment_bytes)
    }

    /// The same without the key index, for what is compared with one `write` per message: complete
    /// records, queue units and publication.
    pub fn options_without_keys(&self) -> Options {
        self.options().key_index(false)
    }

    /// As [`Sizes::options`], with groups that are durable when an append returns.
    pub fn durable_options(&self) -> Options {
        self.options().durability(Durability::Group)
    }
}

/// A body of so many bytes that do not repeat.
pub fn body(len: usize) -> Vec<u8> {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state as u8
    };
    (0..len).map(|_| next()).collect()
}

/// A whole message.
pub fn message(queue: u32, body: &[u8]) -> Message<'_> {
    Message::new(TOPIC, queue, body).tags("paid").keys(&KEYS).properties(&PROPERTIES)
}

/// The record that the store makes of [`message`].
pub fn record(body: &[u8]) -> Outcome<Vec<u8>> {
    let options = Options::new();
    let encoding = Encoding {
        record_checksum: options.record_checksum,
        max_body_bytes: u32::MAX,
        max_record_bytes: u64::MAX,
        store_host: options.store_host,
    };
    let ids = UniqueIds::new(options.store_host.ip(), 1, 1, 0);
    let mut record = Vec::new();
    encode(&message(0, body), &encoding, &ids.next(1), &mut record)?;
    stamp(&mut record, &Stamp { position: 0, queue_offset: 0, store_ms: 1 });
    Ok(record)
}

/// Appends so many messages, to all queues in turn.
pub fn append(store: &Store, count: u64, body: &[u8]) -> Outcome<()> {
    let mut queue = 0;
    for _ in 0..count {
        store.append(&message(queue, body))?;
        queue = (queue + 1) % QUEUES;
    }
    Ok(())
}

/// A new store in which every queue has a message.
pub fn store(root: &Path, options: Options) -> Outcome<Store> {
    let store = Store::open(root, options)?;
    append(&store, u64::from(QUEUES), b"first")?;
    store.catch_up()?;
    Ok(store)
}
