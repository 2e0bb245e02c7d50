//! What a run of the bench leaves behind: the JSON is this, and tables for people.

use comfy_table::{CellAlignment, Table, presets};
use serde::Serialize;

use super::data::Distribution;
use super::summary;
use crate::options::KeyedOptions;
use crate::report::{By, Device, Machine, Peers, Started};
use crate::table::{device_lines, peers_line, thousands};
use crate::timing::Summary;

/// The version of the JSON; a change of meaning gives it a new number.
const SCHEMA: &str = "warpfold-bench/keyed/1";

/// One run of `warpfold-bench keyed`. Times are microseconds.
#[derive(Debug, Serialize)]
pub struct Report {
    schema: &'static str,
    date: String,
    version: &'static str,
    commit: &'static str,
    command_line: String,
    machine: Machine,
    pub device: Option<Device>,
    /// Null when `--peers` was not asked for.
    pub peers: Option<Peers>,
    pub seed: u64,
    /// Particles.
    pub n: usize,
    cells: usize,
    /// Per block.
    threads: u32,
    warmup: u32,
    repeats: u32,
    pub rows: Vec<Row>,
}

/// One kernel on one distribution of one type.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    pub kernel: String,
    pub by: By,
    pub element: &'static str,
    pub distribution: Distribution,
    /// Every timed run, in the order of the rounds.
    pub samples_us: Vec<f64>,
    /// What was wrong with the first wrong answer; `time_us` is then null.
    pub wrong: Option<String>,
    pub time_us: Option<Time>,
}

/// What the samples of a right row come to.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Time {
    pub median: f64,
    pub min: f64,
    pub max: f64,
}

impl Row {
    /// A row without samples yet.
    pub fn new(
        kernel: impl Into<String>,
        by: By,
        element: &'static str,
        distribution: Distribution,
    ) -> Self {
        Self {
            kernel: kernel.into(),
            by,
            element,
            distribution,
            samples_us: Vec::new(),
            wrong: None,
            time_us: None,
        }
    }

    /// With what its samples come to.
    pub fn done(mut self) -> Self {
        self.time_us = match self.wrong {
            None => summary(&self.samples_us).map(
                |Summary {
                     median_ms: median,
                     min_ms: min,
                     max_ms: max,
                 }| Time { median, min, max },
            ),
            Some(_) => None,
        };
        self
    }
}

impl Report {
    /// A report without rows yet.
    pub fn new(started: Started, options: &KeyedOptions, seed: u64) -> Self {
        let cells = (options.side as usize).pow(3);
        Self {
            schema: SCHEMA,
            date: started.date,
            version: env!("CARGO_PKG_VERSION"),
            commit: env!("WARPFOLD_COMMIT"),
            command_line: started.command_line,
            machine: started.machine,
            device: None,
            peers: None,
            seed,
            n: cells * options.particles as usize,
            cells,
            threads: options.threads,
            warmup: options.warmup,
            repeats: options.repeats,
            rows: Vec::new(),
        }
    }

    /// Whether every answer of every row was right.
    pub fn is_right(&self) -> bool {
        self.rows.iter().all(|row| row.wrong.is_none())
    }

    /// Everything that holds for all rows.
    pub fn header(&self) -> String {
        let mut lines = vec![
            format!(
                "warpfold-bench {}, commit {}, {}",
                self.version, self.commit, self.date
            ),
            format!("command  {}", self.command_line),
            format!("machine  {}", self.machine),
        ];
        match &self.device {
            Some(Device::Cuda(cuda)) => lines.extend(device_lines(cuda)),
            Some(Device::Cpu { no_cuda, .. }) => {
                lines.push(format!("device   no CUDA device was found: {no_cuda}"));
                lines.push("         the CPU sums the same particles instead".into());
            }
            None => {}
        }
        lines.extend(self.peers.as_ref().map(peers_line));
        lines.push(format!(
            "data     {} particles in {} cells, keys u32, seed {}",
            thousands(self.n as u64),
            thousands(self.cells as u64),
            self.seed
        ));
        lines.push(
            "         random: in any cell; ordered: sorted by cell; shifted: then moved on by one cell in each \
             direction with a probability of 1/2"
                .into(),
        );
        lines.push(format!(
            "method   median of {} rounds after {} of warm-up, {} threads per block, every row once a round, \
             every cell checked each time (CUB: the first time)",
            self.repeats, self.warmup, self.threads
        ));
        lines.push(
            "         before each run a large array is read and the cells are set to zero, untimed"
                .into(),
        );
        lines.push("         in brackets: time / time of nvcc's twin".into());
        lines.push("         _x3: three arrays of values with the same keys at once".into());
        lines.join("\n")
    }

