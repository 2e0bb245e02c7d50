//! The counters as a table for the terminal.

use super::{Counters, Line};
use crate::Space;
use crate::count::InstructionKind;
use std::fmt;

const COLUMNS: usize = 11;

const HEAD: [&str; COLUMNS] = [
    "site",
    "what",
    "bytes",
    "requests",
    "lanes/req",
    "partial",
    "wavefronts",
    "conflicts",
    "ways",
    "sectors/req",
    "same addr",
];

/// The first columns are words, aligned left; the rest are numbers.
const WORDS: usize = 2;

impl Line {
    fn row(&self) -> [String; COLUMNS] {
        let counts = &self.counts;
        let space = self.what.space();
        let of = |applies: bool, text: String| if applies { text } else { "-".into() };
        let shared = space == Some(Space::Shared);
        [
            format!("{}:{}", self.site.file(), self.site.line()),
            self.what.to_string(),
            of(space.is_some(), self.size.to_string()),
            counts.requests.to_string(),
            format!("{:.2}", counts.lanes_per_request()),
            counts.partial.to_string(),
            of(shared, counts.wavefronts.to_string()),
            of(shared, counts.conflicts().to_string()),
            of(shared, counts.max_ways.to_string()),
            of(
                space == Some(Space::Global),
                format!("{:.2}", counts.sectors_per_request()),
            ),
            of(
                matches!(self.what, InstructionKind::Atomic(_)),
                counts.max_same_address.to_string(),
            ),
        ]
    }
}

impl fmt::Display for Counters {
    /// Formats one line for each instruction of the source, with a dash in columns that do not apply.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rows = vec![HEAD.map(String::from)];
        rows.extend(self.lines.iter().map(Line::row));
        let mut widths = [0; COLUMNS];
        for row in &rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(cell.chars().count());
            }
        }
        for row in &rows {
            for (column, (cell, &width)) in row.iter().zip(&widths).enumerate() {
                if column > 0 {
                    f.write_str("  ")?;
                }
                if column < WORDS {
                    write!(f, "{cell:<width$}")?;
                } else {
                    write!(f, "{cell:>width$}")?;
                }
            }
            writeln!(f)?;
        }
        Ok(())
    }
}
