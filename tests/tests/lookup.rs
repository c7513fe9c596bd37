//! Finding messages: by tag, by key, by id, by time; each hazard one short history.

use std::path::Path;
use std::sync::Arc;

use fastrand::Rng;
use spanlog::disk::{Disk, ManualClock, MemDisk};
use spanlog::record::OffsetId;
use spanlog::{
    Batch, Boundary, Error, ErrorKind, KeyKind, KeyQuery, Message, MessageView, OnDamage, Options,
    QueueOffset, ReadLimits, ReadStatus, Store, TagFilter, Task,
};

const NOW_MS: i64 = 1_700_000_000_000;

fn options() -> Options {
    Options::new().segment_len_bytes(16 << 10).queue_file_len_bytes(400).background(false)
}

/// A machine with one store.
struct Machine {
    disk: Arc<MemDisk>,
    clock: Arc<ManualClock>,
}

impl Machine {
    fn new() -> Self {
        Self { disk: Arc::new(MemDisk::new()), clock: Arc::new(ManualClock::new(NOW_MS)) }
    }

    fn try_open(&self, options: Options) -> Result<Store, Error> {
        let disk: Arc<dyn Disk> = Arc::clone(&self.disk) as Arc<_>;
        Store::open_on(disk, Arc::clone(&self.clock) as Arc<_>, "/store", options)
    }

    fn open(&self) -> Store {
        self.try_open(options()).expect("the store opens")
    }

    fn reader(&self) -> Store {
        self.try_open(options().read_only(true)).expect("the store opens for reading")
    }

    /// The machine after the process was killed, or after a loss of power.
    fn after(&self, power: bool) -> Self {
        let disk = if power { self.disk.crash(&mut || false) } else { self.disk.kill() };
        Self { disk: Arc::new(disk), clock: Arc::new(ManualClock::new(NOW_MS)) }
    }

    fn index_files(&self) -> Vec<std::path::PathBuf> {
        let dir = Path::new("/store/index");
        let entries = self.disk.list(dir).unwrap_or_default().into_iter();
        let mut files: Vec<_> = entries.map(|entry| dir.join(entry.name)).collect();
        files.sort();
        files
    }
}

/// Appends message `n` of topic `t`: its keys are `n` and its last digit, its tag is its parity.
fn append(store: &Store, numbers: std::ops::Range<u64>) {
    for n in numbers {
        let (own, digit, body) = (format!("n{n}"), format!("d{}", n % 10), format!("body {n}"));
        let keys = [own.as_str(), digit.as_str()];
        let tag = if n % 2 == 0 { "even" } else { "odd" };
        let message = Message::new("t", (n % 3) as u32, body.as_bytes()).keys(&keys).tags(tag);
        store.append(&message).expect("it is appended");
    }
}

fn views(batch: &Batch) -> Vec<MessageView<'_>> {
    batch.iter().map(|stored| stored.decode_verified().expect("a whole message")).collect()
}

/// The numbers of the messages of a batch.
fn numbers(batch: &Batch) -> Vec<u64> {
    let number = |view: MessageView<'_>| {
        let text = String::from_utf8_lossy(view.body()).into_owned();
        text.strip_prefix("body ").and_then(|rest| rest.parse().ok()).expect("a number")
    };
    views(batch).into_iter().map(number).collect()
}

fn many() -> KeyQuery {
    KeyQuery { max_messages: 10_000, ..KeyQuery::default() }
}

fn found(store: &Store, key: &str) -> Vec<u64> {
    numbers(&store.query("t", key, &many()).expect("a look-up"))
}

