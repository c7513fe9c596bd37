//! From what the caller names and what the store remembers to the directories there are.

use std::path::{Path, PathBuf};

use crate::directory::OWN_DIR;
use crate::directory::registry::{Registry, parse_label};
use crate::disk::{Disk, EntryKind, Stat};
use crate::error::{Error, ErrorKind, Result};
use crate::retention::Role;
use crate::segment::name::parse_segment_name;

/// A directory that the caller names.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// Where it is, in any spelling.
    pub path: PathBuf,
    /// What it is for; without it, what the store remembers, or read-write.
    pub role: Option<Role>,
}

/// A directory of the store.
#[derive(Clone, Debug)]
pub struct Resolved {
    /// Its number; a new directory has none yet.
    pub id: Option<u64>,
    /// Where it is, without links, or where it should be.
    pub path: PathBuf,
    /// The file system it is on.
    pub device: u64,
    /// What it is for.
    pub role: Role,
    /// Why it is not there, if it is not.
    pub offline: Option<String>,
    /// Which of the wanted ones it is.
    pub named: Option<usize>,
    inode: u64,
}

/// What there is at a path.
enum Look {
    There(Stat),
    /// Why not.
    Absent(String),
}

/// Finds every directory of the store: those named, and those the registry knows. A directory
/// that is known and not there is told in its row; the caller decides whether that is an error.
///
/// # Errors
/// `Invalid` for the same directory twice, for nested ones and for a known one that is not named
/// although others are; `Foreign` for one that belongs to another store.
pub fn resolve(
    disk: &dyn Disk,
    root: &Path,
    wanted: &[Wanted],
    registry: Option<&Registry>,
    create: bool,
) -> Result<Vec<Resolved>> {
    let mut found = Vec::new();
    for (number, wanted) in wanted.iter().enumerate() {
        let row = named(disk, wanted, registry, create)?;
        found.push(Resolved { named: Some(number), ..row });
    }
    if let Some(registry) = registry {
        remembered(disk, registry, &mut found, wanted.is_empty())?;
    }
    check_distinct(&found)?;
    check_nesting(disk, root, &found)?;
    Ok(found)
}

fn look(disk: &dyn Disk, path: &Path) -> Look {
    match disk.stat(path) {
        Ok(Some(stat)) if stat.kind == EntryKind::Directory => Look::There(stat),
        Ok(Some(_)) => Look::Absent("it is not a directory".into()),
        Ok(None) => Look::Absent("it does not exist".into()),
        Err(error) => Look::Absent(error.to_string()),
    }
}

/// A directory that the caller names.
fn named(
    disk: &dyn Disk,
    wanted: &Wanted,
    registry: Option<&Registry>,
    create: bool,
) -> Result<Resolved> {
    let known = registry.and_then(|registry| {
        let entries = registry.directories.iter();
        entries.clone().find(|entry| same_place(disk, &entry.path, &wanted.path))
    });
    let looked = match look(disk, &wanted.path) {
        // A known directory is never made anew: it would be an empty mount point.
        Look::Absent(_) if known.is_none() && create && disk.stat(&wanted.path)?.is_none() => {
            disk.make_dir(&wanted.path)?;
            look(disk, &wanted.path)
        }
        looked => looked,
    };
    let stat = match (looked, known) {
        (Look::There(stat), _) => stat,
        (Look::Absent(why), Some(entry)) => {
            return Ok(absent(entry.id, wanted.role.unwrap_or(entry.role), &entry.path, why));
        }
        (Look::Absent(why), None) => {
            return Err(Error::new(ErrorKind::Invalid, format!("cannot use the directory: {why}"))
                .at(&wanted.path));
        }
    };
    let label = disk.label(&stat.canonical)?;
    let id = match label.as_deref().and_then(parse_label) {
        Some((store, id)) => Some(claimed(registry, store, id, &stat.canonical)?),
        None => known.map(|entry| entry.id),
    };
    let entry = registry.and_then(|r| r.directories.iter().find(|entry| Some(entry.id) == id));
    // A label of ours with a number that is not registered was left by a change that a crash or
    // a failure undid: the directory is a new one.
    let id = entry.map(|entry| entry.id);
    let role = wanted.role.or(entry.map(|entry| entry.role)).unwrap_or_default();
    let offline = match (label, entry) {
        (None, Some(_)) => empty_mount_point(disk, &stat)?,
        _ => None,
    };
    Ok(there(id, role, stat, offline))
}

/// Checks that a label names this store.
fn claimed(registry: Option<&Registry>, store: u64, id: u64, path: &Path) -> Result<u64> {
    match registry {
        Some(registry) if registry.store == store => Ok(id),
        Some(_) => {
            Err(Error::new(ErrorKind::Foreign, "the directory belongs to another store").at(path))
        }
        None => Err(Error::new(
            ErrorKind::Foreign,
            "the directory belongs to a store whose root is not this one; if this one lost its \
             registry, the option `adopt` takes the directory over",
        )
        .at(path)),
    }
}

