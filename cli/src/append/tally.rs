//! What an append did, for the summary.

use std::time::Instant;

use indicatif::{HumanBytes, HumanCount};
use serde_json::{Value, json};
use spanlog::{Position, Receipt};

use crate::output::counted;

/// Messages, bytes and positions so far.
#[derive(Debug)]
pub struct Tally {
    /// Messages in the log.
    pub messages: u64,
    body_bytes: u64,
    start: Option<Position>,
    end: Option<Position>,
    began: Instant,
}

impl Tally {
    /// Begins now.
    pub fn start() -> Self {
        Self { messages: 0, body_bytes: 0, start: None, end: None, began: Instant::now() }
    }

    /// Counts a batch.
    pub fn add(&mut self, messages: u64, body_bytes: u64, receipt: &Receipt) {
        self.messages += messages;
        self.body_bytes += body_bytes;
        self.start = self.start.or(Some(receipt.position));
        self.end = Some(receipt.end);
    }

    /// For programs.
    pub fn to_json(&self) -> Value {
        json!({
            "appended": self.messages,
            "body_bytes": self.body_bytes,
            "start": self.start.map(Position::get),
            "end": self.end.map(Position::get),
            "elapsed_ms": u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX),
        })
    }

    /// For people.
    pub fn to_text(&self) -> String {
        let seconds = self.began.elapsed().as_secs_f64().max(1e-6);
        let (messages, bytes) = (counted(self.messages, "message"), HumanBytes(self.body_bytes));
        let per_second = HumanCount((self.messages as f64 / seconds) as u64);
        let mut text = format!("appended {messages}, {bytes}, in {seconds:.2} s ({per_second}/s)");
        if let (Some(start), Some(end)) = (self.start, self.end) {
            text += &format!(", positions {start} to {end}");
        }
        text
    }
}