/// Every message is found by each of its keys, newest first, and by its tag and unique id.
fn check(store: &Store, range: std::ops::Range<u64>) {
    for n in range.clone() {
        assert_eq!(found(store, &format!("n{n}")), [n]);
    }
    for digit in 0..10 {
        let own: Vec<_> = range.clone().rev().filter(|n| n % 10 == digit).collect();
        assert_eq!(found(store, &format!("d{digit}")), own, "digit {digit}");
    }
    let tagged = KeyQuery { kind: KeyKind::Tag, ..many() };
    let even = store.query("t", "even", &tagged).expect("a look-up");
    assert_eq!(numbers(&even), range.clone().rev().filter(|n| n % 2 == 0).collect::<Vec<_>>());
    for view in views(&even) {
        let id = view.unique_id().expect("every message has one");
        let batch = store.find_by_id("t", id).expect("a look-up");
        assert_eq!(numbers(&batch), numbers_of(&view));
        let batch = store.find_by_id("t", &OffsetId::of(&view).to_string()).expect("a look-up");
        assert_eq!(numbers(&batch), numbers_of(&view));
    }
    assert_eq!(found(store, "none"), [0; 0]);
}

fn numbers_of(view: &MessageView<'_>) -> Vec<u64> {
    let text = String::from_utf8_lossy(view.body()).into_owned();
    vec![text.strip_prefix("body ").and_then(|rest| rest.parse().ok()).expect("a number")]
}

// By key.

#[test]
fn messages_are_found_by_everything_they_have() {
    let machine = Machine::new();
    let store = machine.open();
    append(&store, 0..300);
    assert_eq!(found(&store, "n7"), [0; 0], "what is not indexed is not visible");
    store.catch_up().unwrap();
    store.catch_up_keys().unwrap();
    check(&store, 0..300);
    assert!(machine.index_files().len() > 2, "several files");
    store.close().unwrap();
    check(&machine.reader(), 0..300);
    let store = machine.open();
    check(&store, 0..300);
    append(&store, 300..400);
    store.catch_up().unwrap();
    store.catch_up_keys().unwrap();
    check(&store, 0..400);
}

/// RocketMQ throws the last index file away after a crash and comes back with a part of
/// its keys.
#[test]
fn keys_survive_kill() {
    for power in [false, true] {
        for checkpointed in [0, 50, 150, 299] {
            let machine = Machine::new();
            let store = machine.open();
            append(&store, 0..checkpointed);
            store.catch_up().unwrap();
            store.catch_up_keys().unwrap();
            store.run(Task::Checkpoint).unwrap();
            append(&store, checkpointed..300);
            store.catch_up().unwrap();
            store.catch_up_keys().unwrap();
            store.flush().unwrap();
            let next = machine.after(power);
            check(&next.reader(), 0..300);
            let store = next.open();
            check(&store, 0..300);
            store.close().unwrap();
            let last = next.after(true);
            check(&last.reader(), 0..300);
            check(&last.open(), 0..300);
        }
    }
}

/// What a close said is there, also when power is lost right behind it.
#[test]
fn close_then_power_loss_index() {
    let machine = Machine::new();
    let store = machine.open();
    append(&store, 0..200);
    store.close().unwrap();
    let next = machine.after(true);
    let store = next.open();
    assert_eq!(store.watermarks().indexed, store.watermarks().appended);
    check(&store, 0..200);
}

/// An index that is gone, wholly or in part, is derived again, to the same
/// answers; until that is done the log is read.
#[test]
fn rebuild_equals_original() {
    let rows: [&dyn Fn(&Machine); 4] = [
        &|machine| machine.disk.lose(Path::new("/store/index")),
        &|machine| machine.disk.lose(&machine.index_files()[0]),
        &|machine| machine.disk.truncate(&machine.index_files()[1], 999).unwrap(),
        &|machine| machine.disk.lose(Path::new("/store/.spanlog/keys")),
    ];
    for damage in rows {
        let machine = Machine::new();
        let store = machine.open();
        append(&store, 0..200);
        store.close().unwrap();
        let before: Vec<_> =
            machine.index_files().iter().map(|file| machine.disk.read(file).unwrap()).collect();
        damage(&machine);
        check(&machine.reader(), 0..200);
        let store = machine.open();
        check(&store, 0..200);
        while store.run(Task::Index).unwrap() == spanlog::Next::Again {}
        check(&store, 0..200);
        store.close().unwrap();
        let after: Vec<_> =
            machine.index_files().iter().map(|file| machine.disk.read(file).unwrap()).collect();
        assert_eq!(after, before, "byte for byte");
    }
}

