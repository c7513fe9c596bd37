//! One thing that was measured.

use std::time::Duration;

use anstyle::Style;
use indicatif::{HumanBytes, HumanCount};
use serde_json::json;

use super::BenchArgs;
use crate::failure::Outcome;
use crate::output::Output;

/// Messages in a time.
#[derive(Debug)]
pub struct Figure<'a> {
    name: &'static str,
    args: &'a BenchArgs,
    size_bytes: u64,
    messages: u64,
    elapsed: Duration,
}

impl<'a> Figure<'a> {
    /// So many messages in so much time.
    pub fn new(
        name: &'static str,
        args: &'a BenchArgs,
        size_bytes: u64,
        messages: u64,
        elapsed: Duration,
    ) -> Self {
        Self { name, args, size_bytes, messages, elapsed }
    }

    fn per_second(&self, count: u64) -> u64 {
        (count as f64 / self.elapsed.as_secs_f64().max(1e-9)) as u64
    }

    /// Prints it.
    pub fn print(&self, output: &mut Output) -> Outcome<()> {
        let (args, messages) = (self.args, self.messages);
        let rate = self.per_second(messages);
        let byte_rate = self.per_second(messages * self.size_bytes);
        if output.is_json() {
            return output.object(&json!({
                "name": self.name,
                "size_bytes": self.size_bytes,
                "batch": args.batch,
                "threads": args.threads,
                "durable": args.durable,
                "messages": messages,
                "elapsed_ms": self.elapsed.as_secs_f64() * 1000.0,
                "messages_per_s": rate,
                "body_bytes_per_s": byte_rate,
            }));
        }
        let size = HumanBytes(self.size_bytes).to_string();
        let rate = output
            .paint(Style::new().bold(), format_args!("{:>12}/s", HumanCount(rate).to_string()));
        let (name, bytes) = (self.name, HumanBytes(byte_rate).to_string());
        output.line(format_args!("{name:<14} {size:>10} {rate} {bytes:>12}/s{}", self.how()))
    }

    fn how(&self) -> String {
        let args = self.args;
        if self.name != "append" {
            return String::new();
        }
        let mut how = String::new();
        if args.batch > 1 {
            how += &format!("  batches of {}", args.batch);
        }
        if args.threads > 1 {
            how += &format!("  {} threads", args.threads);
        }
        how + if args.durable { "  durable" } else { "" }
    }
}
