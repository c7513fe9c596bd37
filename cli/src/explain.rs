//! The bytes of a store's files, field by field (`FORMAT.md` has the same tables).

use std::fmt::Write;

use spanlog::record::{
    Check, Found, MAGIC_PADDING, MAGIC_V1, MAGIC_V2, MessageView, Properties, at,
};

use crate::message::{time_text, visible};

/// One thing in a file: a record, a unit, a slot, an entry.
#[derive(Debug)]
pub struct Item {
    /// Its first byte in the file.
    pub at: u64,
    /// Length in bytes.
    pub len: u64,
    /// What it is.
    pub what: &'static str,
    /// What is wrong with it.
    pub damage: Option<String>,
    /// Its fields, in the order of the bytes.
    pub fields: Vec<Field>,
}

/// A field of an item.
#[derive(Debug)]
pub struct Field {
    /// Its first byte, counted from the item's.
    pub at: u64,
    /// Length in bytes.
    pub len: u64,
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: String,
    /// What that means, where it is not plain.
    pub meaning: String,
}

/// Fields taken off the front of some bytes, one after the other.
#[derive(Debug)]
struct Fields<'a> {
    bytes: &'a [u8],
    at: usize,
    fields: Vec<Field>,
}

impl<'a> Fields<'a> {
    fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0, fields: Vec::new() }
    }

    /// The next bytes; fewer where they end.
    fn take(&mut self, len: usize) -> &'a [u8] {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        &rest[..len.min(rest.len())]
    }

    fn push(&mut self, len: usize, name: &str, value: String, meaning: String) {
        let taken = self.take(len).len();
        if taken > 0 || len == 0 {
            let (at, len) = (self.at as u64, taken as u64);
            self.fields.push(Field { at, len, name: name.to_owned(), value, meaning });
        }
        self.at += taken;
    }

    /// A signed integer of so many bytes, and what it means.
    fn number(&mut self, len: usize, name: &str, meaning: impl Fn(i64) -> String) -> i64 {
        let bytes = self.take(len);
        let start = if bytes.first().is_some_and(|&first| first >= 0x80) { -1 } else { 0 };
        let value = bytes.iter().fold(start, |sum: i64, &byte| (sum << 8) | i64::from(byte));
        self.push(len, name, value.to_string(), meaning(value));
        value
    }

    fn plain(&mut self, len: usize, name: &str) -> i64 {
        self.number(len, name, |_| String::new())
    }

    fn hex(&mut self, len: usize, name: &str, meaning: &str) {
        let value = hex(self.take(len));
        self.push(len, name, value, meaning.to_owned());
    }

    fn text(&mut self, len: usize, name: &str) {
        let value = visible(&String::from_utf8_lossy(self.take(len)));
        self.push(len, name, value, String::new());
    }

    fn host(&mut self, len: usize, name: &str) {
        let bytes = self.take(len);
        let port = bytes.last_chunk::<4>().map_or(0, |port| i32::from_be_bytes(*port));
        let address = match (bytes.first_chunk::<16>(), bytes.first_chunk::<4>()) {
            (Some(v6), _) if len == 20 => format!("[{}]", std::net::Ipv6Addr::from(*v6)),
            (_, Some(v4)) => std::net::Ipv4Addr::from(*v4).to_string(),
            _ => String::new(),
        };
        self.push(len, name, format!("{address}:{port}"), String::new());
    }

    fn done(self, at: u64, what: &'static str, damage: Option<String>) -> Item {
        Item { at, len: self.bytes.len() as u64, what, damage, fields: self.fields }
    }
}

/// Bytes in hexadecimal.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn time(value: i64) -> String {
    time_text(value)
}

fn none(_: i64) -> String {
    String::new()
}

/// What stands at a position of a segment, of which `rest` are bytes from there on and `left` says
/// how many there are up to its end; nothing where nothing was ever written.
pub fn record(rest: &[u8], file_at: u64, position: u64, left: u64) -> Option<Item> {
    let head = |at: usize| {
        let four = rest.get(at..at + 4).and_then(|four| four.try_into().ok());
        four.map_or(0, i32::from_be_bytes)
    };
    if head(4) == MAGIC_PADDING {
        let mut fields = Fields::new(&rest[..8]);
        fields.number(4, "left", |left| format!("{left} bytes to the segment's end"));
        fields.hex(4, "magic", "padding");
        let is_right = u64::try_from(head(0)) == Ok(left);
        let damage = (!is_right).then(|| "it does not end where the segment does".to_owned());
        let item = fields.done(file_at, "padding", damage);
        return Some(Item { len: if is_right { left } else { 8 }, ..item });
    }
    match at(rest, position, Check::Checksums) {
        Found::Nothing | Found::Padding => None,
        Found::Record(view) => Some(message(view.bytes(), file_at, None)),
        Found::Damaged(damage) => {
            let whole = MessageView::parse(rest).map(|view| view.bytes().len());
            let len = whole.unwrap_or_else(|_| rest.len().min(MOST_DAMAGED_BYTES));
            Some(message(&rest[..len], file_at, Some(damage.to_string())))
        }
    }
}

