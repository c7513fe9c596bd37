//! Rounds in turns, medians, a table and a file of figures.

use std::error::Error;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::load::Sizes;

/// What a store makes ready ahead of its appenders, and a little more.
const PREPARED_BYTES: u64 = 128 << 20;

/// What measuring comes to: a failure ends the whole run.
pub type Outcome<T> = Result<T, Box<dyn Error>>;

/// One figure that is measured.
pub struct Row {
    /// Its name in the file of figures.
    pub name: &'static str,
    /// What it counts.
    pub unit: &'static str,
    /// What it should reach.
    pub goal: Goal,
}

/// What a figure should reach. Missing it is shown and fails nothing: the machine decides.
pub enum Goal {
    /// At least so many times the baseline; beside it what that was on the machine of the design.
    Beat {
        /// Times the baseline.
        ratio: f64,
        /// On a quiet machine; 0 for nothing.
        value: f64,
    },
    /// At least this.
    AtLeast(f64),
    /// At most this.
    AtMost(f64),
    /// At most so much more than the baseline.
    Over(f64),
}

/// What was measured for one row: medians of all rounds.
pub struct Figure {
    /// The row's name.
    pub name: &'static str,
    /// The median.
    pub value: f64,
    /// The baseline's median in the same run.
    pub baseline: Option<f64>,
}

impl Figure {
    /// How often the baseline goes into the value.
    fn ratio(&self) -> Option<f64> {
        self.baseline.map(|baseline| self.value / baseline)
    }
}

/// Where and how large.
pub struct Setup {
    /// All data lies under here.
    pub dir: PathBuf,
    /// How much of everything.
    pub sizes: Sizes,
}

impl Setup {
    /// What `BENCH_DIR` and `BENCH_QUICK` say.
    pub fn from_environment() -> Outcome<Self> {
        let dir = std::env::var_os("BENCH_DIR").map_or("target/bench".into(), PathBuf::from);
        let setup = Self { dir, sizes: Sizes::from_environment() };
        setup.clear()?;
        Ok(setup)
    }

    /// Removes all data.
    pub fn clear(&self) -> Outcome<()> {
        if self.dir.exists() {
            fs::remove_dir_all(&self.dir)?;
        }
        Ok(fs::create_dir_all(&self.dir)?)
    }

    /// Writes and deletes a file of so many bytes. A guest's memory that was not used lately costs
    /// several times as much to touch, which would be measured instead of the engine.
    pub fn warm(&self, bytes: u64) -> Outcome<()> {
        let path = self.dir.join("warm");
        let mut file = File::create(&path)?;
        let chunk = vec![1_u8; 1 << 20];
        for _ in 0..bytes.div_ceil(chunk.len() as u64) {
            file.write_all(&chunk)?;
        }
        Ok(fs::remove_file(path)?)
    }

