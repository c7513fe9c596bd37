//! The real command in a directory of its own.

#![allow(dead_code)]

use std::ffi::OsStr;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// What a command said.
#[derive(Debug)]
pub struct Ran {
    pub code: i32,
    pub stdout: Vec<u8>,
    pub stderr: String,
}

/// A directory for a store, removed at the end.
pub struct Place(TempDir);

/// The command, not yet run; a signal to stop would otherwise reach the test, too.
pub fn command<S: AsRef<OsStr>>(args: &[S]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_spanlog"));
    command.args(args).env_remove("NO_COLOR").stdin(Stdio::null());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Runs it with something on standard input.
pub fn run_with<S: AsRef<OsStr>>(args: &[S], input: &[u8]) -> Ran {
    let mut child = command(args).stdin(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    // A command that stops early closes its end.
    let writer = std::thread::spawn(move || stdin.write_all(&input).is_ok());
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    Ran { code: output.status.code().unwrap_or(-1), stdout: output.stdout, stderr }
}

impl Ran {
    /// The text of a command that succeeded and had nothing to complain about.
    #[track_caller]
    pub fn text(&self) -> String {
        assert_eq!((self.code, &*self.stderr), (0, ""), "{self:?}");
        String::from_utf8(self.stdout.clone()).unwrap()
    }

    /// The text of a command that succeeded, whatever it warned of.
    #[track_caller]
    pub fn loud_text(&self) -> String {
        assert_eq!(self.code, 0, "{self:?}");
        String::from_utf8(self.stdout.clone()).unwrap()
    }

    /// The object of a command that succeeded, whatever it warned of.
    #[track_caller]
    pub fn loud_object(&self) -> Value {
        serde_json::from_str(&self.loud_text()).unwrap()
    }

    /// The objects of a command that succeeded.
    #[track_caller]
    pub fn objects(&self) -> Vec<Value> {
        self.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// The only object of a command that succeeded.
    #[track_caller]
    pub fn object(&self) -> Value {
        let mut objects = self.objects();
        assert_eq!(objects.len(), 1, "{self:?}");
        objects.remove(0)
    }

    /// The last object on standard error of a command that failed with this exit code.
    #[track_caller]
    pub fn error(&self, code: i32) -> Value {
        assert_eq!(self.code, code, "{self:?}");
        let line = self.stderr.lines().last().unwrap_or_default();
        serde_json::from_str::<Value>(line).unwrap()["error"].clone()
    }
}

impl Place {
    pub fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn text(&self, name: &str) -> String {
        self.path(name).to_str().unwrap().to_owned()
    }

    /// The words of a command line for the store called `store` here; `{name}` is a path here.
    pub fn words(&self, line: &str) -> Vec<String> {
        let here = self.0.path().to_str().unwrap();
        let mut words: Vec<String> =
            line.split_whitespace().map(|word| word.replace('@', here)).collect();
        if !words.iter().any(|word| word == "--root" || word == "--conf") {
            words.push("--root".into());
            words.push(self.text("store"));
        }
        words
    }

    /// Runs a command line on the store called `store` here; `@` stands for this place.
    pub fn run(&self, line: &str) -> Ran {
        self.run_with(line, b"")
    }

    pub fn run_with(&self, line: &str, input: &[u8]) -> Ran {
        run_with(&self.words(line), input)
    }

    /// A store over two directories with this many lines in three queues.
    pub fn filled(count: usize) -> Self {
        let place = Self::new();
        let lines: String = (0..count).map(|n| format!("INFO key-{n} line {n}\n")).collect();
        let line = "append --path @/a --path @/b --segment-size 64KiB --topic web --lines \
            --queues 3 --tag-column 1 --json --no-acks";
        let summary = place.run_with(line, lines.as_bytes()).object();
        assert_eq!(summary["appended"], count);
        place
    }
}
