//! The directories: how full they are, and the segments in them as blocks.

use std::fmt::Write;

use indicatif::{BinaryBytes, HumanCount};
use spanlog::retention::Usage;
use spanlog::{DirectoryReport, SegmentReport};

use super::Picture;
use super::page::escape;
use crate::message::time_text;
use crate::output::counted;

/// Width of a directory's drawing.
const WIDTH: usize = 300;

/// Shades of age, the newest first.
const SHADES: i64 = 6;

/// Times of the segments' first records, from the oldest to the newest.
fn times(picture: &Picture) -> Option<(i64, i64)> {
    let known = picture.times.values().copied();
    let known = known.filter(|&time| time > 0 && time <= picture.now_ms);
    known.fold(None, |span, time| match span {
        None => Some((time, time)),
        Some((first, last)) => Some((time.min(first), time.max(last))),
    })
}

/// What the colours say.
pub fn legend(picture: &Picture) -> String {
    let mut out = "<div class=\"legend\"><span>newest</span>".to_owned();
    for shade in 0..SHADES {
        let _ = write!(out, "<i class=\"age{shade}\"></i>");
    }
    out += "<span>oldest</span>";
    for (class, text) in [
        ("tail", "being filled"),
        ("next", "goes with the next cleaning"),
        ("held", "held by a reader"),
        ("dropped", "dropped, still held"),
    ] {
        let _ = write!(out, "<span class=\"key\"><i class=\"age2 {class}\"></i>{text}</span>");
    }
    if let Some((first, last)) = times(picture) {
        let _ = write!(
            out,
            "<span class=\"span\">first messages of segments stored {} to {}</span>",
            time_text(first),
            time_text(last)
        );
    }
    out + "</div>\n"
}

/// One column for each directory.
pub fn draw(picture: &Picture) -> String {
    let mut out = "<div class=\"shelves\">\n".to_owned();
    for directory in &picture.inspection.directories {
        let segments = &picture.inspection.segments;
        let own = segments.iter().filter(|row| row.path.parent() == Some(&*directory.path));
        shelf(picture, directory, &own.collect::<Vec<_>>(), &mut out);
    }
    out + "</div>\n"
}

fn shelf(
    picture: &Picture,
    directory: &DirectoryReport,
    segments: &[&SegmentReport],
    out: &mut String,
) {
    let class = if directory.offline.is_some() { "shelf away" } else { "shelf" };
    let path = escape(&directory.path.display().to_string());
    let takes = if directory.takes_segments { "takes segments" } else { "takes no new segment" };
    let _ = writeln!(
        out,
        "<article class=\"{class}\"><h3 title=\"{path}\"><bdi>{path}</bdi></h3>\
         <p>{}, {takes}; {}, {}</p>",
        directory.role,
        counted(segments.len() as u64, "segment"),
        BinaryBytes(directory.segment_bytes)
    );
    if let Some(why) = &directory.offline {
        let _ = writeln!(out, "<p class=\"alarm\">{}</p>", escape(why));
    }
    if let Some(usage) = directory.usage {
        gauge(directory, usage, out);
    }
    blocks(picture, segments, out);
    *out += "</article>\n";
}

/// How full the disk is, with its three marks.
fn gauge(directory: &DirectoryReport, usage: Usage, out: &mut String) {
    let ratio = usage.used_ratio();
    let x = |ratio: f64| WIDTH as f64 * ratio.clamp(0.0, 1.0);
    let marks = directory.thresholds;
    let level = match directory.pressure.name() {
        "none" => "calm",
        _ => "pressed",
    };
    let _ = writeln!(
        out,
        "<svg class=\"gauge\" viewBox=\"0 0 {WIDTH} 38\" role=\"img\" aria-label=\"usage\">\
         <title>{:.1} % used: {} used, {} available; marks: clean {:.0} %, force {:.0} %, \
         refuse {:.0} %</title><rect class=\"track\" y=\"8\" width=\"{WIDTH}\" height=\"10\" \
         rx=\"2\"/><rect class=\"{level}\" y=\"8\" width=\"{:.1}\" height=\"10\" rx=\"2\"/>",
        100.0 * ratio,
        BinaryBytes(usage.used_bytes()),
        BinaryBytes(usage.available_bytes()),
        100.0 * marks.clean,
        100.0 * marks.force,
        100.0 * marks.refuse,
        x(ratio)
    );
    let rows =
        [(marks.clean, "middle", 0.0), (marks.force, "end", 4.0), (marks.refuse, "start", -2.0)];
    for (mark, anchor, shift) in rows {
        let at = x(mark);
        let _ = write!(
            out,
            "<path d=\"M{at:.1} 4V22\"/><text x=\"{:.1}\" y=\"34\" \
             text-anchor=\"{anchor}\">{:.0}</text>",
            at + shift,
            100.0 * mark
        );
    }
    let _ = writeln!(out, "<text x=\"0\" y=\"34\">{:.1} % used</text></svg>", 100.0 * ratio);
}

