//! Messages of the engine on standard error: text, or with `--json` an object a line.

use std::io::Write;

use anstyle::{AnsiColor, Style};
use log::{Level, LevelFilter, Log, Metadata, Record};
use serde_json::json;

#[derive(Debug)]
struct StderrLog {
    json: bool,
}

/// Warnings are always shown; each `-v` shows a level more. To be called once.
pub fn start(verbose: u8, json: bool) {
    let level = match verbose {
        0 => LevelFilter::Warn,
        1 => LevelFilter::Info,
        2 => LevelFilter::Debug,
        _ => LevelFilter::Trace,
    };
    if log::set_boxed_logger(Box::new(StderrLog { json })).is_ok() {
        log::set_max_level(level);
    }
}

fn style(level: Level) -> Style {
    match level {
        Level::Error => Style::new().bold().fg_color(Some(AnsiColor::Red.into())),
        Level::Warn => Style::new().bold().fg_color(Some(AnsiColor::Yellow.into())),
        _ => Style::new().dimmed(),
    }
}

impl Log for StderrLog {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.level() <= log::max_level()
    }

    fn log(&self, record: &Record<'_>) {
        if !self.enabled(record.metadata()) {
            return;
        }
        let level = match record.level() {
            Level::Warn => "warning".to_owned(),
            other => other.as_str().to_ascii_lowercase(),
        };
        let text = if self.json {
            json!({"log": {"level": level, "message": record.args().to_string()}}).to_string()
        } else {
            let style = style(record.level());
            format!("{style}{level}:{style:#} {}", record.args())
        };
        // Nobody may be there to read it.
        let _ = writeln!(anstream::stderr(), "{text}");
    }

    fn flush(&self) {}
}
