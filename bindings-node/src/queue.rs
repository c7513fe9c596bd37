//! Queue mode: a queue, and its readers.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use napi::bindgen_prelude::*;
use napi_derive::napi;
use serde_json::{Value, json};
use spanlog::{Position, Queue, QueueReader, QueueRecord, QueueTask};

use crate::answers::{self, digits};
use crate::block;
use crate::calls::Calls;
use crate::failure::{fields, guarded, invalid};
use crate::found::pair;
use crate::given::{self, Given};
use crate::handle::{Handle, Shared};
use crate::notifier::NativeNotifier;
use crate::requests::{next, unknown};
use crate::scratch::Scratch;
use crate::work::{Outcome, Work};

/// 64-bit numbers of a record: its number, where it ends, as a pair of 32 bits, the lower first,
/// where among the bytes it begins and how long it is, and where it stands. `lib/queue.js` has the
/// same.
const ROW: usize = 4;

/// A handle on an open queue.
#[napi]
pub struct NativeQueue {
    handle: Rc<Handle<Queue>>,
}

/// A reader of a queue, and what it popped last, until JavaScript has made room for it.
#[napi]
pub struct NativeReader {
    handle: Rc<Handle<Queue>>,
    reader: QueueReader,
    popped: RefCell<Vec<QueueRecord>>,
}

/// How much was popped.
#[napi(object, object_from_js = false)]
pub struct Popped {
    pub count: u32,
    pub bytes: f64,
}

impl Outcome for Arc<Shared<Queue>> {
    type Seen = NativeQueue;

    fn seen(self) -> NativeQueue {
        NativeQueue { handle: Rc::new(Handle::new(self)) }
    }
}

fn opening(root: String, options: String) -> impl FnOnce() -> spanlog::Result<Arc<Shared<Queue>>> {
    move || {
        let options = given::queue_options(&Given::parse(&options)?)?;
        Queue::open(root, options).map(Shared::new)
    }
}

/// Opens a queue, in the calling thread.
#[napi(catch_unwind)]
pub fn open_queue(root: String, options: String) -> Result<NativeQueue> {
    guarded(opening(root, options)).map(Outcome::seen)
}

/// Opens a queue on a thread of the pool.
#[napi(catch_unwind)]
pub fn open_queue_async(root: String, options: String) -> AsyncTask<Work<Arc<Shared<Queue>>>> {
    Work::make(opening(root, options))
}

/// A further handle on an open queue of this process.
#[napi(catch_unwind)]
pub fn attach_queue(token: u32) -> Result<NativeQueue> {
    guarded(|| Shared::<Queue>::attach(token)).map(Outcome::seen)
}

#[napi]
impl NativeQueue {
    /// The function that pushes what a scratch block holds, which `bytes` and `words` show.
    #[napi(catch_unwind)]
    pub fn pusher<'env>(
        &self,
        env: &'env Env,
        bytes: Uint8Array,
        words: Uint32Array,
        numbers: BigUint64Array,
    ) -> Result<Function<'env, u32, ()>> {
        Calls::new(&self.handle, Scratch::new(bytes, words), numbers).push(env)
    }

    /// Pushes packed records where that may wait: all or none, or one by one.
    #[napi(catch_unwind)]
    pub fn push_async(
        &self,
        bytes: Uint8Array,
        words: Uint32Array,
        count: u32,
        together: bool,
    ) -> AsyncTask<Work> {
        let (packed, shared) = (Scratch::new(bytes, words).to_owned(), self.handle.shared());
        let ended = |end: Position| json!({ "end": digits(end.get()) });
        Work::start(move || {
            let queue = &shared?.opened;
            packed.with_records(count as usize, |all| {
                if together {
                    return queue.push_many(all).map(ended);
                }
                let push = |record: &&[u8]| match queue.push(record) {
                    Ok(end) => ended(end),
                    Err(error) => json!({ "error": fields(&error) }),
                };
                Ok(all.iter().map(push).collect())
            })
        })
    }

    #[napi(catch_unwind)]
    pub fn reader(&self, name: String) -> Result<NativeReader> {
        let reader = guarded(|| self.handle.with(|queue| queue.reader(&name)))?;
        let handle = Rc::clone(&self.handle);
        Ok(NativeReader { handle, reader, popped: RefCell::default() })
    }

    #[napi(catch_unwind)]
    pub fn ask(&self, what: String, given: String) -> Result<String> {
        let ask = |queue: &Queue| {
            Ok(match &*what {
                "stat" => answers::queue_stat(&queue.stat()),
                "recovery" => answers::queue_recovery(queue.recovery()),
                "root" => answers::path(queue.root()),
                "removeReader" => {
                    queue.remove_reader(Given::parse(&given)?.text("name")?)?;
                    Value::Null
                }
                "run" => run(queue, Given::parse(&given)?.text("step")?)?,
                _ => return Err(unknown(&what)),
            })
        };
        guarded(|| self.handle.with(ask).map(|answer| answer.to_string()))
    }

    /// What may wait for a disk.
    #[napi(catch_unwind)]
    pub fn act(&self, what: String) -> AsyncTask<Work> {
        let shared = self.handle.shared();
        Work::start(move || match (&*what, &shared?.opened) {
            ("flush", queue) => queue.flush().map(|()| Value::Null),
            ("verify", queue) => Ok(answers::queue_verification(&queue.verify()?)),
            _ => Err(unknown(&what)),
        })
    }

    /// What names the queue to `attach_queue`.
    #[napi(catch_unwind)]
    pub fn token(&self) -> Result<u32> {
        guarded(|| Ok(self.handle.shared()?.token))
    }

    /// Gives this handle back; the last one closes the queue.
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

