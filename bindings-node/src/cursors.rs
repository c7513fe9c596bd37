//! Named consumers of a topic.

use std::cell::RefCell;
use std::sync::Arc;

use napi::bindgen_prelude::*;
use napi_derive::napi;
use serde_json::{Value, json};
use spanlog::{Cursor, Delivery, QueueOffset};

use crate::answers;
use crate::block;
use crate::failure::{guarded, invalid};
use crate::found::{self, Found};
use crate::given::Given;
use crate::handle::closed;
use crate::notifier::NativeNotifier;
use crate::requests::unknown;
use crate::work::{Outcome, Work};

/// An open cursor, and what it delivered last, until JavaScript has made room for it.
#[napi]
pub struct NativeCursor {
    cursor: RefCell<Option<Arc<Cursor>>>,
    delivery: RefCell<Option<(Delivery, bool)>>,
}

impl Outcome for Cursor {
    type Seen = NativeCursor;

    fn seen(self) -> NativeCursor {
        let cursor = RefCell::new(Some(Arc::new(self)));
        NativeCursor { cursor, delivery: RefCell::default() }
    }
}

impl NativeCursor {
    fn opened(&self) -> spanlog::Result<Arc<Cursor>> {
        self.cursor.borrow().clone().ok_or_else(|| closed("cursor"))
    }

    /// Takes the cursor away; what it returns commits it.
    fn leave(&self) -> impl FnOnce() -> spanlog::Result<()> + Send + use<> {
        let cursor = self.cursor.take();
        move || match cursor.map(Arc::try_unwrap) {
            None => Ok(()),
            Some(Ok(cursor)) => cursor.close(),
            // A commit that is on its way lets go of it.
            Some(Err(cursor)) => cursor.commit(),
        }
    }
}

#[napi]
impl NativeCursor {
    /// Polls without waiting: what was delivered waits for `fill`. Says how much room it takes.
    #[napi(catch_unwind)]
    pub fn poll(&self, given: String) -> Result<String> {
        guarded(|| {
            let (cursor, given) = (self.opened()?, Given::parse(&given)?);
            let verify = given.verify()?;
            let delivery = cursor.poll(given.limits()?, std::time::Duration::ZERO)?;
            let about = found::describe(&delivery).to_string();
            *self.delivery.borrow_mut() = Some((delivery, verify));
            Ok(about)
        })
    }

    /// Lays out what was delivered.
    #[napi(catch_unwind)]
    pub fn fill(&self, rows: BigUint64Array, bytes: Uint8Array) -> Result<Option<String>> {
        let delivery = self.delivery.take();
        guarded(|| {
            let (delivery, verify) = delivery.ok_or_else(|| invalid("nothing was delivered"))?;
            block::fill_found(&Found::Delivery(&delivery), rows, bytes, verify)
        })
    }

    /// Acknowledges the message at an offset, or all below it.
    #[napi(catch_unwind)]
    pub fn ack(&self, queue: u32, offset: BigInt, below: bool) -> Result<()> {
        let offset = QueueOffset::new(offset.get_u64().1);
        guarded(|| match (self.opened()?, below) {
            (cursor, false) => cursor.ack(queue, offset),
            (cursor, true) => cursor.ack_up_to(queue, offset),
        })
    }

    #[napi(catch_unwind)]
    pub fn ask(&self, what: String, given: String) -> Result<String> {
        guarded(|| {
            let cursor = self.opened()?;
            let answer = match &*what {
                "seek" => {
                    cursor.seek(Given::parse(&given)?.seek()?)?;
                    Value::Null
                }
                "lag" => answers::lag(cursor.lag()?),
                "report" => answers::cursor(&cursor.report()?),
                "nextDueMs" => json!(cursor.next_due_ms()),
                _ => return Err(unknown(&what)),
            };
            Ok(answer.to_string())
        })
    }

    #[napi(catch_unwind)]
    pub fn commit(&self) -> AsyncTask<Work> {
        let cursor = self.opened();
        Work::start(move || cursor?.commit().map(|()| Value::Null))
    }

    /// Has `number` told once, when there may be more to poll than now.
    #[napi(catch_unwind)]
    pub fn watch(&self, notifier: &NativeNotifier, number: u32) -> Result<()> {
        notifier.add(number, || {
            let watch = self.opened()?.watch()?;
            watch.clear();
            Ok(Arc::new(watch))
        })
    }

    /// Commits, and lets others open the cursor.
    #[napi(catch_unwind)]
    pub fn close(&self) -> AsyncTask<Work> {
        let leave = self.leave();
        Work::start(|| leave().map(|()| Value::Null))
    }

    /// As `close`, in the calling thread.
    #[napi(catch_unwind)]
    pub fn close_now(&self) -> Result<()> {
        guarded(self.leave())
    }
}
