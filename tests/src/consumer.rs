//! A named consumer in a simulated world, and what must be true of it: what was committed never
//! comes again, and nothing is left out that was not acknowledged.

use std::collections::BTreeSet;
use std::time::Duration;

use spanlog::{Cursor, CursorOptions, Delivery, Error, QueueOffset, ReadLimits};

use crate::check::{self, Checked, ensure};
use crate::world::{World, told};

/// Messages by line and offset.
type Messages = BTreeSet<(usize, u64)>;

/// The world's consumer.
#[derive(Debug, Default)]
pub struct Consumer {
    /// Open while the store is.
    pub cursor: Option<Cursor>,
    /// Whether it was made, durably.
    is_made: bool,
    /// Delivered and not acknowledged.
    open: Vec<(usize, u64)>,
    acknowledged: Messages,
    /// Those acknowledged by the last commit that succeeded.
    committed: Messages,
}

const NAME: &str = "billing";

/// Few at a time: some worlds may hold few maps.
const LIMITS: ReadLimits = ReadLimits { max_messages: 5, max_bytes: 1 << 20 };

/// Polls, acknowledges some of what it has in hand, and commits now and then.
///
/// # Errors
/// What is wrong.
pub fn work(world: &mut World) -> Result<Option<Error>, String> {
    if world.consumer.cursor.is_none()
        && let Err(error) = open(world)
    {
        return Ok(Some(error));
    }
    for _ in 0..world.rng.usize(1..4) {
        match poll(world) {
            Ok(delivery) => note(world, &delivery)?,
            Err(error) => return Ok(Some(error)),
        }
    }
    acknowledge(world)?;
    if world.rng.bool() {
        return Ok(commit(world).err());
    }
    Ok(None)
}

fn open(world: &mut World) -> Result<(), Error> {
    let (topic, _) = world.model.lines[0].clone();
    let options = CursorOptions { max_pending: 3600, ..CursorOptions::default() };
    let opened = world.open_store().cursor(NAME, &topic, options);
    world.note(format!("open the cursor: {}", told(&opened)));
    world.consumer.cursor = Some(opened?);
    world.consumer.is_made = true;
    Ok(())
}

fn poll(world: &World) -> Result<Delivery, Error> {
    world.consumer.cursor.as_ref().expect("open").poll(LIMITS, Duration::ZERO)
}

/// Notes what was delivered, after comparing it.
fn note(world: &mut World, delivery: &Delivery) -> Checked {
    for delivered in delivery.iter() {
        let (line, offset) = (line_of(world, delivered.queue), delivered.message.queue_offset());
        let place = (line, offset.get());
        let mut kept = world.model.kept(line, u64::MAX);
        let entry = kept.find(|entry| entry.offset == Some(offset.get()));
        let entry = entry.ok_or_else(|| format!("{place:?} was delivered, and is not there"))?;
        let view = delivered.message.decode_verified().map_err(|error| error.to_string())?;
        check::record(&view, entry, &world.model)?;
        ensure!(!world.consumer.committed.contains(&place), "{place:?} was committed");
        if !world.consumer.open.contains(&place) {
            world.consumer.open.push(place);
        }
    }
    Ok(())
}

fn line_of(world: &World, queue: u32) -> usize {
    let topic = &world.model.lines[0].0;
    let is_it = |line: &(String, u32)| line.0 == *topic && line.1 == queue;
    world.model.lines.iter().position(is_it).expect("a queue that is written to")
}

fn acknowledge(world: &mut World) -> Checked {
    for _ in 0..world.rng.usize(..6).min(world.consumer.open.len()) {
        let at = world.rng.usize(..world.consumer.open.len());
        let (line, offset) = world.consumer.open.swap_remove(at);
        let queue = world.model.lines[line].1;
        let cursor = world.consumer.cursor.as_ref().expect("open");
        cursor
            .ack(queue, QueueOffset::new(offset))
            .map_err(|error| format!("acknowledge {line}/{offset}: {error}"))?;
        world.consumer.acknowledged.insert((line, offset));
    }
    Ok(())
}

fn commit(world: &mut World) -> Result<(), Error> {
    let outcome = world.consumer.cursor.as_ref().expect("open").commit();
    world.note(format!("commit: {}", told(&outcome)));
    if outcome.is_ok() {
        world.consumer.committed = world.consumer.acknowledged.clone();
    }
    outcome
}

/// The store was closed cleanly: that commits.
pub fn closed(world: &mut World, clean: bool) {
    if clean && world.consumer.cursor.is_some() {
        world.consumer.committed = world.consumer.acknowledged.clone();
    }
    world.consumer.cursor = None;
}

/// After the store was opened: everything is delivered now that should be. `certain`: offsets
/// were not given out again.
///
/// # Errors
/// What is wrong.
pub fn check_opened(world: &mut World, certain: bool) -> Checked {
    if !world.consumer.is_made {
        return Ok(());
    }
    // Other messages have the offsets of those that were lost.
    let next = world.model.next.clone();
    let is_there = |&(line, offset): &(usize, u64)| offset < next[line];
    world.consumer.acknowledged.retain(is_there);
    world.consumer.committed.retain(is_there);
    if !certain {
        (world.consumer.acknowledged, world.consumer.committed) = Default::default();
    }
    world.consumer.open.clear();
    if let Err(error) = open(world) {
        world.note(format!("  the cursor cannot be checked: {error}"));
        return Ok(());
    }
    loop {
        match poll(world) {
            Ok(delivery) if delivery.is_empty() => break,
            Ok(delivery) => note(world, &delivery)?,
            Err(error) => {
                // Too few maps, or a disk without room: the next opening looks again.
                world.note(format!("  the cursor cannot be checked: {error}"));
                return Ok(());
            }
        }
    }
    let delivered: Messages = world.consumer.open.iter().copied().collect();
    let topic = world.model.lines[0].0.clone();
    let lines = (0..world.model.lines.len()).filter(|&line| world.model.lines[line].0 == topic);
    let model = &world.model;
    let all: Messages = lines
        .flat_map(|line| model.kept(line, u64::MAX).map(move |entry| (line, entry.offset)))
        .filter_map(|(line, offset)| Some((line, offset?)))
        .collect();
    if certain {
        let known = &world.consumer.acknowledged;
        let left: Vec<_> = all.difference(&delivered).filter(|one| !known.contains(one)).collect();
        ensure!(left.is_empty(), "never acknowledged, and left out: {left:?}");
    }
    // Of a commit that failed something may be there after a kill, and gone after a power cut.
    world.consumer.acknowledged = all.difference(&delivered).copied().collect();
    Ok(())
}
