//! What is fuzzed: one function for each kind of bytes that spanlog takes from others. Whatever
//! the bytes are, a function returns; it panics only if something that must hold does not.
//!
//! `cargo fuzz run TARGET` runs one, and `scripts/fuzz.sh` all of them for a moment without that
//! tool. `tests/replay.rs` feeds them the committed corpora, without libFuzzer.

use std::path::Path;
use std::sync::Arc;

use spanlog::disk::slots::{SlotState, Slots, slot_states};
use spanlog::disk::{Access, Disk, ManualClock};
use spanlog::record::{Check, Found, MessageView, Properties, at, resync};
use spanlog::{
    KeyQuery, MemDisk, Message, OnDamage, Options, PropertyFilter, QueueOffset, ReadLimits,
    RepairPlan, Store, TagFilter, Verification,
};

// The command's reader of configurations: it has no library.
#[allow(dead_code)]
#[path = "../../cli/src/conf.rs"]
mod conf;
#[allow(dead_code)]
#[path = "../../cli/src/failure.rs"]
mod failure;
#[path = "../../cli/src/properties.rs"]
mod properties;

/// A record, taken at the position that it names itself.
pub fn record(data: &[u8]) {
    let own = data.get(28..36).and_then(|eight| eight.try_into().ok()).map(u64::from_be_bytes);
    for position in [0, own.unwrap_or(0)] {
        for check in [Check::Structure, Check::Checksums] {
            if let Found::Record(view) = at(data, position, check) {
                look_at(&view);
                assert_eq!(view.position(), position);
            }
        }
    }
    if let Ok(view) = MessageView::parse(data) {
        look_at(&view);
        let again = MessageView::parse(view.bytes()).expect("what was taken once is taken again");
        assert_eq!(again.bytes(), view.bytes());
    }
}

/// Everything that can be asked of a record.
fn look_at(view: &MessageView<'_>) {
    assert_eq!(view.bytes().len(), view.size() as usize);
    assert!(!view.topic().is_empty() && !view.topic().contains('/'));
    let _ = (view.body(), view.keys().count(), view.tags(), view.unique_id(), view.tag_code());
    let _ = (view.born_host(), view.store_host(), view.store_ms(), view.born_ms());
    let _ = (view.has_queue_unit(), view.has_record_checksum(), view.verify());
    let _ = (view.flag(), view.sys_flag(), view.reconsume_times(), view.prepared_position());
}

const SEGMENT_BYTES: usize = 4096;

fn options() -> Options {
    Options::new()
        .segment_len_bytes(SEGMENT_BYTES as u64)
        .queue_file_len_bytes(400)
        .background(false)
        .directory("/log")
}

/// Segments of any content: found, verified, opened as the first byte says, repaired, read.
pub fn scan(data: &[u8]) {
    let Some((&mode, bytes)) = data.split_first() else { return };
    if let Some(found) = resync(bytes, 0) {
        assert!(!matches!(at(&bytes[found..], found as u64, Check::Structure), Found::Nothing));
    }
    let disk = Arc::new(MemDisk::new());
    for (number, piece) in bytes.chunks(SEGMENT_BYTES).take(3).enumerate() {
        let mut segment = piece.to_vec();
        segment.resize(SEGMENT_BYTES, 0);
        disk.write(Path::new(&format!("/log/{:020}", number * SEGMENT_BYTES)), &segment);
    }
    if bytes.is_empty() {
        return;
    }
    if mode & 4 != 0 {
        disk.write(Path::new("/store/abort"), b"1");
    }
    disk.write(Path::new("/store/checkpoint"), &[0; 4096]);
    let on_damage = OnDamage::ALL[usize::from(mode & 3) % 3];
    if mode & 8 != 0 {
        mend(&disk);
    }
    let clock = Arc::new(ManualClock::new(1_700_000_000_000));
    let shared = Arc::clone(&disk) as Arc<dyn Disk>;
    let Ok(store) = Store::open_on(shared, clock, "/store", options().on_damage(on_damage)) else {
        return;
    };
    read_all(&store);
    drop(store);
    verify(&disk);
}

/// What can be mended is sound afterwards, unless it says what is left.
fn mend(disk: &Arc<MemDisk>) {
    let Some(plan) = verify(disk) else { return };
    let was_empty = plan.is_empty();
    if plan.apply().is_ok() && !was_empty {
        let again = verify(disk).expect("it could be verified before");
        assert!(again.is_empty() || !again.beyond().is_empty(), "still {:?}", again.actions());
    }
}

fn verify(disk: &Arc<MemDisk>) -> Option<RepairPlan> {
    let shared = Arc::clone(disk) as Arc<dyn Disk>;
    let mut verification = Verification::on(shared, "/store", &options()).ok()?;
    verification.run().ok()?;
    RepairPlan::of(&verification).ok()
}

