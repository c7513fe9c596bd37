//! Work that may wait for a disk: it runs on a thread of Node's pool and settles a promise.

use napi::bindgen_prelude::{AsyncTask, Env, ToNapiValue, TypeName};
use napi::{Result, Task};

use crate::failure::guarded;

type Job<T> = Box<dyn FnOnce() -> spanlog::Result<T> + Send>;

/// A job that ends; one that waits for somebody else would keep a thread from all others.
pub struct Work<T>(Option<Job<T>>);

impl<T: Send + ToNapiValue + TypeName + 'static> Work<T> {
    /// A promise of what `job` returns.
    pub fn start(job: impl FnOnce() -> spanlog::Result<T> + Send + 'static) -> AsyncTask<Self> {
        AsyncTask::new(Self(Some(Box::new(job))))
    }
}

impl<T: Send + ToNapiValue + TypeName + 'static> Task for Work<T> {
    type Output = T;
    type JsValue = T;

    fn compute(&mut self) -> Result<T> {
        let job = self.0.take().expect("a job runs once");
        guarded(job)
    }

    fn resolve(&mut self, _: Env, output: T) -> Result<T> {
        Ok(output)
    }
}
