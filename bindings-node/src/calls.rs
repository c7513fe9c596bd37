//! The calls that are made per message or per batch: plain functions, over a scratch block for
//! messages, with JSON for what is asked once per batch.

use std::cell::RefCell;
use std::rc::Rc;

use napi::bindgen_prelude::*;
use serde_json::json;
use spanlog::Receipt;

use crate::block::{self, Numbers};
use crate::failure::{fields, guarded, invalid};
use crate::given::Given;
use crate::handle::Handle;
use crate::requests;
use crate::scratch::Scratch;

/// The rows and bytes of a block that JavaScript made.
pub type Rows = FnArgs<(BigUint64Array, Uint8Array)>;

/// What is asked for, and the arguments as JSON.
pub type Question = FnArgs<(String, String)>;

/// A handle and the blocks it shares with JavaScript.
pub struct Calls {
    handle: Rc<Handle>,
    scratch: Scratch,
    numbers: RefCell<Numbers>,
}

impl Calls {
    pub fn new(handle: Rc<Handle>, scratch: Scratch, numbers: Numbers) -> Rc<Self> {
        Rc::new(Self { handle, scratch, numbers: RefCell::new(numbers) })
    }

    /// `append(count)`: the messages that the scratch block holds. The numbers then say where the
    /// first of them went.
    pub fn append<'env>(self: &Rc<Self>, env: &'env Env) -> Result<Function<'env, u32, ()>> {
        let calls = Rc::clone(self);
        env.create_function_from_closure("append", move |call| {
            let count: u32 = call.get(0)?;
            guarded(|| {
                let receipt = calls.handle.with(|store| {
                    calls.scratch.with_messages(count as usize, |all| store.append_batch(all))
                })?;
                let Receipt { position, queue_offset, end, store_ms } = receipt;
                let numbers = [position.get(), queue_offset.get(), end.get(), store_ms as u64];
                calls.numbers.borrow_mut().write(numbers)
            })
        })
    }

    /// `find(what, arguments)`: messages, which wait for `fill`. Says how much room they take.
    pub fn find<'env>(self: &Rc<Self>, env: &'env Env) -> Result<Function<'env, Question, String>> {
        let handle = Rc::clone(&self.handle);
        env.create_function_from_closure("find", move |call| {
            let (what, given): (String, String) = (call.get(0)?, call.get(1)?);
            guarded(|| {
                let given = Given::parse(&given)?;
                let found = requests::find(&handle, &what, &given)?;
                let about = found.describe().to_string();
                let verify = given.get("verify").map_or(Ok(true), |field| field.switch())?;
                handle.keep(found, verify);
                Ok(about)
            })
        })
    }

    /// `fill(rows, bytes)`: lays out what was found. Where messages are damaged, returns how many
    /// are not, and what is wrong with the others.
    pub fn fill<'env>(
        self: &Rc<Self>,
        env: &'env Env,
    ) -> Result<Function<'env, Rows, Option<String>>> {
        let handle = Rc::clone(&self.handle);
        env.create_function_from_closure("fill", move |call| {
            let (rows, bytes) = (call.get(0)?, call.get(1)?);
            let found = handle.take();
            guarded(|| {
                let (found, verify) = found.ok_or_else(|| invalid("nothing was found"))?;
                let (count, damages) = block::fill(&found, rows, bytes, verify)?;
                let told = damages.iter().map(fields).collect::<Vec<_>>();
                let told = json!({ "count": count, "damages": told });
                Ok((!damages.is_empty()).then(|| told.to_string()))
            })
        })
    }
}
