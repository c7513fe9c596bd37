//! What happens in a simulated world: operations drawn by weight, one after the other.

use fastrand::Rng;
use spanlog::{
    DirectoryOptions, Error, ErrorKind, QueueOffset, ReadLimits, ReadStatus, Receipt, Task,
};

use crate::check::{self, Checked, ensure};
use crate::consumer;
use crate::draft::Draft;
use crate::fault_disk::{Failure, Fault, Operation};
use crate::model::Entry;
use crate::world::{Held, ROLES, ROOT, Settings, World, dir_path, told};

/// Something that happens in a world, and is checked.
type Happening = fn(&mut World) -> Checked;

/// What can happen, and how often.
const WEIGHTS: [(u32, Happening); 19] = [
    (300, append),
    (60, append_batch),
    (60, append_durable),
    (100, read),
    (60, catch_up),
    (40, consume),
    (40, flush),
    (160, run_task),
    (25, clean),
    (12, close_and_open),
    (12, kill_and_open),
    (20, cut_power_and_open),
    (14, take_room),
    (10, relieve),
    (30, move_clock),
    (45, plan_fault),
    (10, plan_stop),
    (10, change_directories),
    (6, lose_queues),
];

/// A failure somewhere among the next operations of the disk.
pub fn random_fault(rng: &mut Rng) -> Fault {
    let operation = Operation::ALL[rng.usize(..Operation::ALL.len())];
    let failure = if rng.bool() { Failure::Full } else { Failure::Io };
    Fault { operation: Some(operation), nth: rng.u64(1..4), failure, lasting: rng.u8(..) < 40 }
}

/// Plays the history of a seed. A failure names the seed and tells what was done last.
///
/// # Errors
/// What went wrong, with the end of the history.
pub fn simulate(seed: u64, settings: Settings) -> Result<(), String> {
    let mut world = World::new(seed, settings);
    let steps = world.rng.usize(10..80);
    let played = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        world.open(false)?;
        for _ in 0..steps {
            step(&mut world)?;
        }
        world.crash(world.rng.clone().bool());
        world.open(true)
    }));
    let outcome = played.unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        Err(format!("panic: {}", text.unwrap_or_else(|| "of another kind".into())))
    });
    outcome.map_err(|what| {
        let first = world.trace.len().saturating_sub(60);
        format!("seed {seed}: {what}\n  {}", world.trace[first..].join("\n  "))
    })
}

fn step(world: &mut World) -> Checked {
    let total: u32 = WEIGHTS.iter().map(|(weight, _)| weight).sum();
    let mut drawn = world.rng.u32(..total);
    let (_, operation) = WEIGHTS
        .iter()
        .find(|(weight, _)| drawn.checked_sub(*weight).map(|rest| drawn = rest).is_none())
        .expect("the weights add up");
    operation(world)?;
    world.note_faults();
    let store = world.open_store();
    check::watermarks(store)?;
    let start = store.watermarks().start.get();
    ensure!(start == world.model.start, "the start moved to {start} by itself");
    let flushed = store.watermarks().flushed;
    world.model.make_durable(flushed);
    // A store that promises nothing more is opened anew, sooner or later.
    if world.poisoned && world.rng.u8(..) < 100 {
        return if world.rng.bool() { cut_power_and_open(world) } else { kill_and_open(world) };
    }
    Ok(())
}

/// Whether an operation may fail like that now.
fn explain(world: &mut World, error: &Error) -> Checked {
    let hurt = world.note_faults();
    world.poisoned |= error.kind() == ErrorKind::Poisoned;
    let fine = match error.kind() {
        ErrorKind::Full => {
            hurt || world.limited || world.options.max_maps < 100 || !world.is_writable()
        }
        ErrorKind::Io | ErrorKind::Poisoned | ErrorKind::Offline => hurt,
        _ => false,
    };
    ensure!(fine, "unexpected: {error}");
    Ok(())
}

fn explained<T>(world: &mut World, outcome: Result<T, Error>) -> Checked {
    outcome.map_or_else(|error| explain(world, &error), |_| Ok(()))
}

