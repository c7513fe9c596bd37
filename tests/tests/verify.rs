//! Verification: what is damaged is found and located, and what is not is not reported.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use spanlog::disk::MemDisk;
use spanlog::{
    CursorOptions, Error, ErrorKind, FindingKind, Message, Next, Options, Part, ReadLimits, Store,
    Task, Verification,
};
use spanlog_tests::small_store::{
    QUEUES, ROOT, TOPIC, append, bare_options, body, files, open, options,
};

const MESSAGES: u32 = 45;

/// A store that was closed, with keys, tags and a cursor.
fn closed() -> MemDisk {
    let disk = Arc::new(MemDisk::new());
    let store = open(&disk, options()).unwrap();
    for number in 0..MESSAGES {
        let (body, key) = (body(number), format!("order-{}", number % 7));
        let keys = [&*key, "every"];
        let message = Message::new(TOPIC, number % QUEUES, body.as_bytes()).keys(&keys);
        store.append(&message.tags(if number % 2 == 0 { "even" } else { "odd" })).unwrap();
    }
    consume(&store);
    store.close().unwrap();
    disk.kill()
}

/// A cursor that acknowledged some messages out of order, in two commits.
fn consume(store: &Store) {
    store.catch_up().unwrap();
    let cursor = store.cursor("billing", TOPIC, CursorOptions::default()).unwrap();
    for round in 0..2 {
        let limits = ReadLimits { max_messages: 9, ..ReadLimits::default() };
        let delivery = cursor.poll(limits, Duration::ZERO).unwrap();
        for delivered in delivery.iter().skip(round).step_by(2) {
            cursor.ack(delivered.queue, delivered.message.queue_offset()).unwrap();
        }
        cursor.commit().unwrap();
    }
}

fn verified(disk: &Arc<MemDisk>) -> Result<Verification, Error> {
    let mut verification = Verification::on(Arc::clone(disk) as Arc<_>, ROOT, &Options::new())?;
    verification.run()?;
    Ok(verification)
}

fn texts(verification: &Verification) -> Vec<String> {
    verification.findings().iter().map(ToString::to_string).collect()
}

#[track_caller]
fn check_sound(disk: &Arc<MemDisk>, records: u32) {
    let verification = verified(disk).unwrap();
    assert_eq!(texts(&verification), [""; 0]);
    assert!(verification.is_sound());
    assert_eq!(verification.records(), u64::from(records));
}

fn all_files(disk: &MemDisk) -> Vec<(PathBuf, u64)> {
    let dirs = ["/d0", "/d1", "/d2", ROOT].map(Path::new);
    dirs.iter().flat_map(|dir| files(disk, dir)).collect()
}

/// Bytes that nobody reads, or that nothing says more about than they themselves do.
fn does_not_matter(disk: &MemDisk, path: &Path, at: u64) -> bool {
    let text = path.to_string_lossy();
    let is = |name: &str| path == Path::new(ROOT).join(name);
    let at_sector = at % 4096;
    let in_slot = at_sector < 512;
    is("lock")
        || is(".spanlog/reserve")
        || (is(".spanlog/marks") && !in_slot)
        // The case of a hexadecimal digit of its checksum.
        || (is(".spanlog/store") && at % 8 == 5)
        // Only what is ours of RocketMQ's checkpoint is looked at.
        || (is("checkpoint") && (16..32).contains(&at) || is("checkpoint") && at >= 48)
        || (text.starts_with("/d") && is_behind_padding(disk, path, at))
        || (text.starts_with("/store/index/") && is_unused_entry(disk, path, at))
        // A page that holds something is its two slots.
        || (text.contains("/cursors/") && !in_slot && is_written(disk, path, at / 8192 * 8192))
}

/// In a small store an index file has 19 slots. Entry 0 is never used, and those from the header's
/// count on are not used yet.
fn is_unused_entry(disk: &MemDisk, path: &Path, at: u64) -> bool {
    use spanlog::disk::Disk;
    let bytes = disk.read(path).unwrap().unwrap();
    let count = u64::from(u32::from_be_bytes(bytes[36..40].try_into().unwrap()));
    let Some(entry) = at.checked_sub(40 + 4 * 19) else { return false };
    entry / 20 == 0 || entry / 20 >= count
}

