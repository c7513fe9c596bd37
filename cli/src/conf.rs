//! A RocketMQ broker's `broker.conf` as a store's root and options (names and defaults: RocketMQ's
//! `MessageStoreConfig` and `BrokerConfig`).
//!
//! Keys that are none of the store's are ignored, as brokers have hundreds; those that are must be
//! right. A ratio out of range is an error here where a broker uses another one in silence.

use std::fs;
use std::net::{SocketAddr, ToSocketAddrs};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use spanlog::{
    DirectoryOptions, Durability, Error, ErrorKind, Options, Role, Thresholds, quantity,
};

use crate::failure::{Failure, Outcome};
use crate::properties::{self, Property};

/// What a file says of a store.
#[derive(Clone, Debug)]
pub struct Conf {
    /// The file.
    path: PathBuf,
    /// Where the store is.
    pub root: PathBuf,
    /// How it is opened.
    pub options: Options,
    /// Where the marks of disks were set.
    marks: Vec<(Key, String, usize)>,
}

/// What has been read so far.
#[derive(Debug, Default)]
struct Draft {
    root: Option<PathBuf>,
    writable: Vec<PathBuf>,
    draining: Vec<PathBuf>,
    host: Option<String>,
    port: Option<u16>,
    is_sync: bool,
    interval_ms: Option<u64>,
    options: Options,
}

/// Takes a value; what it must be instead is the error.
type Setter = fn(&mut Draft, &str) -> Result<(), String>;
type Key = &'static str;

const CLEAN: Key = "diskMaxUsedSpaceRatio";
const FORCE: Key = "diskSpaceCleanForciblyRatio";
const REFUSE: Key = "diskSpaceWarningLevelRatio";

/// A file's and a message's size is a signed 32-bit number in RocketMQ.
const LARGEST: u64 = i32::MAX.unsigned_abs() as u64;

const DAY_MS: u64 = 24 * 60 * 60 * 1000;

/// Every key that matters, and what it sets.
const KEYS: [(Key, Setter); 25] = [
    ("storePathRootDir", |draft, text| set(&mut draft.root, path(text).map(Some))),
    ("storePathCommitLog", |draft, text| set(&mut draft.writable, paths(text))),
    ("readOnlyCommitLogStorePaths", |draft, text| {
        set(&mut draft.draining, if text.is_empty() { Ok(Vec::new()) } else { paths(text) })
    }),
    ("mappedFileSizeCommitLog", |draft, text| {
        set(&mut draft.options.segment_len_bytes, number(text, 4096..=LARGEST))
    }),
    ("mappedFileSizeConsumeQueue", |draft, text| {
        // Rounded up to whole units, as the broker does.
        let len = number(text, 20..=LARGEST - 20).map(|len| len.next_multiple_of(20));
        set(&mut draft.options.queue_file_len_bytes, len)
    }),
    ("flushDiskType", |draft, text| set(&mut draft.is_sync, is_sync(text))),
    ("flushIntervalCommitLog", |draft, text| {
        set(&mut draft.interval_ms, number(text, 1..=DAY_MS).map(Some))
    }),
    ("fileReservedTime", |draft, text| {
        let hours = number(text, 0..=LARGEST).map_err(|expected| format!("{expected}, in hours"));
        set(&mut draft.options.retention_ms, hours.map(|hours| hours * 3_600_000))
    }),
    ("deleteWhen", |draft, text| {
        let expected = |_| "hours of the day from 0 to 23 separated by ';'".to_owned();
        set(&mut draft.options.delete_hours, text.parse().map_err(expected))
    }),
    (CLEAN, |draft, text| set(&mut draft.options.thresholds.clean, percent(text, 10..=95))),
    (FORCE, |draft, text| set(&mut draft.options.thresholds.force, percent(text, 30..=85))),
    (REFUSE, |draft, text| set(&mut draft.options.thresholds.refuse, percent(text, 35..=90))),
    ("cleanFileForciblyEnable", |draft, text| set(&mut draft.options.forced_clean, truth(text))),
    ("deleteFileBatchMax", |draft, text| {
        let count = number(text, 1..=LARGEST).map(|count| u32::try_from(count).unwrap_or(u32::MAX));
        set(&mut draft.options.max_forced_per_round, count)
    }),
    ("deleteCommitLogFilesInterval", |draft, text| {
        set(&mut draft.options.clean_pause_ms, number(text, 0..=60_000))
    }),
    ("cleanResourceInterval", |draft, text| {
        set(&mut draft.options.clean_interval_ms, number(text, 10..=DAY_MS))
    }),
    ("messageIndexEnable", |draft, text| set(&mut draft.options.key_index, truth(text))),
    ("maxHashSlotNum", |draft, text| {
        set(&mut draft.options.index_slots, count(text, 1..=LARGEST / 4 - 100))
    }),
    ("maxIndexNum", |draft, text| {
        set(&mut draft.options.index_entries, count(text, 2..=LARGEST / 20 - 100))
    }),
    ("maxMessageSize", |draft, text| {
        set(&mut draft.options.max_body_bytes, number(text, 1..=LARGEST))
    }),
    ("enabledAppendPropCRC", |draft, text| set(&mut draft.options.record_checksum, truth(text))),
    ("brokerIP1", |draft, text| set(&mut draft.host, host(text).map(Some))),
    ("listenPort", |draft, text| {
        set(&mut draft.port, number(text, 1..=65_535).map(|port| u16::try_from(port).ok()))
    }),
    // A log of another kind lies elsewhere: opening would make a new store beside it.
    ("enableDLegerCommitLog", |_, text| match truth(text)? {
        true => Err("false: a log of DLedger cannot be opened".into()),
        false => Ok(()),
    }),
    ("storeType", |_, text| match text {
        "default" => Ok(()),
        _ => Err("default: queues in RocksDB cannot be opened".into()),
    }),
];