// Appending.

fn append(world: &mut World) -> Checked {
    put(world, 1, false)
}

fn append_durable(world: &mut World) -> Checked {
    put(world, 1, true)
}

fn append_batch(world: &mut World) -> Checked {
    let count = world.rng.usize(1..8);
    let durable = world.rng.u8(..) < 60;
    put(world, count, durable)
}

fn put(world: &mut World, count: usize, durable: bool) -> Checked {
    let draft = Draft::draw(world, count);
    let sizes = draft.sizes(world);
    let total: u64 = sizes.iter().sum();
    let store = world.store.take().expect("open");
    let before = store.watermarks().appended.get();
    let messages = draft.messages(&world.model.lines);
    let outcome = match durable {
        true => store.append_batch_durable(&messages),
        false => store.append_batch(&messages),
    };
    let after = store.watermarks().appended.get();
    world.store = Some(store);
    world.note(format!("append {count} ({total} bytes, durable {durable}): {}", told(&outcome)));
    match outcome {
        Ok(receipt) => {
            check_receipt(world, &draft, &receipt, before, total)?;
            ensure!(after == receipt.end.get(), "appended is {after} behind {receipt:?}");
            draft.enter(world, receipt.position.get(), &sizes, true);
            if durable || world.options.durability == spanlog::Durability::Group {
                let flushed = world.open_store().watermarks().flushed;
                ensure!(flushed >= receipt.end, "acknowledged and not flushed");
                world.model.make_durable(receipt.end);
            }
            Ok(())
        }
        Err(error) if error.kind() == ErrorKind::TooLarge => {
            ensure!(total + 8 > world.model.segment_len, "unexpected: {error}");
            ensure!(after == before, "a refused message moved the end");
            Ok(())
        }
        Err(error) => {
            explain(world, &error)?;
            // The padding that closes a segment may be there without the record behind it.
            if after != before && !after.is_multiple_of(world.model.segment_len) {
                draft.enter(world, after - total, &sizes, false);
            }
            Ok(())
        }
    }
}

fn check_receipt(
    world: &World,
    draft: &Draft,
    receipt: &Receipt,
    before: u64,
    total: u64,
) -> Checked {
    let position = receipt.position.get();
    let continues = position == before || position.is_multiple_of(world.model.segment_len);
    ensure!(position >= before && continues, "appended at {position}, not at {before}");
    ensure!(receipt.end.get() - position == total, "{receipt:?} has not {total} bytes");
    let next = world.model.next[draft.line];
    let expected = if draft.prepared { 0 } else { next };
    ensure!(receipt.queue_offset.get() == expected, "{receipt:?}: the next offset is {next}");
    Ok(())
}

// Reading.

fn read(world: &mut World) -> Checked {
    let line = world.rng.usize(..world.model.lines.len());
    let (topic, queue) = world.model.lines[line].clone();
    let store = world.open_store();
    let Some(bounds) = store.bounds(&topic, queue) else { return Ok(()) };
    let (min, max) = (bounds.min.get(), bounds.max.get());
    ensure!(min <= max, "{topic}/{queue}: {min} > {max}");
    if min == max {
        return Ok(());
    }
    let from = world.rng.u64(min..max);
    let limits =
        ReadLimits { max_messages: world.rng.usize(1..20), max_bytes: world.rng.u64(1..10_000) };
    let outcome = world.open_store().read(&topic, queue, QueueOffset::new(from), limits);
    let batch = match outcome {
        Err(error) => return explain(world, &error),
        Ok(batch)
            if batch.status() == ReadStatus::Removed && (world.rushed || world.note_faults()) =>
        {
            return Ok(());
        }
        Ok(batch) => batch,
    };
    let end = u64::MAX;
    let entries: Vec<&Entry> =
        world.model.kept(line, end).filter(|entry| entry.offset >= Some(from)).collect();
    let expected = &entries[..entries.len().min(limits.max_messages)];
    check::batch(&batch, expected, &world.model)
        .map_err(|what| format!("{topic}/{queue} at {from} of {min}..{max}: {what}"))?;
    let entries = expected.iter().take(batch.len()).map(|&entry| entry.clone()).collect();
    if world.rng.u8(..) < 30 && world.options.max_maps > 100 && world.held.len() < 4 {
        world.held.push(Held { batch, entries });
    }
    check_held(world)
}

