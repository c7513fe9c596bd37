//! `spanlog dump`: what stands in a file of a store, byte for byte, explained.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use anstyle::{AnsiColor, Style};
use clap::builder::PossibleValuesParser;
use clap::{Args, value_parser};
use serde_json::json;
use spanlog::record::resync_within;

use crate::explain::{self, INDEX_HEADER_BYTES, Item};
use crate::failure::{Failure, Outcome};
use crate::output::Output;

const AFTER_HELP: &str = "\
Examples:
  spanlog dump /data/log/commitlog/00000000000000000000
  spanlog dump /data/log/consumequeue/orders/0/00000000000000000000 --count 10
  spanlog dump /data/log/checkpoint --json
  spanlog dump /data/log/.spanlog/marks

A file is read by itself, whatever state its store is in. What is shown: records and paddings of
a segment (also of files under .spanlog/saved), units of a queue, header, slots and entries of
an index, checkpoint, marks and cursor pages, the queues' offsets, the registry.

In JSON each thing is one object on a line: what, at, len, damage, fields: [{name, at, len, value,
meaning}].";

const KINDS: [&str; 8] =
    ["segment", "records", "queue", "index", "checkpoint", "slots", "ledger", "text"];

/// Which file to explain.
#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct DumpArgs {
    /// The file
    pub file: PathBuf,
    /// What it is [default: found by its name and its first bytes]
    #[arg(long, value_parser = PossibleValuesParser::new(KINDS))]
    pub kind: Option<String>,
    /// Begins at this byte of the file, where something must begin
    #[arg(long, value_name = "BYTE", default_value_t = 0)]
    pub from: u64,
    /// Ends after so many things
    #[arg(long, value_name = "N", value_parser = value_parser!(u64).range(1..))]
    pub count: Option<u64>,
    /// Slots of an index file [default: as RocketMQ's, a fourth of its entries]
    #[arg(long, value_name = "N")]
    pub slots: Option<u64>,
}

/// A file that is read in pieces.
struct Source {
    path: PathBuf,
    file: File,
    len: u64,
    /// The position of the first byte, by the file's name; 0 for others.
    base: u64,
}

/// Where things go, and how many still may.
struct Sink<'a> {
    output: &'a mut Output,
    left: u64,
}

/// Explains.
///
/// # Errors
/// What reading the file says.
pub fn run(args: &DumpArgs, output: &mut Output) -> Outcome<()> {
    let source = Source::open(&args.file)?;
    let mut sink = Sink { output, left: args.count.unwrap_or(u64::MAX) };
    let kind = match &args.kind {
        Some(kind) => kind.clone(),
        None => source.kind()?.to_owned(),
    };
    match &*kind {
        "segment" => segment(&source, args.from, &mut sink),
        "records" => records(&source, args.from, &mut sink),
        "queue" => queue(&source, args.from, &mut sink),
        "index" => index(&source, args, &mut sink),
        "checkpoint" => sink.all(vec![explain::checkpoint(&source.read(0, 48)?)]),
        "slots" => sink.all(explain::slots(&source.read(0, 8192)?)),
        "ledger" => sink.all(explain::ledger(&source.read(0, source.len)?)),
        _ => sink.all(explain::lines(&source.read(0, source.len)?)),
    }
}

impl Source {
    fn open(path: &Path) -> Outcome<Self> {
        let failed = |error: io::Error| Failure::file("read the file", path, &error);
        let file = File::open(path).map_err(failed)?;
        let metadata = file.metadata().map_err(failed)?;
        if !metadata.is_file() {
            return Err(failed(io::ErrorKind::IsADirectory.into()));
        }
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
        let name = name.unwrap_or_default();
        let digits: String = name.chars().take_while(char::is_ascii_digit).collect();
        let base = if digits.len() == 20 { digits.parse().unwrap_or(0) } else { 0 };
        Ok(Self { path: path.to_owned(), file, len: metadata.len(), base })
    }

