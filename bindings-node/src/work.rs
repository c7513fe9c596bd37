//! Work that may wait for a disk: it runs on a thread of Node's pool and settles a promise.

use napi::bindgen_prelude::{AsyncTask, Env, ToNapiValue, TypeName};
use napi::{Result, Task};
use serde_json::Value;

use crate::failure::guarded;

/// What a job ends with, and what JavaScript sees of it.
pub trait Outcome: Send + Sized + 'static {
    type Seen: ToNapiValue + TypeName;

    /// Runs in the thread of the JavaScript that asked.
    fn seen(self) -> Self::Seen;
}

/// Text is seen as it is.
impl Outcome for String {
    type Seen = Self;

    fn seen(self) -> Self {
        self
    }
}

/// A job that ends; one that waits for somebody else would keep a thread from all others.
pub struct Work<T = String>(Option<Job<T>>);

type Job<T> = Box<dyn FnOnce() -> spanlog::Result<T> + Send>;

impl<T: Outcome> Work<T> {
    /// A promise of what `job` makes.
    pub fn make(job: impl FnOnce() -> spanlog::Result<T> + Send + 'static) -> AsyncTask<Self> {
        AsyncTask::new(Self(Some(Box::new(job))))
    }
}

impl Work {
    /// A promise of what `job` returns, as JSON.
    pub fn start(job: impl FnOnce() -> spanlog::Result<Value> + Send + 'static) -> AsyncTask<Self> {
        Self::make(|| Ok(job()?.to_string()))
    }
}

impl<T: Outcome> Task for Work<T> {
    type Output = T;
    type JsValue = T::Seen;

    fn compute(&mut self) -> Result<T> {
        guarded(self.0.take().expect("a job runs once"))
    }

    fn resolve(&mut self, _: Env, output: T) -> Result<T::Seen> {
        Ok(output.seen())
    }
}
