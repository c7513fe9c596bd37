//! Finding a message of a queue by its store time.

use crate::base::units::{Position, QueueOffset};
use crate::derived::{Queue, Run, Times, Unit, UnitFile};
use crate::error::{Error, ErrorKind, Result};
use crate::log::LogReader;
use crate::options::OnDamage;
use crate::record::{TIMED_BYTES, store_ms_of};
use crate::store::Store;
use crate::store::batch::is_at_home;
use crate::tasks::Engine;

/// So few messages are looked at by halves at once.
const FEW: u64 = 64;

/// How often a place is guessed from the times around it.
const GUESSES: usize = 3;

/// How far from the last guess is looked first, and how many times as far each time after.
const STRIDE: u64 = 32;
const STRIDE_GROWS: u64 = 4;

/// Which of the messages around a time is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Boundary {
    /// The first message at or after the time; one past the last message if all are earlier.
    Lower,
    /// The last message at or before the time; the first message if all are later.
    Upper,
}

/// As [`Store::offset_at`].
pub(super) fn offset_at(
    engine: &Engine,
    topic: &str,
    queue: u32,
    time_ms: i64,
    boundary: Boundary,
) -> Result<QueueOffset> {
    let Some(queue) = engine.queues.find(topic, queue) else {
        return Ok(QueueOffset::ZERO);
    };
    let bounds = queue.bounds();
    let mut seeker = Seeker {
        queue,
        file: None,
        // After the queue was looked at: it covers what the units point to.
        reader: engine.log.reader(),
        times: engine.queues.times().get(),
        skips: engine.options.on_damage == OnDamage::Skip,
        min: bounds.min.get(),
        max: bounds.max.get(),
    };
    let found = match boundary {
        Boundary::Lower => seeker.lower(time_ms)?,
        Boundary::Upper => seeker.upper(time_ms)?,
    };
    Ok(QueueOffset::new(found))
}

impl Store {
    /// The offset in a queue of the message that was stored at a time, in milliseconds since 1970.
    /// Several messages may have one time. Times are found by bisection; where the clock had
    /// stepped back, the messages are looked through, so that the answer is right there too. What
    /// retention dropped does not count, and in a queue without messages the answer is the next
    /// offset.
    ///
    /// # Errors
    /// `Corrupt` or `Offline` when a message on the way cannot be read, `Full` when every map is
    /// held, `Closed`.
    pub fn offset_at(
        &self,
        topic: &str,
        queue: u32,
        time_ms: i64,
        boundary: Boundary,
    ) -> Result<QueueOffset> {
        self.check_readable()?;
        self.reading(|| offset_at(&self.engine, topic, queue, time_ms, boundary))
    }
}

/// One look-up by time.
struct Seeker<'a> {
    queue: &'a Queue,
    /// The file of units that was looked into last.
    file: Option<UnitFile>,
    reader: LogReader,
    times: Times,
    skips: bool,
    min: u64,
    max: u64,
}

/// Offsets of which the first ones have not come to a time, and the last ones have.
struct Gap {
    low: u64,
    high: u64,
}

impl Gap {
    fn len(&self) -> u64 {
        self.high.saturating_sub(self.low)
    }

    /// Notes whether an offset has come to the time: all behind it have, or none before it.
    fn narrow(&mut self, at: u64, is_reached: bool) {
        match is_reached {
            true => self.high = self.high.min(at),
            false => self.low = self.low.max(at + 1),
        }
    }

    /// The offset that is as far in as the time is between those at both ends: in the middle
    /// between the messages of the ms before and its own.
    fn share(&self, low_ms: i64, time_ms: i64, high_ms: i64) -> u64 {
        let [low_ms, time_ms, high_ms] = [low_ms, time_ms, high_ms].map(i128::from);
        let share = i128::from(self.len()) * (2 * (time_ms - low_ms) - 1);
        let share = share / (2 * (high_ms - low_ms)).max(1);
        self.low + u64::try_from(share).unwrap_or(0).min(self.len() - 1)
    }
}

/// A message that is there.
struct Seen {
    offset: u64,
    position: Position,
    store_ms: i64,
}

