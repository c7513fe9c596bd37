//! Reading only what a tag filter wants.

use std::sync::Arc;

use crate::base::units::QueueOffset;
use crate::derived::{Queue, TagFilter, Unit};
use crate::error::Result;
use crate::record::MessageView;
use crate::store::batch::{Collector, read_with};
use crate::store::{Batch, ReadLimits, ReadStatus, Store};

/// Units that one read looks at: what takes some milliseconds.
const MOST_UNITS: u64 = 1 << 20;

/// Units that are looked at before messages are fetched: at first, as all may match, and later.
const FIRST_UNITS: u64 = 1 << 10;
const STEP_UNITS: u64 = 1 << 16;

impl Store {
    /// As [`Store::read`], but only messages that the filter wants. Others are passed by on the
    /// hash of their tags, which their queue holds; equal hashes of other tags are told apart.
    ///
    /// [`Batch::next`] says where to go on, also with [`ReadStatus::NoMatch`]: one read looks at a
    /// bounded number of messages.
    ///
    /// # Errors
    /// As [`Store::read`].
    pub fn read_filtered(
        &self,
        topic: &str,
        queue: u32,
        from: QueueOffset,
        filter: &TagFilter,
        limits: ReadLimits,
    ) -> Result<Batch> {
        self.check_readable()?;
        if filter.is_all() {
            return self.read(topic, queue, from, limits);
        }
        self.reading(|| {
            read_with(&self.engine, (topic, queue), from, limits, |collector, queue| {
                collect(collector, queue, filter)
            })
        })
    }
}

fn collect(mut collector: Collector<'_>, queue: &Arc<Queue>, filter: &TagFilter) -> Result<Batch> {
    let wanted =
        |record: &[u8]| MessageView::parse(record).ok().map(|view| filter.matches(view.tags()));
    let to = collector.end().min(collector.next() + MOST_UNITS);
    let mut step = FIRST_UNITS;
    let mut units: Vec<(QueueOffset, Option<Unit>)> = Vec::new();
    while collector.next() < to {
        let from = collector.next();
        let end = to.min(from + step);
        units.clear();
        let mut note = |offset, unit| units.push((offset, unit));
        queue.visit_tagged(from, end, filter.codes(), &mut note)?;
        if !collector.add_all(queue, &units, &wanted)? {
            break;
        }
        collector.go_on(end);
        step = (4 * step).min(STEP_UNITS);
    }
    Ok(collector.finish(ReadStatus::NoMatch))
}
