//! Finding messages by tag, by key and by time, hot.

use std::hint::black_box;
use std::path::Path;

use spanlog::{
    Boundary, KeyQuery, Message, Options, QueueOffset, ReadLimits, ReadStatus, Store, TagFilter,
};

use crate::harness::{Figure, Outcome, Setup, median, per_second};
use crate::load::{QUEUES, TOPIC};

/// One message in so many has the tag that is looked for.
const ONE_IN: u64 = 1000;

/// Units per second that a filter goes over in one queue, every match fetched and compared.
pub fn tags(setup: &Setup) -> Outcome<Vec<Figure>> {
    let count = setup.sizes.tagged;
    let options = setup.sizes.options().key_index(false);
    let tag = |number: u64| if number.is_multiple_of(ONE_IN) { "wanted" } else { "other" };
    let store = filled(&setup.dir.join("store"), options, count, |number, _| {
        Message::new(TOPIC, 0, b"x").tags(tag(number))
    })?;
    let filter = TagFilter::parse("wanted")?;
    let mut rates = Vec::new();
    filter_all(&store, &filter, count)?;
    for round in 0..setup.sizes.rounds {
        rates.push(per_second(count, || filter_all(&store, &filter, count))?);
        eprintln!("  round {}: {:.0}", round + 1, rates[round]);
    }
    Ok(vec![Figure { name: "tag_filter", value: median(&mut rates), baseline: None }])
}

fn filter_all(store: &Store, filter: &TagFilter, count: u64) -> Outcome<()> {
    let (mut from, mut found) = (QueueOffset::ZERO, 0);
    loop {
        let batch = store.read_filtered(TOPIC, 0, from, filter, ReadLimits::default())?;
        if batch.status() == ReadStatus::AtEnd {
            break;
        }
        found += batch.len() as u64;
        from = batch.next();
    }
    assert_eq!(found, count.div_ceil(ONE_IN), "every match was found");
    Ok(())
}

/// Microseconds for one message by one of its keys, and by its store time, over one store. Each
/// message has two keys, its own and its unique id.
pub fn keys_and_times(setup: &Setup) -> Outcome<Vec<Figure>> {
    let (count, lookups) = (setup.sizes.keyed, setup.sizes.lookups);
    let store = filled(&setup.dir.join("store"), setup.sizes.options(), count, |number, key| {
        let queue = (number % u64::from(QUEUES)) as u32;
        Message::new(TOPIC, queue, b"x").keys(key)
    })?;
    store.catch_up_keys()?;
    let (mut by_key, mut by_time) = (Vec::new(), Vec::new());
    for round in 0..=setup.sizes.rounds {
        let keys = per_second(lookups, || look_up_keys(&store, count, lookups))?;
        let times = per_second(lookups, || look_up_times(&store, lookups))?;
        // The first round makes it hot.
        if round > 0 {
            by_key.push(1e6 / keys);
            by_time.push(1e6 / times);
            eprintln!("  round {round}: {:.2} | {:.2}", by_key[round - 1], by_time[round - 1]);
        }
    }
    Ok(vec![
        Figure { name: "key_lookup", value: median(&mut by_key), baseline: None },
        Figure { name: "time_lookup", value: median(&mut by_time), baseline: None },
    ])
}

fn look_up_keys(store: &Store, count: u64, lookups: u64) -> Outcome<()> {
    let (mut state, mut key) = (1, String::new());
    for _ in 0..lookups {
        name(next(&mut state) % count, &mut key);
        let batch =
            store.query(TOPIC, &key, &KeyQuery { max_messages: 1, ..KeyQuery::default() })?;
        assert_eq!(black_box(&batch).len(), 1, "{key} is found");
    }
    Ok(())
}

fn look_up_times(store: &Store, lookups: u64) -> Outcome<()> {
    let time = |offset| -> Outcome<i64> {
        let batch = store.read(TOPIC, 0, offset, ReadLimits { max_messages: 1, max_bytes: 1 })?;
        Ok(batch.get(0).ok_or("a message")?.decode()?.store_ms())
    };
    let bounds = store.bounds(TOPIC, 0).ok_or("a queue")?;
    let (first, last) = (time(bounds.min)?, time(QueueOffset::new(bounds.max.get() - 1))?);
    let span = last.abs_diff(first) + 1;
    let mut state = 2;
    for _ in 0..lookups {
        let at = first + (next(&mut state) % span) as i64;
        let found = store.offset_at(TOPIC, 0, at, Boundary::Lower)?;
        assert!(black_box(found) < bounds.max, "{at} is found");
    }
    Ok(())
}

/// A store with so many small messages; `make` is given the number and the key of each.
fn filled(
    root: &Path,
    options: Options,
    count: u64,
    make: impl for<'a> Fn(u64, &'a [&'a str]) -> Message<'a>,
) -> Outcome<Store> {
    let store = Store::open(root, options)?;
    let mut key = String::new();
    for number in 0..count {
        name(number, &mut key);
        store.append(&make(number, &[key.as_str()]))?;
        if number % (1 << 20) == 0 {
            store.catch_up()?;
        }
    }
    store.catch_up()?;
    Ok(store)
}

/// The key of a message.
fn name(number: u64, into: &mut String) {
    into.clear();
    into.push_str("key-");
    for shift in (0..8).rev() {
        into.push(char::from(b'a' + (number >> (4 * shift) & 15) as u8));
    }
}

/// The next of numbers that look random.
fn next(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}
