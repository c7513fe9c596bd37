//! The page around the drawings.

use std::fmt::Write;

use indicatif::{BinaryBytes, HumanCount};

use super::{Picture, line, shelves};
use crate::message::time_text;

const STYLE: &str = include_str!("map.css");

/// Text as it stands in HTML.
pub fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\n' => safe.push_str("&#10;"),
            c if c.is_control() => safe.push(' '),
            c => safe.push(c),
        }
    }
    safe
}

/// The whole page.
pub fn page(picture: &Picture) -> String {
    let root = escape(&picture.root.display().to_string());
    let mut out = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{root}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n\
         <header><h1>{root}</h1><p>spanlog map, drawn {}</p></header>\n",
        time_text(picture.now_ms)
    );
    alarms(picture, &mut out);
    figures(picture, &mut out);
    out += "<section>\n<h2>The number line</h2>\n";
    out += &line::draw(picture);
    out += "</section>\n<section>\n<h2>Directories and segments</h2>\n";
    out += &shelves::legend(picture);
    out += &shelves::draw(picture);
    out += "</section>\n";
    queues(picture, &mut out);
    out += "</main>\n</body>\n</html>\n";
    out
}

/// What must not be overlooked.
fn alarms(picture: &Picture, out: &mut String) {
    let inspection = &picture.inspection;
    let mut alarm = |text: &str| {
        let _ = writeln!(out, "<p class=\"alarm\">{}</p>", escape(text));
    };
    if let Some(why) = &inspection.poisoned {
        alarm(&format!("Poisoned: {why}"));
    }
    if let Some(why) = &inspection.refused {
        alarm(&format!("Appends are refused: {why}"));
    }
    for range in &inspection.offline {
        alarm(&format!("Positions {} to {} are not there", range.start, range.end));
    }
}

/// The figures at the top.
fn figures(picture: &Picture, out: &mut String) {
    let inspection = &picture.inspection;
    let marks = inspection.watermarks;
    let kept = marks.appended.since(marks.start);
    let messages: u64 =
        inspection.queues.iter().map(|row| row.bounds.max.since(row.bounds.min)).sum();
    let rows = [
        ("kept", BinaryBytes(kept).to_string()),
        ("not yet durable", BinaryBytes(marks.appended.since(marks.flushed)).to_string()),
        ("segments", HumanCount(inspection.segments.len() as u64).to_string()),
        ("of each", BinaryBytes(inspection.segment_len_bytes).to_string()),
        ("directories", inspection.directories.len().to_string()),
        ("queues", HumanCount(inspection.queues.len() as u64).to_string()),
        ("messages", HumanCount(messages).to_string()),
    ];
    *out += "<dl class=\"figures\">\n";
    for (name, value) in rows {
        let _ = writeln!(out, "<div><dt>{name}</dt><dd>{value}</dd></div>");
    }
    *out += "</dl>\n";
}

/// Queues that are listed; more would be a page of their own.
const MOST_QUEUES: usize = 200;

fn queues(picture: &Picture, out: &mut String) {
    let queues = &picture.inspection.queues;
    if queues.is_empty() {
        return;
    }
    *out += "<section>\n<h2>Queues</h2>\n<table>\n<tr><th>topic</th><th>queue</th>\
             <th>first</th><th>next</th><th>messages</th></tr>\n";
    for row in queues.iter().take(MOST_QUEUES) {
        let (min, max) = (row.bounds.min, row.bounds.max);
        let _ = writeln!(
            out,
            "<tr><td>{}</td><td>{}</td><td>{min}</td><td>{max}</td><td>{}</td></tr>",
            escape(&row.topic),
            row.queue,
            HumanCount(max.since(min))
        );
    }
    *out += "</table>\n";
    if let Some(more) = queues.len().checked_sub(MOST_QUEUES).filter(|&more| more > 0) {
        let _ = writeln!(out, "<p class=\"note\">and {more} more</p>");
    }
    *out += "</section>\n";
}
