//! All cursors of a store: opened, listed, copied, reset, deleted, and exchanged with RocketMQ.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::base::units::QueueOffset;
use crate::cursor::{
    Entry, GroupOffsets, Hold, Progress, Register, Saved, Settings, parse_offsets, write_offsets,
};
use crate::derived::{Bounds, Queue, Queues};
use crate::disk::{Access, Disk};
use crate::error::{Error, ErrorKind, Result};
use crate::options::Options;
use crate::record::check_topic;
use crate::store::cursor::targets;
use crate::store::{Cursor, CursorOptions, ReadLimits, Seek, Store, batch, own_dir};
use crate::tasks::{Engine, TopicQueues};

/// Under `.spanlog/`: a directory for each topic, with a file for each cursor.
const CURSORS: &str = "cursors";

/// What is not acknowledged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lag {
    /// Messages.
    pub messages: u64,
    /// Bytes of their records.
    pub bytes: u64,
    /// Since when the oldest of them has been stored, in milliseconds; nothing without any.
    pub age_ms: Option<u64>,
}

/// Where a cursor stands in one queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CursorQueue {
    /// The queue.
    pub queue: u32,
    /// Everything below is acknowledged.
    pub acknowledged: QueueOffset,
    /// Everything below is acknowledged, durably.
    pub committed: QueueOffset,
    /// The first message that was not delivered yet.
    pub next: QueueOffset,
    /// The queue's first message kept and one past its last.
    pub bounds: Bounds,
    /// What is not acknowledged.
    pub lag: Lag,
}

/// A cursor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CursorReport {
    /// Its topic.
    pub topic: String,
    /// Its name.
    pub name: String,
    /// Whether it is open in this process.
    pub is_open: bool,
    /// Whether it keeps segments from being dropped.
    pub hold: Option<Hold>,
    /// Its queues, by number.
    pub queues: Vec<CursorQueue>,
    /// Why its file cannot be used, if it cannot: [`Store::reset_cursor`] makes it anew.
    pub damage: Option<String>,
}

impl Lag {
    fn add(self, other: Self) -> Self {
        let age_ms = self.age_ms.unwrap_or(0).max(other.age_ms.unwrap_or(0));
        let has_age = self.age_ms.is_some() || other.age_ms.is_some();
        Self {
            messages: self.messages + other.messages,
            bytes: self.bytes + other.bytes,
            age_ms: has_age.then_some(age_ms),
        }
    }
}

impl CursorReport {
    /// What is not acknowledged, over all queues.
    #[must_use]
    pub fn lag(&self) -> Lag {
        self.queues.iter().fold(Lag::default(), |sum, queue| sum.add(queue.lag))
    }

    pub(super) fn of(engine: &Engine, entry: &Entry) -> Result<Self> {
        // Not under the lock: counting bytes may read.
        let (settings, known, damage) = {
            let state = entry.state();
            (state.settings, state.queues.clone(), state.damage.clone())
        };
        let mut queues: BTreeMap<u32, Progress> = known;
        if !settings.only_known && damage.is_none() {
            for queue in engine.queues.of_topic(&entry.topic) {
                queues.entry(queue.id()).or_insert_with(|| Progress::new(0));
            }
        }
        let row = |(id, progress): (u32, Progress)| row(engine, &entry.topic, id, &progress);
        Ok(Self {
            topic: entry.topic.to_string(),
            name: entry.name.to_string(),
            is_open: entry.is_open(),
            hold: settings.hold,
            queues: queues.into_iter().map(row).collect::<Result<_>>()?,
            damage,
        })
    }
}

fn row(engine: &Engine, topic: &str, id: u32, progress: &Progress) -> Result<CursorQueue> {
    let queue = engine.queues.find(topic, id);
    let none = Bounds { min: QueueOffset::ZERO, max: QueueOffset::ZERO };
    let lag = queue.map_or(Ok(Lag::default()), |queue| lag(engine, queue, progress))?;
    Ok(CursorQueue {
        queue: id,
        acknowledged: QueueOffset::new(progress.floor()),
        committed: QueueOffset::new(progress.committed()),
        next: QueueOffset::new(progress.next()),
        bounds: queue.map_or(none, |queue| queue.bounds()),
        lag,
    })
}

/// Counts by the queue's units: no record is read but the oldest.
fn lag(engine: &Engine, queue: &Queue, progress: &Progress) -> Result<Lag> {
    let open: std::collections::BTreeSet<u64> = progress.open_offsets().collect();
    let min = queue.bounds().min.get();
    let first = open.first().copied().unwrap_or(progress.next()).max(min);
    let (mut lag, mut oldest) = (Lag::default(), None);
    queue.visit(QueueOffset::new(first), queue.bounds().max, &mut |offset, unit| {
        let is_open = offset.get() >= progress.next() || open.contains(&offset.get());
        if let Some(unit) = unit.filter(|unit| is_open && !unit.is_filler()) {
            lag.messages += 1;
            lag.bytes += u64::from(unit.size);
            oldest.get_or_insert(offset);
        }
    })?;
    lag.age_ms = oldest.and_then(|oldest| age_ms(engine, queue, oldest));
    Ok(lag)
}

