//! Watermarks: monotone positions on the number line, and the token that permits a read.

use crate::base::sync::{AtomicU64, Condvar, Mutex, Ordering, wait};
use crate::base::units::Position;
use crate::error::Result;

/// Proof that every byte below a position was written before it was published, and will not
/// change while its file lives. It comes from loading a [`Watermark`], or from the only thread
/// there is while a store opens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Published(Position);

impl Published {
    /// Everything is readable: for files nobody writes, and for recovery, which runs before any
    /// writer exists.
    #[must_use]
    pub const fn all() -> Self {
        Self(Position::new(u64::MAX))
    }

    /// The first position that must not be read.
    #[must_use]
    pub const fn end(self) -> Position {
        self.0
    }

    /// The same permission for a file that begins at `base`, counted from there.
    #[must_use]
    pub fn below(self, base: Position) -> Self {
        Self(Position::new(self.0.since(base)))
    }
}

/// A position that only grows. One side publishes, any number of threads load and wait.
///
/// Waiting follows the *wait-or-run* rule: who needs a mark that nobody is moving moves it
/// itself. The busy flag and the condition live under one lock, and every waiter looks again
/// after it wakes; without either, a waiter can sleep with nobody left to run.
#[derive(Debug, Default)]
pub struct Watermark {
    value: AtomicU64,
    running: Mutex<bool>,
    moved: Condvar,
}

impl Watermark {
    /// A mark that stands at `at`.
    #[must_use]
    pub fn new(at: Position) -> Self {
        Self { value: AtomicU64::new(at.get()), running: Mutex::new(false), moved: Condvar::new() }
    }

    /// Where the mark stands.
    #[must_use]
    pub fn load(&self) -> Position {
        Position::new(self.value.load(Ordering::Acquire))
    }

    /// The permission to read everything below the mark.
    #[must_use]
    pub fn published(&self) -> Published {
        Published(self.load())
    }

    /// Moves the mark, after everything below `to` was written. One thread publishes at a time.
    ///
    /// # Panics
    /// If the mark would fall: that is a fault of the engine.
    pub fn publish(&self, to: Position) {
        let before = self.value.load(Ordering::Relaxed);
        assert!(before <= to.get(), "a watermark never falls: {before} to {to}");
        self.value.store(to.get(), Ordering::Release);
    }

    /// Puts the mark where recovery found it, before anybody else can see it.
    pub fn reset(&self, to: Position) {
        self.value.store(to.get(), Ordering::Release);
    }

    /// Returns once the mark has reached `target`, moving it with `run` whenever nobody else is.
    ///
    /// # Errors
    /// What `run` returns; then the mark may not have moved.
    pub fn wait_or_run(&self, target: Position, mut run: impl FnMut() -> Result<()>) -> Result<()> {
        let mut running = self.running.lock();
        while self.load() < target {
            if *running {
                running = wait(&self.moved, running);
                continue;
            }
            *running = true;
            drop(running);
            let turn = Turn(self);
            let outcome = run();
            drop(turn);
            outcome?;
            running = self.running.lock();
        }
        Ok(())
    }
}

/// Somebody moves the mark. Ends also by a panic: who waits must not wait for ever.
struct Turn<'a>(&'a Watermark);

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        *self.0.running.lock() = false;
        self.0.moved.notify_all();
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;

    /// A step that panicked left the mark busy: closing the store then waited for ever.
    #[test]
    fn a_run_that_panics_leaves_the_mark_to_others() {
        let mark = Watermark::default();
        let run = || mark.wait_or_run(Position::new(1), || panic!("a fault of the engine"));
        assert!(catch_unwind(AssertUnwindSafe(run)).is_err());
        let run = || {
            mark.publish(Position::new(1));
            Ok(())
        };
        mark.wait_or_run(Position::new(1), run).expect("the next one runs");
    }
}

#[cfg(all(test, loom))]
mod loom_tests {
    use loom::sync::Arc;
    use loom::sync::atomic::{AtomicU64, Ordering};
    use loom::thread;

    use super::*;

    /// Stands for bytes of a map: a plain store, ordered by nothing of its own.
    fn write(bytes: &AtomicU64, value: u64) {
        bytes.store(value, Ordering::Relaxed);
    }

    fn read(bytes: &AtomicU64) -> u64 {
        bytes.load(Ordering::Relaxed)
    }

    #[test]
    fn loom_what_is_published_was_written() {
        loom::model(|| {
            let shared = Arc::new((Watermark::default(), AtomicU64::new(0)));
            let (writer, reader) = (Arc::clone(&shared), Arc::clone(&shared));
            let writer = thread::spawn(move || {
                write(&writer.1, 7);
                writer.0.publish(Position::new(1));
            });
            // In a thread of its own: loom shows stale values to the first thread too rarely.
            let reader = thread::spawn(move || {
                if reader.0.published().end() == Position::new(1) {
                    assert_eq!(read(&reader.1), 7);
                }
            });
            writer.join().expect("the writer ends");
            reader.join().expect("the reader ends");
        });
    }

    /// Runs `wait_or_run` up to each target in a thread of its own; a run moves the mark to the
    /// end of what was asked for so far, as one flush serves all who wait. Returns the runs.
    fn wait_in_threads(targets: &'static [u64]) -> u64 {
        let shared = Arc::new((Watermark::default(), AtomicU64::new(0), AtomicU64::new(0)));
        let wait = |target: u64, shared: Arc<(Watermark, AtomicU64, AtomicU64)>| {
            let (mark, asked, runs) = &*shared;
            asked.fetch_max(target, Ordering::AcqRel);
            let run = || {
                runs.fetch_add(1, Ordering::Relaxed);
                let to = asked.load(Ordering::Acquire);
                mark.publish(Position::new(to));
                Ok(())
            };
            mark.wait_or_run(Position::new(target), run).expect("no run fails");
            assert!(mark.load() >= Position::new(target));
        };
        let spawn = |target: &u64| {
            let (target, shared) = (*target, Arc::clone(&shared));
            thread::spawn(move || wait(target, shared))
        };
        let threads: Vec<_> = targets[1..].iter().map(spawn).collect();
        wait(targets[0], Arc::clone(&shared));
        for thread in threads {
            thread.join().expect("the waiter ends");
        }
        shared.2.load(Ordering::Relaxed)
    }

    #[test]
    fn loom_two_waiters_both_return() {
        loom::model(|| {
            let runs = wait_in_threads(&[1, 2]);
            assert!((1..=2).contains(&runs), "{runs} runs");
        });
    }

    #[test]
    fn loom_three_waiters_all_return() {
        let mut model = loom::model::Builder::new();
        model.preemption_bound = Some(2);
        model.check(|| {
            let runs = wait_in_threads(&[1, 2, 3]);
            assert!((1..=3).contains(&runs), "{runs} runs");
        });
    }

    #[test]
    fn loom_a_failed_run_wakes_those_who_wait() {
        loom::model(|| {
            let mark = Arc::new(Watermark::default());
            let other = Arc::clone(&mark);
            let thread = thread::spawn(move || {
                let fail = || Err(crate::error::Error::new(crate::error::ErrorKind::Io, "no"));
                other.wait_or_run(Position::new(1), fail)
            });
            let run = || {
                mark.publish(Position::new(1));
                Ok(())
            };
            mark.wait_or_run(Position::new(1), run).expect("this one moves the mark");
            let _ = thread.join().expect("the failing one ends too");
        });
    }
}
