//! The calls that are made per message or per batch: plain functions, over a scratch block for
//! messages, with JSON for what is asked once per batch.

use std::cell::RefCell;
use std::rc::Rc;

use napi::bindgen_prelude::*;
use spanlog::{Queue, QueueOffset, ReadLimits, Receipt, Store};

use crate::block::{self, Numbers};
use crate::failure::{guarded, invalid};
use crate::found::Found;
use crate::given::Given;
use crate::handle::{Handle, Opened};
use crate::requests;
use crate::scratch::Scratch;

/// The rows and bytes of a block that JavaScript made.
pub type Rows = FnArgs<(BigUint64Array, Uint8Array)>;

/// What is asked for, and the arguments as JSON.
pub type Question = FnArgs<(String, String)>;

/// A topic, a queue, and tags if only some are wanted.
pub type Reading = FnArgs<(String, u32, Option<String>)>;

/// A handle and the blocks it shares with JavaScript.
pub struct Calls<T: Opened> {
    handle: Rc<Handle<T>>,
    scratch: Scratch,
    numbers: RefCell<Numbers>,
    /// A read's messages, until JavaScript has made room for them, and whether they are checked
    /// against their checksums then.
    found: RefCell<Option<(Found<'static>, bool)>>,
}

impl<T: Opened> Calls<T> {
    pub fn new(handle: &Rc<Handle<T>>, scratch: Scratch, numbers: BigUint64Array) -> Rc<Self> {
        let numbers = RefCell::new(Numbers::new(numbers));
        Rc::new(Self { handle: Rc::clone(handle), scratch, numbers, found: RefCell::default() })
    }

    /// A function of that name, which calls `work` with its argument.
    fn function<'env, A: FromNapiValue + JsValuesTupleIntoVec, R: ToNapiValue>(
        self: &Rc<Self>,
        env: &'env Env,
        name: &str,
        work: impl Fn(&Self, A) -> spanlog::Result<R> + 'static,
    ) -> Result<Function<'env, A, R>> {
        let calls = Rc::clone(self);
        env.create_function_from_closure(name, move |call| {
            let given = call.get(0)?;
            guarded(|| work(&calls, given))
        })
    }
}

impl Calls<Queue> {
    /// `push(count)`: the records that the scratch block holds. The first of the numbers then says
    /// where the last one ends.
    pub fn push<'env>(self: &Rc<Self>, env: &'env Env) -> Result<Function<'env, u32, ()>> {
        self.function(env, "push", |calls, count: u32| {
            let end = calls.handle.with(|queue| {
                calls.scratch.with_records(count as usize, |all| match all {
                    [one] => queue.push(one),
                    all => queue.push_many(all),
                })
            })?;
            calls.numbers.borrow_mut().write([end.get()])
        })
    }
}

impl Calls<Store> {
    /// `append(count)`: the messages that the scratch block holds. The numbers then say where the
    /// first of them went.
    pub fn append<'env>(self: &Rc<Self>, env: &'env Env) -> Result<Function<'env, u32, ()>> {
        self.function(env, "append", |calls, count: u32| {
            let receipt = calls.handle.with(|store| {
                calls.scratch.with_messages(count as usize, |all| store.append_batch(all))
            })?;
            let Receipt { position, queue_offset, end, store_ms } = receipt;
            let numbers = [position.get(), queue_offset.get(), end.get(), store_ms as u64];
            calls.numbers.borrow_mut().write(numbers)
        })
    }

    /// `read(topic, queue, tags)`: messages of a queue, which wait for `fill`. The numbers say from
    /// where on, how many and how many bytes at most, and whether they are checked; then, what was
    /// found.
    pub fn read<'env>(self: &Rc<Self>, env: &'env Env) -> Result<Function<'env, Reading, ()>> {
        let calls = Rc::clone(self);
        env.create_function_from_closure("read", move |call| {
            let (topic, queue): (String, u32) = (call.get(0)?, call.get(1)?);
            let tags: Option<String> = call.get(2)?;
            guarded(|| {
                let [from, max_messages, max_bytes, verify] = calls.numbers.borrow().read()?;
                let limits = ReadLimits { max_messages: max_messages as usize, max_bytes };
                let (place, from) = ((&*topic, queue), QueueOffset::new(from));
                let read =
                    |store: &Store| requests::read(store, place, from, tags.as_deref(), limits);
                calls.keep(calls.handle.with(read)?, verify != 0)
            })
        })
    }

    /// `find(what, arguments)`: messages, which wait for `fill`. The numbers say what was found.
    pub fn find<'env>(self: &Rc<Self>, env: &'env Env) -> Result<Function<'env, Question, ()>> {
        let calls = Rc::clone(self);
        env.create_function_from_closure("find", move |call| {
            let (what, given): (String, String) = (call.get(0)?, call.get(1)?);
            guarded(|| {
                let given = Given::parse(&given)?;
                let found = calls.handle.with(|store| requests::find(store, &what, &given))?;
                calls.keep(found, given.verify()?)
            })
        })
    }

    fn keep(&self, found: Found<'static>, verify: bool) -> spanlog::Result<()> {
        self.numbers.borrow_mut().write(found.numbers())?;
        *self.found.borrow_mut() = Some((found, verify));
        Ok(())
    }

    /// `fill(rows, bytes)`: lays out what was found. Where messages are damaged, returns how many
    /// are not, and what is wrong with the others.
    pub fn fill<'env>(
        self: &Rc<Self>,
        env: &'env Env,
    ) -> Result<Function<'env, Rows, Option<String>>> {
        let calls = Rc::clone(self);
        env.create_function_from_closure("fill", move |call| {
            let (rows, bytes) = (call.get(0)?, call.get(1)?);
            let found = calls.found.take();
            guarded(|| {
                let (found, verify) = found.ok_or_else(|| invalid("nothing was found"))?;
                block::fill_found(&found, rows, bytes, verify)
            })
        })
    }
}
