//! The ladder as a table.

use std::fmt::Write;

use comfy_table::{CellAlignment, Table, presets};
use cuda_sim::InstructionKind;

use super::{Ladder, OPEN_LOADS, Rung};

/// The output format of a ladder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// For the terminal.
    Plain,
    /// With headings and lists in Markdown.
    Markdown,
}

/// The content of a cell.
type Cell = fn(&Rung) -> String;

const COLUMNS: [(&str, Cell); 12] = [
    ("kernel", |rung| rung.kernel.into()),
    ("elements", |rung| rung.elements.to_string()),
    ("global loads", |rung| {
        rung.global_loads().requests.to_string()
    }),
    ("sectors each", |rung| {
        mean(rung.global_loads().sectors_per_request())
    }),
    ("shared requests", |rung| {
        rung.counters.shared().requests.to_string()
    }),
    ("lanes each", |rung| {
        mean(rung.counters.shared().lanes_per_request())
    }),
    ("wavefronts", |rung| {
        rung.counters.shared().wavefronts.to_string()
    }),
    ("conflicts", |rung| {
        rung.counters.shared().conflicts().to_string()
    }),
    ("barriers", |rung| {
        rung.counters
            .of(InstructionKind::Barrier)
            .requests
            .to_string()
    }),
    ("shuffles", |rung| rung.exchanges().to_string()),
    ("atomics", |rung| {
        rung.counters.atomics().requests.to_string()
    }),
    ("on one address", |rung| {
        rung.counters.atomics().max_same_address.to_string()
    }),
];

fn mean(value: f64) -> String {
    if value.is_nan() {
        "-".into()
    } else {
        format!("{value:.2}")
    }
}

impl Ladder {
    /// A table with a line for each rung, and the improvements of each rung.
    pub fn write(&self, style: Style) -> String {
        let Self {
            op,
            element,
            threads,
            ..
        } = self;
        let (heading, bullet) = match style {
            Style::Plain => ("", ""),
            Style::Markdown => ("### ", "- "),
        };
        let mut text =
            format!("{heading}The {op} of {element}, one block of {threads} threads\n\n");
        let _ = writeln!(text, "{}\n", self.table());
        let _ = writeln!(
            text,
            "All counts are warp instructions: loads, requests to shared memory, barriers, shuffles \
             (including redux.sync), atomics on both memories. A sector has 32 bytes. \
             Kernels for grids of any size use {OPEN_LOADS} loads per thread.\n"
        );
        let _ = writeln!(
            text,
            "Changes from the previous rung, better and worse, per 1000 elements (lanes: per \
             request):\n"
        );
        for (i, rung) in self.rungs.iter().enumerate() {
            let words = match self.before(i) {
                Some(before) => rung.describe_changes(before),
                None => rung.describe_costs(),
            };
            let _ = writeln!(text, "{bullet}{words}");
        }
        text
    }

    /// A table for each rung, with a line for each instruction of its source.
    pub fn write_lines(&self, style: Style) -> String {
        let mut text = String::new();
        for rung in &self.rungs {
            let _ = match style {
                Style::Plain => writeln!(text, "{}\n{}", rung.kernel, rung.counters),
                Style::Markdown => {
                    writeln!(
                        text,
                        "#### {}\n\n```text\n{}```\n",
                        rung.kernel, rung.counters
                    )
                }
            };
        }
        text
    }

    fn table(&self) -> Table {
        let mut table = Table::new();
        table.load_style(presets::ASCII_MARKDOWN);
        table.set_header(COLUMNS.map(|(name, _)| name));
        table.add_rows(
            self.rungs
                .iter()
                .map(|rung| COLUMNS.map(|(_, cell)| cell(rung))),
        );
        for column in table.column_iter_mut().skip(1) {
            column.set_cell_alignment(CellAlignment::Right);
        }
        table
    }
}
