//! The only file that spawns, sleeps or parks: a thread per step, and the bells that wake them.
#![allow(clippy::disallowed_methods)]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::base::sync::{Condvar, Mutex, wait_while};
use crate::disk::Clock;
use crate::error::{Error, ErrorKind, Result};
use crate::log::Poison;
use crate::tasks::{Next, Step};

/// The longest nap: a clock that jumps cannot make a step sleep longer.
const LONGEST: Duration = Duration::from_millis(1000);

/// How long a thread dozes before it trusts its bell. An append that raced with it falling
/// asleep is seen after this at the latest.
const DOZE: Duration = Duration::from_millis(10);

/// How long a thread that has done all there was lets work gather before it looks again. A busy
/// appender would wake it for nearly every message otherwise: two switches and a system call each.
const GATHER: Duration = Duration::from_millis(1);

/// After a failure a step is not tried again before this time, in milliseconds.
const RETRY_MS: u64 = 1000;

/// How often it looks meanwhile whether the store closes, in milliseconds.
const REST_MS: u64 = 20;

/// Wakes one thread. Ringing costs a load while that thread is awake.
#[derive(Debug, Default)]
pub struct Bell {
    asleep: AtomicBool,
    rung: Mutex<bool>,
    wake: Condvar,
}

impl Bell {
    /// Wakes the thread if it sleeps.
    pub fn ring(&self) {
        if self.asleep.load(Ordering::Relaxed) {
            self.ring_loudly();
        }
    }

    /// Wakes the thread, or keeps it from sleeping the next time.
    pub fn ring_loudly(&self) {
        *self.rung.lock() = true;
        self.wake.notify_all();
    }

    /// Sleeps until it is rung, at most so long. Says whether it was rung.
    fn wait(&self, longest: Duration) -> bool {
        let rung = self.rung.lock();
        let mut rung = wait_while(&self.wake, rung, longest, |rung| !*rung);
        std::mem::take(&mut *rung)
    }
}

/// What threads work for: an open store or queue.
pub trait Host: Send + Sync + 'static {
    /// Its root directory.
    fn root(&self) -> &Path;

    /// Its time.
    fn clock(&self) -> &dyn Clock;

    /// What a panic of a step sets.
    fn poison(&self) -> &Poison;
}

/// The threads of one store or queue.
#[derive(Debug, Default)]
pub struct Workers {
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

/// One step on its thread.
struct Worker<H> {
    step: Box<dyn Step>,
    host: Arc<H>,
    bell: fn(&H) -> &Bell,
    stop: Arc<AtomicBool>,
    /// The last failure that was logged: the same one is not logged again.
    failure: Option<String>,
}

impl Workers {
    /// Runs `step` on a thread of its own until [`Workers::stop`].
    ///
    /// # Errors
    /// `Io` if the system gives no thread.
    pub fn spawn<H: Host>(
        &mut self,
        host: &Arc<H>,
        bell: fn(&H) -> &Bell,
        step: Box<dyn Step>,
    ) -> Result<()> {
        let name = format!("spanlog-{}", step.name());
        let (own, stop) = (Arc::clone(host), Arc::clone(&self.stop));
        let worker = Worker { step, host: own, bell, stop, failure: None };
        let thread = std::thread::Builder::new()
            .name(name)
            .spawn(move || worker.work())
            .map_err(|source| Error::io("start a thread for the store", host.root(), source))?;
        self.threads.push(thread);
        Ok(())
    }

    /// Asks every thread to stop, wakes it, and waits until it is gone.
    pub fn stop<H>(&mut self, host: &H, bells: &[fn(&H) -> &Bell]) {
        self.stop.store(true, Ordering::Release);
        for bell in bells {
            bell(host).ring_loudly();
        }
        for thread in self.threads.drain(..) {
            // A panic was caught and reported inside.
            drop(thread.join());
        }
    }
}

impl<H: Host> Worker<H> {
    fn work(mut self) {
        while !self.is_stopping() {
            match self.run() {
                Next::Again => {}
                Next::Soon => drop(self.nap(GATHER)),
                Next::At(_) if self.failure.is_some() => self.rest(),
                Next::At(time) => self.sleep_until(time),
                Next::Idle => self.idle(),
            }
        }
    }

    /// Sleeps until the bell rings. The flag is up before the last look for work, so that who
    /// adds work after that look rings.
    fn idle(&mut self) {
        self.asleep(true);
        for longest in [DOZE, LONGEST] {
            if self.run() != Next::Idle || self.nap(longest) {
                break;
            }
        }
        self.asleep(false);
    }

    /// Sleeps until the bell rings, at most so long, and not at all once the store closes: the
    /// bell may have been heard already. Says whether to look at once.
    fn nap(&self, longest: Duration) -> bool {
        self.is_stopping() || (self.bell)(&self.host).wait(longest)
    }

    fn is_stopping(&self) -> bool {
        self.stop.load(Ordering::Acquire)
    }

    /// Waits before a step that failed is tried again, whoever rings.
    fn rest(&self) {
        for _ in 0..RETRY_MS / REST_MS {
            if self.is_stopping() {
                return;
            }
            std::thread::sleep(Duration::from_millis(REST_MS));
        }
    }

    fn sleep_until(&mut self, time: i64) {
        let left = time.saturating_sub(self.host.clock().now_ms());
        let nap = Duration::from_millis(u64::try_from(left).unwrap_or(0)).min(LONGEST);
        self.asleep(true);
        self.nap(nap);
        self.asleep(false);
    }

    fn asleep(&self, asleep: bool) {
        (self.bell)(&self.host).asleep.store(asleep, Ordering::SeqCst);
    }

    /// Runs the step once; a failure is logged once and the step tried again later.
    fn run(&mut self) -> Next {
        let now = self.host.clock().now_ms();
        let step = &mut self.step;
        let outcome = catch_unwind(AssertUnwindSafe(|| step.run(now)));
        let outcome = outcome.unwrap_or_else(|_| {
            let text = format!("the background step {} panicked", self.step.name());
            self.host.poison().set(&text);
            self.stop.store(true, Ordering::Release);
            Err(Error::new(ErrorKind::Poisoned, text))
        });
        match outcome {
            Ok(next) => {
                self.failure = None;
                next
            }
            Err(error) => {
                self.report(&error);
                Next::At(now.saturating_add_unsigned(RETRY_MS))
            }
        }
    }

    fn report(&mut self, error: &Error) {
        let text = error.to_string();
        if self.failure.as_ref() != Some(&text) {
            log::warn!("background step {}: {text}", self.step.name());
            self.failure = Some(text);
        }
    }
}
