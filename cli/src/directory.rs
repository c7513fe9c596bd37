//! A directory of segments as it is written on the command line: a path, a role, marks.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use spanlog::{DirectoryOptions, Error, ErrorKind, Result, Role, Thresholds, quantity};

/// A directory and what it has of its own.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DirectoryArg {
    path: PathBuf,
    role: Option<Role>,
    clean: Option<f64>,
    force: Option<f64>,
    refuse: Option<f64>,
    floor_bytes: Option<u64>,
}

impl DirectoryArg {
    /// Reads `DIR` or `DIR=SETTING,...`. What follows the last `=` are settings unless it holds a
    /// slash, so that a directory called `a=b` is named `a=b/`.
    ///
    /// # Errors
    /// `Invalid` for an empty path and for a setting that is none.
    pub fn parse(text: &OsStr) -> Result<Self> {
        let bytes = text.as_bytes();
        let at = bytes.iter().rposition(|&byte| byte == b'=');
        let (path, settings) = match at.map(|at| (&bytes[..at], &bytes[at + 1..])) {
            Some((path, settings)) if !settings.contains(&b'/') => (path, Some(settings)),
            _ => (bytes, None),
        };
        if path.is_empty() {
            return Err(Error::new(ErrorKind::Invalid, "a directory's path is empty"));
        }
        let mut directory = Self { path: OsStr::from_bytes(path).into(), ..Self::default() };
        for setting in settings.iter().flat_map(|settings| settings.split(|&byte| byte == b',')) {
            directory.set(&String::from_utf8_lossy(setting))?;
        }
        Ok(directory)
    }

    fn set(&mut self, setting: &str) -> Result<()> {
        match setting.split_once(':') {
            None => self.role = Some(setting.parse()?),
            Some(("clean", ratio)) => self.clean = Some(quantity::parse_ratio(ratio)?),
            Some(("force", ratio)) => self.force = Some(quantity::parse_ratio(ratio)?),
            Some(("refuse", ratio)) => self.refuse = Some(quantity::parse_ratio(ratio)?),
            Some(("floor", size)) => self.floor_bytes = Some(quantity::parse_size_bytes(size)?),
            Some((name, _)) => {
                let text = format!("{name:?} is none of clean, force, refuse, floor");
                return Err(Error::new(ErrorKind::Invalid, text));
            }
        }
        Ok(())
    }

    /// The directory in a store with these marks: a mark it does not have is the store's.
    pub fn options(&self, store: Thresholds) -> DirectoryOptions {
        let own = Thresholds {
            clean: self.clean.unwrap_or(store.clean),
            force: self.force.unwrap_or(store.force),
            refuse: self.refuse.unwrap_or(store.refuse),
            floor_bytes: self.floor_bytes.unwrap_or(store.floor_bytes),
            ..store
        };
        let thresholds = (own != store).then_some(own);
        DirectoryOptions { path: self.path.clone(), role: self.role, thresholds }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<DirectoryOptions> {
        Ok(DirectoryArg::parse(OsStr::new(text))?.options(Thresholds::default()))
    }

    #[test]
    fn with_and_without_roles() {
        let rows = [
            ("/a", "/a", None),
            ("/a=draining", "/a", Some(Role::Draining)),
            ("/a=read-only", "/a", Some(Role::ReadOnly)),
            ("a=b=read-write", "a=b", Some(Role::ReadWrite)),
            ("/a=b/", "/a=b/", None),
            ("/a=b/c", "/a=b/c", None),
            ("/a,b", "/a,b", None),
            ("/a/=draining", "/a/", Some(Role::Draining)),
        ];
        for (text, path, role) in rows {
            let expected = DirectoryOptions { role, ..DirectoryOptions::new(path) };
            assert_eq!(parsed(text).unwrap(), expected, "{text}");
        }
    }

    #[test]
    fn marks_of_its_own_beside_those_of_the_store() {
        let found = parsed("/a=draining,force:80%,floor:10GiB").unwrap();
        let own = Thresholds { force: 0.8, floor_bytes: 10 << 30, ..Thresholds::default() };
        assert_eq!((found.role, found.thresholds), (Some(Role::Draining), Some(own)));
        let found = parsed("/a=clean:0.5,refuse:88%").unwrap();
        let own = Thresholds { clean: 0.5, refuse: 0.88, ..Thresholds::default() };
        assert_eq!((found.role, found.thresholds), (None, Some(own)));
    }

    #[test]
    fn what_is_no_setting_is_refused() {
        for text in ["", "=draining", "/a=drainig", "/a=", "/a=b", "/a=full:1%", "/a=clean:75"] {
            assert!(parsed(text).is_err(), "{text}");
        }
    }
}
