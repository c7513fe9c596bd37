//! Repair: whatever was damaged, afterwards the store is sound, every message that was not damaged
//! is there, what was cut or written over is in a file, and a second look finds nothing to do.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use spanlog::disk::{Disk, MemDisk};
use spanlog::{
    CursorOptions, Error, ErrorKind, FindingKind, Message, Options, QueueOffset, ReadLimits,
    RepairAction, RepairPlan, Repaired, Store, Verification,
};
use spanlog_tests::small_store::{
    ROOT, append, bare_options, files, open, options, survivors, try_append,
};

const MESSAGES: u32 = 45;

/// A store on a disk, and where its messages are.
struct Subject {
    disk: MemDisk,
    places: Vec<Range<u64>>,
}

impl Subject {
    fn closed() -> Self {
        let disk = Arc::new(MemDisk::new());
        let store = open(&disk, options()).unwrap();
        let place = |number| {
            let receipt = try_append(&store, number).unwrap();
            receipt.position.get()..receipt.end.get()
        };
        let places = (0..MESSAGES).map(place).collect();
        store.catch_up().unwrap();
        let cursor = store.cursor("billing", "orders", CursorOptions::default()).unwrap();
        cursor.poll(ReadLimits::default(), Duration::ZERO).unwrap();
        for queue in 0..3 {
            cursor.ack_up_to(queue, QueueOffset::new(4)).unwrap();
        }
        cursor.commit().unwrap();
        drop(cursor);
        store.close().unwrap();
        Self { disk: disk.kill(), places }
    }

    fn copy(&self) -> Arc<MemDisk> {
        Arc::new(self.disk.kill())
    }

    fn files(&self) -> Vec<(PathBuf, u64)> {
        let dirs = ["/d0", "/d1", "/d2", ROOT].map(Path::new);
        dirs.iter().flat_map(|dir| files(&self.disk, dir)).collect()
    }

    /// The messages of which no byte lies in these bytes of a segment.
    fn untouched(&self, path: &Path, bytes: &Range<u64>) -> Vec<u32> {
        let base = path.file_name().and_then(|name| name.to_str()?.parse::<u64>().ok());
        let base = base.filter(|_| !path.starts_with(ROOT));
        let is_hit = |place: &Range<u64>| {
            base.is_some_and(|base| {
                place.start < base + bytes.end && base + bytes.start < place.end
            })
        };
        let numbered = (0..MESSAGES).zip(&self.places);
        numbered.filter(|(_, place)| !is_hit(place)).map(|(number, _)| number).collect()
    }
}

fn plan(disk: &Arc<MemDisk>) -> Result<(Verification, RepairPlan), Error> {
    let mut told = Verification::on(Arc::clone(disk) as Arc<_>, ROOT, &options())?;
    told.run()?;
    let plan = RepairPlan::of(&told)?;
    Ok((told, plan))
}

/// Repairs as often as it takes, and checks that then nothing is left to do.
#[track_caller]
fn repaired(disk: &Arc<MemDisk>, context: &str) -> Vec<Repaired> {
    let mut done = Vec::new();
    loop {
        let (told, plan) = plan(disk).unwrap_or_else(|error| panic!("{context}: {error}"));
        if plan.is_empty() {
            let texts: Vec<_> = told.findings().iter().map(ToString::to_string).collect();
            assert!(told.is_sound(), "{context}: {texts:?}");
            return done;
        }
        assert!(done.len() < 3, "{context}: still {:?}", plan.actions());
        let outcome = plan.apply().unwrap_or_else(|error| panic!("{context}: {error}"));
        done.push(outcome);
    }
}

/// All bytes that a repair saved.
fn saved(disk: &MemDisk, done: &[Repaired]) -> Vec<Vec<u8>> {
    let paths = done.iter().flat_map(|outcome| &outcome.saved);
    paths.map(|path| disk.read(path).unwrap().expect("it was saved")).collect()
}

fn check_flip(subject: &Subject, path: &Path, at: u64) {
    let context = format!("{} byte {at}", path.display());
    let disk = subject.copy();
    disk.flip(path, at, 1 << (at % 8)).unwrap();
    let before = disk.read(path).unwrap().unwrap();
    let done = repaired(&disk, &context);
    let store = open(&disk, bare_options()).unwrap_or_else(|error| panic!("{context}: {error}"));
    let found = survivors(&store);
    assert!(found.errors.is_empty(), "{context}: {:?}", found.errors);
    let expected = subject.untouched(path, &(at..at + 1));
    assert!(expected.iter().all(|number| found.numbers.contains(number)), "{context}");
    let lost = MESSAGES as usize - found.numbers.len();
    let kept = saved(&disk, &done);
    let holds = |bytes: &Vec<u8>| {
        !bytes.is_empty() && before.windows(bytes.len()).any(|window| window == bytes)
    };
    assert!(lost == 0 || kept.iter().any(holds), "{context}: {lost} lost and not saved");
    check_cursor(&store, &context);
    append(&store, MESSAGES..MESSAGES + 3);
}