/// Files that were lost and made anew bear the old names: what was known of the old ones was taken
/// for them, although a loss of power had left nothing in them.
#[test]
fn what_was_known_of_lost_files_is_forgotten() {
    let machine = Machine::new();
    let store = machine.open();
    append(&store, 0..100);
    store.close().unwrap();
    machine.disk.lose(Path::new("/store/index"));
    let store = machine.open();
    while store.run(Task::Index).unwrap() == spanlog::Next::Again {}
    assert!(!machine.index_files().is_empty());
    machine.disk.sync_dir(Path::new("/store/index")).unwrap();
    let next = machine.after(true);
    check(&next.reader(), 0..100);
    check(&next.open(), 0..100);
}

/// An index of an earlier time is told by what it says of itself.
#[test]
fn stale_index_is_detected() {
    let machine = Machine::new();
    let store = machine.open();
    append(&store, 0..100);
    store.close().unwrap();
    let own = Path::new("/store/.spanlog/keys");
    let files: Vec<_> = machine.index_files().into_iter().chain([own.to_owned()]).collect();
    let old: Vec<_> =
        files.iter().map(|file| (file, machine.disk.read(file).unwrap().unwrap())).collect();
    let store = machine.open();
    append(&store, 100..200);
    store.close().unwrap();
    for (file, bytes) in old {
        machine.disk.write(file, &bytes);
    }
    let store = machine.open();
    check(&store, 0..200);
}

#[test]
fn a_store_without_an_index_reads_the_log() {
    let machine = Machine::new();
    let store = machine.try_open(options().key_index(false)).unwrap();
    append(&store, 0..100);
    store.catch_up().unwrap();
    store.catch_up_keys().unwrap();
    check(&store, 0..100);
    assert_eq!(machine.index_files().len(), 0);
    store.close().unwrap();
    // Switched on, it is built; switched off, what is there is not taken for whole.
    let store = machine.open();
    append(&store, 100..150);
    store.close().unwrap();
    assert!(!machine.index_files().is_empty());
    let store = machine.try_open(options().key_index(false)).unwrap();
    append(&store, 150..200);
    store.close().unwrap();
    check(&machine.open(), 0..200);
}

#[test]
fn other_sizes_build_the_index_anew() {
    let machine = Machine::new();
    let store = machine.open();
    append(&store, 0..100);
    store.close().unwrap();
    let other = options().index_slots(Some(50)).index_entries(Some(200));
    let store = machine.try_open(other).unwrap();
    check(&store, 0..100);
    append(&store, 100..120);
    store.close().unwrap();
    let len = |path: &Path| machine.disk.stat(path).unwrap().unwrap().len;
    assert!(machine.index_files().iter().all(|file| len(file) == 40 + 200 + 4000));
    check(&machine.open(), 0..120);
}

/// Two topics and two keys of one hash; the limit counts messages that match.
#[test]
fn key_hash_collision() {
    let machine = Machine::new();
    let store = machine.open();
    for n in 0..40 {
        let (topic, key) = [("Aa", "k"), ("BB", "k"), ("t", "Aa"), ("t", "BB")][n % 4];
        let body = format!("body {n}");
        store.append(&Message::new(topic, 0, body.as_bytes()).keys(&[key])).unwrap();
    }
    store.catch_up().unwrap();
    store.catch_up_keys().unwrap();
    for (at, (topic, key)) in
        [("Aa", "k"), ("BB", "k"), ("t", "Aa"), ("t", "BB")].iter().enumerate()
    {
        let limited = KeyQuery { max_messages: 3, ..KeyQuery::default() };
        let batch = store.query(topic, key, &limited).unwrap();
        let at = at as u64;
        assert_eq!(numbers(&batch), [36 + at, 32 + at, 28 + at]);
        assert_eq!(batch.status(), ReadStatus::Found);
        assert_eq!(store.query(topic, key, &many()).unwrap().len(), 10);
    }
}

