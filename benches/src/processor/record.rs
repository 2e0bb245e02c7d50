//! What a run leaves behind: the JSON is this, and its tables for people.

use std::fmt;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use comfy_table::{CellAlignment, presets};
use serde::Serialize;
use sysinfo::System;

use super::answer::{Answer, Expected};
use crate::options::CpuOptions;
use crate::report::{Machine, Started};
use crate::table::thousands;
use crate::timing::{Samples, Summary};

/// The version of the JSON; a change of meaning gives it a new number.
const SCHEMA: &str = "warpfold-bench/cpu/1";

/// One run of `warpfold-bench cpu`. Times are milliseconds, sizes are bytes.
#[derive(Debug, Serialize)]
pub struct Record {
    pub schema: &'static str,
    /// When the run began, RFC 3339, UTC.
    pub date: String,
    pub version: &'static str,
    pub commit: &'static str,
    /// As it was typed.
    pub command_line: String,
    pub machine: Machine,
    /// How many programs wanted a processor, the mean of a minute, before the run and after it; this
    /// one is among the latter. Null where the system does not say.
    pub load: [Option<f64>; 2],
    pub threads: usize,
    /// Elements of each type.
    pub n: usize,
    /// Of the random elements.
    pub seed: u64,
    /// Rounds before the timed ones.
    pub warmup: u32,
    /// Timed rounds.
    pub repeats: u32,
    pub tables: Vec<Table>,
}

/// The reductions of one type.
#[derive(Debug, Serialize)]
pub struct Table {
    pub element: &'static str,
    pub bytes: usize,
    /// In the order in which a round runs them; the first is the plain read.
    pub rows: Vec<Row>,
}

/// One thing that was timed.
#[derive(Debug, Serialize)]
pub struct Row {
    pub name: &'static str,
    /// Every timed run, in the order of the rounds.
    pub samples_ms: Vec<f64>,
    /// Runs with a wrong answer, those of the warm-up included; the rest is then null.
    pub wrong: usize,
    pub time: Option<Summary>,
    /// Bytes over the median.
    pub gb_per_s: Option<f64>,
    /// The median over the rounds of the plain read's time over this one's.
    pub of_plain_read: Option<f64>,
}

impl Row {
    /// A row without samples yet.
    pub fn new(name: &'static str) -> Row {
        Row {
            name,
            samples_ms: Vec::new(),
            wrong: 0,
            time: None,
            gb_per_s: None,
            of_plain_read: None,
        }
    }

    /// It ran, and gave this.
    pub fn ran(&mut self, ms: f64, timed: bool, got: Answer, expected: &Expected) {
        self.wrong += usize::from(!expected.is(got));
        if timed {
            self.samples_ms.push(ms);
        }
    }
}

/// Programs that want a processor, the mean of the last minute.
fn load() -> Option<f64> {
    System::load_average().ok().map(|load| load.one)
}

/// Of samples in milliseconds, or of anything else.
fn summary(samples: Vec<f64>) -> Option<Summary> {
    let samples = Samples {
        ms: samples,
        wrong: None,
    };
    samples.summary()
}

impl Table {
    pub fn new(element: &'static str, bytes: usize, mut rows: Vec<Row>) -> Table {
        let plain = rows.first().map(|row| row.samples_ms.clone());
        let plain = plain.unwrap_or_default();
        for row in rows.iter_mut().filter(|row| row.wrong == 0) {
            let ratios = plain.iter().zip(&row.samples_ms);
            let ratios = ratios.map(|(plain, ms)| plain / ms).collect();
            row.of_plain_read = summary(ratios).map(|ratios| ratios.median_ms);
            row.time = summary(row.samples_ms.clone());
            row.gb_per_s = row.time.map(|time| bytes as f64 / time.median_ms / 1e6);
        }
        Table {
            element,
            bytes,
            rows,
        }
    }

