//! The calls that are made per message or per batch: plain functions over a scratch block.

use std::cell::RefCell;
use std::rc::Rc;

use napi::bindgen_prelude::*;
use spanlog::{Position, QueueOffset, ReadLimits, Receipt};

use crate::block::{self, Numbers};
use crate::failure::{guarded, invalid, thrown};
use crate::found::Found;
use crate::handle::Handle;
use crate::scratch::Scratch;

/// Where in a scratch block the topic of a read begins; its words are what stands before.
const TOPIC_AT: usize = 16;

/// The rows and bytes of a block that JavaScript made.
pub type Rows = FnArgs<(BigUint64Array, Uint8Array)>;

/// A failure's fields, if there is one.
pub type Damage = Option<String>;

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
                calls.numbers.borrow_mut().write(receipt_numbers(&receipt))
            })
        })
    }

    /// `read()`: words say how long the topic is, which queue, how many messages, and whether
    /// checksums are checked; numbers from where, and how many bytes. What was found waits for
    /// `fill`, for which the numbers say how much room it takes.
    pub fn read<'env>(self: &Rc<Self>, env: &'env Env) -> Result<Function<'env, (), ()>> {
        let calls = Rc::clone(self);
        env.create_function_from_closure("read", move |_| guarded(|| calls.find()))
    }

    fn find(&self) -> spanlog::Result<()> {
        let [topic_len, queue, max_messages, verify, ..] = *self.scratch.words() else {
            return Err(invalid("the scratch block is too short"));
        };
        let topic = self.scratch.text(TOPIC_AT, topic_len as usize)?;
        let [from, max_bytes] = self.numbers.borrow().read()?;
        let limits = ReadLimits { max_messages: max_messages as usize, max_bytes };
        let from = QueueOffset::new(from);
        let batch = self.handle.with(|store| store.read(topic, queue, from, limits))?;
        self.keep(Found::Batch(batch), verify != 0)
    }

    /// `get()`: as `read`, the one record at the position that the numbers say.
    pub fn get<'env>(self: &Rc<Self>, env: &'env Env) -> Result<Function<'env, (), ()>> {
        let calls = Rc::clone(self);
        env.create_function_from_closure("get", move |_| {
            guarded(|| {
                let [position] = calls.numbers.borrow().read()?;
                let position = Position::new(position);
                let record = calls.handle.with(|store| store.get(position))?;
                calls.keep(Found::Record(record), true)
            })
        })
    }

    fn keep(&self, found: Found, verify: bool) -> spanlog::Result<()> {
        self.numbers.borrow_mut().write(found.numbers())?;
        self.handle.keep(found, verify);
        Ok(())
    }

    /// `fill(rows, bytes)`: lays out what was found; the first number then says how many messages
    /// there are. Returns what is wrong with the one behind them, if it is damaged.
    pub fn fill<'env>(self: &Rc<Self>, env: &'env Env) -> Result<Function<'env, Rows, Damage>> {
        let calls = Rc::clone(self);
        env.create_function_from_closure("fill", move |call| {
            let (rows, bytes) = (call.get(0)?, call.get(1)?);
            let found = calls.handle.take();
            guarded(|| {
                let (found, verify) = found.ok_or_else(|| invalid("nothing was read"))?;
                let (count, damage) = block::fill(&found, rows, bytes, verify)?;
                calls.numbers.borrow_mut().write([count as u64])?;
                Ok(damage.map(|damage| thrown(damage).reason.to_string()))
            })
        })
    }
}

/// Where a message went, as `lib/store.js` reads it.
pub fn receipt_numbers(receipt: &Receipt) -> [u64; 4] {
    let Receipt { position, queue_offset, end, store_ms } = *receipt;
    [position.get(), queue_offset.get(), end.get(), store_ms as u64]
}
