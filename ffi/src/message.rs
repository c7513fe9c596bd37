//! Messages: as C hands them in, and as it gets them back.

use std::ffi::{c_char, c_void};

use engine::record::property;
use engine::{Message, MessageView, Result};
use smallvec::SmallVec;

use crate::guard::invalid;
use crate::input::{Sized, array, bytes, text, text_or_none};
use crate::options::{check_reserved, host};
use crate::output::spanlog_bytes;

/// A name and a value, in UTF-8.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct spanlog_property {
    /// The name.
    pub name: *const c_char,
    /// The value.
    pub value: *const c_char,
}

/// A message to append. Begin with SPANLOG_MESSAGE_INIT. Everything is copied before the call
/// returns. Texts are UTF-8 and end with NUL.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct spanlog_message {
    /// sizeof(spanlog_message).
    pub struct_size: usize,
    /// The topic: 1 to 255 of letters, digits, '%', '|', '_' and '-'.
    pub topic: *const c_char,
    /// The payload; NULL for an empty one.
    pub body: *const c_void,
    /// How many bytes it has.
    pub body_len: usize,
    /// What consumers filter by; NULL for none.
    pub tags: *const c_char,
    /// What the message is found by; NULL for nothing.
    pub keys: *const *const c_char,
    /// How many keys there are.
    pub key_count: usize,
    /// Further properties; NULL for none.
    pub properties: *const spanlog_property,
    /// How many there are.
    pub property_count: usize,
    /// Who made the message, "ip:port"; NULL for "127.0.0.1:0".
    pub born_host: *const c_char,
    /// When the message was made, in ms since 1970; 0 for now.
    pub born_ms: i64,
    /// With a committed transaction: the position of its prepared message.
    pub prepared_position: u64,
    /// The queue within the topic, at most 2^31-1.
    pub queue: u32,
    /// A number of the caller's own.
    pub flag: i32,
    /// System flags, as RocketMQ's MessageSysFlag.
    pub sys_flag: i32,
    /// How often consumers gave it back.
    pub reconsume_times: i32,
    /// Must be 0.
    pub reserved: i32,
    /// Must be 0.
    pub reserved2: i32,
}

// SAFETY: numbers and pointers; `reserved2` stands where padding would be.
unsafe impl Sized for spanlog_message {
    const NAME: &'static str = "spanlog_message";
    const LEAST_BYTES: usize = size_of::<Self>();
}

/// What the engine's message borrows besides the caller's memory.
#[derive(Default)]
pub struct Lists<'a> {
    pub keys: SmallVec<[&'a str; 4]>,
    pub properties: SmallVec<[(&'a str, &'a str); 4]>,
}

impl spanlog_message {
    /// Adds the texts of this message.
    ///
    /// # Safety
    /// Its pointers are NULL or lead to what they say, for as long as `'a`.
    pub unsafe fn read_lists<'a>(&self, lists: &mut Lists<'a>) -> Result<()> {
        // SAFETY: the caller promises it.
        for key in unsafe { array(self.keys, self.key_count, "keys") }? {
            // SAFETY: as above.
            lists.keys.push(unsafe { text(*key, "a key") }?);
        }
        // SAFETY: as above.
        for pair in unsafe { array(self.properties, self.property_count, "properties") }? {
            // SAFETY: as above.
            let name = unsafe { text(pair.name, "a property's name") }?;
            // SAFETY: as above.
            lists.properties.push((name, unsafe { text(pair.value, "a property's value") }?));
        }
        Ok(())
    }

    /// The message, as the engine takes it.
    ///
    /// # Safety
    /// As [`spanlog_message::read_lists`].
    #[inline]
    pub unsafe fn message<'a>(
        &self,
        keys: &'a [&'a str],
        properties: &'a [(&'a str, &'a str)],
    ) -> Result<Message<'a>> {
        check_reserved(Self::NAME, self.reserved | self.reserved2)?;
        // SAFETY: the caller promises it.
        let topic = unsafe { text(self.topic, "topic") }?;
        // SAFETY: as above.
        let body = unsafe { bytes(self.body, self.body_len, "body") }?;
        let mut message = Message::new(topic, self.queue, body);
        // SAFETY: as above.
        message.tags = unsafe { text_or_none(self.tags, "tags") }?;
        message.keys = keys;
        message.properties = properties;
        message.flag = self.flag;
        message.sys_flag = self.sys_flag;
        message.reconsume_times = self.reconsume_times;
        message.prepared_position = self.prepared_position;
        message.born_ms = Some(self.born_ms);
        if !self.born_host.is_null() {
            // SAFETY: as above.
            let born_host = unsafe { host(self.born_host, "born_host") }?;
            message.born_host = born_host.ok_or_else(|| invalid("born_host is NULL"))?;
        }
        Ok(message)
    }
}

/// A message that was read. What it points to belongs to the batch, or lies in the caller's
/// buffer.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct spanlog_message_view {
    /// The topic.
    pub topic: spanlog_bytes,
    /// The payload.
    pub body: spanlog_bytes,
    /// What consumers filter by; `data` is NULL if there is nothing.
    pub tags: spanlog_bytes,
    /// What the message is found by, separated by spaces; `data` is NULL if there is nothing.
    pub keys: spanlog_bytes,
    /// The identifier that the producer, or else the store, gave; `data` is NULL without one.
    pub unique_id: spanlog_bytes,
    /// The whole record, as it stands on disk.
    pub record: spanlog_bytes,
    /// Its number within its queue.
    pub queue_offset: u64,
    /// Where its record begins in the log.
    pub position: u64,
    /// With a committed transaction: the position of its prepared message.
    pub prepared_position: u64,
    /// When it was made, in ms since 1970, by the producer's clock.
    pub born_ms: i64,
    /// When it was stored, in ms since 1970, by the store's clock.
    pub store_ms: i64,
    /// The queue within the topic.
    pub queue: u32,
    /// The caller's own number.
    pub flag: i32,
    /// System flags, as RocketMQ's MessageSysFlag.
    pub sys_flag: i32,
    /// How often consumers gave it back.
    pub reconsume_times: i32,
}

// SAFETY: a view is numbers and addresses of bytes that nobody changes; whoever hands it out says
// how long they live.
unsafe impl Send for spanlog_message_view {}
// SAFETY: as above.
unsafe impl Sync for spanlog_message_view {}

impl spanlog_message_view {
    /// The view of a record that stands in a queue at `queue_offset`.
    pub fn new(view: &MessageView<'_>, queue_offset: u64) -> Self {
        let mut found = [spanlog_bytes::NONE; 3];
        for (name, value) in view.properties() {
            let at = match name {
                property::TAGS => 0,
                property::KEYS => 1,
                property::UNIQ_KEY => 2,
                _ => continue,
            };
            found[at] = spanlog_bytes::new(value.as_bytes());
        }
        let [tags, keys, unique_id] = found;
        Self {
            topic: spanlog_bytes::new(view.topic().as_bytes()),
            body: spanlog_bytes::new(view.body()),
            tags,
            keys,
            unique_id,
            record: spanlog_bytes::new(view.bytes()),
            queue_offset,
            position: view.position(),
            prepared_position: view.prepared_position(),
            born_ms: view.born_ms(),
            store_ms: view.store_ms(),
            queue: view.queue(),
            flag: view.flag(),
            sys_flag: view.sys_flag(),
            reconsume_times: view.reconsume_times(),
        }
    }
}
