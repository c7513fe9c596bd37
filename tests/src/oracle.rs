//! RocketMQ's own store, run as a child process on the directories under test. It is built by
//! `tests/interop/build.sh`; where that has not run, or Java is missing, [`Oracle::find`] says
//! why and the test is skipped.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

use crate::source;

/// A line of RocketMQ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// 4.9.8.
    V49,
    /// 5.5.1.
    V55,
}

impl Version {
    /// Both, the older first.
    pub const ALL: [Self; 2] = [Self::V49, Self::V55];

    fn folder(self) -> &'static str {
        match self {
            Self::V49 => "v49",
            Self::V55 => "v55",
        }
    }
}

/// How a store is laid out: what its configuration says in RocketMQ.
#[derive(Clone, Debug)]
pub struct Layout {
    /// The store's root, which holds the queues, the index and the checkpoint.
    pub root: PathBuf,
    /// The directories of the commit log.
    pub paths: Vec<PathBuf>,
    /// Length of a segment, in bytes.
    pub segment_len: u64,
    /// Length of a file of a consume queue, in bytes.
    pub queue_file_len: u64,
    /// Any other setting of RocketMQ's `MessageStoreConfig`, by its Java name.
    pub settings: Vec<(String, String)>,
}

impl Layout {
    /// A store at `root` with its log in `paths`, lengths in bytes, and a small index as in the
    /// golden stores.
    #[must_use]
    pub fn new(root: &Path, paths: &[PathBuf], segment_len: u64, queue_file_len: u64) -> Self {
        let small = [("maxHashSlotNum", "50"), ("maxIndexNum", "200")];
        let settings = small.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let (root, paths) = (root.to_owned(), paths.to_vec());
        Self { root, paths, segment_len, queue_file_len, settings: settings.to_vec() }
    }

    /// The layout as the command takes it, with `script` in its place.
    fn arguments(&self, script: Option<&Path>) -> Vec<String> {
        let text = |path: &Path| path.to_str().expect("tests use plain paths").to_owned();
        let paths: Vec<String> = self.paths.iter().map(|path| text(path)).collect();
        let mut arguments = vec![text(&self.root), paths.join(",")];
        arguments.extend([self.segment_len.to_string(), self.queue_file_len.to_string()]);
        arguments.extend(script.map(text));
        arguments.extend(self.settings.iter().map(|(name, value)| format!("{name}={value}")));
        arguments
    }
}

/// How a run that writes ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The store is closed in order.
    Shutdown,
    /// The process ends at once and leaves everything as it is.
    Halt,
}

/// The built command.
#[derive(Clone, Debug)]
pub struct Oracle {
    folder: PathBuf,
}

impl Oracle {
    /// The oracle, or nothing, with a line that says why and that is counted as a skipped test.
    #[must_use]
    pub fn find() -> Option<Self> {
        let oracle = Self { folder: source::workspace().join("tests/interop") };
        match oracle.missing() {
            None => Some(oracle),
            Some(reason) => {
                println!("skipped: {reason}");
                None
            }
        }
    }

    fn missing(&self) -> Option<String> {
        let is_built = |version| fs::exists(self.classpath_file(version)).unwrap_or(false);
        if !Version::ALL.into_iter().all(is_built) {
            return Some("RocketMQ's store is not built; run tests/interop/build.sh".to_owned());
        }
        let java = Command::new("java").arg("-version").output();
        match java {
            Ok(output) if output.status.success() => None,
            _ => Some("there is no java to run RocketMQ's store with".to_owned()),
        }
    }

    fn classpath_file(&self, version: Version) -> PathBuf {
        self.folder.join("target").join(version.folder()).join("classpath.txt")
    }

    /// Opens the store as RocketMQ does, recovery included, returns all that it answers, and
    /// closes it: `minPhyOffset`, `maxPhyOffset`, `abortBefore`, `queues` with `topic`, `queueId`,
    /// `min`, `max`, `units`, `messages`, `misses` and `byTime`, and `keys`.
    ///
    /// # Panics
    /// If RocketMQ refuses, with what it printed.
    #[must_use]
    pub fn read(&self, version: Version, layout: &Layout) -> Value {
        self.run(version, "read", layout.arguments(None))
    }

    /// Puts messages as `script` says (the Java class `Writing` tells its form) and returns
    /// `minPhyOffset`, `maxPhyOffset`, `abortBefore` and one row of `results` for each put.
    ///
    /// # Panics
    /// If RocketMQ refuses, with what it printed.
    #[must_use]
    pub fn write(&self, version: Version, layout: &Layout, script: &Value, end: End) -> Value {
        let folder = tempfile::tempdir().expect("a temporary directory");
        let file = folder.path().join("script.json");
        fs::write(&file, script.to_string()).expect("room for a script");
        let mut arguments = layout.arguments(Some(&file));
        if end == End::Halt {
            arguments.push("--halt".to_owned());
        }
        self.run(version, "write", arguments)
    }

    fn run(&self, version: Version, command: &str, arguments: Vec<String>) -> Value {
        let jars = fs::read_to_string(self.classpath_file(version)).expect("it was built");
        let classes = self.folder.join("target").join(version.folder()).join("classes");
        let output = Command::new("java")
            .arg(format!("@{}", self.folder.join("java.args").display()))
            .arg("-cp")
            .arg(format!("{}:{}", classes.display(), jars.trim()))
            .args(["org.spanlog.interop.Oracle", command])
            .args(&arguments)
            .output()
            .expect("java runs");
        answer(version, &arguments, &output)
    }
}

fn answer(version: Version, arguments: &[String], output: &Output) -> Value {
    let printed = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{version:?} refused {arguments:?}:\n{printed}");
    serde_json::from_slice(&output.stdout).expect("the oracle prints JSON")
}
