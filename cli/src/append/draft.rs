//! From a body and the command line to messages in the store.

use std::collections::BTreeMap;

use serde::Serialize;
use spanlog::base::hash::java_hash;
use spanlog::{Error, ErrorKind, Message, MessageView, Position, Receipt, Store};

use super::AppendArgs;
use super::tally::Tally;
use crate::failure::Outcome;
use crate::output::Output;

/// A message that is not appended yet.
#[derive(Debug)]
pub struct Draft {
    body: Vec<u8>,
    tags: Option<String>,
    keys: Vec<String>,
}

impl Draft {
    /// A message with what the command line says, and what its own columns do.
    ///
    /// # Errors
    /// `Invalid` for a column that is not UTF-8.
    pub fn new(args: &AppendArgs, body: Vec<u8>) -> Outcome<Self> {
        let words = |keys: &String| keys.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        let mut keys: Vec<String> = args.keys.iter().flat_map(words).collect();
        keys.extend(column(&body, args.key_column)?);
        let tags = column(&body, args.tag_column)?.or_else(|| args.tags.clone());
        Ok(Self { body, tags, keys })
    }
}

/// A column of a line, if it is asked for and there.
fn column(line: &[u8], number: Option<u16>) -> Outcome<Option<String>> {
    let Some(number) = number else { return Ok(None) };
    let mut columns = line.split(u8::is_ascii_whitespace).filter(|column| !column.is_empty());
    let Some(column) = columns.nth(usize::from(number) - 1) else { return Ok(None) };
    match std::str::from_utf8(column) {
        Ok(text) => Ok(Some(text.to_owned())),
        Err(_) => {
            let text = format!("column {number} is not UTF-8");
            Err(Error::new(ErrorKind::Invalid, text).into())
        }
    }
}

/// What a program is told of a message in the log.
#[derive(Debug, Serialize)]
struct Ack<'a> {
    topic: &'a str,
    queue: u32,
    offset: u64,
    position: u64,
    stored_ms: i64,
}

/// Appends drafts and answers them.
#[derive(Debug)]
pub struct Appender<'a> {
    /// The command line.
    pub args: &'a AppendArgs,
    /// Where answers go.
    pub output: &'a mut Output,
    /// What was done so far.
    pub tally: Tally,
    store: &'a Store,
    properties: Vec<(&'a str, &'a str)>,
    /// The queue whose turn is next.
    turn: u32,
    /// Drafts that wait for their batch to be full, by queue.
    waiting: BTreeMap<u32, Vec<Draft>>,
}

impl<'a> Appender<'a> {
    /// Nothing done yet.
    pub fn new(store: &'a Store, args: &'a AppendArgs, output: &'a mut Output) -> Self {
        let properties = args.properties.iter().map(|(name, value)| (&**name, &**value)).collect();
        let (tally, waiting) = (Tally::start(), BTreeMap::new());
        Self { args, output, tally, store, properties, turn: 0, waiting }
    }

    /// Takes a draft; appends its batch if that is full now.
    pub fn add(&mut self, draft: Draft) -> Outcome<()> {
        let queue = self.queue_of(&draft);
        let batch = self.waiting.entry(queue).or_default();
        batch.push(draft);
        if (batch.len() as u64) < u64::from(self.args.batch) {
            return Ok(());
        }
        let full = std::mem::take(batch);
        let outcome = self.append(queue, &full);
        // The buffer serves the next batch.
        self.waiting.insert(queue, emptied(full));
        outcome
    }

    /// Appends what waits.
    pub fn finish(&mut self) -> Outcome<()> {
        for (queue, drafts) in std::mem::take(&mut self.waiting) {
            if !drafts.is_empty() {
                self.append(queue, &drafts)?;
            }
        }
        Ok(())
    }

    /// RocketMQ's selection by hash, so that a key finds the same queue from there; else in turn.
    fn queue_of(&mut self, draft: &Draft) -> u32 {
        let Some(queues) = self.args.queues else { return self.args.queue };
        if let Some(key) = draft.keys.first() {
            let hash = i64::from(java_hash(key)) % i64::from(queues);
            return u32::try_from(hash.unsigned_abs()).unwrap_or(0);
        }
        let queue = self.turn;
        self.turn = (queue + 1) % queues;
        queue
    }

    fn append(&mut self, queue: u32, drafts: &[Draft]) -> Outcome<()> {
        let keys: Vec<Vec<&str>> =
            drafts.iter().map(|draft| draft.keys.iter().map(String::as_str).collect()).collect();
        let bytes = drafts.iter().map(|draft| draft.body.len() as u64).sum();
        let receipt = self.put(queue, drafts, &keys)?;
        self.tally.add(drafts.len() as u64, bytes, &receipt);
        self.answer(queue, drafts.len(), &receipt)
    }

    fn put(&self, queue: u32, drafts: &[Draft], keys: &[Vec<&str>]) -> spanlog::Result<Receipt> {
        let mut messages = Vec::with_capacity(drafts.len());
        for (draft, keys) in drafts.iter().zip(keys) {
            let message = Message::new(&self.args.topic, queue, &draft.body)
                .keys(keys)
                .properties(&self.properties);
            messages.push(Message { tags: draft.tags.as_deref(), ..message });
        }
        match self.args.durable {
            true => self.store.append_batch_durable(&messages),
            false => self.store.append_batch(&messages),
        }
    }

    fn answer(&mut self, queue: u32, count: usize, receipt: &Receipt) -> Outcome<()> {
        if !self.answers_each() {
            return Ok(());
        }
        let mut position = receipt.position;
        for number in 0..count as u64 {
            let offset = receipt.queue_offset.get() + number;
            let (topic, stored_ms) = (&*self.args.topic, receipt.store_ms);
            let ack = Ack { topic, queue, offset, position: position.get(), stored_ms };
            match self.output.is_json() {
                true => self.output.object(&ack)?,
                false => self
                    .output
                    .line(format_args!("{topic}/{queue} #{offset} at position {position}"))?,
            }
            if number + 1 < count as u64 {
                position = self.behind(position)?;
            }
        }
        // An answer that is not seen is none.
        self.output.flush()
    }

    fn answers_each(&self) -> bool {
        let is_single = self.args.lines.is_none();
        is_single || self.args.acks || (self.output.is_json() && !self.args.no_acks)
    }

    /// Where the record at `position` ends, and the next one of its batch begins.
    fn behind(&self, position: Position) -> spanlog::Result<Position> {
        let record = self.store.get(position)?;
        let size = MessageView::parse(&record).map_or(record.len() as u64, |v| u64::from(v.size()));
        Ok(position + size)
    }

    /// Says what was done, where not every message was answered.
    pub fn summary(&mut self) -> Outcome<()> {
        match (self.output.is_json(), self.answers_each()) {
            (true, true) => Ok(()),
            (true, false) => self.output.object(&self.tally.to_json()),
            (false, _) => self.output.line(self.tally.to_text()),
        }
    }
}

fn emptied(mut drafts: Vec<Draft>) -> Vec<Draft> {
    drafts.clear();
    drafts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_from_one_between_blanks() {
        let line = b"  2024-01-01\tINFO  order-7 \xFF done\r";
        let rows = [(1, Some("2024-01-01")), (2, Some("INFO")), (5, Some("done")), (6, None)];
        for (number, expected) in rows {
            assert_eq!(column(line, Some(number)).unwrap().as_deref(), expected, "{number}");
        }
        assert_eq!(column(line, None).unwrap(), None);
        assert!(column(line, Some(4)).is_err());
    }
}
