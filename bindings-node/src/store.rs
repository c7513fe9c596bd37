//! The class that `lib/store.js` holds, and the functions beside it.

use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};

use napi::bindgen_prelude::*;
use napi_derive::napi;
use serde_json::{Value, json};
use spanlog::{Message, MessageView, Store, Verification, Watched};

use crate::answers;
use crate::block::Numbers;
use crate::calls::{Calls, Question, Rows};
use crate::failure::{fields, guarded, invalid};
use crate::given::{self, Given};
use crate::handle::{Handle, Shared};
use crate::notifier::Notifier;
use crate::requests;
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
    pub find: Function<'env, Question, String>,
    pub fill: Function<'env, Rows, Option<String>>,
}

/// An opening on its way.
pub struct Opening(String, String);

/// A verification between two of its steps.
#[napi]
pub struct NativeVerification(Arc<Mutex<Verification>>);

/// Opens a store, in the calling thread.
#[napi(catch_unwind)]
pub fn open(root: String, options: String) -> Result<NativeStore> {
    let mut opening = Opening(root, options);
    opening.compute().map(NativeStore::new)
}

/// Opens a store on a thread of the pool.
#[napi(catch_unwind)]
pub fn open_async(root: String, options: String) -> AsyncTask<Opening> {
    AsyncTask::new(Opening(root, options))
}

/// A further handle on an open store of this process.
#[napi(catch_unwind)]
pub fn attach(token: u32) -> Result<NativeStore> {
    guarded(|| Shared::attach(token)).map(NativeStore::new)
}

/// Removes a store.
#[napi(catch_unwind)]
pub fn destroy(root: String, options: String) -> AsyncTask<Work> {
    Work::start(move || {
        Store::destroy(root, &given::options(&Given::parse(&options)?)?).map(|()| Value::Null)
    })
}

/// A verification of the store at a root, which is read only.
#[napi(catch_unwind)]
pub fn verification(root: String, options: String) -> Result<NativeVerification> {
    guarded(|| Verification::new(root, &given::options(&Given::parse(&options)?)?))
        .map(NativeVerification::new)
}

/// What a record's bytes say beside what its row does.
#[napi(catch_unwind)]
pub fn details(record: &[u8]) -> Result<String> {
    guarded(|| {
        let view = MessageView::parse(record).map_err(|damage| invalid(damage.to_string()))?;
        Ok(answers::details(&view).to_string())
    })
}

impl Task for Opening {
    type Output = Arc<Shared>;
    type JsValue = NativeStore;

    fn compute(&mut self) -> Result<Arc<Shared>> {
        guarded(|| {
            let options = given::options(&Given::parse(&self.1)?)?;
            Ok(Shared::new(Store::open(&self.0, options)?))
        })
    }

    fn resolve(&mut self, _: Env, shared: Arc<Shared>) -> Result<NativeStore> {
        Ok(NativeStore::new(shared))
    }
}

impl NativeVerification {
    fn new(verification: Verification) -> Self {
        Self(Arc::new(Mutex::new(verification)))
    }
}

#[napi]
impl NativeVerification {
    /// Reads on a little: how far it is, or at the end what it found.
    #[napi(catch_unwind)]
    pub fn step(&self) -> AsyncTask<Work> {
        let verification = Arc::clone(&self.0);
        Work::start(move || {
            let mut verification = verification.lock().unwrap_or_else(PoisonError::into_inner);
            Ok(match verification.step()? {
                None => answers::verification(&verification),
                Some(now) => {
                    json!({ "part": now.part.name(), "done": now.done, "total": now.total })
                }
            })
        })
    }
}

impl NativeStore {
    fn new(shared: Arc<Shared>) -> Self {
        Self { handle: Rc::new(Handle::new(shared)) }
    }

    /// Has the store do something that may wait.
    fn work(
        &self,
        job: impl FnOnce(&Store) -> spanlog::Result<Value> + Send + 'static,
    ) -> AsyncTask<Work> {
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
            find: calls.find(env)?,
            fill: calls.fill(env)?,
        })
    }

    /// Appends packed messages: all or none and flushed, or one by one and then flushed once.
    #[napi(catch_unwind)]
    pub fn append_durable(
        &self,
        bytes: Uint8Array,
        words: Uint32Array,
        count: u32,
        together: bool,
    ) -> AsyncTask<Work> {
        let packed = Scratch::new(bytes, words).to_owned();
        self.work(move |store| {
            packed.with_messages(count as usize, |all| {
                if together {
                    return store.append_batch_durable(all).map(|it| answers::receipt(&it));
                }
                let outcomes = all.iter().map(|message| append_one(store, message)).collect();
                store.flush()?;
                Ok(outcomes)
            })
        })
    }

    #[napi(catch_unwind)]
    pub fn ask(&self, what: String, given: String) -> Result<String> {
        guarded(|| Ok(requests::ask(&self.handle, &what, &Given::parse(&given)?)?.to_string()))
    }

    #[napi(catch_unwind)]
    pub fn act(&self, what: String, given: String) -> AsyncTask<Work> {
        self.work(move |store| requests::act(store, &what, &Given::parse(&given)?))
    }

    /// What names the store to `attach`.
    #[napi(catch_unwind)]
    pub fn token(&self) -> Result<u32> {
        guarded(|| Ok(self.handle.shared()?.token))
    }

    /// A verification of the store while it is open.
    #[napi(catch_unwind)]
    pub fn verification(&self) -> Result<NativeVerification> {
        guarded(|| self.handle.with(Verification::of)).map(NativeVerification::new)
    }

    /// Starts the thread that calls `told` with the numbers of what was waited for.
    #[napi(catch_unwind)]
    pub fn listen(&self, told: Function<Vec<u32>, ()>) -> Result<()> {
        guarded(|| self.handle.with(|_| Ok(())))?;
        *self.handle.notifier.borrow_mut() = Some(Notifier::start(&told)?);
        Ok(())
    }

    /// Has `number` told once, when a queue, a topic or the log has grown beyond what it is now.
    #[napi(catch_unwind)]
    pub fn watch(&self, number: u32, topic: Option<String>, queue: Option<u32>) -> Result<()> {
        let watched = match (topic.as_deref(), queue) {
            (Some(topic), Some(queue)) => Watched::Queue { topic, queue },
            (Some(topic), None) => Watched::Topic { topic },
            (None, _) => Watched::Tail,
        };
        guarded(|| {
            let watch = self.handle.with(|store| store.watch(watched))?;
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

    /// Gives this handle back; the last one closes the store.
    #[napi(catch_unwind)]
    pub fn close(&self) -> AsyncTask<Work> {
        let last = self.handle.leave();
        Work::start(move || {
            last.map_or(Ok(()), |shared| shared.store.close()).map(|()| Value::Null)
        })
    }

    /// As `close`, in the calling thread.
    #[napi(catch_unwind)]
    pub fn close_now(&self) -> Result<()> {
        let last = self.handle.leave();
        guarded(|| last.map_or(Ok(()), |shared| shared.store.close()))
    }
}

/// Where a message went, or why it did not.
fn append_one(store: &Store, message: &Message<'_>) -> Value {
    match store.append(message) {
        Ok(receipt) => answers::receipt(&receipt),
        Err(error) => json!({ "error": fields(&error) }),
    }
}