impl Seeker<'_> {
    /// The first offset whose message is at or after the time.
    fn lower(&mut self, time_ms: i64) -> Result<u64> {
        // Everything before it is earlier; what is there may lie in a run and be earlier, too.
        let mut at = self.first_reached(time_ms)?;
        while let Some(seen) = self.look(at)? {
            if seen.store_ms >= time_ms {
                return Ok(seen.offset);
            }
            at = seen.offset + 1;
        }
        Ok(self.max)
    }

    /// The last offset whose message is at or before the time.
    fn upper(&mut self, time_ms: i64) -> Result<u64> {
        let behind = match time_ms.checked_add(1) {
            Some(later_ms) => self.first_reached(later_ms)?,
            None => self.max,
        };
        // Whatever is behind is later, but in runs.
        let runs: Vec<Run> =
            self.times.runs.iter().filter(|run| run.low_ms <= time_ms).copied().collect();
        for run in runs.into_iter().rev() {
            if let Some(found) = self.last_in(&run, behind, time_ms)? {
                return Ok(found);
            }
        }
        let mut at = behind;
        while at > self.min {
            at -= 1;
            if self.look(at)?.is_some_and(|seen| seen.offset == at) {
                return Ok(at);
            }
        }
        Ok(self.min)
    }

    /// The last message of a run at or before the time, from offset `from` on.
    fn last_in(&mut self, run: &Run, from: u64, time_ms: i64) -> Result<Option<u64>> {
        let mut at = self.bisect(from, |seeker, at| {
            Ok(seeker.look(at)?.is_none_or(|seen| seen.position >= run.start))
        })?;
        let mut found = None;
        while let Some(seen) = self.look(at)?.filter(|seen| seen.position < run.end) {
            if seen.store_ms <= time_ms {
                found = Some(seen.offset);
            }
            at = seen.offset + 1;
        }
        Ok(found)
    }

    /// The first offset at which the youngest time so far, of the whole log, has come to `time_ms`.
    /// Within a run that is the youngest up to its end.
    ///
    /// Each look costs a record's way from memory. Stores fill at some rate, so the place is first
    /// guessed from the times around it, and looked for near the last guess then.
    fn first_reached(&mut self, time_ms: i64) -> Result<u64> {
        let mut gap = Gap { low: self.min, high: self.max };
        if gap.len() > FEW {
            self.guess(&mut gap, time_ms)?;
        }
        while gap.len() > 0 {
            let middle = gap.low + gap.len() / 2;
            gap.narrow(middle, self.high_ms(middle)? >= time_ms);
        }
        Ok(gap.low)
    }

    /// Narrows a gap by guesses, and then from the last one on.
    fn guess(&mut self, gap: &mut Gap, time_ms: i64) -> Result<()> {
        let (first, last) = (gap.low, gap.high - 1);
        let (mut low_ms, mut high_ms) = (self.high_ms(first)?, self.high_ms(last)?);
        gap.narrow(first, low_ms >= time_ms);
        gap.narrow(last, high_ms >= time_ms);
        let mut is_reached = false;
        for _ in 0..GUESSES {
            if gap.len() <= FEW || high_ms.saturating_sub(low_ms) <= 1 {
                break;
            }
            let at = gap.share(low_ms, time_ms, high_ms);
            let seen_ms = self.high_ms(at)?;
            is_reached = seen_ms >= time_ms;
            *(if is_reached { &mut high_ms } else { &mut low_ms }) = seen_ms;
            gap.narrow(at, is_reached);
        }
        let mut stride = STRIDE;
        while gap.len() > stride {
            let at = if is_reached { gap.high - stride } else { gap.low + stride };
            let is_there = self.high_ms(at)? >= time_ms;
            gap.narrow(at, is_there);
            if is_there != is_reached {
                break;
            }
            stride *= STRIDE_GROWS;
        }
        Ok(())
    }

    /// The youngest time so far at an offset; behind the last message there is none older.
    fn high_ms(&mut self, at: u64) -> Result<i64> {
        let Some(seen) = self.look(at)? else { return Ok(i64::MAX) };
        let run = self.times.run_at(seen.position);
        Ok(run.map_or(seen.store_ms, |run| run.high_ms))
    }

    /// The first offset from `low` on that is so; from there on all are.
    fn bisect(
        &mut self,
        mut low: u64,
        is_so: impl Fn(&mut Self, u64) -> Result<bool>,
    ) -> Result<u64> {
        let mut high = self.max;
        while low < high {
            let middle = low + (high - low) / 2;
            match is_so(self, middle)? {
                true => high = middle,
                false => low = middle + 1,
            }
        }
        Ok(low)
    }

    /// The first message at or behind `offset` that is there.
    fn look(&mut self, mut offset: u64) -> Result<Option<Seen>> {
        while let Some((at, unit)) = self.next_unit(offset)? {
            match self.store_ms(unit) {
                Ok(store_ms) => {
                    return Ok(Some(Seen { offset: at, position: unit.position, store_ms }));
                }
                // Dropped while this looks, or to be passed over.
                Err(error) if error.kind() == ErrorKind::Gone || self.skips => offset = at + 1,
                Err(error) => return Err(error),
            }
        }
        Ok(None)
    }

    fn next_unit(&mut self, offset: u64) -> Result<Option<(u64, Unit)>> {
        if offset < self.max {
            let unit = self.queue.unit_in(&mut self.file, offset)?;
            if let Some(unit) = unit.filter(|unit| !unit.is_filler()) {
                return Ok(Some((offset, unit)));
            }
        }
        self.queue.next_unit(offset, self.max)
    }

    fn store_ms(&mut self, unit: Unit) -> Result<i64> {
        let astray = || {
            let text = "the queue points to bytes that are not its record";
            Error::new(ErrorKind::Corrupt, text).with_offset(unit.position.get())
        };
        let span =
            self.reader.place(unit.position, unit.size.min(TIMED_BYTES)).map_err(|error| {
                if error.kind() == ErrorKind::Invalid { astray() } else { error }
            })?;
        let record = self.reader.bytes(span);
        let store_ms = store_ms_of(record).filter(|_| is_at_home(record, unit));
        store_ms.ok_or_else(|| astray().at(self.reader.segment(span).path()))
    }
}
