//! Standard output: text for people or one JSON object a line, never both.

use std::fmt::Display;
use std::io::{self, BufWriter, IsTerminal, Stdout, Write};

use anstream::{AutoStream, ColorChoice};
use anstyle::Style;
use indicatif::{HumanCount, ProgressBar};
use serde::Serialize;

use crate::failure::{Failure, Outcome};
use crate::progress;

/// So many of something, with the noun in its number.
pub fn counted(count: u64, noun: &str) -> String {
    let ending = if count == 1 { "" } else { "s" };
    format!("{} {noun}{ending}", HumanCount(count))
}

/// Where a command's answer goes. Buffered: what must be seen at once needs
/// [`Output::flush`].
#[derive(Debug)]
pub struct Output {
    json: bool,
    has_colour: bool,
    stream: BufWriter<Stdout>,
}

impl Output {
    /// Standard output. Colours need a terminal, and neither `no_color` nor `NO_COLOR`.
    pub fn new(json: bool, no_color: bool) -> Self {
        if no_color {
            ColorChoice::Never.write_global();
        }
        let has_colour = !json && AutoStream::choice(&io::stdout()) != ColorChoice::Never;
        Self { json, has_colour, stream: BufWriter::with_capacity(1 << 16, io::stdout()) }
    }

    /// Whether a program reads the answer.
    pub fn is_json(&self) -> bool {
        self.json
    }

    /// Writes one object and the end of its line.
    pub fn object(&mut self, object: &impl Serialize) -> Outcome<()> {
        serde_json::to_writer(&mut self.stream, object)
            .map_err(io::Error::from)
            .and_then(|()| self.stream.write_all(b"\n"))
            .map_err(|error| Failure::output(&error))
    }

    /// Writes one line of text.
    pub fn line(&mut self, text: impl Display) -> Outcome<()> {
        writeln!(self.stream, "{text}").map_err(|error| Failure::output(&error))
    }

    /// Writes bytes as they are.
    pub fn bytes(&mut self, bytes: &[u8]) -> Outcome<()> {
        self.stream.write_all(bytes).map_err(|error| Failure::output(&error))
    }

    /// Makes everything written so far visible.
    pub fn flush(&mut self) -> Outcome<()> {
        self.stream.flush().map_err(|error| Failure::output(&error))
    }

    /// The text in a style, where colours are shown.
    pub fn paint(&self, style: Style, text: impl Display) -> String {
        if self.has_colour { format!("{style}{text}{style:#}") } else { text.to_string() }
    }

    /// A line above a part of the answer.
    pub fn heading(&mut self, text: &str) -> Outcome<()> {
        let painted = self.paint(Style::new().bold(), text);
        self.line(painted)
    }

    /// Whether bars and spinners are shown: a person looks at standard error.
    pub fn shows_progress(&self) -> bool {
        !self.json && io::stderr().is_terminal()
    }

    /// A spinner for work of unknown length, or nothing visible.
    pub fn spinner(&self, text: &str) -> ProgressBar {
        progress::spinner(self.shows_progress(), text)
    }
}

#[cfg(test)]
mod tests {
    use super::counted;

    #[test]
    fn one_is_no_plural() {
        let said = [0, 1, 2, 1_000_000].map(|count| counted(count, "whole record"));
        assert_eq!(
            said,
            ["0 whole records", "1 whole record", "2 whole records", "1,000,000 whole records"]
        );
    }
}