/// The side of a block and the step from block to block, so that thousands fit.
fn sizes(count: usize) -> (usize, usize) {
    match count {
        0..=60 => (26, 30),
        61..=400 => (13, 15),
        401..=3000 => (8, 10),
        _ => (5, 6),
    }
}

fn blocks(picture: &Picture, segments: &[&SegmentReport], out: &mut String) {
    if segments.is_empty() {
        *out += "<p class=\"note\">no segment</p>\n";
        return;
    }
    let (side, step) = sizes(segments.len());
    let columns = WIDTH / step;
    let height = segments.len().div_ceil(columns) * step + 2;
    let _ = writeln!(
        out,
        "<svg class=\"blocks\" viewBox=\"-1 -1 {} {height}\" role=\"img\" \
         aria-label=\"segments\">",
        WIDTH + 2
    );
    let span = times(picture);
    for (number, segment) in segments.iter().enumerate() {
        let (x, y) = (number % columns * step, number / columns * step);
        let class = class(picture, segment, span);
        let _ = writeln!(
            out,
            "<rect class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"{side}\" height=\"{side}\">\
             <title>{}</title></rect>",
            escape(&hover(picture, segment))
        );
    }
    *out += "</svg>\n";
}

fn class(picture: &Picture, segment: &SegmentReport, span: Option<(i64, i64)>) -> String {
    let fate = picture.fates.get(&segment.base.get());
    let time = picture.times.get(&segment.base.get()).copied();
    let end = segment.base + segment.len_bytes;
    let appended = picture.inspection.watermarks.appended;
    let is_tail = segment.base <= appended && appended < end;
    let mut class = match (time, span) {
        (Some(time), Some((first, last))) => format!("age{}", shade(time, first, last)),
        _ if is_tail => "age0".to_owned(),
        _ => "unknown".to_owned(),
    };
    let states = [
        (is_tail && !segment.dropped, " tail"),
        (fate.is_some_and(|fate| fate.drops), " next"),
        (segment.held, " held"),
        (segment.dropped, " dropped"),
    ];
    states.iter().filter(|(is_so, _)| *is_so).for_each(|(_, name)| class += name);
    class
}

/// 0 for the newest.
fn shade(time: i64, first: i64, last: i64) -> i64 {
    let len = last.saturating_sub(first).max(1);
    let age = last.saturating_sub(time.clamp(first, last));
    (i128::from(age) * i128::from(SHADES) / (i128::from(len) + 1)) as i64
}

fn hover(picture: &Picture, segment: &SegmentReport) -> String {
    let (base, end) = (segment.base.get(), segment.base.get() + segment.len_bytes);
    let name = segment.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let mut text = format!("{name}\npositions {} to {}", HumanCount(base), HumanCount(end));
    if let Some(&time) = picture.times.get(&base) {
        let _ = write!(text, "\nfirst message stored {}", time_text(time));
    }
    if let Some(fate) = picture.fates.get(&base) {
        if let Some(time) = fate.last_store_ms {
            let _ = write!(text, "\nlast message stored {}", time_text(time));
        }
        let _ = write!(text, "\n{}", fate.text);
    }
    if segment.dropped {
        text += "\ndropped; its space comes back when it is released";
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shades_run_from_the_newest_to_the_oldest() {
        assert_eq!(shade(100, 0, 100), 0);
        assert_eq!(shade(0, 0, 100), 5);
        assert_eq!(shade(50, 0, 100), 2);
        assert_eq!(shade(7, 7, 7), 0);
        assert_eq!(shade(i64::MIN, i64::MIN, i64::MAX), 5);
    }

    #[test]
    fn blocks_shrink_so_that_thousands_fit() {
        for count in [1, 60, 61, 400, 401, 2000, 6000, 20_000] {
            let (side, step) = sizes(count);
            assert!(side < step);
            let height = count.div_ceil(WIDTH / step) * step;
            assert!(height <= 3000, "{count} segments are {height} high");
        }
    }
}