/// Bytes that are shown of a record whose length cannot be believed.
const MOST_DAMAGED_BYTES: usize = 91;

fn message(bytes: &[u8], file_at: u64, damage: Option<String>) -> Item {
    let mut fields = Fields::new(bytes);
    fields.plain(4, "size");
    let magic = bytes.get(4..8).and_then(|four| four.try_into().ok()).map_or(0, i32::from_be_bytes);
    fields.hex(
        4,
        "magic",
        match magic {
            MAGIC_V1 => "message, topic length of 1 byte",
            MAGIC_V2 => "message, topic length of 2 bytes",
            MAGIC_PADDING => "padding",
            _ => "no known magic",
        },
    );
    fields.hex(4, "body checksum", "CRC-32 of the body, 31 bits of it");
    fields.plain(4, "queue");
    fields.plain(4, "flag");
    fields.plain(8, "queue offset");
    fields.plain(8, "position");
    let flags = fields.number(4, "system flag", flag_names);
    fields.number(8, "born time", time);
    fields.host(if flags & 0x10 == 0 { 8 } else { 20 }, "born host");
    fields.number(8, "store time", time);
    fields.host(if flags & 0x20 == 0 { 8 } else { 20 }, "store host");
    fields.plain(4, "reconsume times");
    fields.plain(8, "prepared position");
    let body = fields.plain(4, "body length");
    let body = usize::try_from(body).unwrap_or(0);
    let text = body_text(fields.take(body));
    fields.push(body, "body", text, String::new());
    let topic = fields.plain(if magic == MAGIC_V2 { 2 } else { 1 }, "topic length");
    fields.text(usize::try_from(topic).unwrap_or(0), "topic");
    let properties = fields.plain(2, "properties length");
    let len = usize::try_from(properties).unwrap_or(0);
    let value = properties_text(fields.take(len));
    fields.push(len, "properties", value, String::new());
    fields.done(file_at, "record", damage)
}

/// Bytes of a body that are shown.
const MOST_BODY_BYTES: usize = 64;

fn body_text(body: &[u8]) -> String {
    let shown = &body[..body.len().min(MOST_BODY_BYTES)];
    let more = if shown.len() < body.len() { "..." } else { "" };
    match std::str::from_utf8(shown) {
        Ok(text) => format!("{}{more}", visible(text)),
        Err(_) => format!("0x{}{more}", hex(shown)),
    }
}

fn properties_text(bytes: &[u8]) -> String {
    let pairs = Properties::new(bytes).map(|(name, value)| format!("{name}={value}"));
    visible(&pairs.collect::<Vec<_>>().join("; "))
}

fn flag_names(flags: i64) -> String {
    let transaction = match flags & 0xC {
        0x4 => "prepared",
        0x8 => "commit",
        0xC => "rollback",
        _ => "",
    };
    let bit = |bit: i64, name| if flags & bit == 0 { "" } else { name };
    let names = [
        bit(0x1, "compressed"),
        bit(0x2, "several tags"),
        transaction,
        bit(0x10, "born host IPv6"),
        bit(0x20, "store host IPv6"),
        bit(0x40, "to be unwrapped"),
        bit(0x80, "inner batch"),
    ];
    let names: Vec<_> = names.into_iter().filter(|name| !name.is_empty()).collect();
    names.join(", ")
}

/// The unit of a queue file; nothing where nothing was ever written.
pub fn unit(bytes: &[u8], at: u64, offset: u64) -> Option<Item> {
    if bytes.iter().all(|&byte| byte == 0) {
        return None;
    }
    let mut fields = Fields::new(bytes);
    fields.push(0, "queue offset", offset.to_string(), "where the unit stands says it".into());
    fields.plain(8, "position");
    let size = fields.number(4, "size", |size| match size {
        0x7FFF_FFFF => "a filler: it points to nothing".to_owned(),
        size if size <= 0 => "no unit: nobody reads it".to_owned(),
        _ => String::new(),
    });
    fields.number(8, "tag code", |code| match code {
        0 => "no tags".to_owned(),
        code => format!("Java hash {:08x}, or a delivery time", code as i32),
    });
    Some(fields.done(at, if size == 0x7FFF_FFFF { "filler" } else { "unit" }, None))
}

/// Length of an index file's header in bytes.
pub const INDEX_HEADER_BYTES: u64 = 40;

/// The header of an index file.
pub fn index_header(bytes: &[u8]) -> Item {
    let mut fields = Fields::new(bytes);
    fields.number(8, "begin time", time);
    fields.number(8, "end time", time);
    fields.plain(8, "begin position");
    fields.plain(8, "end position");
    fields.plain(4, "slots used");
    fields.number(4, "next entry", |_| "entries are counted from 1".into());
    fields.done(0, "index header", None)
}

