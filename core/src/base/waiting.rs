//! Waiting for what others bring about, without a thread for each who waits.
//!
//! *The rule.* Who waits enters the list, then looks whether it is so already; who changes
//! something tells the list afterwards. Both go through the list's lock, so one of them sees the
//! other. An appender does not even take that lock: it loads [`Waiting::is_any`] after it let go
//! of the append lock, and who has entered takes the append lock once before it looks.

use std::sync::Arc;
use std::time::Duration;

use crate::base::sync::{AtomicU64, Condvar, Mutex, Ordering, wait_while};

/// All who wait for something of one store. Any thread may use it.
#[derive(Debug)]
pub struct Waiting<T> {
    /// How many are in the list and were not told.
    untold: AtomicU64,
    list: Mutex<List<T>>,
}

#[derive(Debug)]
struct List<T> {
    waiters: Vec<Arc<Waiter<T>>>,
    is_over: bool,
}

/// One who waits, and for what.
#[derive(Debug)]
pub struct Waiter<T> {
    what: T,
    state: Mutex<State>,
    told: Condvar,
}

/// Where a waiter stands. It changes under the list's lock alone.
#[derive(Clone, Copy, Debug)]
struct State {
    answer: Answer,
    /// How often it was told: who sleeps is told even if another thread arms it again at once.
    times: u64,
}

/// What a waiter knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Not yet.
    NotYet,
    /// It came about.
    Told,
    /// It never will: the store was closed.
    Over,
}

impl<T> Default for Waiting<T> {
    fn default() -> Self {
        let list = List { waiters: Vec::new(), is_over: false };
        Self { untold: AtomicU64::new(0), list: Mutex::new(list) }
    }
}

impl<T> Waiting<T> {
    /// Whether somebody is there to be told. One load.
    #[must_use]
    pub fn is_any(&self) -> bool {
        self.untold.load(Ordering::Relaxed) > 0
    }

    /// Enters the list. The caller looks afterwards whether it is so already.
    pub fn enter(&self, what: T) -> Arc<Waiter<T>> {
        let mut list = self.list.lock();
        let answer = if list.is_over { Answer::Over } else { Answer::NotYet };
        let state = Mutex::new(State { answer, times: 0 });
        let waiter = Arc::new(Waiter { what, state, told: Condvar::new() });
        if answer == Answer::NotYet {
            self.untold.fetch_add(1, Ordering::Relaxed);
        }
        list.waiters.push(Arc::clone(&waiter));
        waiter
    }