    /// Runs all sides in every round, each after warming so many bytes, every second round in
    /// the other order, and returns the median of each.
    ///
    /// Each sample follows at once upon a run of the same side that does not count: the large pages
    /// of a mapped file come from memory of their own, which writing another file does not warm.
    /// And runs are short: a guest may give free memory back to its host every two seconds.
    pub fn in_turns(&self, bytes: u64, sides: &mut [Side<'_>]) -> Outcome<Vec<f64>> {
        let mut samples = vec![Vec::new(); sides.len()];
        for round in 0..self.sizes.rounds {
            for turn in 0..sides.len() {
                let at = if round % 2 == 0 { turn } else { sides.len() - 1 - turn };
                self.warm(bytes + PREPARED_BYTES)?;
                sides[at]()?;
                samples[at].push(sides[at]()?);
            }
            let latest: Vec<_> = samples.iter().map(|all| short(all[round])).collect();
            eprintln!("  round {}: {}", round + 1, latest.join(" | "));
        }
        Ok(samples.iter_mut().map(|samples| median(samples)).collect())
    }
}

/// One candidate; running it returns one sample.
pub type Side<'a> = Box<dyn FnMut() -> Outcome<f64> + 'a>;

/// The middle of some samples.
pub fn median(samples: &mut [f64]) -> f64 {
    samples.sort_by(f64::total_cmp);
    samples[samples.len() / 2]
}

/// How many per second `work` does, given that it does so many.
pub fn per_second(count: u64, work: impl FnOnce() -> Outcome<()>) -> Outcome<f64> {
    let start = Instant::now();
    work()?;
    Ok(count as f64 / start.elapsed().as_secs_f64())
}

/// A number as people read it.
fn short(value: f64) -> String {
    match value {
        v if v >= 1e6 => format!("{:.2} M", v / 1e6),
        v if v >= 1e4 => format!("{:.1} k", v / 1e3),
        v if v >= 100.0 => format!("{v:.0}"),
        v => format!("{v:.3}"),
    }
}

impl Goal {
    fn text(&self) -> String {
        match self {
            Self::Beat { ratio, value } if *value > 0.0 => {
                format!(">= {ratio} x, {}", short(*value))
            }
            Self::Beat { ratio, .. } => format!(">= {ratio} x"),
            Self::AtLeast(value) => format!(">= {}", short(*value)),
            Self::AtMost(value) => format!("<= {}", short(*value)),
            Self::Over(value) => format!("<= baseline + {}", short(*value)),
        }
    }

    fn is_met(&self, figure: &Figure) -> bool {
        match self {
            Self::Beat { ratio, .. } => figure.ratio().is_some_and(|found| found >= *ratio),
            Self::AtLeast(value) => figure.value >= *value,
            Self::AtMost(value) => figure.value <= *value,
            Self::Over(value) => figure.baseline.is_some_and(|base| figure.value <= base + value),
        }
    }
}

/// Prints the table.
pub fn report(rows: &[Row], figures: &[Figure]) {
    println!(
        "{:<28} {:>10} {:<7} {:>10} {:>7}  {:<18}",
        "figure", "value", "unit", "baseline", "ratio", "target"
    );
    for (row, figure) in pairs(rows, figures) {
        let or_dash = |text: Option<String>| text.unwrap_or_else(|| "-".into());
        println!(
            "{:<28} {:>10} {:<7} {:>10} {:>7}  {:<18} {}",
            row.name,
            short(figure.value),
            row.unit,
            or_dash(figure.baseline.map(short)),
            or_dash(figure.ratio().map(|ratio| format!("{ratio:.2}"))),
            row.goal.text(),
            if row.goal.is_met(figure) { "met" } else { "MISSED" },
        );
    }
}

/// The rows that were measured, in their order.
fn pairs<'a>(
    rows: &'a [Row],
    figures: &'a [Figure],
) -> impl Iterator<Item = (&'a Row, &'a Figure)> {
    rows.iter().filter_map(|row| {
        let figure = figures.iter().find(|figure| figure.name == row.name)?;
        Some((row, figure))
    })
}

/// Writes the figures as a JSON list.
pub fn write_json(path: &Path, rows: &[Row], figures: &[Figure]) -> Outcome<()> {
    let number = |value: Option<f64>| value.map_or("null".into(), |value| format!("{value:.6}"));
    let mut text = String::from("[\n");
    for (at, (row, figure)) in pairs(rows, figures).enumerate() {
        let separator = if at == 0 { "" } else { ",\n" };
        write!(
            text,
            "{separator}  {{\"name\": \"{}\", \"unit\": \"{}\", \"value\": {}, \"baseline\": {}, \
             \"ratio\": {}}}",
            row.name,
            row.unit,
            number(Some(figure.value)),
            number(figure.baseline),
            number(figure.ratio()),
        )?;
    }
    text.push_str("\n]\n");
    if let Some(dir) = path.parent() {
        fs::create_dir_all(dir)?;
    }
    Ok(fs::write(path, text)?)
}
