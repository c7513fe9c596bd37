//! What happens in a queue's simulation.

use spanlog::{Error, ErrorKind, Position, QueueBatch, QueueDurability, QueueTask};

use super::{Entry, NOW, Progress, QueueWorld, READERS};
use crate::check::{Checked, ensure};
use crate::workload::random_fault;
use crate::world::told;

impl QueueWorld {
    pub(super) fn step(&mut self) -> Checked {
        let at = self.rng.usize(..READERS.len());
        match self.rng.u8(..100) {
            0..35 => self.push(),
            35..43 => self.push_many(),
            43..60 => self.pop(at),
            60..72 => self.commit(at),
            72..75 => self.rewind(at),
            75..79 => self.flush(),
            79..86 => self.run(),
            86..88 => self.peek(at),
            88..90 => self.release(),
            90..93 => self.fault(),
            93..95 => self.close(),
            _ => {
                let power = self.rng.bool();
                self.crash(power);
                self.reopen(power)
            }
        }?;
        self.check()
    }

    fn payload(&mut self) -> Vec<u8> {
        let segment = self.options.segment_len_bytes as usize;
        let most = [40, 300, segment, 3 * segment][self.rng.usize(..4)];
        // Records of one length: then one of before fits behind one that took another's place.
        let len = if self.rng.bool() { 1000 } else { self.rng.usize(..most) };
        let first = self.rng.u8(..);
        (0..len).map(|at| first.wrapping_add(at as u8)).collect()
    }

    fn push(&mut self) -> Checked {
        let payload = self.payload();
        let outcome = self.queue().push(&payload);
        self.note(format!("push {}: {}", payload.len(), told(&outcome)));
        self.pushed(vec![payload], outcome)
    }

    fn push_many(&mut self) -> Checked {
        let payloads: Vec<_> = (0..self.rng.usize(1..5)).map(|_| self.payload()).collect();
        let outcome = self.queue().push_many(&payloads);
        self.note(format!("push {} records: {}", payloads.len(), told(&outcome)));
        self.pushed(payloads, outcome)
    }

    fn pushed(&mut self, payloads: Vec<Vec<u8>>, outcome: Result<Position, Error>) -> Checked {
        let count = payloads.len();
        let entries = payloads.into_iter().enumerate().map(|(at, payload)| Entry {
            payload,
            end: None,
            more: at + 1 < count,
        });
        match outcome {
            Ok(end) => {
                self.entries.extend(entries);
                self.entries.last_mut().expect("one at least").end = Some(end);
                if matches!(self.options.durability, QueueDurability::Group | QueueDurability::Each)
                {
                    self.durable = self.entries.len();
                }
                Ok(())
            }
            Err(error) => self.not_pushed(&error, entries.collect()),
        }
    }

    /// Nothing was pushed, but that a flush which failed may have left it.
    fn not_pushed(&mut self, error: &Error, entries: Vec<Entry>) -> Checked {
        match error.kind() {
            ErrorKind::TooLarge => {}
            ErrorKind::Full => {
                let is_empty = self.readers.iter().all(|own| own.committed == self.entries.len());
                let is_needless = is_empty && self.held.is_empty() && !self.note_faults();
                ensure!(!is_needless, "an empty queue is full: {error}");
            }
            _ => {
                ensure!(self.note_faults(), "push: {error}");
                // The last one alone: those before it failed before a byte was written.
                if error.kind() != ErrorKind::Poisoned {
                    self.maybe = entries;
                }
            }
        }
        Ok(())
    }

    pub(super) fn pop(&mut self, at: usize) -> Checked {
        let (max, bytes) = (self.rng.usize(1..8), self.rng.u64(1..20_000));
        let outcome = self.reader(at).and_then(|reader| reader.pop_many(max, bytes, NOW));
        let what = outcome.as_ref().map_or_else(ToString::to_string, |b| format!("{}", b.len()));
        self.note(format!("pop by {at}: {what}"));
        let batch = match outcome {
            Ok(batch) => batch,
            Err(error) => return self.not_popped(at, &error),
        };
        let from = self.readers[at].reading;
        self.is_next(from, &batch)?;
        let is_all = from + batch.len() == self.entries.len();
        ensure!(!batch.is_empty() || is_all, "nothing to pop for {at} at {from}");
        self.readers[at].reading += batch.len();
        if self.rng.u8(..) < 30 {
            let copy = batch.iter().map(<[u8]>::to_vec).collect();
            self.held.push((batch, copy));
        }
        Ok(())
    }

    /// The batch holds the records from number `from` on.
    fn is_next(&mut self, from: usize, batch: &QueueBatch) -> Checked {
        for index in 0..batch.len() {
            let record = batch.get(index).expect("within the batch");
            let number = from + index;
            ensure!(record.number == number as u64, "record {}, not {number}", record.number);
            if self.entries.len() == number {
                ensure!(!self.maybe.is_empty(), "record {number} was never pushed");
                let maybe = self.maybe.remove(0);
                self.entries.push(maybe);
            }
            let entry = &mut self.entries[number];
            ensure!(*record.payload == entry.payload, "record {number} has other bytes");
            let known = entry.end.is_none_or(|end| end == record.end);
            ensure!(known, "record {number} ends at {}, not {:?}", record.end, entry.end);
            entry.end = Some(record.end);
        }
        Ok(())
    }