/// How old a message is, if it can be read.
fn age_ms(engine: &Engine, queue: &Queue, offset: QueueOffset) -> Option<u64> {
    let limits = ReadLimits { max_messages: 1, ..ReadLimits::default() };
    let found = batch::read(engine, queue.topic(), queue.id(), offset, limits).ok()?;
    let stored_ms = found.get(0)?.decode().ok()?.store_ms();
    Some(u64::try_from(engine.clock.now_ms().saturating_sub(stored_ms)).unwrap_or(0))
}

/// Where cursors lie.
pub(super) fn cursors_dir(root: &Path) -> PathBuf {
    own_dir(root).join(CURSORS)
}

/// The cursors of a store that opens for writing, cut to the ends of their queues before those can
/// grow again. Where the log's end may be away nothing grows, and nothing is cut.
pub(super) fn open_cursors(
    disk: &dyn Disk,
    root: &Path,
    options: &Options,
    cut_to: Option<&Queues>,
) -> Result<Register> {
    if options.read_only {
        return Ok(Register::default());
    }
    let cursors = Register::load(disk, &cursors_dir(root), Access::Write)?;
    let end = |queue: &Arc<Queue>| queue.bounds().max.get();
    cut_to.map_or(Ok(()), |queues| {
        cursors.cut(disk, &|topic, id| queues.find(topic, id).map_or(0, end))
    })?;
    Ok(cursors)
}

impl Store {
    /// Opens the cursor `name` of a topic, or makes it, durably.
    ///
    /// # Errors
    /// `Invalid` for a name, topic or option that cannot be, or in a store opened for reading;
    /// `Locked` while it is open; `Corrupt` if its file is damaged; `Closed`; what the disk says.
    pub fn cursor(&self, name: &str, topic: &str, options: CursorOptions) -> Result<Cursor> {
        self.check_writable()?;
        options.validate()?;
        check_topic(topic)?;
        let settings = Settings { hold: options.hold, only_known: options.queues.is_some() };
        let disk = self.engine.disk.as_ref();
        let entry = match self.engine.cursors.find(topic, name) {
            Some(entry) => entry,
            None => self.make_cursor(name, topic, &options, settings)?,
        };
        let owned = entry.own()?;
        entry.check()?;
        entry.set(disk, settings)?;
        self.add_queues(&entry, &options)?;
        entry.commit(disk)?;
        let (engine, topic) = (Arc::clone(&self.engine), Arc::new(TopicQueues::new(topic)));
        Ok(Cursor { engine, owned, topic, options })
    }

    fn make_cursor(
        &self,
        name: &str,
        topic: &str,
        options: &CursorOptions,
        settings: Settings,
    ) -> Result<Arc<Entry>> {
        let queues = self.begin(topic, options)?;
        self.engine.cursors.put(self.engine.disk.as_ref(), topic, name, Saved { settings, queues })
    }

    /// The queues that are asked for and there, where a cursor begins that does not know them.
    fn begin(&self, topic: &str, options: &CursorOptions) -> Result<BTreeMap<u32, Progress>> {
        let seek = if options.from_end { Seek::End } else { Seek::Start };
        let mut queues = self.engine.queues.of_topic(topic);
        let asked = options.queues.as_ref();
        queues.retain(|queue| asked.is_none_or(|asked| asked.contains(&queue.id())));
        let at = targets(&self.engine, topic, &queues, seek)?;
        Ok(at.into_iter().map(|(queue, offset)| (queue, Progress::new(offset))).collect())
    }

    /// Queues that are asked for by number are known from now on.
    fn add_queues(&self, entry: &Entry, options: &CursorOptions) -> Result<()> {
        let Some(asked) = &options.queues else { return Ok(()) };
        let mut begin = self.begin(&entry.topic, options)?;
        let mut state = entry.state();
        for &queue in asked {
            let progress = begin.remove(&queue).unwrap_or(Progress::new(0));
            state.queues.entry(queue).or_insert(progress);
        }
        Ok(())
    }

    /// All cursors, by topic and name, as they are now; in a store opened for reading, as they
    /// were committed last.
    ///
    /// # Errors
    /// What the disk says, `Closed`.
    pub fn cursors(&self) -> Result<Vec<CursorReport>> {
        self.check_open()?;
        let engine = &self.engine;
        let entries = match engine.options.read_only {
            false => engine.cursors.all(),
            true => {
                let dir = cursors_dir(&engine.root);
                Register::load(engine.disk.as_ref(), &dir, Access::Read)?.all()
            }
        };
        entries.iter().map(|entry| CursorReport::of(engine, entry)).collect()
    }