fn count(text: &str, range: RangeInclusive<u64>) -> Result<Option<u32>, String> {
    number(text, range).map(|count| u32::try_from(count).ok())
}

fn set<T>(slot: &mut T, value: Result<T, String>) -> Result<(), String> {
    *slot = value?;
    Ok(())
}

/// Keys of a broker that look like a slip of one of the above and are none.
const LOOK_ALIKES: [&str; 1] = ["brokerIP2"];

impl Conf {
    /// Reads a file.
    ///
    /// # Errors
    /// Exit code 1 if it cannot be read; `invalid`, with line, key and value, for what is wrong in
    /// it.
    pub fn read(path: &Path) -> Outcome<Self> {
        let bytes = fs::read(path)
            .map_err(|error| Failure::file("read the configuration", path, &error))?;
        Ok(Self::parse(&bytes, path)?)
    }

    /// Reads the bytes of a file that is called `path` in errors.
    pub fn parse(bytes: &[u8], path: &Path) -> spanlog::Result<Self> {
        let bytes = without_mark(bytes, path);
        let fault = |(line, what)| invalid(path, format!("line {line}: {what}"));
        let mut draft = Draft::default();
        let mut seen: Vec<(Key, String, usize)> = Vec::new();
        for property in properties::parse(bytes).map_err(fault)? {
            let Some((key, set)) = find(&property, path)? else { continue };
            let value = visible(&property, path)?;
            set(&mut draft, value).map_err(|expected| refuse(path, &property, value, &expected))?;
            if let Some(at) = seen.iter().position(|row| row.0 == key) {
                let (_, _, line) = seen.remove(at);
                let again = property.line;
                log::warn!("{}: {key} of line {line} is set again in line {again}", path.display());
            }
            seen.push((key, value.to_owned(), property.line));
        }
        draft.finish(path, seen)
    }