impl NativeReader {
    /// Runs `work` unless the handle was closed.
    fn with<T>(&self, work: impl FnOnce(&QueueReader) -> spanlog::Result<T>) -> Result<T> {
        guarded(|| self.handle.with(|_| work(&self.reader)))
    }

    fn keep(
        &self,
        pop: impl FnOnce(&QueueReader) -> spanlog::Result<Vec<QueueRecord>>,
    ) -> Result<Popped> {
        let records = self.with(pop)?;
        let bytes = records.iter().map(|record| record.payload.len()).sum::<usize>() as f64;
        let count = records.len() as u32;
        *self.popped.borrow_mut() = records;
        Ok(Popped { count, bytes })
    }
}

#[napi]
impl NativeReader {
    /// Pops without waiting: what came waits for `fill`.
    #[napi(catch_unwind)]
    pub fn pop(&self, max_records: u32, max_bytes: f64) -> Result<Popped> {
        self.keep(|reader| {
            let batch = reader.pop_many(max_records as usize, max_bytes as u64, Duration::ZERO)?;
            Ok((0..batch.len()).filter_map(|at| batch.get(at)).collect())
        })
    }

    /// As `pop`, of one record, which stays the next.
    #[napi(catch_unwind)]
    pub fn peek(&self) -> Result<Popped> {
        self.keep(|reader| Ok(reader.peek()?.into_iter().collect()))
    }

    /// Lays out what was popped.
    #[napi(catch_unwind)]
    pub fn fill(&self, rows: BigUint64Array, bytes: Uint8Array) -> Result<()> {
        let popped = self.popped.take();
        guarded(|| block::fill(rows, bytes, |rows, bytes| lay_out(&popped, rows, bytes)))
    }

    /// Notes that everything before a position is done.
    #[napi(catch_unwind)]
    pub fn commit(&self, end: BigInt) -> Result<()> {
        self.with(|reader| reader.commit(Position::new(end.get_u64().1)))
    }

    #[napi(catch_unwind)]
    pub fn ask(&self, what: String) -> Result<String> {
        self.with(|reader| {
            let answer = match &*what {
                "rewind" => json!(reader.rewind()?),
                "skipDamaged" => json!(reader.skip_damaged()?.as_ref().map(answers::range)),
                "backlog" => {
                    let (records, bytes) = reader.backlog()?;
                    json!({ "records": records, "bytes": bytes })
                }
                _ => return Err(unknown(&what)),
            };
            Ok(answer.to_string())
        })
    }

    /// Has `number` told once, when there is a record to pop.
    #[napi(catch_unwind)]
    pub fn watch(&self, notifier: &NativeNotifier, number: u32) -> Result<()> {
        notifier.add(number, || {
            self.reader.event_fd()?;
            self.reader.clear_event()?;
            Ok(Arc::new(self.reader.clone()))
        })
    }
}

/// Writes rows and payloads.
fn lay_out(popped: &[QueueRecord], rows: &mut [u64], bytes: &mut [u8]) -> spanlog::Result<()> {
    let short = || invalid("the block is smaller than what was popped");
    let rows = rows.get_mut(..ROW * popped.len()).ok_or_else(short)?.chunks_exact_mut(ROW);
    let mut at = 0;
    for (record, row) in popped.iter().zip(rows) {
        let len = record.payload.len();
        bytes.get_mut(at..at + len).ok_or_else(short)?.copy_from_slice(&record.payload);
        let place = pair(at as u32, len as u32);
        row.copy_from_slice(&[record.number, record.end.get(), place, record.position.get()]);
        at += len;
    }
    Ok(())
}

/// Runs a step of a queue without threads; says when it wants to run again.
fn run(queue: &Queue, step: &str) -> spanlog::Result<Value> {
    queue
        .run(match step {
            "prepare" => QueueTask::Prepare,
            "flush" => QueueTask::Flush,
            "probe" => QueueTask::Probe,
            _ => return Err(unknown(step)),
        })
        .map(next)
}