/// The cursor passes by nothing that it had not acknowledged.
fn check_cursor(store: &Store, context: &str) {
    let cursors = store.cursors().unwrap();
    let [billing] = &*cursors else { panic!("{context}: {cursors:?}") };
    assert_eq!(billing.damage, None, "{context}");
    assert!(billing.queues.iter().all(|queue| queue.next.get() <= 15), "{context}: {billing:?}");
    assert!(billing.queues.iter().all(|queue| queue.acknowledged.get() <= 4), "{context}");
}

#[test]
fn any_flipped_byte_can_be_mended() {
    let subject = Subject::closed();
    for (path, len) in subject.files() {
        let step = if len > 10_000 { 9973 } else { 5 };
        for at in (0..len).step_by(step) {
            check_flip(&subject, &path, at);
        }
    }
}

#[test]
fn any_cut_file_can_be_mended() {
    let subject = Subject::closed();
    for (path, len) in subject.files() {
        let own = path.strip_prefix(ROOT).unwrap_or(&path).to_string_lossy().into_owned();
        if ["lock", ".spanlog/reserve"].contains(&&*own) {
            continue;
        }
        for cut in (0..len).step_by(if len > 1000 { 331 } else { 7 }) {
            let context = format!("{} cut at {cut}", path.display());
            let disk = subject.copy();
            disk.truncate(&path, cut as usize).unwrap();
            if cut == 0 && path.ends_with("00000000000000012288") {
                // An empty file at the end stands for nothing: its segment is away.
                assert!(plan(&disk).unwrap().1.is_empty());
                continue;
            }
            repaired(&disk, &context);
            let store = open(&disk, bare_options());
            let store = store.unwrap_or_else(|error| panic!("{context}: {error}"));
            let found = survivors(&store);
            assert!(found.errors.is_empty(), "{context}: {:?}", found.errors);
            let expected = subject.untouched(&path, &(cut..len));
            assert!(expected.iter().all(|number| found.numbers.contains(number)), "{context}");
        }
    }
}

/// Two segments wiped out in the middle, over the end of one and the beginning of the next.
#[test]
fn a_range_over_several_segments_is_padded_over() {
    let subject = Subject::closed();
    let disk = subject.copy();
    let first = Path::new("/d0/00000000000000000000");
    let before = disk.read(first).unwrap().unwrap();
    disk.corrupt(first, 2000, &vec![0xEE; 2096]).unwrap();
    disk.corrupt(Path::new("/d1/00000000000000004096"), 0, &[0xEE; 700]).unwrap();
    let (told, plan) = plan(&disk).unwrap();
    let [finding] = told.findings() else { panic!("{:?}", told.findings()) };
    let range = finding.range.clone().unwrap();
    assert!(range.start <= 2000 && range.end >= 4796, "{range:?}");
    let pads = |action: &&RepairAction| matches!(action, RepairAction::Pad { .. });
    assert_eq!(plan.actions().iter().filter(pads).count(), 1);
    assert_eq!(plan.actions().last(), Some(&RepairAction::RebuildQueues));

    let done = repaired(&disk, "two segments");
    let kept = saved(&disk, &done);
    assert_eq!(kept[0].len() as u64, range.end - range.start);
    let start = range.start as usize;
    assert_eq!(kept[0][..2000 - start], before[start..2000], "the record that was hit is whole");
    let store = open(&disk, bare_options()).unwrap();
    let is_out = |place: &Range<u64>| place.end <= range.start || range.end <= place.start;
    let numbered = (0..MESSAGES).zip(&subject.places);
    let expected: Vec<u32> =
        numbered.filter(|(_, place)| is_out(place)).map(|(number, _)| number).collect();
    assert_eq!(survivors(&store).numbers, expected);
    // Offsets stay: what was lost left fillers.
    let bounds = store.bounds("orders", 0).unwrap();
    assert_eq!(bounds.max.get(), u64::from(MESSAGES / 3));
}

#[test]
fn a_torn_tail_is_saved_and_cut() {
    let disk = Arc::new(MemDisk::new());
    let store = open(&disk, options()).unwrap();
    append(&store, 0..MESSAGES);
    let end = store.watermarks().appended.get();
    let disk = Arc::new(disk.kill());
    let base = end / 4096 * 4096;
    let dirs = ["/d0", "/d1", "/d2"].map(|dir| Path::new(dir).join(format!("{base:020}")));
    let path = dirs.into_iter().find(|path| disk.stat(path).unwrap().is_some()).unwrap();
    disk.flip(&path, end - base - 1, 0xFF).unwrap();
    let before = disk.read(&path).unwrap().unwrap();
    let (told, plan) = plan(&disk).unwrap();
    assert!(told.is_sound());
    let [RepairAction::CutTail { range, .. }] = plan.actions() else { panic!("{plan:?}") };
    let range = range.clone();
    let done = repaired(&disk, "torn");
    let kept = saved(&disk, &done);
    let torn = &before[(range.start - base) as usize..(range.end - base) as usize];
    assert_eq!(kept[0], torn);
    let store = open(&disk, bare_options()).unwrap();
    assert_eq!(store.watermarks().appended.get(), range.start);
    assert_eq!(survivors(&store).numbers, (0..MESSAGES - 1).collect::<Vec<_>>());
}

