//! Appending: one by one, by two writers, in batches, and durably.

use std::fmt::Write as _;
use std::fs::{self, OpenOptions};
use std::hint::black_box;
use std::io::Write as _;
use std::thread;

use spanlog::base::crc::checksum;
use spanlog::{Message, Options};

use crate::harness::{Figure, Outcome, Setup, Side, per_second};
use crate::load::{QUEUES, append, body, message, record, store};

/// Messages in a batch.
const BATCH: u64 = 16;

/// Messages that are made durable together.
const GROUP: u64 = 100;

/// 128 bytes, one by one, with and without a key index; the baseline is `write`.
pub fn small(setup: &Setup) -> Outcome<Vec<Figure>> {
    let names = ["append_128", "append_128_no_keys"];
    beside_write(setup, names, setup.sizes.small, &body(128))
}

/// 1 KiB, one by one, with and without a key index; the baseline is `write`.
pub fn large(setup: &Setup) -> Outcome<Vec<Figure>> {
    beside_write(setup, ["append_1k", "append_1k_no_keys"], setup.sizes.large, &body(1024))
}

fn beside_write(
    setup: &Setup,
    [name, name_without]: [&'static str; 2],
    count: u64,
    body: &[u8],
) -> Outcome<Vec<Figure>> {
    let record = record(body)?;
    let without = || setup.sizes.options_without_keys();
    let mut sides: [Side<'_>; 3] = [
        Box::new(|| singles(setup, count, body)),
        Box::new(|| singles_with(setup, without(), count, body)),
        Box::new(|| writes(setup, count, body, &record)),
    ];
    let medians = setup.in_turns(count * record.len() as u64, &mut sides)?;
    let baseline = Some(medians[2]);
    Ok(vec![
        Figure { name, value: medians[0], baseline },
        Figure { name: name_without, value: medians[1], baseline },
    ])
}

/// Two threads append to one store; the baseline is one thread that appends as many.
pub fn two_writers(setup: &Setup) -> Outcome<Vec<Figure>> {
    let (count, body) = (setup.sizes.large, body(1024));
    let bytes = count * record(&body)?.len() as u64;
    let mut sides: [Side<'_>; 2] =
        [Box::new(|| doubles(setup, count, &body)), Box::new(|| singles(setup, count, &body))];
    figure(setup, "append_1k_two_writers", bytes, &mut sides)
}

/// 1 KiB with two keys; the baseline is the same without. Both have a unique id and tags.
pub fn two_keys(setup: &Setup) -> Outcome<Vec<Figure>> {
    let (count, body) = (setup.sizes.large, body(1024));
    let bytes = count * record(&body)?.len() as u64;
    let mut sides: [Side<'_>; 2] =
        [Box::new(|| keyed(setup, count, &body, 2)), Box::new(|| keyed(setup, count, &body, 0))];
    figure(setup, "append_1k_two_keys", bytes, &mut sides)
}

/// Batches of 16 messages of 128 bytes; the baseline is one by one.
pub fn batches(setup: &Setup) -> Outcome<Vec<Figure>> {
    let (count, body) = (setup.sizes.small, body(128));
    let bytes = count * record(&body)?.len() as u64;
    let mut sides: [Side<'_>; 2] =
        [Box::new(|| in_batches(setup, count, &body)), Box::new(|| singles(setup, count, &body))];
    figure(setup, "batch_16x128", bytes, &mut sides)
}

/// Groups of 100 messages of 1 KiB, each durable when the call returns; the baseline is 100 times
/// `write` and one `fdatasync`.
pub fn durable_groups(setup: &Setup) -> Outcome<Vec<Figure>> {
    let body = body(1024);
    let record = record(&body)?;
    let bytes = setup.sizes.groups * GROUP * record.len() as u64;
    let mut sides: [Side<'_>; 2] = [
        Box::new(|| durable_batches(setup, &body)),
        Box::new(|| durable_writes(setup, &body, &record)),
    ];
    figure(setup, "durable_groups_of_100", bytes, &mut sides)
}

fn figure(
    setup: &Setup,
    name: &'static str,
    bytes: u64,
    sides: &mut [Side<'_>; 2],
) -> Outcome<Vec<Figure>> {
    let medians = setup.in_turns(bytes, sides)?;
    Ok(vec![Figure { name, value: medians[0], baseline: Some(medians[1]) }])
}

/// Messages per second into a new store, until the queues are readable.
fn singles(setup: &Setup, count: u64, body: &[u8]) -> Outcome<f64> {
    singles_with(setup, setup.sizes.options(), count, body)
}

/// The same with other options.
pub fn singles_with(setup: &Setup, options: Options, count: u64, body: &[u8]) -> Outcome<f64> {
    in_new_store(setup, options, count, |store| append(store, count, body))
}

fn doubles(setup: &Setup, count: u64, body: &[u8]) -> Outcome<f64> {
    let half =
        |store: &spanlog::Store| append(store, count / 2, body).map_err(|error| error.to_string());
    in_new_store(setup, setup.sizes.options(), count, |store| {
        thread::scope(|scope| {
            let other = scope.spawn(|| half(store));
            half(store)?;
            other.join().expect("the second writer does not panic")?;
            Ok(())
        })
    })
}

/// Messages per second with so many keys, until queues and key index have all.
fn keyed(setup: &Setup, count: u64, body: &[u8], keys: usize) -> Outcome<f64> {
    in_new_store(setup, setup.sizes.options(), count, |store| {
        let mut texts = [String::new(), String::new()];
        for number in 0..count {
            for (text, kind) in texts.iter_mut().zip(["order", "customer"]) {
                text.clear();
                write!(text, "{kind}-{number:010}")?;
            }
            let own = [texts[0].as_str(), texts[1].as_str()];
            let queue = (number % u64::from(QUEUES)) as u32;
            store.append(&Message { keys: &own[..keys], ..message(queue, body) })?;
        }
        store.catch_up()?;
        Ok(store.catch_up_keys()?)
    })
}

fn in_batches(setup: &Setup, count: u64, body: &[u8]) -> Outcome<f64> {
    in_new_store(setup, setup.sizes.options(), count, |store| {
        for number in 0..count / BATCH {
            let queue = (number % u64::from(QUEUES)) as u32;
            let batch: [_; BATCH as usize] = std::array::from_fn(|_| message(queue, body));
            store.append_batch(&batch)?;
        }
        Ok(())
    })
}

fn in_new_store(
    setup: &Setup,
    options: Options,
    count: u64,
    work: impl FnOnce(&spanlog::Store) -> Outcome<()>,
) -> Outcome<f64> {
    let root = setup.dir.join("store");
    let store = store(&root, options)?;
    let rate = per_second(count, || {
        work(&store)?;
        Ok(store.catch_up()?)
    })?;
    drop(store);
    fs::remove_dir_all(root)?;
    Ok(rate)
}

fn durable_batches(setup: &Setup, body: &[u8]) -> Outcome<f64> {
    let root = setup.dir.join("store");
    let options = setup.sizes.durable_options();
    let store = store(&root, options)?;
    let groups = setup.sizes.groups;
    let rate = per_second(groups * GROUP, || {
        for number in 0..groups {
            let queue = (number % u64::from(QUEUES)) as u32;
            let group: [_; GROUP as usize] = std::array::from_fn(|_| message(queue, body));
            store.append_batch(&group)?;
        }
        Ok(store.catch_up()?)
    })?;
    drop(store);
    fs::remove_dir_all(root)?;
    Ok(rate)
}

/// One `write` of the whole record per message, its two checksums computed, and nothing else.
fn writes(setup: &Setup, count: u64, body: &[u8], record: &[u8]) -> Outcome<f64> {
    in_new_file(setup, count, |file| {
        for _ in 0..count {
            write_one(file, body, record)?;
        }
        Ok(())
    })
}

fn durable_writes(setup: &Setup, body: &[u8], record: &[u8]) -> Outcome<f64> {
    let groups = setup.sizes.groups;
    in_new_file(setup, groups * GROUP, |file| {
        for _ in 0..groups {
            for _ in 0..GROUP {
                write_one(file, body, record)?;
            }
            file.sync_data()?;
        }
        Ok(())
    })
}

fn write_one(file: &mut fs::File, body: &[u8], record: &[u8]) -> Outcome<()> {
    black_box(checksum(black_box(body)));
    black_box(checksum(black_box(record)));
    Ok(file.write_all(record)?)
}

fn in_new_file(
    setup: &Setup,
    count: u64,
    work: impl FnOnce(&mut fs::File) -> Outcome<()>,
) -> Outcome<f64> {
    let path = setup.dir.join("plain");
    let mut file = OpenOptions::new().append(true).create_new(true).open(&path)?;
    let rate = per_second(count, || work(&mut file))?;
    fs::remove_file(path)?;
    Ok(rate)
}
