//! A cursor's file: pages of two slots, so that a commit writes one sector for each queue that
//! moved and syncs once.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::cursor::page::{decode_queue, encode_queue};
use crate::cursor::{Progress, Settings};
use crate::disk::slots::{Page, Slots};
use crate::disk::{Access, Disk, File};
use crate::error::{Error, ErrorKind, Result};

/// A name and what is written beside it while a file is replaced (`.NAME.new`) fit a file name.
const MAX_NAME_BYTES: usize = 250;

/// Pages for queues in a new file, at least.
const LEAST_PAGES: u64 = 8;

/// Most pages: a topic has some thousand queues at most.
const MOST_PAGES: u64 = 1 << 20;

/// # Errors
/// `Invalid` for a name that is no file name: empty, too long, with `/` or NUL, or beginning with
/// a full stop.
pub fn check_name(name: &str) -> Result<()> {
    let fault = match name {
        "" => "is empty",
        _ if name.len() > MAX_NAME_BYTES => "has more than 250 bytes",
        _ if name.starts_with('.') => "begins with a full stop",
        _ if name.contains(['/', '\0']) => "holds a slash or NUL",
        _ => return Ok(()),
    };
    Err(Error::new(ErrorKind::Invalid, format!("a cursor's name {fault}: {name:?}")))
}

/// What a cursor's file says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Saved {
    /// The cursor's settings.
    pub settings: Settings,
    /// Its queues, by number.
    pub queues: BTreeMap<u32, Progress>,
}

/// The file of one cursor. One thread at a time writes it.
#[derive(Debug)]
pub struct CursorFile {
    path: PathBuf,
    file: Arc<dyn File>,
    pages: BTreeMap<u32, Page>,
    /// A sync failed, or a crash tore a slot: nothing more is written to the file, another one
    /// takes its place.
    failed: bool,
    /// Everything in it is known to be durable. Who was killed in a commit had written and not
    /// synced.
    is_durable: bool,
}

impl CursorFile {
    /// Writes a new file, or another one in the place of what is there, durably.
    ///
    /// # Errors
    /// What the disk says; then what was there still is.
    pub fn create(disk: &dyn Disk, path: &Path, saved: &Saved) -> Result<Self> {
        let count = saved.queues.len() as u64;
        let capacity = count.next_power_of_two().max(LEAST_PAGES);
        let mut bytes = Page::image(&saved.settings.encode(capacity));
        for (&queue, progress) in &saved.queues {
            bytes.extend(Page::image(&encode_queue(queue, progress)));
        }
        bytes.resize(len_bytes(capacity) as usize, 0);
        disk.make_dir(path.parent().expect("a cursor's file lies in its topic's directory"))?;
        disk.replace(path, &bytes)?;
        Ok(Self { is_durable: true, ..Self::open(disk, path, Access::Write)?.0 })
    }

    /// Opens a file and reads it.
    ///
    /// # Errors
    /// `Corrupt` where the file does not say what was written, `Version`, or what the disk says.
    pub fn open(disk: &dyn Disk, path: &Path, access: Access) -> Result<(Self, Saved)> {
        let file = disk.open(path, access)?;
        let read = read(file.as_ref()).map_err(|error| error.at(path))?;
        let (pages, is_torn, saved) = read;
        let path = path.to_owned();
        Ok((Self { path, file, pages, failed: is_torn, is_durable: false }, saved))
    }

    /// Whether everything in it is known to be durable.
    #[must_use]
    pub fn is_durable(&self) -> bool {
        self.is_durable
    }

    /// Makes the progress of the queues `changed` durable, and all that is in the file, with one
    /// sync.
    ///
    /// # Errors
    /// What the disk says; then each of the queues stands as it did, or as it was to.
    pub fn commit(&mut self, disk: &dyn Disk, saved: &Saved, changed: &[u32]) -> Result<()> {
        if self.failed || changed.iter().any(|queue| !self.pages.contains_key(queue)) {
            *self = Self::create(disk, &self.path, saved)?;
            return Ok(());
        }
        for queue in changed {
            self.pages[queue]
                .put(self.file.as_ref(), &encode_queue(*queue, &saved.queues[queue]))?;
        }
        self.failed = true;
        self.file.sync()?;
        (self.failed, self.is_durable) = (false, true);
        for queue in changed {
            self.pages.get_mut(queue).expect("looked up above").settle();
        }
        Ok(())
    }
}

#[cfg(test)]
impl CursorFile {
    /// The first half of a commit: what a crash may interrupt.
    pub(super) fn put_for_test(&mut self, queue: u32, payload: &[u8]) -> Result<()> {
        self.pages[&queue].put(self.file.as_ref(), payload)
    }
}

fn len_bytes(capacity: u64) -> u64 {
    (1 + capacity) * Slots::LEN
}

/// The pages, whether one of their slots is torn, and what they say.
fn read(file: &dyn File) -> Result<(BTreeMap<u32, Page>, bool, Saved)> {
    let damaged = |page: u64| {
        let text = "a page of the cursor's file is damaged";
        Error::new(ErrorKind::Corrupt, text).with_offset(page * Slots::LEN)
    };
    let (head, value) = Page::read(file, 0)?;
    let mut is_torn = head.is_torn();
    let decoded = value.as_deref().and_then(Settings::decode);
    let (settings, capacity) = decoded.ok_or_else(|| damaged(0))?;
    if capacity > MOST_PAGES || file.len_bytes() != len_bytes(capacity) {
        return Err(Error::new(ErrorKind::Corrupt, "the cursor's file has not its length")
            .with_offset(file.len_bytes())
            .with_limit(len_bytes(capacity.min(MOST_PAGES))));
    }
    let mut saved = Saved { settings, queues: BTreeMap::new() };
    let mut pages = BTreeMap::new();
    for number in 1..=capacity {
        let (page, payload) = Page::read(file, number)?;
        let Some(payload) = payload else {
            check_blank(file, number).map_err(|_| damaged(number))?;
            continue;
        };
        is_torn |= page.is_torn();
        let (queue, progress) = decode_queue(&payload).ok_or_else(|| damaged(number))?;
        if saved.queues.insert(queue, progress).is_some() {
            return Err(damaged(number));
        }
        pages.insert(queue, page);
    }
    Ok((pages, is_torn, saved))
}

/// A page that holds no value was never written: else its queue would begin anew.
fn check_blank(file: &dyn File, number: u64) -> Result<()> {
    let mut bytes = vec![0; Slots::LEN as usize];
    file.read_at(number * Slots::LEN, &mut bytes)?;
    match bytes.iter().all(|&byte| byte == 0) {
        true => Ok(()),
        false => Err(Error::new(ErrorKind::Corrupt, "something stands in a page without value")),
    }
}