/// A slot of an index file; nothing where it is empty.
pub fn index_slot(bytes: &[u8], at: u64, number: u64) -> Option<Item> {
    if bytes.iter().all(|&byte| byte == 0) {
        return None;
    }
    let mut fields = Fields::new(bytes);
    fields.push(0, "slot", number.to_string(), "the hash of its keys modulo the slots".into());
    fields.number(4, "newest entry", none);
    Some(fields.done(at, "index slot", None))
}

/// An entry of an index file.
pub fn index_entry(bytes: &[u8], at: u64, number: u64) -> Item {
    let mut fields = Fields::new(bytes);
    fields.push(0, "entry", number.to_string(), String::new());
    fields.hex(4, "key hash", "of topic#key, without its sign");
    fields.plain(8, "position");
    fields.number(4, "seconds", |_| "after the file's begin time".into());
    fields.number(4, "entry before", |entry| {
        if entry == 0 { "the first of its slot".into() } else { String::new() }
    });
    fields.done(at, "index entry", None)
}

/// RocketMQ's checkpoint.
pub fn checkpoint(bytes: &[u8]) -> Item {
    let mut fields = Fields::new(bytes);
    fields.number(8, "log time", |value| format!("durable in the log up to {}", time(value)));
    fields.number(8, "queue time", |value| format!("in the queues up to {}", time(value)));
    fields.number(8, "index time", |value| format!("in full index files up to {}", time(value)));
    fields.plain(8, "master flushed position");
    fields.number(8, "confirmed position", |_| "begin of the last record".into());
    fields.number(8, "queue position", |_| "begin of the last record in every queue".into());
    fields.done(0, "checkpoint", None)
}

/// A page of two slots: marks, or the state of a cursor.
pub fn slots(page: &[u8]) -> Vec<Item> {
    use spanlog::disk::slots::{SlotState, slot_states};
    let item = |(number, state): (usize, SlotState)| {
        let at = number * 4096;
        let bytes = page.get(at..page.len().min(at + 512)).unwrap_or_default();
        let mut fields = Fields::new(bytes);
        fields.text(4, "magic");
        fields.plain(4, "version");
        fields.number(8, "sequence", |_| "the higher of two whole slots counts".into());
        let len = fields.plain(4, "payload length");
        fields.hex(4, "checksum", "of the slot, with zeros here");
        let len = usize::try_from(len).unwrap_or(0).min(480);
        if len == 17 {
            marks(&mut fields)
        } else {
            fields.hex(len, "payload", "")
        }
        let damage = (state == SlotState::Damaged).then(|| "the slot is not whole".to_owned());
        fields.done(at as u64, "slot", damage)
    };
    let states = slot_states(page).into_iter().enumerate();
    states.filter(|(_, state)| *state != SlotState::Empty).map(item).collect()
}

fn marks(fields: &mut Fields<'_>) {
    fields.number(1, "state", |state| {
        let closed = if state & 1 == 0 { "open" } else { "closed cleanly" };
        let failed = if state & 2 == 0 { "" } else { ", a flush had failed" };
        format!("{closed}{failed}")
    });
    fields.number(8, "flushed", |_| "everything below is durable".into());
    fields.number(8, "start", |_| "first position kept".into());
}

/// The queues' offsets.
pub fn ledger(bytes: &[u8]) -> Vec<Item> {
    let head_len = bytes.len().min(36);
    let mut head = Fields::new(&bytes[..head_len]);
    head.text(7, "magic");
    head.plain(1, "version");
    head.number(8, "position", |_| "records below are in the queues".into());
    head.number(8, "last record", |at| if at < 0 { "none".into() } else { String::new() });
    head.number(8, "its store time", time);
    let count = head.plain(4, "queues");
    let covered = bytes.len().saturating_sub(4);
    let sum = spanlog::base::crc::checksum(&bytes[..covered]).to_be_bytes();
    let is_whole = bytes.get(covered..) == Some(&sum);
    let damage = (!is_whole).then(|| "the checksum at its end is wrong".to_owned());
    let mut items = vec![head.done(0, "ledger", damage)];
    let mut at = head_len;
    for _ in 0..count {
        let Some(topic) = bytes.get(at..at + 2) else { break };
        let len = 22 + usize::from(u16::from_be_bytes([topic[0], topic[1]]));
        let Some(row) = bytes.get(at..at + len) else { break };
        let mut fields = Fields::new(row);
        let topic = fields.plain(2, "topic length");
        fields.text(usize::try_from(topic).unwrap_or(0), "topic");
        fields.plain(4, "queue");
        fields.number(8, "first offset", |_| "the first that is kept".into());
        fields.plain(8, "next offset");
        items.push(fields.done(at as u64, "queue", None));
        at += len;
    }
    items
}

/// A file of text, line by line.
pub fn lines(bytes: &[u8]) -> Vec<Item> {
    let mut at = 0;
    let mut items = Vec::new();
    for line in bytes.split_inclusive(|&byte| byte == b'\n') {
        let mut fields = Fields::new(line);
        let text = visible(String::from_utf8_lossy(line).trim_end());
        fields.push(line.len(), "line", text, String::new());
        items.push(fields.done(at, "line", None));
        at += line.len() as u64;
    }
    items
}
