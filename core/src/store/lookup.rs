//! Finding messages by key, by unique id and by RocketMQ's message id.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

use crate::base::units::{Position, QueueOffset};
use crate::derived::{Bounds, IndexFile, KeyIndex, KeyKind, Source, hash_record};
use crate::error::{Error, ErrorKind, Result};
use crate::options::OnDamage;
use crate::record::{MessageView, OffsetId};
use crate::store::{Batch, ReadStatus, Store};
use crate::tasks::Engine;

/// What to look for beside a topic and a key.
///
/// ```
/// use spanlog::{KeyKind, KeyQuery};
/// let by_tag = KeyQuery { kind: KeyKind::Tag, ..KeyQuery::default() };
/// assert_eq!(by_tag.max_messages, 32);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyQuery {
    /// The oldest store time, in milliseconds since 1970. Default the oldest there is.
    pub from_ms: i64,
    /// The youngest store time, itself included. Default the youngest there is.
    pub to_ms: i64,
    /// Number of messages, from 1. Default 32.
    pub max_messages: usize,
    /// What the key is. Default one of the message's keys.
    pub kind: KeyKind,
}

impl Default for KeyQuery {
    fn default() -> Self {
        Self { from_ms: i64::MIN, to_ms: i64::MAX, max_messages: 32, kind: KeyKind::Key }
    }
}

impl Store {
    /// The messages of `topic` with that key, newest first, of those that [`Store::read`] could
    /// give, and of prepared transactions. Every one was compared with topic, key and time range.
    ///
    /// Times are store times. Every message with the key that is newer than what is found is looked
    /// at, so a time range bounds what is found and not the work. Where the key index lags behind,
    /// is damaged or is none, the log is read.
    ///
    /// # Errors
    /// `Corrupt` if a message is damaged on the way, unless damage is to be skipped;
    /// `Offline` if a part of the log is not there, unless the store was opened to live without;
    /// `Full` when every map is held; `Invalid` for a limit of none; `Closed`.
    pub fn query(&self, topic: &str, key: &str, query: &KeyQuery) -> Result<Batch> {
        self.check_readable()?;
        if query.max_messages == 0 {
            let text = "max_messages is at least 1";
            return Err(Error::new(ErrorKind::Invalid, text).with_offset(0));
        }
        let found = self.reading(|| self.look_up(topic, key, *query))?;
        // Waking the index step costs as much as the look-up: only where it has something to do.
        if self.engine.keys.is_kept() && self.engine.keys.done() < self.engine.indexed.load() {
            self.engine.index_bell.ring();
        }
        Ok(found)
    }

    fn look_up(&self, topic: &str, key: &str, query: KeyQuery) -> Result<Batch> {
        let mut finder = Finder::new(&self.engine, topic, key, query);
        match finder.find() {
            Err(error) if finder.is_index_damaged => {
                log::warn!("the key index is built anew: {error}");
                self.engine.rebuild_keys()?;
                finder = Finder::new(&self.engine, topic, key, query);
                finder.find()?;
            }
            found => found?,
        }
        Ok(finder.batch)
    }

    /// The messages of `topic` with that unique id, newest first: one, unless a producer sent an
    /// id twice. Without any, the message whose RocketMQ message id (store host and position) it
    /// is.
    ///
    /// # Errors
    /// As [`Store::query`].
    pub fn find_by_id(&self, topic: &str, id: &str) -> Result<Batch> {
        let query = KeyQuery { kind: KeyKind::UniqueId, ..KeyQuery::default() };
        let found = self.query(topic, id, &query)?;
        match id.parse::<OffsetId>() {
            Ok(id) if found.is_empty() => self.reading(|| self.find_by_offset_id(topic, id)),
            _ => Ok(found),
        }
    }

    /// The message that stands where the id says, if that is what stands there.
    fn find_by_offset_id(&self, topic: &str, id: OffsetId) -> Result<Batch> {
        let zero = Bounds { min: QueueOffset::ZERO, max: QueueOffset::ZERO };
        let mut none = Batch::nothing(&self.engine, ReadStatus::NoMatch, QueueOffset::ZERO, zero);
        let position = Position::new(id.position);
        let is_one = |view: MessageView<'_>| view.topic() == topic && view.store_host() == id.host;
        match none.reader.record(position) {
            Ok(Some(span)) if MessageView::parse(none.reader.bytes(span)).is_ok_and(is_one) => {
                none.push(position, span);
                Ok(none)
            }
            Err(error) if !matches!(error.kind(), ErrorKind::Gone | ErrorKind::Invalid) => {
                Err(error)
            }
            _ => Ok(none),
        }
    }
}

/// One look-up.
struct Finder<'a> {
    engine: &'a Engine,
    topic: &'a str,
    key: &'a str,
    query: KeyQuery,
    batch: Batch,
    /// The oldest record that was looked at: none is looked at twice.
    oldest: Position,
    is_index_damaged: bool,
}