    /// Checks the order of the marks once everything is known, naming the file's lines.
    ///
    /// # Errors
    /// `Invalid` if a mark of this file is above the next one.
    pub fn check_order(&self, marks: &Thresholds) -> spanlog::Result<()> {
        let pairs =
            [(CLEAN, marks.clean, FORCE, marks.force), (FORCE, marks.force, REFUSE, marks.refuse)];
        for (lower, low, upper, high) in pairs {
            let found = self.marks.iter().find(|row| row.0 == lower || row.0 == upper);
            if let Some((key, value, line)) = found.filter(|_| low > high) {
                let text = format!(
                    "line {line}: {key} is {value:?}: {lower}, {}, must be at most {upper}, {}",
                    low * 100.0,
                    high * 100.0
                );
                return Err(invalid(&self.path, text));
            }
        }
        Ok(())
    }
}

impl Draft {
    fn finish(mut self, path: &Path, seen: Vec<(Key, String, usize)>) -> spanlog::Result<Conf> {
        let root = match self.root.take() {
            Some(root) => root,
            None => default_root()?,
        };
        self.name_directories(&root);
        self.set_durability();
        self.set_index();
        self.set_host().map_err(|what| {
            let row = seen.iter().find(|row| row.0 == "brokerIP1");
            let line = row.map_or(0, |row| row.2);
            invalid(path, format!("line {line}: brokerIP1 {what}"))
        })?;
        let is_mark = |row: &(Key, String, usize)| [CLEAN, FORCE, REFUSE].contains(&row.0);
        let marks = seen.into_iter().filter(is_mark).collect();
        Ok(Conf { path: path.to_owned(), root, options: self.options, marks })
    }

    /// A path in both lists gets no new segments, as in a broker; unlike there, the read-only
    /// ones count whether or not the other list has several.
    fn name_directories(&mut self, root: &Path) {
        if self.writable.is_empty() && !self.draining.is_empty() {
            self.writable.push(root.join("commitlog"));
        }
        let draining = std::mem::take(&mut self.draining);
        let mut named: Vec<PathBuf> = Vec::new();
        let writable = self.writable.drain(..).filter(|path| !draining.contains(path));
        let rows: Vec<_> = writable
            .map(|path| (path, Role::ReadWrite))
            .chain(draining.iter().map(|path| (path.clone(), Role::Draining)))
            .collect();
        for (path, role) in rows {
            if !named.contains(&path) {
                named.push(path.clone());
                self.options.directories.push(DirectoryOptions::new(path).role(role));
            }
        }
    }

    fn set_durability(&mut self) {
        if self.is_sync {
            self.options.durability = Durability::Group;
        } else if let Durability::Async { interval_ms, .. } = &mut self.options.durability {
            *interval_ms = self.interval_ms.unwrap_or(*interval_ms);
        }
    }

    /// A broker's index files have one size whatever its segments have.
    fn set_index(&mut self) {
        let options = &mut self.options;
        let is_usual = options.segment_len_bytes == Options::new().segment_len_bytes
            && options.index_slots.is_none()
            && options.index_entries.is_none();
        if !is_usual {
            options.index_slots.get_or_insert(5_000_000);
            options.index_entries.get_or_insert(20_000_000);
        }
    }

    fn set_host(&mut self) -> Result<(), String> {
        let port = self.port.unwrap_or(10911);
        let Some(host) = &self.host else {
            self.options.store_host.set_port(port);
            return Ok(());
        };
        let found = (host.as_str(), port).to_socket_addrs();
        let found: Option<SocketAddr> = found.ok().and_then(|mut found| found.next());
        self.options.store_host =
            found.ok_or_else(|| format!("is {host:?}: it is no address and no known name"))?;
        Ok(())
    }
}

/// The key that a property sets, if it is one of ours.
fn find(property: &Property, path: &Path) -> spanlog::Result<Option<(Key, Setter)>> {
    if let Some(&row) = KEYS.iter().find(|row| row.0 == property.key) {
        return Ok(Some(row));
    }
    let plain: String = property.key.chars().filter(char::is_ascii_graphic).collect();
    let near = |row: &&(Key, Setter)| strsim::osa_distance(row.0, &plain) <= 2;
    let nearest = KEYS.iter().find(near).filter(|_| !LOOK_ALIKES.contains(&&*plain));
    let Some((known, _)) = nearest else { return Ok(None) };
    if plain == *known {
        let text = format!("line {}: the key {known} has invisible characters", property.line);
        return Err(invalid(path, text));
    }
    let (file, line, key) = (path.display(), property.line, &property.key);
    log::warn!("{file}: line {line}: {key} is ignored; was {known} meant?");
    Ok(None)
}

