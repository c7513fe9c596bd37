//! Aligned columns for people.

use anstyle::Style;

use crate::failure::Outcome;
use crate::output::Output;

/// Rows under headings. A heading that begins with `>` aligns its column to the right.
#[derive(Debug)]
pub struct Table {
    heads: Vec<&'static str>,
    rows: Vec<Vec<Cell>>,
}

/// A text and how it looks.
#[derive(Clone, Debug, Default)]
pub struct Cell {
    text: String,
    style: Style,
}

impl Cell {
    /// A text in a style.
    pub fn styled(text: impl Into<String>, style: Style) -> Self {
        Self { text: text.into(), style }
    }
}

impl<T: ToString> From<T> for Cell {
    fn from(text: T) -> Self {
        Self { text: text.to_string(), style: Style::new() }
    }
}

impl Table {
    /// A table without rows.
    pub fn new(heads: &[&'static str]) -> Self {
        Self { heads: heads.to_vec(), rows: Vec::new() }
    }

    /// Adds a row; cells that are left out are empty.
    pub fn row(&mut self, cells: impl IntoIterator<Item = Cell>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// Writes it, headings dimmed.
    pub fn write(&self, output: &mut Output) -> Outcome<()> {
        let heads = self.heads.iter().map(|head| head.trim_start_matches('>'));
        let heads: Vec<_> = heads.map(|head| Cell::styled(head, Style::new().dimmed())).collect();
        let widths = self.widths();
        self.write_row(&heads, &widths, output)?;
        self.rows.iter().try_for_each(|row| self.write_row(row, &widths, output))
    }

    fn widths(&self) -> Vec<usize> {
        let width = |text: &str| text.chars().count();
        let of_column = |at: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(at));
            cells.map(|cell| width(&cell.text)).max().unwrap_or(0)
        };
        let heads = self.heads.iter().enumerate();
        heads.map(|(at, head)| of_column(at).max(width(head.trim_start_matches('>')))).collect()
    }

    fn write_row(&self, row: &[Cell], widths: &[usize], output: &mut Output) -> Outcome<()> {
        let mut line = String::new();
        for (at, cell) in row.iter().enumerate() {
            let width = widths.get(at).copied().unwrap_or(0);
            let blanks = " ".repeat(width.saturating_sub(cell.text.chars().count()));
            let text = output.paint(cell.style, &cell.text);
            let is_right = self.heads.get(at).is_some_and(|head| head.starts_with('>'));
            line += "  ";
            line += &if is_right { blanks + &text } else { text + &blanks };
        }
        output.line(line.trim_end())
    }
}