    /// Whether every answer was right.
    pub fn is_right(&self) -> bool {
        self.rows.iter().all(|row| row.wrong == 0)
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let mut table = comfy_table::Table::new();
        table.load_style(presets::ASCII_MARKDOWN);
        let bytes = thousands(self.bytes as u64);
        let name = format!("{}, {bytes} bytes", self.element);
        table.set_header([&name, "ms", "min", "max", "GB/s", "of plain read"]);
        for row in &self.rows {
            let text = |value: Option<f64>, digits| {
                value.map_or_else(|| "WRONG".into(), |value| format!("{value:.digits$}"))
            };
            table.add_row([
                row.name.to_owned(),
                text(row.time.map(|time| time.median_ms), 2),
                text(row.time.map(|time| time.min_ms), 2),
                text(row.time.map(|time| time.max_ms), 2),
                text(row.gb_per_s, 1),
                text(row.of_plain_read, 2),
            ]);
        }
        for column in table.column_iter_mut().skip(1) {
            column.set_cell_alignment(CellAlignment::Right);
        }
        write!(f, "{table}")
    }
}

impl Record {
    /// A record without tables yet.
    pub fn new(started: Started, options: &CpuOptions, threads: usize) -> Record {
        let load = load();
        Record {
            schema: SCHEMA,
            date: started.date,
            version: env!("CARGO_PKG_VERSION"),
            commit: env!("WARPFOLD_COMMIT"),
            command_line: started.command_line,
            machine: started.machine,
            load: [load, load],
            threads,
            n: options.n,
            seed: options.seed.unwrap_or_else(|| rand::random::<u32>().into()),
            warmup: options.warmup,
            repeats: options.repeats,
            tables: Vec::new(),
        }
    }

    /// Everything that holds for all tables.
    pub fn header(&self) -> String {
        [
            format!(
                "warpfold-bench {}, commit {}, {}",
                self.version, self.commit, self.date
            ),
            format!("command  {}", self.command_line),
            format!(
                "machine  {}, load {:.2}",
                self.machine,
                self.load[0].unwrap_or(f64::NAN)
            ),
            format!("threads  {}", self.threads),
            format!(
                "data     {} random elements, seed {}",
                thousands(self.n as u64),
                self.seed
            ),
            format!(
                "method   median of {} rounds after {} of warm-up, every row once a round, every answer checked",
                self.repeats, self.warmup
            ),
            "         plain read: an exclusive or of as many bytes; the ratios are medians over the rounds"
                .into(),
        ]
        .join("\n")
    }

    /// Into a file, with the load as it is now.
    pub fn write(&mut self, file: &Path) -> Result<()> {
        self.load[1] = load();
        let json = serde_json::to_string_pretty(self)?;
        fs::write(file, json + "\n").with_context(|| format!("cannot write {}", file.display()))
    }

    /// Whether every answer was right.
    pub fn is_right(&self) -> bool {
        self.tables.iter().all(Table::is_right)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(name: &'static str, samples_ms: &[f64]) -> Row {
        Row {
            samples_ms: samples_ms.to_vec(),
            ..Row::new(name)
        }
    }

    #[test]
    fn ratios_are_those_of_the_rounds() {
        let rows = vec![
            row("plain read", &[1.0, 9.0, 2.0]),
            row("sum", &[2.0, 9.0, 8.0]),
        ];
        let table = Table::new("i32", 18_000_000, rows);
        assert_eq!(table.rows[1].of_plain_read, Some(0.5));
        assert_eq!(table.rows[0].gb_per_s, Some(9.0));
    }

    #[test]
    fn a_wrong_row_has_no_time() {
        let mut wrong = row("sum", &[]);
        wrong.ran(1.0, true, Answer::Whole(1), &Expected::exact(2i32));
        let table = Table::new("i32", 4, vec![row("plain read", &[1.0]), wrong]);
        assert!(!table.is_right() && table.rows[1].time.is_none());
        assert!(table.to_string().contains("WRONG"));
    }
}