    /// At most `len` bytes from `at` on.
    fn read(&self, at: u64, len: u64) -> Outcome<Vec<u8>> {
        let len = len.min(self.len.saturating_sub(at));
        let mut bytes = vec![0; usize::try_from(len).unwrap_or(0)];
        let read = self.file.read_exact_at(&mut bytes, at);
        read.map_err(|error| Failure::file("read the file", &self.path, &error))?;
        Ok(bytes)
    }

    /// The first byte at or behind `at` that is not zero.
    fn next_written(&self, mut at: u64) -> Outcome<Option<u64>> {
        while at < self.len {
            let piece = self.read(at, PIECE_BYTES)?;
            match piece.iter().position(|&byte| byte != 0) {
                Some(found) => return Ok(Some(at + found as u64)),
                None => at += piece.len() as u64,
            }
        }
        Ok(None)
    }

    fn kind(&self) -> Outcome<&'static str> {
        let is_under = |name: &str| self.path.ancestors().skip(1).any(|dir| dir.ends_with(name));
        let name = self.path.file_name().map(|name| name.to_string_lossy().into_owned());
        let name = name.unwrap_or_default();
        let first = self.read(0, 8)?;
        let is_number = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit());
        Ok(match &*name {
            _ if first.starts_with(b"SPLS") || name == "marks" => "slots",
            _ if first.starts_with(b"SPANQUE") => "ledger",
            _ if first.starts_with(b"spanlog ") => "text",
            "checkpoint" => "checkpoint",
            "abort" | "abort.bak" | "lock" => "text",
            name if name.ends_with(".records") => "records",
            _ if is_number && is_under("consumequeue") => "queue",
            _ if is_number && is_under("index") => "index",
            _ => "segment",
        })
    }
}

/// Bytes that are read in one piece where the length is not known.
const PIECE_BYTES: u64 = 1 << 20;

/// Records from byte `at` of a segment on, over whatever is damaged.
fn segment(source: &Source, mut at: u64, sink: &mut Sink<'_>) -> Outcome<()> {
    while at < source.len && sink.left > 0 {
        let rest = rest_of(source, at)?;
        let Some(item) = explain::record(&rest, at, source.base + at, source.len - at) else {
            let next = source.next_written(at)?.unwrap_or(source.len);
            sink.nothing(at, next.max(at + 1) - at)?;
            // A record begins with its size, of which the first byte is zero.
            at = resync(source, at + 1, next)?;
            continue;
        };
        let (len, is_damaged) = (item.len, item.damage.is_some());
        sink.put(&item)?;
        at = if is_damaged { resync(source, at + 1, at + 1)? } else { at + len };
    }
    Ok(())
}

/// The bytes of what begins at `at`, as its first bytes tell how long it is.
fn rest_of(source: &Source, at: u64) -> Outcome<Vec<u8>> {
    let head = source.read(at, 8)?;
    let size = head.first_chunk::<4>().map_or(0, |size| i32::from_be_bytes(*size));
    let len = u64::try_from(size).unwrap_or(0).max(128);
    source.read(at, len)
}

/// The next place at or behind `from` where something whole stands, or the file's end; what was
/// never written is passed by.
fn resync(source: &Source, mut from: u64, written: u64) -> Outcome<u64> {
    from = from.max(written.saturating_sub(8));
    while let Some(next) = source.next_written(from)? {
        from = from.max(next.saturating_sub(8));
        let rest = source.read(from, SEARCH_BYTES)?;
        let within = usize::try_from(PIECE_BYTES).unwrap_or(0);
        let mut allowance = SEARCH_BYTES;
        match resync_within(&rest, source.base + from, within, &mut allowance) {
            Some(found) => return Ok(from + found as u64),
            None => from += PIECE_BYTES,
        }
    }
    Ok(source.len)
}

/// Bytes that are searched at once; a longer record is not found again.
const SEARCH_BYTES: u64 = 64 << 20;

/// Records one after the other, as they are saved.
fn records(source: &Source, mut at: u64, sink: &mut Sink<'_>) -> Outcome<()> {
    while at < source.len && sink.left > 0 {
        let rest = rest_of(source, at)?;
        let place = rest.get(28..36).and_then(|eight| eight.try_into().ok());
        let position = place.map_or(0, u64::from_be_bytes);
        let Some(item) = explain::record(&rest, at, position, source.len - at) else { break };
        sink.put(&item)?;
        at += item.len;
    }
    Ok(())
}

