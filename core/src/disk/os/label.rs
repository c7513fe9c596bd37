//! Labels of directories: an extended attribute, and a file where there are none. The attribute
//! comes first because RocketMQ 4.9 refuses a log directory that holds a directory.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::{PRIVATE_DIR, calls, found, is_missing, make_dir, open_dir, read, replace, sync_dir};

fn file_of(dir: &Path) -> PathBuf {
    dir.join(PRIVATE_DIR).join("label")
}

/// The label, or nothing if there is none.
pub fn get(dir: &Path) -> io::Result<Option<Vec<u8>>> {
    match calls::label(&open_dir(dir)?) {
        Ok(Some(label)) => return Ok(Some(label)),
        Err(error) if !calls::is_unsupported(&error) => return Err(error),
        Ok(None) | Err(_) => {}
    }
    found(read(&file_of(dir)))
}

/// Sets the label, durably.
pub fn set(dir: &Path, label: &[u8]) -> io::Result<()> {
    match calls::set_label(&open_dir(dir)?, label) {
        Err(error) if calls::is_unsupported(&error) => set_in_file(dir, label),
        outcome => outcome.and_then(|()| sync_dir(dir)),
    }
}

/// Sets the label where there are no attributes.
pub fn set_in_file(dir: &Path, label: &[u8]) -> io::Result<()> {
    let path = file_of(dir);
    make_dir(&dir.join(PRIVATE_DIR))?;
    replace(&path, label)
}

/// Takes the label off, wherever it is.
pub fn remove(dir: &Path) -> io::Result<()> {
    match calls::remove_label(&open_dir(dir)?) {
        Err(error) if !calls::is_unsupported(&error) => return Err(error),
        _ => {}
    }
    match fs::remove_file(file_of(dir)) {
        Err(error) if !is_missing(&error) => return Err(error),
        // It stays if there is anything else in it.
        _ => drop(fs::remove_dir(dir.join(PRIVATE_DIR))),
    }
    sync_dir(dir)
}
