//! Small real file systems for tests: in memory, and on images behind a loop device. They need
//! root; without it a test says that it was skipped.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A mounted file system, unmounted when it is dropped.
#[derive(Debug)]
pub struct Mount {
    dir: PathBuf,
    mounted: bool,
}

/// What is on a loop device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Reserves blocks.
    Ext4,
    /// Cannot reserve blocks.
    Ext2,
}

/// Runs a program to its end.
///
/// # Errors
/// What it said.
fn run(program: &str, arguments: &[&str]) -> Result<(), String> {
    let path = format!("{}:/usr/sbin:/sbin", std::env::var("PATH").unwrap_or_default());
    let output = Command::new(program).args(arguments).env("PATH", path).output();
    let output = output.map_err(|error| format!("{program}: {error}"))?;
    match output.status.success() {
        true => Ok(()),
        false => Err(format!("{program}: {}", String::from_utf8_lossy(&output.stderr).trim())),
    }
}

fn text(path: &Path) -> &str {
    path.to_str().expect("temporary directories have plain names")
}

impl Mount {
    /// A file system in memory of `bytes` bytes, at `dir`, which is made.
    ///
    /// # Errors
    /// Why it cannot be mounted, for people.
    pub fn tmpfs(dir: &Path, bytes: u64) -> Result<Self, String> {
        fs::create_dir_all(dir).map_err(|error| error.to_string())?;
        run("mount", &["-t", "tmpfs", "-o", &format!("size={bytes}"), "spanlog-test", text(dir)])?;
        Ok(Self { dir: dir.to_owned(), mounted: true })
    }

    /// A file system on an image of `bytes` bytes beside `dir`, at `dir`, which is made.
    ///
    /// # Errors
    /// Why it cannot be mounted, for people.
    pub fn image(dir: &Path, kind: Kind, bytes: u64) -> Result<Self, String> {
        fs::create_dir_all(dir).map_err(|error| error.to_string())?;
        let image = dir.with_extension("image");
        let file = File::create(&image).map_err(|error| error.to_string())?;
        file.set_len(bytes).map_err(|error| error.to_string())?;
        let program = if kind == Kind::Ext4 { "mkfs.ext4" } else { "mkfs.ext2" };
        run(program, &["-q", "-F", "-m", "0", text(&image)])?;
        run("mount", &["-o", "loop", text(&image), text(dir)])?;
        Ok(Self { dir: dir.to_owned(), mounted: true })
    }

    /// Where it is.
    #[must_use]
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Mounts it anew with other options, such as `ro`, or `abort`: what ext4 does to itself
    /// after an error.
    ///
    /// # Errors
    /// What the system says.
    pub fn remount(&self, options: &str) -> Result<(), String> {
        run("mount", &["-o", &format!("remount,{options}"), text(&self.dir)])
    }

    /// Takes it off; an empty directory stays.
    pub fn unmount(&mut self) {
        if std::mem::take(&mut self.mounted) {
            // Lazily: a test that fails may hold files.
            if let Err(error) = run("umount", &["-l", text(&self.dir)]) {
                eprintln!("{error}");
            }
        }
    }

    /// Fills it to the last byte with a file, and returns its path.
    #[must_use]
    pub fn fill(&self) -> PathBuf {
        let path = self.dir.join("ballast");
        let mut file = File::create(&path).expect("a file");
        for size in [64 * 1024, 4096, 512, 1] {
            let piece = vec![1; size];
            while file.write_all(&piece).is_ok() {}
        }
        // Where blocks are given out late, only this tells that there are none left.
        drop(file.sync_all());
        path
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        self.unmount();
    }
}

/// Unwraps what was mounted, or says that the test is skipped.
pub fn mounted<T>(test: &str, outcome: Result<T, String>) -> Option<T> {
    outcome.inspect_err(|why| println!("skipped: {test}: {why}")).ok()
}