/// What was read once stays as it was, whatever became of the store.
fn check_held(world: &mut World) -> Checked {
    for held in &world.held {
        for (stored, entry) in held.batch.iter().zip(&held.entries) {
            let view = stored.decode_verified().map_err(|error| format!("held: {error}"))?;
            check::record(&view, entry, &world.model).map_err(|what| format!("held: {what}"))?;
        }
    }
    if world.held.len() == 4 {
        world.held.remove(0);
    }
    Ok(())
}

fn catch_up(world: &mut World) -> Checked {
    let outcome = world.open_store().catch_up();
    world.note(format!("catch up: {}", told(&outcome)));
    if let Err(error) = outcome {
        return explain(world, &error);
    }
    if world.note_faults() {
        return Ok(());
    }
    let indexed = world.open_store().watermarks().indexed.get();
    ensure!(indexed >= world.model.end(), "caught up to {indexed} of {}", world.model.end());
    let line = world.rng.usize(..world.model.lines.len());
    let step = world.rng.usize(1..20);
    let end = world.model.end();
    if world.limited || world.options.max_maps < 100 {
        return Ok(());
    }
    // A planned fault may strike while this looks.
    match check::queue(world.open_store(), &world.model, line, end, step) {
        Err(_) if world.note_faults() => Ok(()),
        other => other,
    }
}

fn consume(world: &mut World) -> Checked {
    match consumer::work(world)? {
        None => Ok(()),
        Some(error) => explain(world, &error),
    }
}

// Steps.

fn flush(world: &mut World) -> Checked {
    let outcome = world.open_store().flush();
    world.note(format!("flush: {}", told(&outcome)));
    if outcome.is_ok() {
        let marks = world.open_store().watermarks();
        ensure!(marks.flushed == marks.appended, "flushed, but {marks:?}");
        world.model.make_durable(marks.appended);
    }
    explained(world, outcome)
}

fn run_task(world: &mut World) -> Checked {
    let tasks = [Task::Flush, Task::Index, Task::Checkpoint, Task::Probe, Task::Prepare];
    let task = tasks[world.rng.usize(..tasks.len())];
    let outcome = world.open_store().run(task);
    world.note(format!("run {task:?}: {}", told(&outcome)));
    explained(world, outcome)
}

fn clean(world: &mut World) -> Checked {
    if world.rng.bool() {
        world.open_store().clean_now().map_err(|error| error.to_string())?;
    }
    for _ in 0..world.rng.usize(1..5) {
        let outcome = world.open_store().run(Task::Clean);
        let start = world.open_store().watermarks().start.get();
        world.note(format!("run Clean: {}, start {start}", told(&outcome)));
        // A start that could not be written down is not there after a crash.
        world.leftovers |= outcome.is_err();
        explained(world, outcome)?;
        follow_start(world, start)?;
    }
    Ok(())
}

fn follow_start(world: &mut World, start: u64) -> Checked {
    let model = &world.model;
    if start == model.start {
        return Ok(());
    }
    ensure!(start > model.start, "the start fell from {} to {start}", model.start);
    ensure!(start.is_multiple_of(model.segment_len), "the start {start} is within a segment");
    let pressed = world.limited || world.hurt;
    ensure!(world.options.retention_ms < 1 << 50 || pressed, "dropped for no reason");
    let last = world.open_store().segments().last().map_or(0, |segment| segment.base.get());
    ensure!(start <= last, "the last segment was dropped");
    world.model.start = start;
    world.rushed |= world.is_shared() && pressed;
    Ok(())
}

// Ends and beginnings.

