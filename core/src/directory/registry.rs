//! What a store remembers of its directories: `.spanlog/store` under its root.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use crate::base::crc::checksum;
use crate::error::{Error, ErrorKind, Result};
use crate::retention::Role;

/// The newest version of the file that this release reads, and the one it writes.
const VERSION: u32 = 1;

/// The length of consume queue files where there are none: in the registry of a queue. So neither
/// is taken for the other, a store for a queue or a queue for a store.
pub const NO_QUEUE_FILES: u64 = 0;

/// A store's identity, the length of its segments, and where its directories are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Registry {
    /// The store's number, drawn when it was made.
    pub store: u64,
    /// Length of every segment in bytes.
    pub segment_len: u64,
    /// Length of every queue file in bytes.
    pub queue_file_len: u64,
    /// The directories, in the order they were given.
    pub directories: Vec<Registered>,
}

/// One directory that a store remembers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Registered {
    /// The directory's number within the store.
    pub id: u64,
    /// Where it was last.
    pub path: PathBuf,
    /// What it is for.
    pub role: Role,
}

impl Registry {
    /// The label that says a directory is number `id` of this store.
    #[must_use]
    pub fn label(&self, id: u64) -> String {
        format!("spanlog {VERSION} {:016x} {id}", self.store)
    }

    /// The file's text (`FORMAT.md`, section 7): a line per fact, the last one a checksum.
    #[must_use]
    pub fn encode(&self) -> String {
        let mut text = format!(
            "spanlog {VERSION}\nstore {:016x}\nsegment_len {}\nqueue_file_len {}\n",
            self.store, self.segment_len, self.queue_file_len
        );
        for directory in &self.directories {
            let path = escape(&directory.path);
            writeln!(text, "directory {} {} {path}", directory.id, directory.role)
                .expect("a string takes all text");
        }
        let sum = checksum(text.as_bytes());
        writeln!(text, "checksum {sum:08x}").expect("a string takes all text");
        text
    }

    /// Reads the file's text.
    ///
    /// # Errors
    /// `Version` for a later release's file, `Corrupt` for one that is not whole.
    pub fn decode(text: &str, path: &Path) -> Result<Self> {
        let broken = || {
            let text = "the store's registry is not whole; name the directories again and adopt \
                        them (the option `adopt`), and it is made anew";
            Error::new(ErrorKind::Corrupt, text).at(path)
        };
        let version = text.strip_prefix("spanlog ").and_then(|rest| rest.lines().next());
        match version.and_then(|version| version.parse::<u32>().ok()) {
            Some(VERSION) => Self::decode_lines(text).ok_or_else(broken),
            Some(later) if later > VERSION => {
                Err(Error::new(ErrorKind::Version, "a later release of spanlog wrote the store")
                    .at(path)
                    .with_offset(later.into())
                    .with_limit(VERSION.into()))
            }
            _ => Err(broken()),
        }
    }

    fn decode_lines(text: &str) -> Option<Self> {
        let (content, sum) = text.trim_end_matches('\n').rsplit_once('\n')?;
        let content = &text[..content.len() + 1];
        let stored = u32::from_str_radix(sum.strip_prefix("checksum ")?, 16).ok()?;
        if stored != checksum(content.as_bytes()) {
            return None;
        }
        let mut lines = content.lines().skip(1);
        let store = u64::from_str_radix(lines.next()?.strip_prefix("store ")?, 16).ok()?;
        let segment_len = lines.next()?.strip_prefix("segment_len ")?.parse().ok()?;
        let queue_file_len = lines.next()?.strip_prefix("queue_file_len ")?.parse().ok()?;
        let directories = lines.map(directory).collect::<Option<_>>()?;
        Some(Self { store, segment_len, queue_file_len, directories })
    }
}

fn directory(line: &str) -> Option<Registered> {
    let mut words = line.splitn(4, ' ');
    if words.next()? != "directory" {
        return None;
    }
    let id = words.next()?.parse().ok()?;
    let role = words.next()?.parse().ok()?;
    Some(Registered { id, role, path: unescape(words.next()?)? })
}

/// The store and the directory that a label names.
#[must_use]
pub fn parse_label(label: &str) -> Option<(u64, u64)> {
    let mut words = label.strip_prefix("spanlog 1 ")?.splitn(2, ' ');
    let store = u64::from_str_radix(words.next()?, 16).ok()?;
    Some((store, words.next()?.parse().ok()?))
}

/// Printable ASCII stays, every other byte and `%` become `%XX`.
fn escape(path: &Path) -> String {
    let mut text = String::new();
    for &byte in path.as_os_str().as_bytes() {
        if byte.is_ascii_graphic() && byte != b'%' {
            text.push(char::from(byte));
        } else {
            write!(text, "%{byte:02X}").expect("a string takes all text");
        }
    }
    text
}

fn unescape(text: &str) -> Option<PathBuf> {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((&byte, tail)) = rest.split_first() {
        rest = tail;
        if byte == b'%' {
            let (digits, tail) = rest.split_at_checked(2)?;
            bytes.push(u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?);
            rest = tail;
        } else {
            bytes.push(byte);
        }
    }
    Some(PathBuf::from(OsString::from_vec(bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn registry() -> Registry {
        let directories = vec![
            Registered { id: 0, path: "/a b/%1".into(), role: Role::ReadWrite },
            Registered { id: 7, path: "/data\u{e9}\n".into(), role: Role::Draining },
        ];
        Registry { store: 0xAB, segment_len: 4096, queue_file_len: 400, directories }
    }

    #[test]
    fn round_trip() {
        let text = registry().encode();
        assert!(text.is_ascii() && text.lines().count() == 7, "{text}");
        assert_eq!(Registry::decode(&text, Path::new("f")).unwrap(), registry());
        assert_eq!(parse_label(&registry().label(7)), Some((0xAB, 7)));
    }

    #[test]
    fn damage_and_later_versions_are_told_apart() {
        let text = registry().encode();
        let kind = |text: &str| Registry::decode(text, Path::new("f")).unwrap_err().kind();
        assert_eq!(kind(&text.replace("spanlog 1", "spanlog 2")), ErrorKind::Version);
        assert_eq!(kind(&text.replace("4096", "4097")), ErrorKind::Corrupt);
        for cut in 0..text.len() - 1 {
            assert_eq!(kind(&text[..cut]), ErrorKind::Corrupt, "first {cut} bytes");
        }
    }
}
