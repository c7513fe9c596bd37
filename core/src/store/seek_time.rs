//! Finding a message of a queue by its store time.

use crate::base::units::{Position, QueueOffset};
use crate::derived::{Queue, Run, Times, Unit};
use crate::error::{Error, ErrorKind, Result};
use crate::log::LogReader;
use crate::options::OnDamage;
use crate::record::{TIMED_BYTES, store_ms_of};
use crate::store::Store;
use crate::store::batch::is_at_home;
use crate::tasks::Engine;

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
    reader: LogReader,
    times: Times,
    skips: bool,
    min: u64,
    max: u64,
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
        let mut at = self.first_reached(|high_ms| high_ms >= time_ms)?;
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
        let behind = self.first_reached(|high_ms| high_ms > time_ms)?;
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

    /// The first offset at which the youngest time so far, of the whole log, is so. Within a run
    /// that is the youngest up to its end.
    fn first_reached(&mut self, is_so: impl Fn(i64) -> bool) -> Result<u64> {
        self.bisect(self.min, |seeker, at| {
            let Some(seen) = seeker.look(at)? else { return Ok(true) };
            let run = seeker.times.run_at(seen.position);
            Ok(is_so(run.map_or(seen.store_ms, |run| run.high_ms)))
        })
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
        while let Some((at, unit)) = self.queue.next_unit(offset, self.max)? {
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
