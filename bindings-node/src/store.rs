//! The class that `lib/store.js` holds, and the functions beside it.

use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use napi::bindgen_prelude::*;
use napi_derive::napi;
use spanlog::{
    Message, MessageView, Next, Options, Position, QueueOffset, Store, Task as Step, Usage, Watched,
};

use crate::block::Numbers;
use crate::calls::{Calls, Damage, Rows, receipt_numbers};
use crate::failure::{guarded, invalid, thrown};
use crate::handle::{Handle, Shared};
use crate::notifier::Notifier;
use crate::options::{NativeDirectory, NativeOptions, whole};
use crate::report::*;
use crate::scratch::Scratch;
use crate::work::Work;

/// A handle on an open store.
#[napi]
pub struct NativeStore {
    handle: Rc<Handle>,
}

/// What is called per message or batch.
#[napi(object, object_from_js = false)]
pub struct NativeCalls<'env> {
    pub append: Function<'env, u32, ()>,
    pub read: Function<'env, (), ()>,
    pub get: Function<'env, (), ()>,
    pub fill: Function<'env, Rows, Damage>,
}

/// Where one message of several went, or why it did not.
#[napi(object, object_from_js = false)]
pub struct NativeAppended {
    pub position: u64,
    pub queue_offset: u64,
    pub end: u64,
    pub store_ms: i64,
    pub error: Option<String>,
}

/// What of a record is rarely asked for.
#[napi(object, object_from_js = false)]
pub struct NativeDetails {
    pub properties: Vec<Vec<String>>,
    pub sys_flag: i32,
    pub reconsume_times: i32,
    pub prepared_position: u64,
    pub born_host: String,
    pub store_host: String,
}

/// Opens a store, in the calling thread.
#[napi(catch_unwind)]
pub fn open(root: String, options: NativeOptions) -> Result<NativeStore> {
    let opened = || Ok(Shared::new(Store::open(&root, options.convert()?)?));
    Ok(NativeStore::new(guarded(opened)?))
}

/// Opens a store on a thread of the pool; the number names it to `attach`.
#[napi(catch_unwind)]
pub fn open_async(root: String, options: NativeOptions) -> AsyncTask<Opening> {
    AsyncTask::new(Opening(Some((root, options.convert()))))
}

/// A further handle on an open store of this process.
#[napi(catch_unwind)]
pub fn attach(token: u32) -> Result<NativeStore> {
    Ok(NativeStore::new(Shared::attach(token).map_err(thrown)?))
}

/// Removes a store.
#[napi(catch_unwind)]
pub fn destroy(root: String, options: NativeOptions) -> AsyncTask<Work<()>> {
    let options = options.convert();
    Work::start(move || Store::destroy(root, &options?))
}

/// What a record's bytes say beside what its row does.
#[napi(catch_unwind)]
pub fn details(record: &[u8]) -> Result<NativeDetails> {
    let damaged = |damage: spanlog::record::Damage| thrown(invalid(damage.to_string()));
    let view = MessageView::parse(record).map_err(damaged)?;
    let pair = |(name, value): (&str, &str)| vec![name.to_owned(), value.to_owned()];
    Ok(NativeDetails {
        properties: view.properties().map(pair).collect(),
        sys_flag: view.sys_flag(),
        reconsume_times: view.reconsume_times(),
        prepared_position: view.prepared_position(),
        born_host: view.born_host().to_string(),
        store_host: view.store_host().to_string(),
    })
}

/// An opening on its way.
pub struct Opening(Option<(String, spanlog::Result<Options>)>);

impl Task for Opening {
    type Output = Arc<Shared>;
    type JsValue = NativeStore;

    fn compute(&mut self) -> Result<Arc<Shared>> {
        let (root, options) = self.0.take().expect("an opening runs once");
        guarded(|| Ok(Shared::new(Store::open(root, options?)?)))
    }

    fn resolve(&mut self, _: Env, shared: Arc<Shared>) -> Result<NativeStore> {
        Ok(NativeStore::new(shared))
    }
}

impl NativeStore {
    fn new(shared: Arc<Shared>) -> Self {
        Self { handle: Rc::new(Handle::new(shared)) }
    }

    /// Asks the store something that does not wait.
    fn ask<T>(&self, ask: impl FnOnce(&Store) -> spanlog::Result<T>) -> Result<T> {
        self.handle.with(ask).map_err(thrown)
    }

    /// Has the store do something that may wait.
    fn work<T: Send + ToNapiValue + TypeName + 'static>(
        &self,
        job: impl FnOnce(&Store) -> spanlog::Result<T> + Send + 'static,
    ) -> AsyncTask<Work<T>> {
        let shared = self.handle.shared();
        Work::start(move || job(&shared?.store))
    }
}