/// Never more than was asked for, over several files; none is no sensible number.
#[test]
fn query_limit_respected() {
    let machine = Machine::new();
    let store = machine.open();
    append(&store, 0..300);
    store.catch_up().unwrap();
    store.catch_up_keys().unwrap();
    for max_messages in [1, 2, 29, 30, 31] {
        let batch = store.query("t", "d4", &KeyQuery { max_messages, ..many() }).unwrap();
        let all: Vec<_> = (0..300).rev().filter(|n| n % 10 == 4).collect();
        assert_eq!(numbers(&batch), all[..max_messages.min(30)]);
    }
    let none = store.query("t", "d4", &KeyQuery { max_messages: 0, ..many() });
    assert_eq!(none.unwrap_err().kind(), ErrorKind::Invalid);
}

/// A range within one file, between files and around everything; store time
/// counts, whatever the producer's clock said.
#[test]
fn range_by_time_is_exact() {
    let machine = Machine::new();
    let store = machine.open();
    for n in 0..120 {
        machine.clock.advance(7);
        let body = format!("body {n}");
        let message = Message::new("t", 0, body.as_bytes()).keys(&["k"]);
        store.append(&message.born_ms(NOW_MS - 3_600_000)).unwrap();
    }
    store.catch_up().unwrap();
    store.catch_up_keys().unwrap();
    let mut rng = Rng::with_seed(7);
    for _ in 0..200 {
        let from_ms = NOW_MS + rng.i64(-20..900);
        let to_ms = from_ms + rng.i64(-5..300);
        let batch = store.query("t", "k", &KeyQuery { from_ms, to_ms, ..many() }).unwrap();
        let is_in = |n: &u64| (from_ms..=to_ms).contains(&(NOW_MS + 7 * (*n as i64 + 1)));
        assert_eq!(numbers(&batch), (0..120).rev().filter(is_in).collect::<Vec<_>>());
    }
}

/// Times before the index file's first one, and 50 days and 30 years behind it.
#[test]
fn keys_are_found_at_any_time() {
    let machine = Machine::new();
    let store = machine.open();
    let times = [0, -90_000_000, 50 * 86_400_000, 30 * 365 * 86_400_000, 5];
    for (n, &by) in times.iter().enumerate() {
        machine.clock.set(NOW_MS + by);
        let body = format!("body {n}");
        store.append(&Message::new("t", 0, body.as_bytes()).keys(&["k"])).unwrap();
    }
    store.catch_up().unwrap();
    store.catch_up_keys().unwrap();
    assert_eq!(found(&store, "k"), [4, 3, 2, 1, 0]);
    for (n, &by) in times.iter().enumerate() {
        let at = NOW_MS + by;
        let batch = store.query("t", "k", &KeyQuery { from_ms: at, to_ms: at, ..many() }).unwrap();
        assert_eq!(numbers(&batch), [n as u64]);
    }
}

#[test]
fn keys_go_with_their_messages() {
    let machine = Machine::new();
    let store = machine.try_open(options().retention_ms(0)).unwrap();
    append(&store, 0..300);
    store.catch_up().unwrap();
    store.catch_up_keys().unwrap();
    let before = machine.index_files().len();
    store.clean_now().unwrap();
    for _ in 0..30 {
        machine.clock.advance(1000);
        store.run(Task::Clean).unwrap();
    }
    let start = store.watermarks().start;
    assert!(start.get() > 0);
    let bounds = (0..3).map(|queue| store.bounds("t", queue).unwrap().min.get() * 3 + queue as u64);
    let first = bounds.min().unwrap();
    check(&store, first..300);
    assert!(machine.index_files().len() < before, "files went with the log");
    assert_eq!(found(&store, "n0"), [0; 0]);
    store.close().unwrap();
    check(&machine.open(), first..300);
}