    fn closed_cursor(&self, topic: &str, name: &str) -> Result<Arc<Entry>> {
        self.check_writable()?;
        self.engine.cursors.find(topic, name).ok_or_else(|| {
            let text = format!("topic {topic} has no cursor {name}");
            Error::new(ErrorKind::Invalid, text).at(&cursors_dir(&self.engine.root))
        })
    }

    /// Makes the cursor `to` of the same topic, with what `from` has acknowledged, durably.
    ///
    /// # Errors
    /// `Invalid` if there is no `from` or a `to` already, `Corrupt` if `from` is damaged; what
    /// the disk says.
    pub fn copy_cursor(&self, topic: &str, from: &str, to: &str) -> Result<()> {
        let entry = self.closed_cursor(topic, from)?;
        entry.check()?;
        if self.engine.cursors.find(topic, to).is_some() {
            let text = format!("topic {topic} has a cursor {to} already");
            return Err(Error::new(ErrorKind::Invalid, text));
        }
        let state = entry.state();
        let saved = Saved { settings: state.settings, queues: state.queues.clone() };
        drop(state);
        self.engine.cursors.put(self.engine.disk.as_ref(), topic, to, saved).map(drop)
    }

    /// Puts a cursor that is not open elsewhere, durably; also one whose file is damaged.
    ///
    /// # Errors
    /// `Invalid` if there is none; `Locked` while it is open: use [`Cursor::seek`]; as
    /// [`Cursor::seek`] for where; what the disk says.
    pub fn reset_cursor(&self, topic: &str, name: &str, seek: Seek) -> Result<()> {
        let entry = self.closed_cursor(topic, name)?;
        let (settings, mut queues) = {
            let state = entry.state();
            (state.settings, state.queues.clone())
        };
        let mut own = self.engine.queues.of_topic(topic);
        own.retain(|queue| !settings.only_known || queues.contains_key(&queue.id()));
        for (queue, offset) in targets(&self.engine, topic, &own, seek)? {
            queues.insert(queue, Progress::new(offset));
        }
        let saved = Saved { settings, queues };
        self.engine.cursors.put(self.engine.disk.as_ref(), topic, name, saved).map(drop)
    }

    /// Deletes a cursor that is not open, durably.
    ///
    /// # Errors
    /// `Invalid` if there is none, `Locked` while it is open; what the disk says.
    pub fn delete_cursor(&self, topic: &str, name: &str) -> Result<()> {
        let entry = self.closed_cursor(topic, name)?;
        self.engine.cursors.remove(self.engine.disk.as_ref(), &entry.topic, &entry.name).map(drop)
    }

    /// Makes a cursor for each consumer group and topic in the text of a RocketMQ broker's
    /// `config/consumerOffset.json`, durably, or puts the one of that name there. An offset behind
    /// its queue's end becomes the end. Returns how many cursors there were.
    ///
    /// # Errors
    /// `Invalid`, with the byte, for what RocketMQ does not write, and for names that cannot be:
    /// nothing was changed then. `Locked` for a cursor that is open; what the disk says.
    pub fn import_consumer_offsets(&self, text: &[u8]) -> Result<usize> {
        self.check_writable()?;
        let groups = parse_offsets(text)?;
        for group in &groups {
            check_topic(&group.topic)?;
            crate::cursor::check_name(&group.group)?;
        }
        for GroupOffsets { topic, group, offsets } in &groups {
            let progress = |(&queue, &offset): (&u32, &u64)| {
                let end = self.engine.queues.find(topic, queue).map(|queue| queue.bounds().max);
                (queue, Progress::new(offset.min(end.map_or(0, QueueOffset::get))))
            };
            let known = self.engine.cursors.find(topic, group);
            let settings = known.map_or(Settings::default(), |entry| entry.state().settings);
            let saved = Saved { settings, queues: offsets.iter().map(progress).collect() };
            self.engine.cursors.put(self.engine.disk.as_ref(), topic, group, saved)?;
        }
        Ok(groups.len())
    }

    /// What every cursor has acknowledged, as a RocketMQ broker's `config/consumerOffset.json`:
    /// of acknowledgements out of order, only what lies below the first gap.
    ///
    /// # Errors
    /// As [`Store::cursors`].
    pub fn export_consumer_offsets(&self) -> Result<String> {
        let group = |report: CursorReport| {
            let offset = |queue: &CursorQueue| (queue.queue, queue.acknowledged.get());
            let offsets = report.queues.iter().map(offset).collect();
            GroupOffsets { topic: report.topic, group: report.name, offsets }
        };
        let groups: Vec<_> = self.cursors()?.into_iter().map(group).collect();
        Ok(write_offsets(&groups))
    }
}