/// The value without blanks around it, which nobody sees; other invisible characters are refused.
fn visible<'a>(property: &'a Property, path: &Path) -> spanlog::Result<&'a str> {
    let Property { key, value, line, is_foreign } = property;
    if *is_foreign {
        let text = "it has bytes that the broker reads as Latin-1; write \\uXXXX for them";
        return Err(invalid(path, format!("line {line}: {key} is {value:?}: {text}")));
    }
    let trimmed = value.trim();
    // Blanks between the entries of a list are dropped with it.
    let mut chars = trimmed.split(',').flat_map(|entry| entry.trim().chars());
    if let Some(odd) = chars.find(|&c| is_invisible(c)) {
        let text = format!("it has the invisible character U+{:04X}", u32::from(odd));
        return Err(invalid(path, format!("line {line}: {key} is {value:?}: {text}")));
    }
    if trimmed.len() != value.len() {
        log::warn!("{}: line {line}: blanks after {key} are ignored", path.display());
    }
    Ok(trimmed)
}

fn is_invisible(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{a0}' | '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{feff}')
        || matches!(c, '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2064}')
}

/// Editors put a byte order mark in front; to Java it is a part of the first key.
fn without_mark<'a>(bytes: &'a [u8], path: &Path) -> &'a [u8] {
    let Some(rest) = bytes.strip_prefix(b"\xEF\xBB\xBF") else { return bytes };
    log::warn!("{}: a byte order mark is ignored; the broker ignores its line", path.display());
    rest
}

fn refuse(path: &Path, property: &Property, value: &str, expected: &str) -> Error {
    let Property { key, line, .. } = property;
    invalid(path, format!("line {line}: {key} is {value:?}: it must be {expected}"))
}

fn invalid(path: &Path, text: String) -> Error {
    Error::new(ErrorKind::Invalid, text).at(path)
}

/// `~/store`, as in a broker.
fn default_root() -> spanlog::Result<PathBuf> {
    let missing = || Error::new(ErrorKind::Invalid, "storePathRootDir is missing");
    Ok(std::env::home_dir().ok_or_else(missing)?.join("store"))
}

fn path(text: &str) -> Result<PathBuf, String> {
    if text.is_empty() { Err("a path".into()) } else { Ok(text.into()) }
}

/// Paths separated by commas. Java drops empty ones at the end, and brokers are told to put a
/// comma there.
fn paths(text: &str) -> Result<Vec<PathBuf>, String> {
    let text = text.trim_end_matches([',', ' ', '\t']);
    let expected = |_| "paths separated by ',', none of them empty".into();
    quantity::parse_paths(text).map_err(expected)
}

fn number(text: &str, range: RangeInclusive<u64>) -> Result<u64, String> {
    let found = text.parse().ok().filter(|number| range.contains(number));
    found.ok_or_else(|| format!("a whole number from {} to {}", range.start(), range.end()))
}

/// A ratio: RocketMQ counts in whole percent.
fn percent(text: &str, range: RangeInclusive<u64>) -> Result<f64, String> {
    let percent = number(text, range).map_err(|expected| format!("{expected}, in percent"))?;
    quantity::parse_ratio(&format!("{percent}%")).map_err(|error| error.message().to_owned())
}

fn truth(text: &str) -> Result<bool, String> {
    match text.to_ascii_lowercase().as_str() {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => Err("true or false".into()),
    }
}

fn host(text: &str) -> Result<String, String> {
    if text.is_empty() { Err("an address".into()) } else { Ok(text.to_owned()) }
}

fn is_sync(text: &str) -> Result<bool, String> {
    match text {
        "ASYNC_FLUSH" => Ok(false),
        "SYNC_FLUSH" => Ok(true),
        _ => Err("ASYNC_FLUSH or SYNC_FLUSH".into()),
    }
}

#[cfg(test)]
#[path = "conf_tests.rs"]
mod tests;