#[napi]
impl NativeStore {
    /// The calls over a scratch block, which `bytes` and `words` show, and a block of numbers.
    #[napi(catch_unwind)]
    pub fn calls<'env>(
        &self,
        env: &'env Env,
        bytes: Uint8Array,
        words: Uint32Array,
        numbers: BigUint64Array,
    ) -> Result<NativeCalls<'env>> {
        let scratch = Scratch::new(bytes, words);
        let calls = Calls::new(Rc::clone(&self.handle), scratch, Numbers::new(numbers));
        Ok(NativeCalls {
            append: calls.append(env)?,
            read: calls.read(env)?,
            get: calls.get(env)?,
            fill: calls.fill(env)?,
        })
    }

    /// Appends packed messages one by one, then flushes once.
    #[napi(catch_unwind)]
    pub fn append_durable(
        &self,
        bytes: Uint8Array,
        words: Uint32Array,
        count: u32,
    ) -> AsyncTask<Work<Vec<NativeAppended>>> {
        let packed = Scratch::new(bytes, words).to_owned();
        self.work(move |store| {
            packed.with_messages(count as usize, |all| {
                let appended = all.iter().map(|message| appended(store, message)).collect();
                store.flush()?;
                Ok(appended)
            })
        })
    }

    /// Appends packed messages, all or none, and flushes.
    #[napi(catch_unwind)]
    pub fn append_many_durable(
        &self,
        bytes: Uint8Array,
        words: Uint32Array,
        count: u32,
    ) -> AsyncTask<Work<NativeAppended>> {
        let packed = Scratch::new(bytes, words).to_owned();
        self.work(move |store| {
            packed.with_messages(count as usize, |all| {
                Ok(NativeAppended::from(store.append_batch_durable(all)?))
            })
        })
    }

    #[napi(catch_unwind)]
    pub fn bounds(&self, topic: String, queue: u32) -> Result<Option<NativeBounds>> {
        self.ask(|store| Ok(store.bounds(&topic, queue).map(NativeBounds::from)))
    }

    #[napi(catch_unwind)]
    pub fn watermarks(&self) -> Result<NativeWatermarks> {
        self.ask(|store| Ok(store.watermarks().into()))
    }

    #[napi(catch_unwind)]
    pub fn inspect(&self) -> Result<NativeInspection> {
        self.ask(|store| Ok(store.inspect()?.into()))
    }

    #[napi(catch_unwind)]
    pub fn disks(&self) -> Result<Vec<NativeDisk>> {
        self.ask(|store| Ok(store.disks()?.into_iter().map(Into::into).collect()))
    }

    #[napi(catch_unwind)]
    pub fn queues(&self) -> Result<Vec<NativeQueue>> {
        self.ask(|store| Ok(store.queues().into_iter().map(Into::into).collect()))
    }

    #[napi(catch_unwind)]
    pub fn segments(&self) -> Result<Vec<NativeSegment>> {
        self.ask(|store| Ok(store.segments().into_iter().map(Into::into).collect()))
    }

    #[napi(catch_unwind)]
    pub fn dropped(&self) -> Result<Vec<NativeDropped>> {
        self.ask(|store| Ok(store.dropped().into_iter().map(Into::into).collect()))
    }

    #[napi(catch_unwind)]
    pub fn recovery(&self) -> Result<NativeRecovery> {
        self.ask(|store| Ok(store.recovery().into()))
    }

    #[napi(catch_unwind)]
    pub fn root(&self) -> Result<String> {
        self.ask(|store| Ok(text(store.root())))
    }

    /// What names the store to `attach`.
    #[napi(catch_unwind)]
    pub fn token(&self) -> Result<u32> {
        Ok(self.handle.shared().map_err(thrown)?.token)
    }

    /// Starts the thread that calls `told` with the numbers of what was waited for.
    #[napi(catch_unwind)]
    pub fn listen(&self, told: Function<Vec<u32>, ()>) -> Result<()> {
        self.ask(|_| Ok(()))?;
        *self.handle.notifier.borrow_mut() = Some(Notifier::start(&told)?);
        Ok(())
    }

    /// Has `number` told once, when a queue, a topic or the log has grown beyond what it is now.
    #[napi(catch_unwind)]
    pub fn watch(&self, number: u32, topic: Option<String>, queue: Option<u32>) -> Result<()> {
        self.ask(|store| {
            let watch = store.watch(match (topic.as_deref(), queue) {
                (Some(topic), Some(queue)) => Watched::Queue { topic, queue },
                (Some(topic), None) => Watched::Topic { topic },
                (None, _) => Watched::Tail,
            })?;
            watch.clear();
            let notifier = self.handle.notifier.borrow();
            notifier.as_ref().ok_or_else(|| invalid("nobody listens"))?.add(number, watch)
        })
    }

    /// Nobody waits for `number` any more.
    #[napi(catch_unwind)]
    pub fn unwatch(&self, number: u32) {
        self.handle.notifier.borrow().as_ref().inspect(|notifier| notifier.remove(number));
    }

    /// Whether there is a message at or after `from` in a queue, or without a topic a record
    /// behind that position.
    #[napi(catch_unwind)]
    pub fn is_there(&self, topic: Option<String>, queue: u32, from: BigInt) -> Result<bool> {
        let from = from.get_u64().1;
        self.ask(|store| match topic {
            Some(topic) => store.wait(&topic, queue, QueueOffset::new(from), Duration::ZERO),
            None => store.wait_appended(Position::new(from), Duration::ZERO),
        })
    }

    #[napi(catch_unwind)]
    pub fn plan_clean(&self, manual: bool) -> Result<NativeCleanPlan> {
        self.ask(|store| Ok(store.plan_clean(manual)?.into()))
    }

    #[napi(catch_unwind)]
    pub fn clean_now(&self) -> Result<()> {
        self.ask(Store::clean_now)
    }

    /// Runs a step of a store without threads. Returns when it wants to run again: now, soon, at
    /// a time, or when it is woken.
    #[napi(catch_unwind)]
    pub fn run(&self, step: String) -> Result<Either<&'static str, i64>> {
        let step = match &*step {
            "flush" => Step::Flush,
            "index" => Step::Index,
            "checkpoint" => Step::Checkpoint,
            "probe" => Step::Probe,
            "clean" => Step::Clean,
            "prepare" => Step::Prepare,
            other => return Err(thrown(invalid(format!("there is no step {other:?}")))),
        };
        self.ask(|store| {
            Ok(match store.run(step)? {
                Next::Again => Either::A("again"),
                Next::Soon => Either::A("soon"),
                Next::Idle => Either::A("idle"),
                Next::At(time_ms) => Either::B(time_ms),
            })
        })
    }

    #[napi(catch_unwind)]
    pub fn flush(&self) -> AsyncTask<Work<()>> {
        self.work(Store::flush)
    }

    #[napi(catch_unwind)]
    pub fn catch_up(&self) -> AsyncTask<Work<()>> {
        self.work(Store::catch_up)
    }

    #[napi(catch_unwind)]
    pub fn add_directory(&self, directory: NativeDirectory) -> AsyncTask<Work<()>> {
        let directory = directory.convert(spanlog::Thresholds::default());
        self.work(move |store| store.add_directory(&directory?))
    }

    #[napi(catch_unwind)]
    pub fn set_role(&self, path: String, role: String) -> AsyncTask<Work<()>> {
        self.work(move |store| store.set_role(path, role.parse()?))
    }

    #[napi(catch_unwind)]
    pub fn set_usage(
        &self,
        path: String,
        used_bytes: Option<f64>,
        available_bytes: Option<f64>,
    ) -> AsyncTask<Work<()>> {
        self.work(move |store| {
            let used = whole("usedBytes", used_bytes.unwrap_or(0.0))?;
            let available = whole("availableBytes", available_bytes.unwrap_or(0.0))?;
            store.set_usage(path, Usage::new(used, available))
        })
    }

    #[napi(catch_unwind)]
    pub fn remove_directory(&self, path: String) -> AsyncTask<Work<()>> {
        let path = PathBuf::from(path);
        self.work(move |store| store.remove_directory(path))
    }

    /// Gives this handle back; the last one closes the store.
    #[napi(catch_unwind)]
    pub fn close(&self) -> AsyncTask<Work<()>> {
        let last = self.handle.leave();
        Work::start(move || last.map_or(Ok(()), |shared| shared.store.close()))
    }

    /// As `close`, in the calling thread.
    #[napi(catch_unwind)]
    pub fn close_now(&self) -> Result<()> {
        let last = self.handle.leave();
        guarded(|| last.map_or(Ok(()), |shared| shared.store.close()))
    }
}

fn appended(store: &Store, message: &Message<'_>) -> NativeAppended {
    match store.append(message) {
        Ok(receipt) => receipt.into(),
        Err(error) => {
            let error = Some(thrown(error).reason.to_string());
            NativeAppended { position: 0, queue_offset: 0, end: 0, store_ms: 0, error }
        }
    }
}

impl From<spanlog::Receipt> for NativeAppended {
    fn from(receipt: spanlog::Receipt) -> Self {
        let [position, queue_offset, end, _] = receipt_numbers(&receipt);
        Self { position, queue_offset, end, store_ms: receipt.store_ms, error: None }
    }
}
