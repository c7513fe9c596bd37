//! Compares a store with the model of what must be in it.

use spanlog::{
    Batch, ErrorKind, KeyQuery, MessageView, Position, QueueOffset, ReadLimits, ReadStatus, Store,
};

use crate::model::{Entry, Model};

/// What is wrong, for people.
pub type Checked<T = ()> = Result<T, String>;

/// Fails with a sentence unless a condition holds.
macro_rules! ensure {
    ($condition:expr, $($text:tt)*) => {
        if !$condition {
            return Err(format!($($text)*));
        }
    };
}
pub(crate) use ensure;

/// The positions never pass each other.
///
/// # Errors
/// Which ones do.
pub fn watermarks(store: &Store) -> Checked {
    let marks = store.watermarks();
    let ordered = marks.start <= marks.appended
        && marks.flushed <= marks.appended
        && marks.indexed <= marks.appended;
    ensure!(ordered, "watermarks out of order: {marks:?}");
    Ok(())
}

/// The record is this message, byte for byte.
///
/// # Errors
/// What differs.
pub fn record(view: &MessageView<'_>, entry: &Entry, model: &Model) -> Checked {
    let (topic, queue) = &model.lines[entry.line];
    let at = entry.position;
    ensure!(view.position() == at, "at {at}: position {}", view.position());
    ensure!(u64::from(view.size()) == entry.size, "at {at}: size {}", view.size());
    ensure!(view.topic() == topic && view.queue() == *queue, "at {at}: another queue");
    let offset = entry.offset.unwrap_or(0);
    ensure!(view.queue_offset() == offset, "at {at}: offset {}", view.queue_offset());
    ensure!(view.body() == entry.body, "at {at}: another body: {:?}", view.body());
    ensure!(view.tags() == entry.tag, "at {at}: another tag");
    ensure!(view.store_ms() == entry.store_ms, "at {at}: store time {}", view.store_ms());
    Ok(())
}

/// A batch holds these messages, all or a first part of them, and says where to go on.
///
/// # Errors
/// What differs.
pub fn batch(batch: &Batch, expected: &[&Entry], model: &Model) -> Checked {
    ensure!(batch.status() == ReadStatus::Found, "status {:?}", batch.status());
    ensure!(!batch.is_empty() && batch.len() <= expected.len(), "{} messages", batch.len());
    for (stored, entry) in batch.iter().zip(expected) {
        ensure!(stored.position().get() == entry.position, "unit points to {}", stored.position());
        ensure!(Some(stored.queue_offset().get()) == entry.offset, "{}", stored.queue_offset());
        let view = stored.decode_verified().map_err(|error| format!("decode: {error}"))?;
        record(&view, entry, model)?;
    }
    let last = expected[batch.len() - 1].offset.expect("it stands in a queue");
    ensure!(batch.next().get() == last + 1, "next {} after {last}", batch.next());
    Ok(())
}

/// The bounds of a queue whose units are known up to `end`.
fn bounds(store: &Store, model: &Model, line: usize, end: u64) -> Checked<(u64, u64)> {
    let (topic, queue) = &model.lines[line];
    let expected = model.bounds(line, end);
    let found = store.bounds(topic, *queue).map_or((0, 0), |b| (b.min.get(), b.max.get()));
    ensure!(found == expected, "{topic}/{queue}: bounds {found:?}, expected {expected:?}");
    Ok(expected)
}

/// One queue holds exactly the model's messages below `end`. `step` messages are read at once.
///
/// # Errors
/// What differs.
pub fn queue(store: &Store, model: &Model, line: usize, end: u64, step: usize) -> Checked {
    let (topic, queue) = &model.lines[line];
    let tell = |what: String| format!("{topic}/{queue}: {what}");
    let (min, max) = bounds(store, model, line, end)?;
    let entries: Vec<&Entry> = model.kept(line, end).collect();
    ensure!(entries.len() as u64 == max - min, "{topic}/{queue}: the model has a gap");
    let mut from = min;
    while from < max {
        let limits = ReadLimits { max_messages: step, max_bytes: 1 << 20 };
        let read = store.read(topic, *queue, QueueOffset::new(from), limits);
        let read = read.map_err(|error| tell(format!("offset {from}: {error}")))?;
        let expected = &entries[(from - min) as usize..];
        batch(&read, &expected[..expected.len().min(step)], model)
            .map_err(|what| tell(format!("offset {from} of {min}..{max}: {what}")))?;
        from = read.next().get();
    }
    Ok(())
}

