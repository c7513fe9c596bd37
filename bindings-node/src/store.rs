//! The class that `lib/store.js` holds, and the functions beside it.

use std::rc::Rc;
use std::sync::Arc;

use napi::bindgen_prelude::*;
use napi_derive::napi;
use serde_json::{Value, json};
use spanlog::{Cursor, Message, MessageView, Store, Verification, Watched};

use crate::answers;
use crate::calls::{Calls, Question, Reading, Rows};
use crate::failure::{fields, guarded, invalid};
use crate::given::{self, Given};
use crate::handle::{Handle, Shared};
use crate::notifier::NativeNotifier;
use crate::requests;
use crate::scratch::Scratch;
use crate::verifying::NativeVerification;
use crate::work::{Outcome, Work};

/// A handle on an open store.
#[napi]
pub struct NativeStore {
    handle: Rc<Handle<Store>>,
}

/// What is called per message or batch.
#[napi(object, object_from_js = false)]
pub struct NativeCalls<'env> {
    pub append: Function<'env, u32, ()>,
    pub read: Function<'env, Reading, ()>,
    pub find: Function<'env, Question, ()>,
    pub fill: Function<'env, Rows, Option<String>>,
}

impl Outcome for Arc<Shared<Store>> {
    type Seen = NativeStore;

    fn seen(self) -> NativeStore {
        NativeStore { handle: Rc::new(Handle::new(self)) }
    }
}

fn opening(root: String, options: String) -> impl FnOnce() -> spanlog::Result<Arc<Shared<Store>>> {
    move || Store::open(root, given::options(&Given::parse(&options)?)?).map(Shared::new)
}

/// Opens a store, in the calling thread.
#[napi(catch_unwind)]
pub fn open(root: String, options: String) -> Result<NativeStore> {
    guarded(opening(root, options)).map(Outcome::seen)
}

/// Opens a store on a thread of the pool.
#[napi(catch_unwind)]
pub fn open_async(root: String, options: String) -> AsyncTask<Work<Arc<Shared<Store>>>> {
    Work::make(opening(root, options))
}

/// A further handle on an open store of this process.
#[napi(catch_unwind)]
pub fn attach(token: u32) -> Result<NativeStore> {
    guarded(|| Shared::<Store>::attach(token)).map(Outcome::seen)
}

/// Removes a store.
#[napi(catch_unwind)]
pub fn destroy(root: String, options: String) -> AsyncTask<Work> {
    Work::start(move || {
        Store::destroy(root, &given::options(&Given::parse(&options)?)?).map(|()| Value::Null)
    })
}

/// What a record's bytes say beside what its row does.
#[napi(catch_unwind)]
pub fn details(record: &[u8]) -> Result<String> {
    guarded(|| {
        let view = MessageView::parse(record).map_err(|damage| invalid(damage.to_string()))?;
        Ok(answers::details(&view).to_string())
    })
}

impl NativeStore {
    /// Has the store do something that may wait.
    fn work(
        &self,
        job: impl FnOnce(&Store) -> spanlog::Result<Value> + Send + 'static,
    ) -> AsyncTask<Work> {
        let shared = self.handle.shared();
        Work::start(move || job(&shared?.opened))
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
        let calls = Calls::new(&self.handle, scratch, numbers);
        Ok(NativeCalls {
            append: calls.append(env)?,
            read: calls.read(env)?,
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
        let ask = |store: &Store| requests::ask(store, &what, &Given::parse(&given)?);
        guarded(|| self.handle.with(ask).map(|answer| answer.to_string()))
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

    /// Has `number` told once, when a queue, a topic or the log has grown beyond what it is now.
    #[napi(catch_unwind)]
    pub fn watch(
        &self,
        notifier: &NativeNotifier,
        number: u32,
        topic: Option<String>,
        queue: Option<u32>,
    ) -> Result<()> {
        let watched = match (topic.as_deref(), queue) {
            (Some(topic), Some(queue)) => Watched::Queue { topic, queue },
            (Some(topic), None) => Watched::Topic { topic },
            (None, _) => Watched::Tail,
        };
        notifier.add(number, || {
            let watch = self.handle.with(|store| store.watch(watched))?;
            watch.clear();
            Ok(Arc::new(watch))
        })
    }

    /// Opens a cursor, or makes it.
    #[napi(catch_unwind)]
    pub fn cursor(&self, name: String, topic: String, options: String) -> AsyncTask<Work<Cursor>> {
        let shared = self.handle.shared();
        Work::make(move || shared?.opened.cursor(&name, &topic, Given::parse(&options)?.cursor()?))
    }

    /// Gives this handle back; the last one closes the store.
    #[napi(catch_unwind)]
    pub fn close(&self) -> AsyncTask<Work> {
        let leave = self.handle.leave();
        Work::start(|| leave().map(|()| Value::Null))
    }

    /// As `close`, in the calling thread.
    #[napi(catch_unwind)]
    pub fn close_now(&self) -> Result<()> {
        guarded(self.handle.leave())
    }
}

/// Where a message went, or why it did not.
fn append_one(store: &Store, message: &Message<'_>) -> Value {
    match store.append(message) {
        Ok(receipt) => answers::receipt(&receipt),
        Err(error) => json!({ "error": fields(&error) }),
    }
}
