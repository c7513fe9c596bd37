//! Bars and spinners on standard error, for people who wait.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

const BYTES: &str = "{msg} {wide_bar} {bytes}/{total_bytes} {bytes_per_sec} {eta}";
const COUNT: &str = "{msg} {wide_bar} {human_pos}/{human_len} {eta}";
const BYTES_UNKNOWN: &str = "{spinner} {msg} {bytes} {bytes_per_sec}";
const SPINNER: &str = "{spinner} {msg} {elapsed}";

/// What a bar counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Bytes.
    Bytes,
    /// Things.
    Count,
}

fn styled(bar: ProgressBar, template: &str, text: &str) -> ProgressBar {
    let style = ProgressStyle::with_template(template);
    bar.set_style(style.expect("the templates above are right").progress_chars("=> "));
    bar.set_message(text.to_owned());
    bar.enable_steady_tick(Duration::from_millis(100));
    bar
}

/// A bar up to `len`, or without an end; invisible unless `shown`.
pub fn bar(shown: bool, unit: Unit, len: Option<u64>, text: &str) -> ProgressBar {
    if !shown {
        return ProgressBar::hidden();
    }
    match (len, unit) {
        (Some(len), Unit::Bytes) => styled(ProgressBar::new(len), BYTES, text),
        (Some(len), Unit::Count) => styled(ProgressBar::new(len), COUNT, text),
        (None, _) => styled(ProgressBar::new_spinner(), BYTES_UNKNOWN, text),
    }
}

/// A sign of life for work that does not tell how far it is; invisible unless `shown`.
pub fn spinner(shown: bool, text: &str) -> ProgressBar {
    if shown { styled(ProgressBar::new_spinner(), SPINNER, text) } else { ProgressBar::hidden() }
}