/// A known directory without its label is the right one only if it still holds segments: a copy
/// loses labels, an empty mount point has neither.
fn empty_mount_point(disk: &dyn Disk, stat: &Stat) -> Result<Option<String>> {
    let holds = |entry: &crate::disk::Entry| parse_segment_name(&entry.name).is_some();
    if disk.list(&stat.canonical)?.iter().any(holds) {
        return Ok(None);
    }
    Ok(Some("nothing is there: perhaps its disk is not mounted".into()))
}

/// Adds the directories that the registry knows and the caller did not name.
fn remembered(
    disk: &dyn Disk,
    registry: &Registry,
    found: &mut Vec<Resolved>,
    by_root_alone: bool,
) -> Result<()> {
    for entry in &registry.directories {
        if found.iter().any(|other| other.id == Some(entry.id)) {
            continue;
        }
        if !by_root_alone {
            let text = "a directory of the store is left off the list; name it, or open the \
                        store by its root alone";
            return Err(Error::new(ErrorKind::Invalid, text).at(&entry.path));
        }
        let row = match look(disk, &entry.path) {
            Look::Absent(why) => absent(entry.id, entry.role, &entry.path, why),
            Look::There(stat) => match disk.label(&stat.canonical)?.as_deref().map(parse_label) {
                Some(Some((store, _))) => {
                    let id = claimed(Some(registry), store, entry.id, &stat.canonical)?;
                    there(Some(id), entry.role, stat, None)
                }
                _ => {
                    let offline = empty_mount_point(disk, &stat)?;
                    there(Some(entry.id), entry.role, stat, offline)
                }
            },
        };
        found.push(row);
    }
    Ok(())
}

fn same_place(disk: &dyn Disk, a: &Path, b: &Path) -> bool {
    let canonical = |path: &Path| disk.stat(path).ok().flatten().map(|stat| stat.canonical);
    a == b || canonical(a).is_some_and(|a| Some(a) == canonical(b))
}

fn there(id: Option<u64>, role: Role, stat: Stat, offline: Option<String>) -> Resolved {
    let Stat { canonical, device, inode, .. } = stat;
    Resolved { id, path: canonical, device, inode, role, offline, named: None }
}

fn absent(id: u64, role: Role, path: &Path, why: String) -> Resolved {
    let path = path.into();
    Resolved { id: Some(id), path, device: 0, inode: 0, role, offline: Some(why), named: None }
}

/// Spelling does not matter: a directory is its file system and its number there. A copy that
/// carries the label of the original is one too many, too.
fn check_distinct(found: &[Resolved]) -> Result<()> {
    for (at, row) in found.iter().enumerate() {
        let is_there = |other: &Resolved| row.offline.is_none() && other.offline.is_none();
        let same_place = |other: &Resolved| {
            is_there(other) && (row.device, row.inode) == (other.device, other.inode)
        };
        let same =
            |other: &&Resolved| same_place(other) || (row.id.is_some() && row.id == other.id);
        if let Some(other) = found[..at].iter().find(same) {
            let text = match same_place(other) {
                true => format!("the directory is named twice, also as {}", other.path.display()),
                false => format!("the directory is a copy of {}", other.path.display()),
            };
            return Err(Error::new(ErrorKind::Invalid, text).at(&row.path));
        }
    }
    Ok(())
}

/// What a store, or a broker, keeps under its root.
const STORE_DIRS: [&str; 5] = ["consumequeue", "batchconsumequeue", "index", "config", OWN_DIR];

fn check_nesting(disk: &dyn Disk, root: &Path, found: &[Resolved]) -> Result<()> {
    let root = disk.stat(root)?.map_or(root.to_owned(), |stat| stat.canonical);
    for row in found.iter().filter(|row| row.offline.is_none()) {
        if root.starts_with(&row.path) {
            let text = "a segment directory must not be or contain the store's root";
            return Err(Error::new(ErrorKind::Invalid, text).at(&row.path));
        }
        let mut own = STORE_DIRS.iter().map(|name| root.join(name));
        if own.any(|own| row.path.starts_with(own)) {
            let text = "a segment directory must not lie in one that the store has for itself";
            return Err(Error::new(ErrorKind::Invalid, text).at(&row.path));
        }
        let inside = |other: &&Resolved| {
            other.path != row.path && row.path.starts_with(&other.path) && other.offline.is_none()
        };
        if let Some(other) = found.iter().find(inside) {
            let text = format!("the directory lies within another, {}", other.path.display());
            return Err(Error::new(ErrorKind::Invalid, text).at(&row.path));
        }
    }
    Ok(())
}