fn is_written(disk: &MemDisk, path: &Path, page: u64) -> bool {
    use spanlog::disk::Disk;
    disk.read(path).unwrap().unwrap()[page as usize..][..4] == *b"SPLS"
}

/// What follows a padding's header to the segment's end is never read.
fn is_behind_padding(disk: &MemDisk, path: &Path, at: u64) -> bool {
    use spanlog::disk::Disk;
    let bytes = disk.read(path).unwrap().unwrap();
    let magic = spanlog::record::MAGIC_PADDING.to_be_bytes();
    let found = bytes.windows(4).rposition(|window| window == magic);
    found.is_some_and(|found| at >= found as u64 + 4)
}

fn step(len: u64) -> usize {
    if len > 10_000 { 9973 } else { 1 }
}

#[test]
fn every_flipped_byte_of_a_closed_store_is_found_or_does_not_matter() {
    let subject = closed();
    let (mut found, mut free) = (0, 0);
    for (path, len) in all_files(&subject) {
        for at in (0..len).step_by(step(len)) {
            let disk = Arc::new(subject.kill());
            disk.flip(&path, at, 1 << (at % 8)).unwrap();
            let context = format!("{} byte {at}", path.display());
            match verified(&disk) {
                Err(error) => {
                    assert_eq!(error.kind(), ErrorKind::Corrupt, "{context}: {error}");
                    assert_eq!(error.path(), Some(&*path), "{context}");
                    found += 1;
                }
                Ok(told) if told.findings().is_empty() => {
                    assert!(does_not_matter(&subject, &path, at), "{context} was not found");
                    free += 1;
                }
                Ok(told) => {
                    let is_here = |f: &spanlog::Finding| f.path == path;
                    assert!(told.findings().iter().any(is_here), "{context}: {:?}", texts(&told));
                    found += 1;
                }
            }
        }
    }
    assert!(found > 10_000 && free > 1000, "{found} found, {free} do not matter");
}

#[test]
fn damage_is_located() {
    let disk = Arc::new(closed());
    let segment = Path::new("/d1/00000000000000004096");
    disk.flip(segment, 100, 0xFF).unwrap();
    let told = verified(&disk).unwrap();
    assert!(!told.is_sound());
    let [finding] = told.findings() else { panic!("{:?}", texts(&told)) };
    assert_eq!((finding.kind, finding.is_damage), (FindingKind::Record, true));
    assert_eq!((&*finding.path, finding.offset), (segment, 0));
    let range = finding.range.clone().unwrap();
    assert_eq!((range.start, range.end - range.start), (4096, finding.len_bytes));
    assert_eq!(told.records(), u64::from(MESSAGES) - 1);
}

#[test]
fn every_truncation_is_found() {
    let subject = closed();
    for (path, len) in all_files(&subject) {
        let own = path.strip_prefix(ROOT).unwrap_or(&path).to_string_lossy().into_owned();
        if ["lock", ".spanlog/reserve"].contains(&&*own) {
            continue;
        }
        for cut in (0..len as usize).step_by(if len > 1000 { 13 } else { 1 }) {
            if own == ".spanlog/store" && cut as u64 + 1 == len {
                continue; // The last line is whole without its end.
            }
            let disk = Arc::new(subject.kill());
            disk.truncate(&path, cut).unwrap();
            let context = format!("{} cut at {cut}", path.display());
            match verified(&disk) {
                Err(error) => assert_eq!(error.kind(), ErrorKind::Corrupt, "{context}: {error}"),
                Ok(told) => assert!(!told.is_sound(), "{context} was not found"),
            }
        }
    }
}

/// Every file may be away; only without a checkpoint or a lock nothing is missing.
#[test]
fn every_missing_file_is_found() {
    let subject = closed();
    for (path, _) in all_files(&subject) {
        let own = path.strip_prefix(ROOT).unwrap_or(&path).to_string_lossy().into_owned();
        let disk = Arc::new(subject.kill());
        disk.lose(&path);
        let told = verified(&disk);
        // Without the catalogue the index is built anew; of a cursor nothing else knows.
        let (keys, cursor) = (".spanlog/keys", ".spanlog/cursors/orders/billing");
        let is_free = ["lock", "checkpoint", ".spanlog/reserve", ".spanlog/store", keys, cursor];
        let is_free = is_free.contains(&&*own) || own == ".spanlog/marks";
        let is_sound = told.as_ref().is_ok_and(|told| told.is_sound());
        assert!(is_free || !is_sound, "{own} is missing and nobody says so");
    }
}

