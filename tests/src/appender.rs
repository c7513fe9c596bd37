//! What the process that is killed while it appends, and the test that kills it, agree on.

use std::path::{Path, PathBuf};

use spanlog::{Durability, Options, Placement};

/// The only topic.
pub const TOPIC: &str = "killed";

/// Queues of the topic.
pub const QUEUES: u32 = 3;

/// How the store is opened by both.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The directory that everything is in.
    pub dir: PathBuf,
    /// Whether appends are acknowledged when they are flushed.
    pub group: bool,
    /// Where segments go.
    pub placement: Placement,
}

impl Plan {
    /// The store's root.
    #[must_use]
    pub fn root(&self) -> PathBuf {
        self.dir.join("root")
    }

    /// Options with three directories and segments that are soon full.
    #[must_use]
    pub fn options(&self) -> Options {
        let durability = match self.group {
            true => Durability::Group,
            false => Durability::Async { interval_ms: 5, bytes: 50_000 },
        };
        let options = Options::new()
            .segment_len_bytes(32 * 1024)
            .queue_file_len_bytes(2000)
            .prepare_bytes(16 * 1024)
            .checkpoint_interval_ms(20)
            .placement(self.placement)
            .durability(durability);
        let dirs = ["a", "b", "c"].map(|name| self.dir.join(name));
        dirs.iter().fold(options, |options, dir| options.directory(Path::new(dir)))
    }

    /// The arguments that tell a process of the plan.
    #[must_use]
    pub fn arguments(&self) -> [std::ffi::OsString; 3] {
        let durability = if self.group { "group" } else { "async" };
        [self.dir.clone().into(), durability.into(), self.placement.name().into()]
    }

    /// Reads what [`Plan::arguments`] says.
    #[must_use]
    pub fn of(mut arguments: impl Iterator<Item = std::ffi::OsString>) -> Option<Self> {
        let dir = arguments.next()?.into();
        let group = arguments.next()? == "group";
        let placement = arguments.next()?.to_str()?.parse().ok()?;
        Some(Self { dir, group, placement })
    }
}

/// How many messages batch `number` has, one queue after the other: mostly one.
#[must_use]
pub fn batch_len(number: u64) -> u64 {
    if number.is_multiple_of(5) { 2 + number % 7 } else { 1 }
}

/// The queue of batch `number`.
#[must_use]
pub fn queue(number: u64) -> u32 {
    (number % u64::from(QUEUES)) as u32
}

/// The payload of message `member` of batch `number`.
#[must_use]
pub fn body(number: u64, member: u64) -> Vec<u8> {
    let filler = "0123456789".repeat((number * 13 % 61) as usize);
    format!("{number} {member} {filler}").into_bytes()
}

/// The batch and the member that a payload says it is.
#[must_use]
pub fn parse(body: &[u8]) -> Option<(u64, u64)> {
    let text = std::str::from_utf8(body).ok()?;
    let mut words = text.split(' ');
    Some((words.next()?.parse().ok()?, words.next()?.parse().ok()?))
}
