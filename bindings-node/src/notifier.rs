//! Waiting without a thread of Node's pool: whoever sleeps in that pool keeps files and names from
//! being looked up. One thread per handle polls the descriptors of everything that its JavaScript
//! waits for, and names what is ready, once.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};

use napi::Status;
use napi::bindgen_prelude::Function;
use napi::threadsafe_function::{ThreadsafeFunction, ThreadsafeFunctionCallMode};
use rustix::event::{EventfdFlags, PollFd, PollFlags, eventfd, poll};
use rustix::fd::OwnedFd;
use rustix::io::{read, write};
use spanlog::{Error, ErrorKind, Result, Watch};

/// A JavaScript function that takes the numbers of what is ready. It does not keep the process
/// alive: `lib/waiting.js` does, if it is asked to.
type Told = ThreadsafeFunction<Vec<u32>, (), Vec<u32>, Status, false, true>;

/// What is waited for, by number.
type Entry = (u32, Arc<Watch>);

/// The thread of a handle.
pub struct Notifier {
    state: Arc<State>,
    thread: Option<JoinHandle<()>>,
}

struct State {
    entries: Mutex<Vec<Entry>>,
    is_over: AtomicBool,
    /// Readable when the entries changed or the thread has to end.
    bell: OwnedFd,
}

impl Notifier {
    /// Starts the thread, which calls `told` in the thread of its JavaScript.
    pub fn start(told: &Function<'_, Vec<u32>, ()>) -> napi::Result<Self> {
        let told = told.build_threadsafe_function::<Vec<u32>>().weak::<true>().build()?;
        let failed = |error: &dyn std::fmt::Display| {
            crate::failure::thrown(Error::new(ErrorKind::Io, format!("cannot wait: {error}")))
        };
        let bell = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK);
        let bell = bell.map_err(|error| failed(&error))?;
        let state =
            Arc::new(State { entries: Mutex::default(), is_over: AtomicBool::new(false), bell });
        let worker = Arc::clone(&state);
        let builder = Builder::new().name("spanlog-notify".into());
        let thread = builder.spawn(move || worker.work(&told)).map_err(|error| failed(&error))?;
        Ok(Self { state, thread: Some(thread) })
    }

    /// Names `number` once, when `watch` is told.
    pub fn add(&self, number: u32, watch: Watch) -> Result<()> {
        // The descriptor is made here, so that its failure is the caller's.
        watch.event_fd()?;
        self.state.entries().push((number, Arc::new(watch)));
        self.state.ring();
        Ok(())
    }

    /// Nobody waits for `number` any more.
    pub fn remove(&self, number: u32) {
        self.state.entries().retain(|entry| entry.0 != number);
    }
}

impl Drop for Notifier {
    fn drop(&mut self) {
        self.state.is_over.store(true, Ordering::Release);
        self.state.ring();
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

impl State {
    fn entries(&self) -> MutexGuard<'_, Vec<Entry>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn work(&self, told: &Told) {
        while !self.is_over.load(Ordering::Acquire) {
            let numbers = self.ready();
            if !numbers.is_empty() {
                // It fails only where JavaScript is gone already.
                told.call(numbers, ThreadsafeFunctionCallMode::NonBlocking);
            }
        }
    }

    /// Waits for something to be ready, or for the bell. What is ready leaves the list.
    fn ready(&self) -> Vec<u32> {
        let entries = self.entries().clone();
        let events = entries.iter().filter_map(|(number, watch)| {
            Some((*number, PollFd::from_borrowed_fd(watch.event_fd().ok()?, PollFlags::IN)))
        });
        let (numbers, mut polled): (Vec<u32>, Vec<PollFd<'_>>) = events.unzip();
        polled.push(PollFd::new(&self.bell, PollFlags::IN));
        // A signal that interrupts it leads to another look.
        let _ = poll(&mut polled, None);
        let _ = read(&self.bell, &mut [0; 8]);
        let is_ready = |at: usize| !polled[at].revents().is_empty();
        let mut list = self.entries();
        let named = numbers.into_iter().enumerate().filter(|&(at, _)| is_ready(at));
        let named: Vec<u32> = named.map(|(_, number)| number).collect();
        list.retain(|entry| !named.contains(&entry.0));
        named
    }

    fn ring(&self) {
        // It fails only where the counter is full, and then it was rung.
        let _ = write(&self.bell, &[0, 0, 0, 0, 0, 0, 0, 1]);
    }
}
