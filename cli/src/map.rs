//! `spanlog map`: a picture of a store as one HTML page, without a script and without a network.

mod line;
mod page;
mod shelves;

use std::collections::HashMap;
use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use clap::Args;
use indicatif::BinaryBytes;
use serde_json::json;
use spanlog::record::{MAGIC_V1, MAGIC_V2, sys_flag};
use spanlog::{CleanPlan, CursorReport, Inspection, ReadLimits, SegmentReport, Store};

use crate::failure::{Failure, Outcome};
use crate::opening::StoreArgs;
use crate::output::{Output, counted};
use crate::report;

const AFTER_HELP: &str = "\
Examples:
  spanlog map --root /data/log --output map.html
  spanlog map --conf broker.conf > map.html

The page shows the log's number line with its marks and its cursors, each directory with its
usage and marks, and each segment as a block by age and state. Hovering shows figures.
Reading changes nothing: it works beside a writer and on read-only media.";

/// Which store to draw.
#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct MapArgs {
    /// The file to write; an earlier one is replaced [default: standard output]
    #[arg(long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// The store.
    #[command(flatten)]
    pub store: StoreArgs,
}

/// Everything that the page shows.
#[derive(Debug)]
pub struct Picture {
    /// The store's root.
    pub root: PathBuf,
    /// The store.
    pub inspection: Inspection,
    /// Store time of each segment's first record, in ms since 1970, where it has one.
    pub times: HashMap<u64, i64>,
    /// What cleaning would do now, by segment.
    pub fates: HashMap<u64, Fate>,
    /// Now, in ms since 1970.
    pub now_ms: i64,
    /// Places on the line that readers have reached.
    pub places: Vec<Place>,
}

/// What is known of a segment beside its place.
#[derive(Clone, Debug)]
pub struct Fate {
    /// Store time of its last record, if known.
    pub last_store_ms: Option<i64>,
    /// Whether the next round of cleaning drops it.
    pub drops: bool,
    /// Why, or why not.
    pub text: String,
}

/// A place on the line with a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Whose it is.
    pub name: String,
    /// Where.
    pub position: u64,
    /// More about it, in lines.
    pub text: String,
}

/// Draws.
///
/// # Errors
/// What the store says; that the file cannot be written.
pub fn run(args: &MapArgs, output: &mut Output) -> Outcome<()> {
    let store = args.store.target()?.open_to_read(output)?;
    let picture = Picture::of(&store)?;
    let page = page::page(&picture);
    let Some(path) = &args.output else { return output.bytes(page.as_bytes()) };
    fs::write(path, &page).map_err(|error| Failure::file("write the map", path, &error))?;
    let segments = picture.inspection.segments.len();
    match output.is_json() {
        true => output.object(&json!({
            "path": report::path(path),
            "segments": segments,
            "bytes": page.len(),
        })),
        false => output.line(format_args!(
            "{} drawn in {}",
            counted(segments as u64, "segment"),
            path.display()
        )),
    }
}

impl Picture {
    fn of(store: &Store) -> Outcome<Self> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let inspection = store.inspect()?;
        let first = |row: &SegmentReport| Some((row.base.get(), first_time(&row.path)?));
        Ok(Self {
            root: store.root().to_owned(),
            times: inspection.segments.iter().filter_map(first).collect(),
            inspection,
            fates: fates(&store.plan_clean(false)?),
            now_ms: i64::try_from(now.as_millis()).unwrap_or(i64::MAX),
            places: places(store)?,
        })
    }
}

/// Where the cursors stand: each where the first message lies that it has not acknowledged.
fn places(store: &Store) -> Outcome<Vec<Place>> {
    let mut places = Vec::new();
    for cursor in store.cursors()? {
        if cursor.damage.is_none() {
            places.push(place(store, &cursor)?);
        }
    }
    Ok(places)
}

fn place(store: &Store, cursor: &CursorReport) -> Outcome<Place> {
    let mut position = store.watermarks().indexed.get();
    for queue in &cursor.queues {
        let limits = ReadLimits { max_messages: 1, ..ReadLimits::default() };
        let from = queue.acknowledged.max(queue.bounds.min);
        let batch = store.read(&cursor.topic, queue.queue, from, limits)?;
        if let Some(first) = batch.get(0) {
            position = position.min(first.position().get());
        }
    }
    let name = format!("{} of {}", cursor.name, cursor.topic);
    Ok(Place { name, position, text: lag_text(cursor) })
}

/// Queues of a cursor that are listed when somebody hovers.
const MOST_QUEUES: usize = 16;

fn lag_text(cursor: &CursorReport) -> String {
    let lag = cursor.lag();
    let mut text =
        format!("{} behind, {}", counted(lag.messages, "message"), BinaryBytes(lag.bytes));
    if let Some(age) = lag.age_ms {
        let _ = write!(text, ", the oldest {} s old", age / 1000);
    }
    for queue in cursor.queues.iter().take(MOST_QUEUES) {
        let (at, end) = (queue.acknowledged, queue.bounds.max);
        let _ = write!(text, "\nqueue {}: at {at} of {end}", queue.queue);
    }
    if cursor.queues.len() > MOST_QUEUES {
        let _ = write!(
            text,
            "\nand {} more",
            counted((cursor.queues.len() - MOST_QUEUES) as u64, "queue")
        );
    }
    text
}

/// The store time of the record at a file's beginning, if one stands there.
fn first_time(path: &Path) -> Option<i64> {
    let mut head = [0; 88];
    fs::File::open(path).ok()?.read_exact_at(&mut head, 0).ok()?;
    let word = |at: usize| head.get(at..at + 4)?.try_into().ok().map(i32::from_be_bytes);
    if ![MAGIC_V1, MAGIC_V2].contains(&word(4)?) {
        return None;
    }
    // Behind the born host, whose length a flag tells.
    let at = if word(36)? & sys_flag::BORN_V6 == 0 { 56 } else { 68 };
    head.get(at..at + 8)?.try_into().ok().map(i64::from_be_bytes)
}

fn fates(plan: &CleanPlan) -> HashMap<u64, Fate> {
    let fate = |fate: &spanlog::Fate| {
        let known = Fate {
            last_store_ms: fate.segment.last_store_ms,
            drops: fate.reason.drops(),
            text: fate.reason.to_string(),
        };
        (fate.segment.base.get(), known)
    };
    plan.fates.iter().map(fate).collect()
}