/// A damaged index is not believed: the log is read, and the index built anew.
#[test]
fn a_damaged_index_answers_rightly() {
    for read_only in [false, true] {
        let machine = Machine::new();
        let store = machine.open();
        append(&store, 0..60);
        store.close().unwrap();
        let file = machine.index_files()[0].clone();
        let len = machine.disk.stat(&file).unwrap().unwrap().len;
        let entries_at = len - 20 * u64::from(spare_entries(&machine, &file));
        for at in [entries_at + 20, entries_at + 24, entries_at + 31, entries_at + 60] {
            machine.disk.corrupt(&file, at, &[0xEE, 0xEE, 0xEE]).unwrap();
        }
        let store = machine.try_open(options().read_only(read_only)).unwrap();
        check(&store, 0..60);
        if !read_only {
            while store.run(Task::Index).unwrap() == spanlog::Next::Again {}
            check(&store, 0..60);
            store.close().unwrap();
            check(&machine.reader(), 0..60);
        }
    }
}

/// How many entries the file has, from its length and RocketMQ's proportion.
fn spare_entries(machine: &Machine, file: &Path) -> u32 {
    let len = machine.disk.stat(file).unwrap().unwrap().len - 40;
    // Four entries of 20 bytes for each slot of 4 bytes.
    (len / 84 * 4) as u32
}

/// Damage in the log is told, or passed over where the store is to do that.
#[test]
fn a_damaged_message_is_told() {
    let machine = Machine::new();
    let store = machine.open();
    append(&store, 0..100);
    store.catch_up().unwrap();
    store.catch_up_keys().unwrap();
    let position = store.query("t", "n50", &many()).unwrap().get(0).unwrap().position();
    store.close().unwrap();
    let segment = position.get() / (16 << 10) * (16 << 10);
    let path = Path::new("/store/commitlog").join(format!("{segment:020}"));
    machine.disk.corrupt(&path, position.get() - segment, &[0xFF; 8]).unwrap();
    let store = machine.open();
    assert_eq!(store.query("t", "n50", &many()).unwrap_err().kind(), ErrorKind::Corrupt);
    drop(store);
    let store = machine.try_open(options().on_damage(OnDamage::Skip)).unwrap();
    assert_eq!(found(&store, "n50"), [0; 0]);
    assert_eq!(found(&store, "d0").len(), 9);
}

#[test]
fn ids_lead_to_one_message() {
    let machine = Machine::new();
    let store = machine.open();
    let own = [("UNIQ_KEY", "my own id")];
    store.append(&Message::new("t", 0, b"body 1").properties(&own)).unwrap();
    let receipt = store.append(&Message::new("t", 0, b"body 2")).unwrap();
    store.catch_up().unwrap();
    store.catch_up_keys().unwrap();
    assert_eq!(numbers(&store.find_by_id("t", "my own id").unwrap()), [1]);
    let id =
        OffsetId { host: "127.0.0.1:10911".parse().unwrap(), position: receipt.position.get() };
    assert_eq!(numbers(&store.find_by_id("t", &id.to_string()).unwrap()), [2]);
    for (topic, id) in [
        ("u", id.to_string()),
        ("t", OffsetId { position: id.position + 1, ..id }.to_string()),
        ("t", OffsetId { position: u64::MAX, ..id }.to_string()),
        ("t", OffsetId { host: "10.0.0.1:10911".parse().unwrap(), ..id }.to_string()),
        ("t", "no id".to_owned()),
    ] {
        assert_eq!(store.find_by_id(topic, &id).unwrap().len(), 0, "{topic} {id}");
    }
}

// By tag.