fn close_and_open(world: &mut World) -> Checked {
    let clean = world.close();
    // What a failed close left is what a kill leaves: nothing acknowledged is lost.
    world.open(false)?;
    let recovery = world.open_store().recovery();
    ensure!(!clean || recovery.torn_tail.is_none(), "torn after a clean close");
    Ok(())
}

fn kill_and_open(world: &mut World) -> Checked {
    world.crash(false);
    world.open(false)
}

fn cut_power_and_open(world: &mut World) -> Checked {
    world.crash(true);
    world.open(true)
}

fn lose_queues(world: &mut World) -> Checked {
    let clean = world.rng.bool();
    if clean {
        world.close();
    } else {
        world.crash(false);
    }
    let lost = if world.rng.bool() { "consumequeue" } else { "index" };
    world.note(format!("{lost} is deleted"));
    world.mem.lose(&std::path::Path::new(ROOT).join(lost));
    world.open(false)
}

// The world.

fn take_room(world: &mut World) -> Checked {
    world.take_room();
    Ok(())
}

/// Room comes back: after one probe appends work, unless a disk failed otherwise.
fn relieve(world: &mut World) -> Checked {
    world.disk.heal();
    world.make_room();
    world.note("room comes back");
    let outcome = world.open_store().run(Task::Probe);
    explained(world, outcome)?;
    if world.note_faults() || !world.is_writable() || world.options.max_maps < 100 {
        return Ok(());
    }
    let count = world.model.log.len();
    put(world, 1, false)?;
    let large = world.trace.last().is_some_and(|line| line.contains("too_large"));
    ensure!(world.model.log.len() > count || large, "appends fail after room came back");
    Ok(())
}

fn move_clock(world: &mut World) -> Checked {
    let far = [1000, 60_000, 3_600_000, 90 * 3_600_000][world.rng.usize(..4)];
    let by = if world.rng.u8(..) < 60 { -far } else { world.rng.i64(0..far) };
    world.clock.advance(by);
    world.note(format!("the clock moves by {by}"));
    Ok(())
}

fn plan_fault(world: &mut World) -> Checked {
    let fault = random_fault(&mut world.rng);
    world.note(format!("plan {fault:?}"));
    world.disk.fail(fault);
    Ok(())
}

/// The process ends in the middle of what it does next.
fn plan_stop(world: &mut World) -> Checked {
    let nth = world.rng.u64(1..30);
    world.note(format!("everything fails from operation {nth} on"));
    world.disk.stop_at(nth);
    let next = [append, append_durable, catch_up, flush, run_task, clean, change_directories];
    next[world.rng.usize(..next.len())](world)?;
    if world.rng.u8(..) < 60 {
        world.close();
        return world.open(false);
    }
    if world.rng.bool() { cut_power_and_open(world) } else { kill_and_open(world) }
}

fn change_directories(world: &mut World) -> Checked {
    let store = world.store.take().expect("open");
    let at = world.rng.usize(..world.dirs.len());
    let dir = world.dirs[at].clone();
    let (what, outcome) = match world.rng.u8(..3) {
        0 if world.dirs.len() < 6 => {
            let new = dir_path(world.rng.u64(..8));
            let outcome = store.add_directory(&DirectoryOptions::new(&new));
            (format!("add {}", new.display()), outcome)
        }
        1 => (format!("remove {}", dir.display()), store.remove_directory(&dir)),
        _ => {
            let role = ROLES[world.rng.usize(..4)];
            (format!("set {} to {role}", dir.display()), store.set_role(&dir, role))
        }
    };
    world.store = Some(store);
    world.note(format!("{what}: {}", told(&outcome)));
    match outcome {
        Err(error) if error.kind() == ErrorKind::Invalid => {}
        Err(error) => {
            world.dirs_certain = false;
            return explain(world, &error);
        }
        Ok(()) => {}
    }
    world.dirs = world
        .open_store()
        .disks()
        .map_or(world.dirs.clone(), |rows| rows.into_iter().map(|row| row.path).collect());
    Ok(())
}