/// The statuses of reads beside the kept range, as RocketMQ gives them.
///
/// # Errors
/// Which one differs.
pub fn statuses(store: &Store, model: &Model, line: usize, end: u64) -> Checked {
    let (topic, queue) = &model.lines[line];
    let (min, max) = bounds(store, model, line, end)?;
    let known = store.bounds(topic, *queue).is_some();
    let mut rows = vec![(max + 1, ReadStatus::TooLarge, max), (max, ReadStatus::AtEnd, max)];
    if min > 0 {
        rows.push((min - 1, ReadStatus::TooSmall, min));
    }
    if max == 0 {
        let status = if known { ReadStatus::Empty } else { ReadStatus::NoQueue };
        rows = vec![(0, status, 0), (7, status, 0)];
    }
    for (from, status, next) in rows {
        let read = store.read(topic, *queue, QueueOffset::new(from), ReadLimits::default());
        let read = read.map_err(|error| format!("{topic}/{queue} at {from}: {error}"))?;
        let found = (read.status(), read.next().get());
        ensure!(
            found == (status, next),
            "{topic}/{queue} ({min}..{max}) at {from}: {found:?}, expected {status:?}, {next}"
        );
    }
    Ok(())
}

/// One message is found by its position, or is gone if retention dropped it.
///
/// # Errors
/// What differs.
pub fn position(store: &Store, model: &Model, entry: &Entry) -> Checked {
    match store.get(Position::new(entry.position)) {
        Ok(slice) => {
            ensure!(entry.position >= model.start, "{} is not gone", entry.position);
            let view = MessageView::parse(&slice).map_err(|damage| damage.to_string())?;
            view.verify().map_err(|damage| format!("at {}: {damage}", entry.position))?;
            record(&view, entry, model)
        }
        Err(error) => {
            let gone = error.kind() == ErrorKind::Gone && entry.position < model.start;
            ensure!(gone, "the message at {}: {error}", entry.position);
            ensure!(error.start() == Some(Position::new(model.start)), "start in {error}");
            Ok(())
        }
    }
}

/// Every kept message below `end` is found by its keys, and by no other.
///
/// # Errors
/// What differs.
pub fn keys(store: &Store, model: &Model, end: u64) -> Checked {
    let mut topics: Vec<_> = model.lines.iter().map(|(topic, _)| topic).collect();
    topics.dedup();
    for topic in topics {
        for key in ["k", "Aa", "BB", "none"] {
            let query = KeyQuery { max_messages: 1_000_000, ..KeyQuery::default() };
            let found = match store.query(topic, key, &query) {
                // A batch keeps the map of every segment that it found something in.
                Err(error) if error.kind() == ErrorKind::Full => return Ok(()),
                found => found.map_err(|error| format!("key {key}: {error}"))?,
            };
            let found: Vec<_> = found.iter().map(|stored| stored.position().get()).collect();
            let expected = model.keyed(topic, key, end);
            ensure!(found == expected, "{topic}#{key}: {found:?}, expected {expected:?}");
        }
    }
    Ok(())
}

/// Everything there is: call it when all is caught up, so that queues end at `end`.
///
/// # Errors
/// What differs.
pub fn everything(store: &Store, model: &Model, step: usize) -> Checked {
    watermarks(store)?;
    let end = model.end();
    for line in 0..model.lines.len() {
        queue(store, model, line, end, step)?;
        statuses(store, model, line, end)?;
    }
    keys(store, model, end)?;
    for entry in &model.log {
        position(store, model, entry)?;
    }
    for report in store.queues() {
        let known = model.lines.contains(&(report.topic.clone(), report.queue));
        ensure!(known, "a queue nobody wrote to: {report:?}");
    }
    Ok(())
}