impl<'a> Finder<'a> {
    fn new(engine: &'a Engine, topic: &'a str, key: &'a str, query: KeyQuery) -> Self {
        let zero = Bounds { min: QueueOffset::ZERO, max: QueueOffset::ZERO };
        let batch = Batch::nothing(engine, ReadStatus::NoMatch, QueueOffset::ZERO, zero);
        let oldest = Position::new(u64::MAX);
        Self { engine, topic, key, query, batch, oldest, is_index_damaged: false }
    }

    fn find(&mut self) -> Result<()> {
        let reader = &self.batch.reader;
        let end = self.engine.indexed.load().min(reader.end());
        for source in self.engine.keys.sources(reader.start().min(end)..end, self.query.kind) {
            match source {
                Source::Log(range) => self.search_log(range)?,
                Source::File(file) => self.search_file(&file)?,
            }
            if self.is_full() {
                break;
            }
        }
        Ok(())
    }

    fn is_full(&self) -> bool {
        self.batch.len() >= self.query.max_messages
    }

    fn is_found(&self, view: &MessageView<'_>) -> bool {
        let KeyQuery { from_ms, to_ms, kind, .. } = self.query;
        (from_ms..=to_ms).contains(&view.store_ms())
            && view.topic() == self.topic
            && kind.fits(view, self.key)
    }

    /// Looks at every record of a range; the newest of those that are found count.
    fn search_log(&mut self, range: Range<Position>) -> Result<()> {
        let most = self.query.max_messages - self.batch.len();
        let mut found = VecDeque::new();
        let passed = self.engine.log.walk(range, &mut |view| {
            if self.is_found(view) {
                found.push_back(Position::new(view.position()));
                if found.len() > most {
                    found.pop_front();
                }
            }
        })?;
        passed.into_iter().try_for_each(|error| self.pass(error))?;
        for position in found.into_iter().rev() {
            self.look_at(position, |_| false)?;
        }
        Ok(())
    }

    fn search_file(&mut self, file: &Arc<IndexFile>) -> Result<()> {
        let hash = self.query.kind.hash(self.topic, self.key);
        let chain = KeyIndex::chain(file, hash);
        let Some(mut chain) = self.judge(chain)? else { return Ok(()) };
        let (start, end) = (self.batch.reader.start(), self.batch.reader.end());
        while !self.is_full() {
            let next = chain.next();
            match self.judge(next)? {
                // What follows is older still.
                None => break,
                Some(position) if position < start => break,
                Some(position) if position >= end => {}
                Some(position) => {
                    let is_own = self.engine.keys.is_own();
                    let astray =
                        |record: Option<&MessageView<'_>>| is_own && !has_hash(record, hash);
                    if !self.look_at(position, astray)? {
                        self.judge(Err(chain.leads_astray(position)))?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Notes whether an error tells of damage to the index.
    fn judge<T>(&mut self, outcome: Result<T>) -> Result<T> {
        let is_damage = |error: &Error| error.kind() == ErrorKind::Corrupt;
        self.is_index_damaged |= outcome.as_ref().err().is_some_and(is_damage);
        outcome
    }

    /// Adds the record at `position` if it is what is looked for. Of others, `is_astray` is asked
    /// whether they cannot be meant, none if no record stands there; says whether one may be.
    fn look_at(
        &mut self,
        position: Position,
        is_astray: impl Fn(Option<&MessageView<'_>>) -> bool,
    ) -> Result<bool> {
        if position >= self.oldest {
            return Ok(true);
        }
        self.oldest = position;
        let span = match self.batch.reader.record(position) {
            Ok(Some(span)) => span,
            Ok(None) => return Ok(!is_astray(None)),
            // What no record can be behind.
            Err(error) if error.kind() == ErrorKind::Invalid => return Ok(!is_astray(None)),
            Err(error) => return self.pass(error).map(|()| true),
        };
        let view = MessageView::parse(self.batch.reader.bytes(span)).expect("it was parsed");
        if !self.is_found(&view) {
            return Ok(!is_astray(Some(&view)));
        }
        self.batch.push(position, span);
        Ok(true)
    }

    /// Whether a look-up goes on over what cannot be read.
    fn pass(&self, error: Error) -> Result<()> {
        let options = &self.engine.options;
        match error.kind() {
            ErrorKind::Gone => Ok(()),
            ErrorKind::Offline if options.allow_offline => Ok(()),
            ErrorKind::Corrupt if options.on_damage == OnDamage::Skip => Ok(()),
            _ => Err(error),
        }
    }
}

/// Whether an entry with that hash is one of the record's.
fn has_hash(record: Option<&MessageView<'_>>, hash: u32) -> bool {
    let mut hashes = Vec::new();
    record.inspect(|view| hash_record(view, &mut hashes));
    hashes.contains(&hash)
}