/// Tags of one hash are told apart, and what is passed by is passed for good.
#[test]
fn filtered_read_advances() {
    let machine = Machine::new();
    let store = machine.try_open(options().segment_len_bytes(1 << 20)).unwrap();
    for n in 0..10_100 {
        let body = format!("body {n}");
        let tag = if n % 1000 == 999 { "Aa" } else { "BB" };
        store.append(&Message::new("t", 0, body.as_bytes()).tags(tag)).unwrap();
    }
    store.catch_up().unwrap();
    store.catch_up_keys().unwrap();
    let filter = TagFilter::parse("Aa").unwrap();
    let limits = ReadLimits { max_messages: 4, max_bytes: 1 << 20 };
    let (mut from, mut seen) = (QueueOffset::ZERO, Vec::new());
    loop {
        let batch = store.read_filtered("t", 0, from, &filter, limits).unwrap();
        if batch.status() == ReadStatus::AtEnd {
            break;
        }
        assert!(batch.next() > from && batch.len() <= 4);
        assert_eq!(batch.is_empty(), batch.status() == ReadStatus::NoMatch);
        seen.extend(numbers(&batch));
        from = batch.next();
    }
    assert_eq!(seen, (0..10).map(|n| 1000 * n + 999).collect::<Vec<_>>());
    assert_eq!(from.get(), 10_100);
    let none = TagFilter::parse("C").unwrap();
    let batch = store.read_filtered("t", 0, QueueOffset::ZERO, &none, limits).unwrap();
    assert_eq!((batch.status(), batch.next().get()), (ReadStatus::NoMatch, 10_100));
}

#[test]
fn filters_have_the_statuses_of_reads() {
    let machine = Machine::new();
    let store = machine.open();
    append(&store, 0..30);
    store.catch_up().unwrap();
    store.catch_up_keys().unwrap();
    let read = |expression: &str, queue, from| {
        let filter = TagFilter::parse(expression).unwrap();
        let from = QueueOffset::new(from);
        store.read_filtered("t", queue, from, &filter, ReadLimits::default()).unwrap()
    };
    assert_eq!(numbers(&read("even || odd", 1, 0)), (0..10).map(|n| 3 * n + 1).collect::<Vec<_>>());
    assert_eq!(numbers(&read("*", 1, 8)), [25, 28]);
    assert_eq!(numbers(&read("odd", 1, 5)), [19, 25]);
    for (queue, from, status, next) in [
        (0, 10, ReadStatus::AtEnd, 10),
        (0, 11, ReadStatus::TooLarge, 10),
        (7, 0, ReadStatus::NoQueue, 0),
    ] {
        let batch = read("odd", queue, from);
        assert_eq!((batch.status(), batch.next().get()), (status, next));
    }
}

/// A delayed message's tag code is a time; a filter still finds it by its tag.
#[test]
fn delayed_messages_are_found_by_tag() {
    let machine = Machine::new();
    let store = machine.open();
    let delay = [("DELAY", "3")];
    for (n, tag) in ["a", "b", "a"].iter().enumerate() {
        let body = format!("body {n}");
        let message = Message::new("SCHEDULE_TOPIC_XXXX", 2, body.as_bytes());
        store.append(&message.tags(tag).properties(&delay)).unwrap();
    }
    store.catch_up().unwrap();
    store.catch_up_keys().unwrap();
    let filter = TagFilter::parse("a").unwrap();
    let limits = ReadLimits::default();
    let batch = store.read_filtered("SCHEDULE_TOPIC_XXXX", 2, QueueOffset::ZERO, &filter, limits);
    assert_eq!(numbers(&batch.unwrap()), [0, 2]);
}

// By time.

fn at(store: &Store, time: i64, boundary: Boundary) -> u64 {
    store.offset_at("t", 0, time, boundary).expect("a look-up").get()
}

