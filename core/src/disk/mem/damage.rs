//! What tests do to a disk in memory behind the back of its users. Nothing here asks whether a
//! file system is full or read-only, and everything is durable at once.

use std::io;
use std::path::Path;
use std::sync::Arc;

use super::super::failed;
use super::MemDisk;
use super::body::Body;
use super::names::{Node, canonical};
use crate::error::Result;

/// Damage to a disk in memory. Changing bytes in place is seen by every map at once, as it is
/// when memory or a disk goes bad; as with every change of bytes, nobody may hold a slice of them
/// meanwhile.
impl MemDisk {
    /// Overwrites the bytes at `at`.
    ///
    /// # Errors
    /// [`ErrorKind::Io`](crate::ErrorKind::Io) if there is no such file or it has no such bytes.
    pub fn corrupt(&self, path: &Path, at: u64, bytes: &[u8]) -> Result<()> {
        self.damage(path, at, bytes.len(), |target| target.copy_from_slice(bytes))
    }

    /// Turns the bits of `mask` around in the byte at `at`.
    ///
    /// # Errors
    /// [`ErrorKind::Io`](crate::ErrorKind::Io) if there is no such file or it has no such byte.
    pub fn flip(&self, path: &Path, at: u64, mask: u8) -> Result<()> {
        self.damage(path, at, 1, |target| target.iter_mut().for_each(|byte| *byte ^= mask))
    }

    fn damage(&self, path: &Path, at: u64, len: usize, change: impl Fn(&mut [u8])) -> Result<()> {
        let body = self.body(path).map_err(failed("damage a file", path))?;
        let outcome =
            body.damage(at, change, len).ok_or_else(|| io::ErrorKind::InvalidInput.into());
        outcome.map_err(failed("damage a file", path))
    }

    fn body(&self, path: &Path) -> io::Result<Arc<Body>> {
        self.state.lock().names.file(&canonical(path)).map(Arc::clone)
    }

    /// Cuts the file to `len` bytes, or lengthens it with zeros. Handles and maps that are open
    /// keep the old length.
    ///
    /// # Errors
    /// [`ErrorKind::Io`](crate::ErrorKind::Io) if there is no such file.
    pub fn truncate(&self, path: &Path, len: usize) -> Result<()> {
        let body = self.body(path).map_err(failed("damage a file", path))?;
        let mut bytes = body.bytes();
        bytes.resize(len, 0);
        self.plant(path, body.rewritten(bytes));
        Ok(())
    }

    /// Puts a file of these bytes at `path`, in place of any other, and makes its directories.
    pub fn write(&self, path: &Path, bytes: &[u8]) {
        let (inode, device) = {
            let mut state = self.state.lock();
            (state.new_inode(), state.mount(&canonical(path)).device)
        };
        self.plant(path, Body::with_bytes(inode, device, bytes.to_vec()));
    }

    fn plant(&self, path: &Path, body: Body) {
        let (mut state, own) = (self.state.lock(), canonical(path));
        if let Some(dir) = own.parent() {
            state.make_dirs(dir);
        }
        let body = state.adopt(body);
        state.names.put(&own, Node::File(body));
    }

    /// Loses the file or directory at `path` with everything in it, as a disk that is not there
    /// any more. Handles and maps stay usable.
    pub fn lose(&self, path: &Path) {
        let (mut state, own) = (self.state.lock(), canonical(path));
        state.names.lose(&own);
        state.labels.retain(|dir, _| !dir.starts_with(&own));
    }
}
