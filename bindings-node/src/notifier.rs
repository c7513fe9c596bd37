//! Waiting without a thread of Node's pool: whoever sleeps in that pool keeps files and names from
//! being looked up. One thread per handle polls the descriptors of everything that its JavaScript
//! waits for, and names what is ready, once.

use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};

use napi::Status;
use napi::bindgen_prelude::Function;
use napi::threadsafe_function::{ThreadsafeFunction, ThreadsafeFunctionCallMode};
use napi_derive::napi;
use rustix::event::{EventfdFlags, PollFd, PollFlags, eventfd, poll};
use rustix::fd::{BorrowedFd, OwnedFd};
use rustix::io::{read, write};
use spanlog::{Error, ErrorKind, QueueReader, Result, Watch};

use crate::failure::guarded;
use crate::handle::closed;

/// A JavaScript function that takes the numbers of what is ready. It does not keep the process
/// alive: `lib/waiting.js` does, if it is asked to.
type Told = ThreadsafeFunction<Vec<u32>, (), Vec<u32>, Status, false, true>;

/// What can be waited for.
pub trait Waited: Send + Sync {
    /// Readable once there is something.
    fn descriptor(&self) -> Result<BorrowedFd<'_>>;
}

impl Waited for Watch {
    fn descriptor(&self) -> Result<BorrowedFd<'_>> {
        self.event_fd()
    }
}

impl Waited for QueueReader {
    fn descriptor(&self) -> Result<BorrowedFd<'_>> {
        self.event_fd()
    }
}

/// What is waited for, by number.
type Entry = (u32, Arc<dyn Waited>);

/// Calls a function with the numbers of what was waited for, until it is closed.
#[napi]
pub struct NativeNotifier(RefCell<Option<Notifier>>);

#[napi]
impl NativeNotifier {
    /// Starts the thread that tells.
    #[napi(constructor, catch_unwind)]
    pub fn new(told: Function<Vec<u32>, ()>) -> napi::Result<Self> {
        Ok(Self(RefCell::new(Some(Notifier::start(&told)?))))
    }

    /// Nobody waits for `number` any more.
    #[napi(catch_unwind)]
    pub fn remove(&self, number: u32) {
        self.0.borrow().as_ref().inspect(|notifier| notifier.remove(number));
    }

    #[napi(catch_unwind)]
    pub fn close(&self) {
        self.0.take();
    }

    /// Has `number` told once, when there is something.
    pub fn add(
        &self,
        number: u32,
        waited: impl FnOnce() -> Result<Arc<dyn Waited>>,
    ) -> napi::Result<()> {
        guarded(|| {
            let notifier = self.0.borrow();
            notifier.as_ref().ok_or_else(|| closed("handle"))?.add(number, waited()?)
        })
    }
}

/// The thread of a handle.
struct Notifier {
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
    fn start(told: &Function<'_, Vec<u32>, ()>) -> napi::Result<Self> {
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

    fn add(&self, number: u32, waited: Arc<dyn Waited>) -> Result<()> {
        // The descriptor is made here, so that its failure is the caller's.
        waited.descriptor()?;
        self.state.entries().push((number, waited));
        self.state.ring();
        Ok(())
    }

    fn remove(&self, number: u32) {
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
        let events = entries.iter().filter_map(|(number, waited)| {
            Some((*number, PollFd::from_borrowed_fd(waited.descriptor().ok()?, PollFlags::IN)))
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