/// A store whose queue `t/0` has messages of these times; another topic's lie between.
fn stored_at(machine: &Machine, times: &[i64]) -> Store {
    let store = machine.try_open(options().queue_file_len_bytes(60)).unwrap();
    for &time in times {
        machine.clock.set(time);
        store.append(&Message::new("t", 0, b"x")).unwrap();
        store.append(&Message::new("u", 0, b"y")).unwrap();
    }
    store.catch_up().unwrap();
    store.catch_up_keys().unwrap();
    store
}

/// Repeated times, times between, before and behind, over a file's end.
#[test]
fn time_lookup_table() {
    let machine = Machine::new();
    let [t0, t1, t2, t3, t4] = [0, 100, 200, 300, 400].map(|by| NOW_MS + by);
    let store = stored_at(&machine, &[t1, t1, t1, t3, t3]);
    let rows = [(t0, 0, 0), (t1, 0, 2), (t2, 3, 2), (t3, 3, 4), (t4, 5, 4)];
    let far = [(i64::MIN, 0, 0), (i64::MAX, 5, 4)];
    for (time, lower, upper) in rows.into_iter().chain(far) {
        let found = (at(&store, time, Boundary::Lower), at(&store, time, Boundary::Upper));
        assert_eq!(found, (lower, upper), "{time}");
    }
    let none = store.offset_at("none", 0, t2, Boundary::Lower).unwrap();
    assert_eq!(none, QueueOffset::ZERO);
}

/// The clock steps back; the first at or after a time, and the last at or before it, are
/// what they are called.
#[test]
fn clock_steps_back() {
    let machine = Machine::new();
    let store = stored_at(&machine, &[100, 200, 150, 300]);
    let rows = [(99, 0, 0), (150, 1, 2), (160, 1, 2), (200, 1, 2), (250, 3, 2), (300, 3, 3)];
    for (time, lower, upper) in rows {
        let found = (at(&store, time, Boundary::Lower), at(&store, time, Boundary::Upper));
        assert_eq!(found, (lower, upper), "{time}");
    }
}

/// Any history of a clock: the answers are those of looking at every message, also after a clean
/// and an unclean end, and with the front dropped.
#[test]
fn time_lookup_is_that_of_looking_at_all() {
    for seed in 0..60 {
        let mut rng = Rng::with_seed(seed);
        let mut now = NOW_MS;
        let times: Vec<i64> = (0..rng.usize(1..150))
            .map(|_| {
                now += if rng.u8(..) < 25 { -rng.i64(0..400) } else { rng.i64(0..12) };
                now
            })
            .collect();
        let machine = Machine::new();
        let mut store = stored_at(&machine, &times);
        let machine = match rng.u8(..3) {
            0 => machine,
            1 => {
                store.close().unwrap();
                store = machine.open();
                machine
            }
            _ => {
                let next = machine.after(false);
                store = next.open();
                next
            }
        };
        if rng.bool() {
            store.close().unwrap();
            store = machine.try_open(options().retention_ms(0)).unwrap();
            machine.clock.set(now + 1_000_000);
            store.clean_now().unwrap();
            for _ in 0..rng.usize(1..4) {
                store.run(Task::Clean).unwrap();
            }
        }
        let min = store.bounds("t", 0).unwrap().min.get();
        let max = times.len() as u64;
        let kept = |range: std::ops::Range<u64>| range.map(|n| (n, times[n as usize]));
        for _ in 0..50 {
            let time = times[rng.usize(..times.len())] + rng.i64(-3..4);
            let lower = kept(min..max).find(|(_, stored)| *stored >= time).map_or(max, |(n, _)| n);
            let upper = kept(min..max).rfind(|(_, stored)| *stored <= time);
            let upper = upper.map_or(min, |(n, _)| n);
            let found = (at(&store, time, Boundary::Lower), at(&store, time, Boundary::Upper));
            assert_eq!(
                found,
                (lower, upper),
                "seed {seed}, {time} in {:?}",
                &times[min as usize..]
            );
        }
    }
}
