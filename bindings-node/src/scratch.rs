//! Messages as JavaScript packs them: `lib/packing.js` writes what is read here.
//!
//! A message begins at a multiple of 4 with 14 words: queue, flag, system flags, reconsume times,
//! born time (low, high), prepared position (low, high), then the lengths of body, topic, tags (1
//! more than it is; 0 for none) and born host, and the numbers of keys and of properties. The
//! length of each key follows, then of each property's name and value, as words. Then come the
//! bytes: topic, tags, born host, keys, names and values, body. Topic and tags of the largest
//! length are those of the message before.
//!
//! A record of a queue begins there too, with its length as a word; its bytes follow.

use std::str;

use napi::bindgen_prelude::{Uint8Array, Uint32Array};
use spanlog::{Message, Result};

use crate::failure::invalid;

/// Words of a message before the lengths of its keys and properties.
const HEAD_WORDS: usize = 14;

/// As the length of topic and tags: they are those of the message before.
const SAME: usize = u32::MAX as usize;

/// A block of memory, seen as bytes and as words. JavaScript's own is only read, and only while
/// JavaScript waits for the call to return.
pub struct Scratch<B = Uint8Array, W = Uint32Array> {
    bytes: B,
    words: W,
}

/// A message with its lists, which a [`Message`] borrows.
struct Packed<'a> {
    message: Message<'a>,
    keys: Vec<&'a str>,
    properties: Vec<(&'a str, &'a str)>,
}

impl Scratch {
    /// A copy, for another thread.
    pub fn to_owned(&self) -> Scratch<Vec<u8>, Vec<u32>> {
        Scratch { bytes: self.bytes.to_vec(), words: self.words.to_vec() }
    }
}

impl<B: AsRef<[u8]>, W: AsRef<[u32]>> Scratch<B, W> {
    pub fn new(bytes: B, words: W) -> Self {
        Self { bytes, words }
    }

    fn words(&self) -> &[u32] {
        self.words.as_ref()
    }

    /// Hands the first `count` messages to `work`, which may keep nothing of them.
    pub fn with_messages<T>(
        &self,
        count: usize,
        work: impl FnOnce(&[Message<'_>]) -> Result<T>,
    ) -> Result<T> {
        let mut at = 0;
        // Each takes its head at least, so this is no more than was handed over.
        let mut packed = Vec::with_capacity(count.min(self.words().len() / HEAD_WORDS));
        for _ in 0..count {
            let one = self.unpack(&mut at, packed.last())?;
            packed.push(one);
        }
        let whole = |one| {
            let Packed { message, keys, properties }: &Packed<'_> = one;
            message.clone().keys(keys).properties(properties)
        };
        match &packed[..] {
            [one] => work(&[whole(one)]),
            all => work(&all.iter().map(whole).collect::<Vec<_>>()),
        }
    }

    /// Hands the first `count` records to `work`, which may keep nothing of them.
    pub fn with_records<T>(
        &self,
        count: usize,
        work: impl FnOnce(&[&[u8]]) -> Result<T>,
    ) -> Result<T> {
        let mut cursor = Cursor { bytes: self.bytes.as_ref(), at: 0 };
        let mut next = || {
            let len = *self.words().get(cursor.at / 4).ok_or_else(short)?;
            cursor.at += 4;
            let record = cursor.take(len as usize)?;
            cursor.at = cursor.at.next_multiple_of(4);
            Ok(record)
        };
        match count {
            1 => work(&[next()?]),
            _ => work(&(0..count).map(|_| next()).collect::<Result<Vec<_>>>()?),
        }
    }

    /// The message at `at`, which is moved behind it.
    fn unpack<'a>(&'a self, at: &mut usize, before: Option<&Packed<'a>>) -> Result<Packed<'a>> {
        let words = self.words().get(*at / 4..).unwrap_or_default();
        let (head, lens) = words.split_first_chunk::<HEAD_WORDS>().ok_or_else(short)?;
        let [queue, flag, sys_flag, times, born, born_high, prepared, prepared_high, ..] = *head;
        let [.., body, topic, tags, host, keys, properties] = head.map(|word| word as usize);
        let (keys, lens) = lens.split_at_checked(keys).ok_or_else(short)?;
        let pairs = lens.get(..2 * properties).ok_or_else(short)?;
        let start = *at + 4 * (HEAD_WORDS + keys.len() + pairs.len());
        let mut cursor = Cursor { bytes: self.bytes.as_ref(), at: start };

        let (topic, tags) = match before {
            Some(before) if topic == SAME => (before.message.topic, before.message.tags),
            _ => {
                let topic = cursor.text(topic)?;
                (topic, tags.checked_sub(1).map(|len| cursor.text(len)).transpose()?)
            }
        };
        let host = cursor.text(host)?;
        let keys = keys.iter().map(|&len| cursor.text(len as usize)).collect::<Result<_>>()?;
        let mut pair =
            |pair: &[u32]| Ok((cursor.text(pair[0] as usize)?, cursor.text(pair[1] as usize)?));
        let properties = pairs.chunks_exact(2).map(&mut pair).collect::<Result<_>>()?;
        let mut message = Message::new(topic, queue, cursor.take(body)?)
            .flag(flag as i32)
            .sys_flag(sys_flag as i32)
            .reconsume_times(times as i32)
            .born_ms(wide(born, born_high) as i64);
        message.tags = tags;
        message.prepared_position = wide(prepared, prepared_high);
        if !host.is_empty() {
            let bad = |_| invalid(format!("bornHost is {host:?}: it must be address:port"));
            message.born_host = host.parse().map_err(bad)?;
        }
        *at = cursor.at.next_multiple_of(4);
        Ok(Packed { message, keys, properties })
    }
}

/// Bytes that are taken one after the other.
struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    fn take(&mut self, len: usize) -> Result<&'a [u8]> {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let taken = rest.get(..len).ok_or_else(short)?;
        self.at += len;
        Ok(taken)
    }

    fn text(&mut self, len: usize) -> Result<&'a str> {
        str::from_utf8(self.take(len)?).map_err(|_| invalid("text is not UTF-8"))
    }
}

fn wide(low: u32, high: u32) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}

fn short() -> spanlog::Error {
    invalid("a packed message ends behind its block")
}
