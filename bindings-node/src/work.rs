//! Work that may wait for a disk: it runs on a thread of Node's pool and settles a promise.

use napi::bindgen_prelude::{AsyncTask, Env};
use napi::{Result, Task};
use serde_json::Value;

use crate::failure::guarded;

type Job = Box<dyn FnOnce() -> spanlog::Result<Value> + Send>;

/// A job that ends; one that waits for somebody else would keep a thread from all others. Its
/// result is JSON.
pub struct Work(Option<Job>);

impl Work {
    /// A promise of what `job` returns.
    pub fn start(job: impl FnOnce() -> spanlog::Result<Value> + Send + 'static) -> AsyncTask<Self> {
        AsyncTask::new(Self(Some(Box::new(job))))
    }
}

impl Task for Work {
    type Output = String;
    type JsValue = String;

    fn compute(&mut self) -> Result<String> {
        let job = self.0.take().expect("a job runs once");
        guarded(|| Ok(job()?.to_string()))
    }

    fn resolve(&mut self, _: Env, output: String) -> Result<String> {
        Ok(output)
    }
}