    /// A table for each type of values: kernels by distributions.
    pub fn tables(&self) -> String {
        let mut elements: Vec<_> = self.rows.iter().map(|row| row.element).collect();
        elements.sort_unstable();
        elements.dedup();
        let tables: Vec<_> = elements
            .into_iter()
            .map(|element| self.table(element).to_string())
            .collect();
        tables.join("\n\n")
    }

    fn table(&self, element: &str) -> Table {
        let mut table = Table::new();
        table.load_style(presets::ASCII_MARKDOWN);
        let distributions =
            Distribution::ALL.map(|distribution| format!("{} us", distribution.name()));
        table.set_header([vec![format!("sums of {element}")], distributions.into()].concat());
        let mut kernels: Vec<(&str, By)> = Vec::new();
        for row in &self.rows {
            let kernel = (row.kernel.as_str(), row.by);
            if row.by != By::Nvcc && !kernels.contains(&kernel) {
                kernels.push(kernel);
            }
        }
        for (kernel, by) in kernels {
            let cells =
                Distribution::ALL.map(|distribution| self.cell(kernel, by, element, distribution));
            let name = match by {
                By::Cub => format!("cub::{kernel}, on the runs"),
                _ => kernel.to_owned(),
            };
            table.add_row([vec![name], cells.into()].concat());
        }
        for column in table.column_iter_mut().skip(1) {
            column.set_cell_alignment(CellAlignment::Right);
        }
        table
    }

    fn cell(&self, kernel: &str, by: By, element: &str, distribution: Distribution) -> String {
        let find = |by| {
            self.rows.iter().find(|row| {
                (row.kernel.as_str(), row.by, row.element, row.distribution)
                    == (kernel, by, element, distribution)
            })
        };
        let Some(row) = find(by) else {
            return String::new();
        };
        let twin = find(By::Nvcc).and_then(|twin| twin.time_us);
        match (row.time_us, &row.wrong, twin) {
            (_, Some(wrong), _) => format!("WRONG: {wrong}"),
            (Some(time), None, Some(twin)) => {
                format!("{:.1} ({:.3})", time.median, time.median / twin.median)
            }
            (Some(time), None, None) => format!("{:.1}", time.median),
            (None, None, _) => String::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::options::{Cli, Command};

    fn report() -> Report {
        let Command::Keyed(options) = Cli::parse_from(["warpfold-bench", "keyed"]).command else {
            panic!("`keyed` is a command");
        };
        let mut report = Report::new(Started::now().unwrap(), &options, 1);
        let row = |kernel: &str, by, us: f64| Row {
            samples_us: vec![us; 3],
            ..Row::new(kernel, by, "f64", Distribution::Ordered)
        };
        report.rows = vec![
            row("keyed_match", By::Warpfold, 44.0).done(),
            row("keyed_match", By::Nvcc, 55.0).done(),
            row("ReduceByKey", By::Cub, 69.0).done(),
        ];
        report
    }

    #[test]
    fn a_row_shows_its_time_and_its_twins() {
        let table = report().tables();
        assert!(table.contains("44.0 (0.800)"), "{table}");
        assert!(
            table.contains("on the runs") && table.contains("69.0"),
            "{table}"
        );
    }

    #[test]
    fn a_wrong_row_has_no_time() {
        let mut report = report();
        report.rows[0].wrong = Some("cell 3 is 4.0, not 5.0".into());
        report.rows[0] = report.rows[0].clone().done();
        assert!(!report.is_right());
        let json = serde_json::to_value(&report).unwrap();
        assert!(json["rows"][0]["time_us"].is_null());
        assert!(report.tables().contains("WRONG: cell 3"));
    }
}