    fn not_popped(&mut self, at: usize, error: &Error) -> Checked {
        match error.kind() {
            ErrorKind::Gone => {
                ensure!(self.drops(), "nothing is ever dropped: {error}");
                let start = error.start().ok_or("gone without a start")?;
                self.gone(at, start)
            }
            ErrorKind::Full => {
                ensure!(!self.held.is_empty() || self.note_faults(), "pop: {error}");
                Ok(())
            }
            _ => {
                ensure!(self.note_faults(), "pop: {error}");
                Ok(())
            }
        }
    }

    /// Reader `at` was told that the queue begins at `start`.
    fn gone(&mut self, at: usize, start: Position) -> Checked {
        let record = self.reader(at).and_then(|reader| reader.peek());
        let first = match record {
            Ok(Some(record)) => record.number as usize,
            Ok(None) => self.entries.len(),
            Err(error) => {
                let is_held = error.kind() == ErrorKind::Full && !self.held.is_empty();
                ensure!(is_held || self.note_faults(), "peek behind {start}: {error}");
                let stat = self.queue().stat();
                (stat.pushed - stat.records) as usize
            }
        };
        let own = &mut self.readers[at];
        ensure!(first > own.reading, "gone, and nothing was dropped: {first} {own:?}");
        *own = Progress { durable: own.durable, committed: first, reading: first };
        Ok(())
    }

    fn commit(&mut self, at: usize) -> Checked {
        let own = self.readers[at];
        if own.reading <= own.committed {
            return Ok(());
        }
        let to = self.rng.usize(own.committed + 1..=own.reading);
        let Some(end) = self.entries[to - 1].end else { return Ok(()) };
        let outcome = self.reader(at).and_then(|reader| reader.commit(end));
        self.note(format!("commit by {at} up to {to}: {}", told(&outcome)));
        match outcome {
            Ok(()) => self.readers[at].committed = to,
            // Another reader may have dropped it meanwhile, or a fault kept it off the page.
            Err(error) => {
                let is_held = error.message().contains("every map is held");
                let is_fine = is_held || self.drops() || self.note_faults();
                ensure!(is_fine, "commit: {error}");
                if error.kind() != ErrorKind::Invalid && !is_held {
                    self.hurt = true;
                    self.readers[at].committed = to;
                }
            }
        }
        Ok(())
    }

    fn rewind(&mut self, at: usize) -> Checked {
        let outcome = self.reader(at).and_then(|reader| reader.rewind());
        self.note(format!("rewind {at}: {}", told(&outcome)));
        ensure!(outcome.is_ok(), "rewind: {}", told(&outcome));
        let own = &mut self.readers[at];
        own.reading = own.committed;
        self.follow_drops(at)
    }

    /// What was dropped is not committed again by anybody.
    fn follow_drops(&mut self, at: usize) -> Checked {
        let stat = self.queue().stat();
        let first = (stat.pushed - stat.records) as usize;
        if self.readers[at].committed < first {
            ensure!(self.drops(), "the start passed reader {at}");
            let own = &mut self.readers[at];
            own.committed = first;
            own.reading = own.reading.max(first);
        }
        Ok(())
    }

    fn peek(&mut self, at: usize) -> Checked {
        let outcome = self.reader(at).and_then(|reader| reader.peek());
        match outcome {
            Ok(Some(record)) => {
                let number = self.readers[at].reading;
                ensure!(record.number == number as u64, "peeked {}, not {number}", record.number);
                Ok(())
            }
            Ok(None) => Ok(()),
            Err(error) => self.not_popped(at, &error),
        }
    }

    fn flush(&mut self) -> Checked {
        let outcome = self.queue().flush();
        self.note(format!("flush: {}", told(&outcome)));
        match outcome {
            Ok(()) => self.everything_durable(),
            Err(error) => ensure!(self.note_faults(), "flush: {error}"),
        }
        Ok(())
    }

    pub(super) fn everything_durable(&mut self) {
        self.durable = self.entries.len();
        for own in &mut self.readers {
            own.durable = own.committed;
        }
    }

    fn run(&mut self) -> Checked {
        let tasks = [QueueTask::Prepare, QueueTask::Flush, QueueTask::Probe];
        let task = tasks[self.rng.usize(..tasks.len())];
        self.clock.advance(self.rng.i64(-2000..5000));
        let outcome = self.queue().run(task);
        self.note(format!("{task:?}: {}", told(&outcome)));
        ensure!(outcome.is_ok() || self.note_faults(), "{task:?}: {}", told(&outcome));
        Ok(())
    }

    /// Batches that were held still have their bytes.
    pub(super) fn release(&mut self) -> Checked {
        self.note(format!("release {} batches", self.held.len()));
        for (batch, copy) in self.held.drain(..) {
            let same = batch.iter().zip(&copy).all(|(now, before)| now == before);
            ensure!(same && batch.len() == copy.len(), "the bytes of a batch changed");
        }
        Ok(())
    }

    fn fault(&mut self) -> Checked {
        if self.rng.bool() {
            let fault = random_fault(&mut self.rng);
            self.note(format!("plan {fault:?}"));
            self.disk.fail(fault);
            return Ok(());
        }
        let nth = self.rng.u64(1..20);
        self.note(format!("everything fails from operation {nth} on"));
        self.disk.stop_at(nth);
        for _ in 0..4 {
            let at = self.rng.usize(..READERS.len());
            match self.rng.u8(..4) {
                0 => self.push_many()?,
                1 => self.commit(at)?,
                2 => self.run()?,
                _ => self.push()?,
            }
        }
        let power = self.rng.bool();
        self.crash(power);
        self.reopen(power)
    }
}
