//! The log as a line: what is kept, durable and indexed, and who has come how far.

use std::fmt::Write;

use indicatif::{BinaryBytes, HumanCount};

use super::page::escape;
use super::{Picture, Place};

/// The drawing's own units.
const WIDTH: f64 = 1000.0;
const LEFT: f64 = 14.0;
const RIGHT: f64 = 986.0;
const LANE: f64 = 20.0;
const BAND: f64 = 18.0;

/// Lanes of labels; what finds no place in them is a mark without a name.
const MOST_LANES: usize = 8;

/// Room that a character of a label takes.
const CHARACTER: f64 = 6.6;

/// A label on the line.
struct Label {
    x: f64,
    name: String,
    hover: String,
    lane: usize,
    is_left: bool,
}

/// The drawing.
pub fn draw(picture: &Picture) -> String {
    let marks = picture.inspection.watermarks;
    let scale = Scale { start: marks.start.get(), end: marks.appended.get() };
    let above = labels(&watermarks(picture), &scale);
    let below = labels(&picture.places, &scale);
    let lanes = |labels: &[Label]| labels.iter().map(|label| label.lane + 1).max().unwrap_or(0);
    let top = LANE * lanes(&above) as f64 + 10.0;
    let height = top + BAND + LANE * lanes(&below) as f64 + 34.0;
    let mut out = format!(
        "<svg class=\"line\" viewBox=\"0 0 {WIDTH} {height:.0}\" role=\"img\" \
         aria-label=\"The log from its start to its end\">\n"
    );
    band(picture, &scale, top, &mut out);
    let above = above.iter().map(|label| {
        let y = top - 10.0 - LANE * label.lane as f64;
        (label, y, top + BAND, "mark")
    });
    let below = below.iter().map(|label| {
        let y = top + BAND + 20.0 + LANE * label.lane as f64;
        (label, y, top, "cursor")
    });
    let flags: Vec<_> = above.chain(below).collect();
    // Names stand over the poles of others.
    flags.iter().for_each(|&(label, y, foot, class)| pole(label, y, foot, class, &mut out));
    flags.iter().for_each(|&(label, y, _, class)| name(label, y, class, &mut out));
    axis(&scale, height, &mut out);
    out + "</svg>\n"
}

struct Scale {
    start: u64,
    end: u64,
}

impl Scale {
    fn x(&self, position: u64) -> f64 {
        let len = (self.end - self.start).max(1) as f64;
        let at = position.clamp(self.start, self.end) - self.start;
        LEFT + (RIGHT - LEFT) * at as f64 / len
    }
}

/// The marks, those at one place together.
fn watermarks(picture: &Picture) -> Vec<Place> {
    let marks = picture.inspection.watermarks;
    let rows = [
        ("start", marks.start),
        ("flushed", marks.flushed),
        ("indexed", marks.indexed),
        ("appended", marks.appended),
    ];
    let mut places: Vec<Place> = Vec::new();
    for (name, position) in rows {
        let position = position.get();
        match places.iter_mut().find(|place| place.position == position) {
            Some(place) => place.name = format!("{} = {name}", place.name),
            None => places.push(Place { name: name.to_owned(), position, text: String::new() }),
        }
    }
    places
}

/// Labels that do not cover each other.
fn labels(places: &[Place], scale: &Scale) -> Vec<Label> {
    let mut ends: Vec<Vec<(f64, f64)>> = Vec::new();
    let mut sorted: Vec<&Place> = places.iter().collect();
    sorted.sort_by_key(|place| place.position);
    let label = |place: &Place| {
        let x = scale.x(place.position);
        let width = 12.0 + CHARACTER * place.name.chars().count() as f64;
        let is_left = x + width > WIDTH;
        let span = if is_left { (x - width, x + 4.0) } else { (x - 4.0, x + width) };
        let meets =
            |lane: &Vec<(f64, f64)>| lane.iter().any(|other| other.0 < span.1 && span.0 < other.1);
        let free = ends.iter().position(|lane| !meets(lane));
        let lane = free.unwrap_or(ends.len()).min(MOST_LANES);
        if lane == ends.len() {
            ends.push(Vec::new());
        }
        ends[lane].push(span);
        let mut hover = format!("{}: position {}", place.name, HumanCount(place.position));
        if !place.text.is_empty() {
            let _ = write!(hover, "\n{}", place.text);
        }
        // In the last lane marks stand without their names.
        let name = if lane < MOST_LANES { place.name.clone() } else { String::new() };
        Label { x, name, hover, lane, is_left }
    };
    sorted.into_iter().map(label).collect()
}

fn pole(label: &Label, y: f64, foot: f64, class: &str, out: &mut String) {
    let _ = writeln!(
        out,
        "<g class=\"{class}\"><title>{}</title><path d=\"M{x:.1} {y:.1}V{foot:.1}\"/>\
         <circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\"/></g>",
        escape(&label.hover),
        x = label.x,
    );
}

fn name(label: &Label, y: f64, class: &str, out: &mut String) {
    if label.name.is_empty() {
        return;
    }
    let (anchor, dx) = if label.is_left { ("end", -5.0) } else { ("start", 5.0) };
    let _ = writeln!(
        out,
        "<g class=\"{class}\"><title>{}</title>\
         <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"{anchor}\">{}</text></g>",
        escape(&label.hover),
        label.x + dx,
        y + 4.0,
        escape(&label.name),
    );
}

/// The line itself: durable, then written, then holes over it.
fn band(picture: &Picture, scale: &Scale, y: f64, out: &mut String) {
    let marks = picture.inspection.watermarks;
    let mut piece = |from: u64, to: u64, class: &str, name: &str| {
        let (left, right) = (scale.x(from), scale.x(to));
        if from < to {
            let _ = writeln!(
                out,
                "<rect class=\"{class}\" x=\"{left:.1}\" y=\"{y:.1}\" width=\"{:.1}\" \
                 height=\"{BAND}\"><title>{name}: {}, positions {} to {}</title></rect>",
                (right - left).max(1.0),
                BinaryBytes(to - from),
                HumanCount(from),
                HumanCount(to)
            );
        }
    };
    let (start, flushed) = (marks.start.get(), marks.flushed.get());
    piece(start, flushed.max(start), "durable", "durable");
    piece(flushed.max(start), marks.appended.get(), "written", "written, not yet durable");
    for range in &picture.inspection.offline {
        piece(range.start, range.end, "hole", "on a directory that is not there");
    }
}

/// Positions under the line, in round steps.
fn axis(scale: &Scale, height: f64, out: &mut String) {
    let len = scale.end - scale.start;
    for step in 0..=4 {
        let position = scale.start + len / 4 * step;
        let x = scale.x(position);
        let anchor = match step {
            0 => "start",
            4 => "end",
            _ => "middle",
        };
        let _ = writeln!(
            out,
            "<text class=\"axis\" x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"{anchor}\">{}</text>",
            height - 6.0,
            BinaryBytes(position)
        );
    }
}