fn queue(source: &Source, from: u64, sink: &mut Sink<'_>) -> Outcome<()> {
    let mut at = from / 20 * 20;
    while let Some(next) = source.next_written(at)?.filter(|_| sink.left > 0) {
        at = next / 20 * 20;
        let piece = source.read(at, 20 * 4096)?;
        for unit in piece.chunks(20) {
            let offset = (source.base + at) / 20;
            if let Some(item) = explain::unit(unit, at, offset) {
                sink.put(&item)?;
            }
            at += 20;
        }
    }
    Ok(())
}

fn index(source: &Source, args: &DumpArgs, sink: &mut Sink<'_>) -> Outcome<()> {
    let header = source.read(0, INDEX_HEADER_BYTES)?;
    let count = header.last_chunk::<4>().map_or(0, |count| i32::from_be_bytes(*count));
    sink.put(&explain::index_header(&header))?;
    // 4 bytes a slot, 20 an entry, and four entries to a slot.
    let slots = args.slots.unwrap_or(source.len.saturating_sub(INDEX_HEADER_BYTES) / 84);
    let entries = INDEX_HEADER_BYTES + 4 * slots;
    let mut at = INDEX_HEADER_BYTES;
    while let Some(next) = source.next_written(at)?.filter(|&next| next < entries) {
        at = next / 4 * 4;
        let number = (at - INDEX_HEADER_BYTES) / 4;
        if let Some(item) = explain::index_slot(&source.read(at, 4)?, at, number) {
            sink.put(&item)?;
        }
        at += 4;
    }
    for number in 1..u64::try_from(count).unwrap_or(0) {
        let at = entries + 20 * number;
        if at >= source.len || sink.left == 0 {
            break;
        }
        sink.put(&explain::index_entry(&source.read(at, 20)?, at, number))?;
    }
    Ok(())
}

impl Sink<'_> {
    fn all(&mut self, items: Vec<Item>) -> Outcome<()> {
        items.iter().try_for_each(|item| self.put(item))
    }

    fn nothing(&mut self, at: u64, len: u64) -> Outcome<()> {
        let fields = Vec::new();
        self.put(&Item { at, len, what: "nothing", damage: None, fields })
    }

    fn put(&mut self, item: &Item) -> Outcome<()> {
        if self.left == 0 {
            return Ok(());
        }
        self.left -= 1;
        match self.output.is_json() {
            true => self.output.object(&to_json(item)),
            false => self.print(item),
        }
    }

    fn print(&mut self, item: &Item) -> Outcome<()> {
        let what = self.output.paint(Style::new().bold(), item.what);
        let red = Style::new().bold().fg_color(Some(AnsiColor::Red.into()));
        let damage = item.damage.as_deref().map(|damage| format!("  DAMAGED: {damage}"));
        let damage = self.output.paint(red, damage.unwrap_or_default());
        self.output.line(format_args!("{:>12}  {what}  {} bytes{damage}", item.at, item.len))?;
        for field in &item.fields {
            let dim = Style::new().dimmed();
            let place = self.output.paint(dim, format!("{:>+6} {:>5}", field.at, field.len));
            let meaning = if field.meaning.is_empty() {
                String::new()
            } else {
                self.output.paint(dim, format!("  ({})", field.meaning))
            };
            let (name, value) = (&field.name, &field.value);
            self.output.line(format_args!("        {place}  {name:<18} {value}{meaning}"))?;
        }
        Ok(())
    }
}

fn to_json(item: &Item) -> serde_json::Value {
    let field = |field: &explain::Field| {
        json!({
            "name": field.name,
            "at": field.at,
            "len": field.len,
            "value": field.value,
            "meaning": Some(&field.meaning).filter(|text| !text.is_empty()),
        })
    };
    json!({
        "what": item.what,
        "at": item.at,
        "len": item.len,
        "damage": item.damage,
        "fields": item.fields.iter().map(field).collect::<Vec<_>>(),
    })
}