    /// Lets a waiter that was told wait again, after `change` to what it waits for. The caller
    /// looks afterwards whether it is so already.
    pub fn arm(&self, waiter: &Waiter<T>, change: impl FnOnce(&T)) {
        let list = self.list.lock();
        if list.is_over {
            return;
        }
        change(&waiter.what);
        let mut state = waiter.state.lock();
        if state.answer == Answer::Told {
            state.answer = Answer::NotYet;
            self.untold.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Tells everybody whose wish `is_met`, which is asked under the list's lock.
    pub fn tell(&self, is_met: impl Fn(&T) -> bool) {
        let list = self.list.lock();
        for waiter in &list.waiters {
            self.tell_if(waiter, &is_met);
        }
    }

    /// Tells one waiter if its wish `is_met`.
    pub fn tell_one(&self, waiter: &Waiter<T>, is_met: impl Fn(&T) -> bool) {
        let _list = self.list.lock();
        self.tell_if(waiter, &is_met);
    }

    fn tell_if(&self, waiter: &Waiter<T>, is_met: &impl Fn(&T) -> bool) {
        let mut state = waiter.state.lock();
        if state.answer == Answer::NotYet && is_met(&waiter.what) {
            self.untold.fetch_sub(1, Ordering::Relaxed);
            waiter.answer(&mut state, Answer::Told);
        }
    }

    /// Leaves the list.
    pub fn leave(&self, waiter: &Arc<Waiter<T>>) {
        let mut list = self.list.lock();
        list.waiters.retain(|other| !Arc::ptr_eq(other, waiter));
        if waiter.state.lock().answer == Answer::NotYet {
            self.untold.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// Tells everybody, also who comes later, that it is over; `each` is called for those there.
    pub fn end(&self, each: impl Fn(&T)) {
        let mut list = self.list.lock();
        list.is_over = true;
        self.untold.store(0, Ordering::Relaxed);
        for waiter in &list.waiters {
            each(&waiter.what);
            waiter.answer(&mut waiter.state.lock(), Answer::Over);
        }
    }
}

impl<T> Waiter<T> {
    /// What it waits for.
    pub fn what(&self) -> &T {
        &self.what
    }

    /// Sleeps until it is told, at most so long; not at all if it was told.
    pub fn wait(&self, timeout: Duration) -> Answer {
        let state = self.state.lock();
        let before = *state;
        if before.answer != Answer::NotYet || timeout.is_zero() {
            return before.answer;
        }
        let is_untold = |state: &mut State| state.times == before.times;
        let state = wait_while(&self.told, state, timeout, is_untold);
        let was_told = state.times > before.times && state.answer == Answer::NotYet;
        if was_told { Answer::Told } else { state.answer }
    }

    fn answer(&self, state: &mut State, answer: Answer) {
        state.answer = answer;
        state.times += 1;
        self.told.notify_all();
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(3600);

    #[test]
    fn who_was_told_waits_again_only_once_it_is_armed() {
        let waiting = Waiting::default();
        let waiter = waiting.enter(7);
        assert!(waiting.is_any());
        assert_eq!(waiter.wait(Duration::ZERO), Answer::NotYet);
        waiting.tell(|&what| what > 7);
        assert_eq!(waiter.wait(Duration::from_millis(1)), Answer::NotYet);
        waiting.tell(|&what| what == 7);
        assert_eq!((waiter.wait(LONG), waiter.wait(LONG)), (Answer::Told, Answer::Told));
        assert!(!waiting.is_any(), "an appender need not care for it");
        waiting.arm(&waiter, |_| {});
        assert!(waiting.is_any());
        waiting.leave(&waiter);
        assert!(!waiting.is_any());
    }

    #[test]
    fn the_end_is_told_to_those_who_wait_and_those_who_come() {
        let waiting = Waiting::default();
        let waiter = waiting.enter(());
        std::thread::scope(|scope| {
            let waits = scope.spawn(|| waiter.wait(LONG));
            waiting.end(|()| {});
            assert_eq!(waits.join().unwrap(), Answer::Over);
        });
        waiting.arm(&waiter, |()| {});
        assert_eq!(waiting.enter(()).wait(LONG), Answer::Over);
        assert!(!waiting.is_any());
    }
}

#[cfg(all(test, loom))]
mod loom_tests {
    use loom::thread;

    use super::*;

    /// A log of one number, an index step behind it, and one who waits for the index.
    #[derive(Default)]
    struct World {
        waiting: Waiting<u64>,
        appending: Mutex<()>,
        appended: AtomicU64,
        indexed: AtomicU64,
        rung: Mutex<bool>,
        bell: Condvar,
    }

    impl World {
        fn append(&self) {
            let lock = self.appending.lock();
            self.appended.store(1, Ordering::Release);
            drop(lock);
            if self.waiting.is_any() {
                self.ring();
            }
        }

        fn ring(&self) {
            *self.rung.lock() = true;
            self.bell.notify_all();
        }

        fn index(&self) {
            let mut rung = self.rung.lock();
            while !*rung {
                rung = crate::base::sync::wait(&self.bell, rung);
            }
            drop(rung);
            self.indexed.store(self.appended.load(Ordering::Acquire), Ordering::Release);
            self.waiting.tell(|&seen| self.indexed.load(Ordering::Acquire) > seen);
        }

        /// Enters, meets the appender, looks.
        fn wait(&self) {
            let waiter = self.waiting.enter(0);
            drop(self.appending.lock());
            self.waiting.tell_one(&waiter, |&seen| self.indexed.load(Ordering::Acquire) > seen);
            if self.appended.load(Ordering::Acquire) > self.indexed.load(Ordering::Acquire) {
                self.ring();
            }
            // Loom's waits never time out: a lost call is a deadlock, which it reports.
            assert_eq!(waiter.wait(Duration::from_secs(1)), Answer::Told);
            self.waiting.leave(&waiter);
        }
    }

    #[test]
    fn loom_no_call_is_lost_between_appender_index_and_waiter() {
        let mut model = loom::model::Builder::new();
        model.preemption_bound = Some(3);
        model.check(|| {
            let world = Arc::new(World::default());
            let (appender, index) = (Arc::clone(&world), Arc::clone(&world));
            let appender = thread::spawn(move || appender.append());
            let index = thread::spawn(move || index.index());
            world.wait();
            appender.join().expect("the appender ends");
            index.join().expect("the index step ends");
            assert!(!world.waiting.is_any());
        });
    }

    #[test]
    fn loom_closing_wakes_whoever_waits() {
        loom::model(|| {
            let waiting = Arc::new(Waiting::<()>::default());
            let other = Arc::clone(&waiting);
            let closer = thread::spawn(move || other.end(|()| {}));
            let waiter = waiting.enter(());
            assert_eq!(waiter.wait(Duration::from_secs(1)), Answer::Over);
            closer.join().expect("the closer ends");
        });
    }
}
