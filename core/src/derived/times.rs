//! Where store times step back: with that, messages are found by time as if they never did.
//!
//! The clock may step back, and a record says what the clock said. A *run* is a range of the log
//! whose records may be older than one before it. Outside of runs store times never fall, so that
//! a bisection is right there; runs are few and short, and are looked through.

use crate::base::sync::Mutex;
use crate::base::units::Position;

/// More runs are joined with their neighbours.
const MOST_RUNS: usize = 64;

/// A range of the log whose records may be older than one before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// Where its first record begins.
    pub start: Position,
    /// Where its last record ends.
    pub end: Position,
    /// The oldest store time in it, in milliseconds.
    pub low_ms: i64,
    /// No record up to its end is younger.
    pub high_ms: i64,
}

/// What is known of the store times below a position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Times {
    /// Records below were seen.
    pub end: Position,
    /// The youngest of them.
    pub high_ms: i64,
    /// In log order, none touching another.
    pub runs: Vec<Run>,
}

impl Default for Times {
    fn default() -> Self {
        Self { end: Position::ZERO, high_ms: i64::MIN, runs: Vec::new() }
    }
}

impl Times {
    /// Notes a record; records come in log order, those below [`Times::end`] were seen.
    #[inline]
    pub fn note(&mut self, position: Position, end: Position, store_ms: i64) {
        if position < self.end {
            return;
        }
        if store_ms < self.high_ms {
            self.step_back(position, end, store_ms);
        }
        self.high_ms = self.high_ms.max(store_ms);
        self.end = end;
    }

    fn step_back(&mut self, start: Position, end: Position, store_ms: i64) {
        let before = self.end;
        let high_ms = self.high_ms;
        match self.runs.last_mut().filter(|run| run.end == before) {
            Some(run) => {
                run.end = end;
                run.low_ms = run.low_ms.min(store_ms);
            }
            None => self.runs.push(Run { start, end, low_ms: store_ms, high_ms }),
        }
        if self.runs.len() > MOST_RUNS {
            self.join_nearest();
        }
    }

    /// Joins the two neighbours with the least between them.
    fn join_nearest(&mut self) {
        let gap = |pair: &[Run]| pair[1].start.since(pair[0].end);
        let nearest = self.runs.windows(2).enumerate().min_by_key(|(_, pair)| gap(pair));
        let Some(at) = nearest.map(|(at, _)| at) else { return };
        let later = self.runs.remove(at + 1);
        let run = &mut self.runs[at];
        run.end = later.end;
        run.low_ms = run.low_ms.min(later.low_ms);
        run.high_ms = later.high_ms;
    }

    /// Forgets what lies below the log's start.
    pub fn drop_before(&mut self, start: Position) {
        self.runs.retain(|run| run.end > start);
    }

    /// The run that a record lies in.
    #[must_use]
    pub fn run_at(&self, position: Position) -> Option<&Run> {
        let after = self.runs.partition_point(|run| run.start <= position);
        self.runs.get(after.checked_sub(1)?).filter(|run| position < run.end)
    }
}

/// The times of a store's log, as the index step has seen them.
#[derive(Debug, Default)]
pub struct LogTimes(Mutex<Times>);

impl LogTimes {
    /// What is known now.
    #[must_use]
    pub fn get(&self) -> Times {
        self.0.lock().clone()
    }

    /// Goes on from what was known before.
    pub fn set(&self, times: Times) {
        *self.0.lock() = times;
    }

    /// Notes records in log order: where each begins and ends, and its store time.
    pub fn note(&self, records: impl Iterator<Item = (Position, Position, i64)>) {
        let mut times = self.0.lock();
        records.for_each(|(position, end, store_ms)| times.note(position, end, store_ms));
    }

    /// Forgets what lies below the log's start.
    pub fn drop_before(&self, start: Position) {
        self.0.lock().drop_before(start);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ten bytes each.
    fn times_of(stored: &[i64]) -> Times {
        let mut times = Times::default();
        for (at, &store_ms) in stored.iter().enumerate() {
            let position = Position::new(10 * at as u64);
            times.note(position, position + 10, store_ms);
            times.note(position, position + 10, i64::MIN);
        }
        times
    }

    #[test]
    fn runs_are_where_times_step_back() {
        let times = times_of(&[5, 5, 7, 6, 3, 7, 8, 1, 9]);
        let run = |start, end, low_ms, high_ms| Run {
            start: Position::new(start),
            end: Position::new(end),
            low_ms,
            high_ms,
        };
        assert_eq!(times.runs, [run(30, 50, 3, 7), run(70, 80, 1, 8)]);
        assert_eq!((times.high_ms, times.end), (9, Position::new(90)));
        assert_eq!(times.run_at(Position::new(40)), Some(&run(30, 50, 3, 7)));
        for outside in [0, 20, 50, 60, 80] {
            assert_eq!(times.run_at(Position::new(outside)), None, "{outside}");
        }
        let mut later = times;
        later.drop_before(Position::new(50));
        assert_eq!(later.runs, [run(70, 80, 1, 8)]);
    }

    /// However often the clock steps back, memory is bounded and nothing is left out.
    #[test]
    fn many_runs_are_joined() {
        let stored: Vec<i64> = (0..1000).map(|at| at - 3 * i64::from(at % 5 == 4)).collect();
        let times = times_of(&stored);
        assert_eq!(times.runs.len(), MOST_RUNS);
        let mut high = i64::MIN;
        for (at, &store_ms) in stored.iter().enumerate() {
            high = high.max(store_ms);
            match times.run_at(Position::new(10 * at as u64)) {
                Some(run) => assert!(run.low_ms <= store_ms && store_ms <= run.high_ms),
                None => assert_eq!(high, store_ms),
            }
        }
        assert!(times.runs.windows(2).all(|pair| pair[0].high_ms <= pair[1].high_ms));
    }
}