/// One record, filler, a removed front, nothing at all, and a store being written.
#[test]
fn healthy_stores_are_sound() {
    for messages in [0, 1, 2, MESSAGES, 500] {
        let disk = Arc::new(MemDisk::new());
        let store = open(&disk, options().retention_ms(0)).unwrap();
        append(&store, 0..messages);
        store.catch_up().unwrap();
        check_sound(&disk, messages);
        store.clean_now().unwrap();
        while store.run(Task::Clean).unwrap() == Next::Again {}
        let start = store.watermarks().start;
        assert!(messages < 500 || start > spanlog::Position::ZERO);
        store.close().unwrap();
        let told = verified(&disk).unwrap();
        assert_eq!(texts(&told), [""; 0], "{messages} messages");
        assert_eq!(told.range().start, start);
    }
}

/// A process that is killed leaves units that are not written yet, and nothing wrong.
#[test]
fn a_killed_store_is_sound_and_its_tail_is_told() {
    let disk = Arc::new(MemDisk::new());
    let store = open(&disk, options()).unwrap();
    append(&store, 0..20);
    store.catch_up().unwrap();
    store.run(Task::Checkpoint).unwrap();
    append(&store, 20..MESSAGES);
    let end = store.watermarks().appended.get();
    let killed = Arc::new(disk.kill());
    check_sound(&killed, MESSAGES);

    let base = end / 4096 * 4096;
    let path = (0..3).map(|n| PathBuf::from(format!("/d{n}/{base:020}")));
    let path = path.into_iter().find(|path| killed.flip(path, end - base - 5, 1).is_ok()).unwrap();
    let told = verified(&killed).unwrap();
    let [finding] = told.findings() else { panic!("{:?}", texts(&told)) };
    assert_eq!((finding.kind, finding.is_damage), (FindingKind::TornTail, false));
    assert_eq!(finding.path, path);
    assert_eq!(finding.offset + finding.len_bytes, end - base);
    assert!(told.is_sound() && !told.was_closed());
}

/// Beside its own writer nothing that is under way is taken for damage.
#[test]
fn a_live_store_verifies_itself() {
    let disk = Arc::new(MemDisk::new());
    let store = Arc::new(open(&disk, options()).unwrap());
    let writer = {
        let store = Arc::clone(&store);
        std::thread::spawn(move || {
            for number in 0..3000 {
                append(&store, number..number + 1);
                if number % 50 == 0 {
                    store.catch_up().unwrap();
                    store.run(Task::Checkpoint).unwrap();
                }
            }
        })
    };
    let mut most = 0;
    while !writer.is_finished() {
        let mut verification = Verification::of(&store).unwrap();
        verification.run().unwrap();
        assert_eq!(texts(&verification), [""; 0], "{verification:#?}");
        most = most.max(verification.records());
    }
    writer.join().unwrap();
    assert!(most > 0, "it met the writer");
}

#[test]
fn progress_ends_where_it_said() {
    let disk = Arc::new(closed());
    let mut verification = Verification::on(disk as Arc<_>, ROOT, &Options::new()).unwrap();
    let mut parts = Vec::new();
    while let Some(progress) = verification.step().unwrap() {
        assert!(progress.done <= progress.total, "{progress:?}");
        parts.push(progress.part);
    }
    parts.dedup();
    assert_eq!(parts, [Part::Queues, Part::Marks]);
    assert_eq!(verification.step().unwrap(), None);
}