/// A plan changes nothing, and nothing is changed beneath somebody who has the store open.
#[test]
fn a_plan_changes_nothing_and_an_open_store_is_left_alone() {
    let subject = Subject::closed();
    let disk = subject.copy();
    disk.flip(Path::new("/d0/00000000000000000000"), 300, 0xFF).unwrap();
    let before: Vec<_> = subject.files().iter().map(|(path, _)| disk.read(path).unwrap()).collect();
    let (_, plan) = plan(&disk).unwrap();
    let after: Vec<_> = subject.files().iter().map(|(path, _)| disk.read(path).unwrap()).collect();
    assert!(before == after);
    let store = open(&disk, bare_options().on_damage(spanlog::OnDamage::Skip)).unwrap();
    assert_eq!(plan.apply().unwrap_err().kind(), ErrorKind::Locked);
    drop(store);
    let mut unfinished = Verification::on(disk as Arc<_>, ROOT, &Options::new()).unwrap();
    unfinished.step().unwrap();
    assert_eq!(RepairPlan::of(&unfinished).unwrap_err().kind(), ErrorKind::Invalid);
}

#[test]
fn what_is_not_there_is_beyond_repair() {
    let subject = Subject::closed();
    let disk = subject.copy();
    disk.lose(Path::new("/d1"));
    let (told, plan) = plan(&disk).unwrap();
    assert!(!told.is_sound() && plan.is_empty(), "{:?}", plan.actions());
    let missing = |finding: &&spanlog::Finding| finding.kind == FindingKind::Missing;
    assert!(plan.beyond().iter().filter(missing).count() > 1);
}

/// A disk that fails in the middle of a repair leaves one that can be done again.
#[test]
fn a_repair_that_fails_can_be_done_again() {
    use spanlog_tests::fault_disk::{Failure, FaultDisk, Operation};
    let subject = Subject::closed();
    let mut struck = 0;
    for operation in [Operation::WriteAt, Operation::Sync, Operation::Replace, Operation::Create] {
        for nth in 0..12 {
            let disk = subject.copy();
            disk.flip(Path::new("/d0/00000000000000000000"), 300, 0xFF).unwrap();
            let faults = Arc::new(FaultDisk::new(Arc::clone(&disk) as Arc<dyn Disk>));
            let mut told =
                Verification::on(Arc::clone(&faults) as Arc<_>, ROOT, &options()).unwrap();
            told.run().unwrap();
            let plan = RepairPlan::of(&told).unwrap();
            faults.fail_nth(operation, nth, Failure::Io);
            struck += u64::from(plan.apply().is_err());
            faults.heal();
            let context = format!("{operation:?} {nth}");
            repaired(&disk, &context);
            let store = open(&disk, bare_options()).unwrap();
            let found = survivors(&store).numbers.len();
            assert_eq!(found, MESSAGES as usize - 1, "{context}");
        }
    }
    assert!(struck > 10, "{struck} repairs failed");
}

/// The key index is built anew, and what is whole of a cursor is kept, its file saved.
#[test]
fn a_key_index_and_a_cursor_are_mended() {
    let subject = Subject::closed();
    let disk = subject.copy();
    let index = files(disk.as_ref(), &Path::new(ROOT).join("index")).swap_remove(0).0;
    let cursor = Path::new(ROOT).join(".spanlog/cursors/orders/billing");
    let before = disk.read(&cursor).unwrap().unwrap();
    // Both slots of the page of one queue, and a slot of the index.
    disk.corrupt(&cursor, 8192, &[0xEE; 8192]).unwrap();
    disk.corrupt(&index, 40, &[0; 4 * 19]).unwrap();
    let damaged = disk.read(&cursor).unwrap().unwrap();
    let (told, plan) = plan(&disk).unwrap();
    let kinds: Vec<_> = told.findings().iter().map(|found| found.kind).collect();
    assert!(kinds.contains(&FindingKind::Key) && kinds.contains(&FindingKind::Cursor), "{kinds:?}");
    let mends = RepairAction::MendCursor { path: cursor };
    assert_eq!(plan.actions(), [RepairAction::RebuildKeys, mends]);
    let done = repaired(&disk, "index and cursor");
    assert!(saved(&disk, &done).contains(&damaged) && damaged != before);
    let store = open(&disk, bare_options()).unwrap();
    let at: Vec<_> =
        store.cursors().unwrap()[0].queues.iter().map(|q| q.acknowledged.get()).collect();
    assert_eq!(at.iter().filter(|&&at| at == 4).count(), 2, "{at:?}");
    assert_eq!(at.iter().filter(|&&at| at == 0).count(), 1, "{at:?}");
    store.append(&Message::new("orders", 0, b"x").keys(&["k"])).unwrap();
    store.catch_up().unwrap();
    assert_eq!(store.query("orders", "k", &spanlog::KeyQuery::default()).unwrap().len(), 1);
}