/// Every queue from its first message to its end.
fn read_all(store: &Store) {
    for row in store.queues() {
        let mut from = row.bounds.min;
        for _ in 0..64 {
            let limits = ReadLimits::default();
            let Ok(batch) = store.read(&row.topic, row.queue, from, limits) else { break };
            for stored in batch.iter() {
                if let Ok(view) = stored.decode_verified() {
                    assert_eq!((view.topic(), view.queue()), (&*row.topic, row.queue));
                }
            }
            if batch.next() <= from {
                break;
            }
            from = batch.next();
        }
    }
}

/// An index file of any content beside a log with keys: a look-up never gives a message without
/// the key, and always ends.
pub fn index(data: &[u8]) {
    let disk = Arc::new(MemDisk::new());
    let open = || {
        let shared = Arc::clone(&disk) as Arc<dyn Disk>;
        let clock = Arc::new(ManualClock::new(1_700_000_000_000));
        Store::open_on(
            shared,
            clock,
            "/store",
            options().index_slots(Some(16)).index_entries(Some(64)),
        )
    };
    let store = open().expect("an empty disk");
    for number in 0..8 {
        let key = ["a", "b", "c"][number % 3];
        let _ = store.append(&Message::new("orders", 0, b"x").keys(&[key]));
    }
    store.close().expect("nothing fails here");
    drop(store);
    let dir = Path::new("/store/index");
    for entry in disk.list(dir).unwrap_or_default() {
        let mut bytes = disk.read(&dir.join(&entry.name)).ok().flatten().unwrap_or_default();
        let count = bytes.len().min(data.len());
        bytes[..count].copy_from_slice(&data[..count]);
        disk.write(&dir.join(&entry.name), &bytes);
    }
    let Ok(store) = open() else { return };
    for key in ["a", "b", "c", "d"] {
        let Ok(batch) = store.query("orders", key, &KeyQuery::default()) else { continue };
        for stored in batch.iter() {
            let view = stored.decode_verified().expect("the log is whole");
            assert!(view.keys().any(|own| own == key), "{key} is not its key");
        }
    }
    let batch = store.read("orders", 0, QueueOffset::ZERO, ReadLimits::default());
    assert_eq!(
        batch.map(|batch| batch.len()).ok(),
        Some(8),
        "the log does not depend on its index"
    );
}

/// A record's property string.
pub fn properties(data: &[u8]) {
    let all: Vec<_> = Properties::new(data).collect();
    for (name, value) in &all {
        assert!(!name.is_empty() && !value.is_empty());
        let last = all.iter().rfind(|(other, _)| other == name).map(|(_, value)| *value);
        assert_eq!(Properties::new(data).get(name), last, "of two with one name the last counts");
    }
}

/// A page of two slots: the marks, or the state of a cursor.
pub fn slots(data: &[u8]) {
    let states = slot_states(data);
    let mut page = data.to_vec();
    page.resize(Slots::LEN as usize, 0);
    let disk = MemDisk::new();
    disk.write(Path::new("/page"), &page);
    let file = disk.open(Path::new("/page"), Access::Write).expect("it was written");
    let Ok((mut slots, newest)) = Slots::open(Arc::clone(&file)) else { return };
    let whole = states.iter().filter_map(|state| match state {
        SlotState::Whole { sequence, payload } => Some((*sequence, payload.clone())),
        _ => None,
    });
    let expected = whole.max_by_key(|(sequence, _)| *sequence);
    assert_eq!(newest.is_some(), expected.is_some());
    if expected.is_none_or(|(sequence, _)| sequence < i64::MAX) {
        slots.write(b"new").expect("a disk in memory");
        let (_, again) = Slots::open(file).expect("it was whole");
        assert_eq!(again.as_deref(), Some(&b"new"[..]));
    }
}

/// A broker's configuration.
pub fn conf(data: &[u8]) {
    let _ = self::properties::parse(data);
    // A name of a host would be asked of the network.
    let names_host = data.windows(8).any(|window| window.eq_ignore_ascii_case(b"brokerIP"));
    if !names_host {
        let _ = self::conf::Conf::parse(data, Path::new("broker.conf"));
    }
}

/// What a consumer filters by.
pub fn tags(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let Ok(filter) = TagFilter::parse(&text) else { return };
    for tag in text.split("||").map(str::trim).filter(|tag| !tag.is_empty()) {
        assert!(filter.matches(Some(tag)), "{tag:?} of {text:?}");
    }
    // Longer than the text, it is none of its tags.
    let other = "x".repeat(text.len() + 1);
    assert_eq!(filter.is_all(), filter.matches(Some(&other)));
}

/// A condition on properties, of a message that has all of them, some or none.
pub fn condition(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let filter = match PropertyFilter::parse(&text) {
        Ok(filter) => filter,
        Err(error) => {
            let at = error.offset().unwrap_or(0);
            return assert!(at <= text.len() as u64, "{error} at {at} of {text:?}");
        }
    };
    for value in ["", "3", "-1.5e3", "true", "eu", "\u{e9}"] {
        let _ = filter.matches_with(|_| Some(value));
        let _ = filter.matches_with(|name| (name.len() % 2 == 0).then_some(value));
    }
    let _ = filter.matches_with(|_| None);
}