/// Units that were exchanged, doubled or invented are wrong although each is one.
#[test]
fn units_of_other_records_are_found() {
    use spanlog::disk::Disk;
    let subject = closed();
    let queue = Path::new(ROOT).join("consumequeue").join(TOPIC).join("1");
    let file = queue.join("00000000000000000000");
    let bytes = subject.read(&file).unwrap().unwrap();
    let count = u64::from(MESSAGES / QUEUES);
    let rows: [(u64, &[u8], u64); 3] =
        [(20, &bytes[40..60], 20), (20 * count, &bytes[0..20], 20 * count), (40, &[0; 20], 40)];
    for (at, unit, told_at) in rows {
        let disk = Arc::new(subject.kill());
        disk.corrupt(&file, at, unit).unwrap();
        let told = verified(&disk).unwrap();
        let [finding] = told.findings() else { panic!("{at}: {:?}", texts(&told)) };
        assert_eq!((finding.kind, finding.is_damage), (FindingKind::Unit, true));
        assert_eq!((finding.offset, finding.len_bytes), (told_at, 20));
    }
    let disk = Arc::new(subject.kill());
    disk.lose(&queue);
    let told = verified(&disk).unwrap();
    let [finding] = told.findings() else { panic!("{:?}", texts(&told)) };
    assert_eq!((&*finding.path, finding.len_bytes), (&*queue, 20 * count));
}

#[test]
fn what_is_no_store_is_refused() {
    let disk = Arc::new(MemDisk::new());
    assert_eq!(verified(&disk).err().unwrap().kind(), ErrorKind::Invalid);
    let store = open(&disk, bare_options().directory("/a")).unwrap();
    store.append(&Message::new("a", 0, b"x")).unwrap();
    store.close().unwrap();
    disk.lose(Path::new("/a"));
    let told = verified(&disk).unwrap();
    assert!(told.findings().iter().any(|found| found.kind == FindingKind::Missing));
    let options = Options::new().allow_offline(true);
    let mut partial = Verification::on(disk as Arc<_>, ROOT, &options).unwrap();
    partial.run().unwrap();
    let missing = |found: &&spanlog::Finding| found.kind == FindingKind::Missing;
    assert!(partial.findings().iter().filter(missing).all(|found| !found.is_damage));
}

/// Damage to the key index that is a sensible value, as no single flip makes it.
#[test]
fn what_the_key_index_says_is_compared_with_the_log() {
    use spanlog::disk::Disk;
    let subject = closed();
    let (path, _) = files(&subject, &Path::new(ROOT).join("index")).swap_remove(0);
    let bytes = subject.read(&path).unwrap().unwrap();
    let entry = |number: usize| 40 + 4 * 19 + 20 * number;
    let entries = |from: usize, to: usize| bytes[entry(from)..entry(to)].to_vec();
    let swapped = [entries(6, 7), entries(5, 6)].concat();
    let rows: [(&str, usize, Vec<u8>); 4] = [
        ("one entry twice, the other lost", entry(6), entries(5, 6)),
        ("two entries exchanged", entry(5), swapped),
        ("a slot that leads to nothing", 40, vec![0; 4 * 19]),
        ("a chain that leaves one out", entry(8) + 16, vec![0; 4]),
    ];
    for (what, at, damage) in rows {
        let disk = Arc::new(subject.kill());
        disk.corrupt(&path, at as u64, &damage).unwrap();
        let told = verified(&disk).unwrap();
        let is_here = |found: &spanlog::Finding| {
            found.kind == FindingKind::Key && found.is_damage && found.path == path
        };
        assert!(told.findings().iter().any(is_here), "{what}: {:?}", texts(&told));
    }
}

/// Index files hold what was retained and more, and a killed process leaves them behind the log.
#[test]
fn a_key_index_of_any_age_is_sound() {
    let disk = Arc::new(MemDisk::new());
    let store = open(&disk, options().retention_ms(0)).unwrap();
    for round in 0..12 {
        append(&store, 40 * round..40 * (round + 1));
        store.catch_up().unwrap();
        let is_written = round % 3 == 0;
        if is_written {
            store.run(Task::Checkpoint).unwrap();
        }
        store.clean_now().unwrap();
        while store.run(Task::Clean).unwrap() == Next::Again {}
        let told = verified(&Arc::new(disk.kill())).unwrap();
        assert_eq!(texts(&told), [""; 0], "round {round}");
    }
    assert!(store.watermarks().start > spanlog::Position::ZERO);
    let killed = Arc::new(disk.kill());
    let again = open(&killed, bare_options()).unwrap();
    append(&again, 480..500);
    again.close().unwrap();
    let told = verified(&killed).unwrap();
    assert_eq!(texts(&told), [""; 0]);
}
