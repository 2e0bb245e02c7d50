//! What a run of the whole reductions leaves behind; the JSON is this.

use anyhow::Result;
use serde::Serialize;

use super::peers::WholePeers;
use crate::report::{Device, Machine, Peers, Started};
use crate::timing::{Samples, Summary, Wrong};

/// The version of the JSON; a change of meaning gives it a new number.
const SCHEMA: &str = "warpfold-bench/whole/1";

/// One run of `warpfold-bench whole`. Times are milliseconds, sizes are bytes.
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
    pub device: Device,
    /// CUB; null when `--peers` was not asked for.
    pub peers: Option<Peers>,
    /// Of the random elements.
    pub seed: u64,
    /// Rounds before the timed ones.
    pub warmup: usize,
    /// Timed rounds.
    pub repeats: usize,
    pub sizes: Vec<Size>,
}

/// Reductions by one operator of one type and size.
#[derive(Debug, Serialize)]
pub struct Size {
    pub element: String,
    pub op: String,
    /// Elements.
    pub n: usize,
    pub bytes: usize,
    /// In the order in which a round runs them.
    pub rows: Vec<Row>,
}

/// What a row times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum By {
    /// The library's launch, between two events.
    Warpfold,
    /// The library's call that waits, by the host's clock.
    Call,
    /// CUB's launches, between two events.
    Cub,
    /// A launch of an empty kernel, between two events.
    Nothing,
}

/// One row.
#[derive(Debug, Serialize)]
pub struct Row {
    pub by: By,
    /// `default`, or threads x blocks.
    pub grid: String,
    /// Every timed run, in the order of the rounds.
    pub samples_ms: Vec<f64>,
    /// Present when a run gave a wrong answer; the rest is then null.
    pub wrong: Option<Wrong>,
    pub time: Option<Summary>,
    /// The mean of the middle half of the runs. Events tell the time in steps, which are some
    /// percent of a short time: a median would be one step or the next.
    pub middle_ms: Option<f64>,
    /// Bytes read, over that mean.
    pub gb_per_s: Option<f64>,
}

impl Row {
    /// A row without samples yet.
    pub fn new(by: By, grid: &str) -> Row {
        Row {
            by,
            grid: grid.into(),
            samples_ms: Vec::new(),
            wrong: None,
            time: None,
            middle_ms: None,
            gb_per_s: None,
        }
    }

    /// With the samples of reductions of so many bytes.
    pub fn filled(mut self, bytes: usize, samples: Samples) -> Row {
        self.time = samples.summary();
        self.middle_ms = samples.middle_ms();
        self.gb_per_s = self.middle_ms.map(|ms| bytes as f64 / ms / 1e6);
        self.samples_ms = samples.ms;
        self.wrong = samples.wrong;
        self
    }
}

impl Size {
    /// The first row of a kind.
    pub fn row(&self, by: By) -> Option<&Row> {
        self.rows.iter().find(|row| row.by == by)
    }

    /// The time of a row over CUB's: below 1 is faster.
    pub fn over_cub(&self, row: &Row) -> Option<f64> {
        Some(row.middle_ms? / self.row(By::Cub)?.middle_ms?)
    }
}

impl Record {
    /// A record without sizes yet.
    pub fn new(
        started: Started,
        device: Device,
        peers: Option<&Result<WholePeers>>,
        seed: u64,
        (warmup, repeats): (usize, usize),
    ) -> Record {
        Record {
            schema: SCHEMA,
            date: started.date,
            version: env!("CARGO_PKG_VERSION"),
            commit: env!("WARPFOLD_COMMIT"),
            command_line: started.command_line,
            machine: started.machine,
            device,
            peers: peers.map(|peers| match peers {
                Ok(peers) => Peers::Built(peers.built().clone()),
                Err(reason) => Peers::Absent(format!("{reason:#}")),
            }),
            seed,
            warmup,
            repeats,
            sizes: Vec::new(),
        }
    }

    /// Whether no run gave anything wrong.
    pub fn is_right(&self) -> bool {
        let mut rows = self.sizes.iter().flat_map(|size| &size.rows);
        rows.all(|row| row.wrong.is_none())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_are_over_cubs_time() {
        let row = |by, ms: &[f64]| {
            let samples = Samples {
                ms: ms.to_vec(),
                wrong: None,
            };
            Row::new(by, "default").filled(1_000_000, samples)
        };
        let size = Size {
            element: "i32".into(),
            op: "sum".into(),
            n: 250_000,
            bytes: 1_000_000,
            rows: vec![row(By::Warpfold, &[1.0]), row(By::Cub, &[2.0])],
        };
        assert_eq!(size.rows[0].gb_per_s, Some(1.0));
        assert_eq!(size.over_cub(&size.rows[0]), Some(0.5));
        assert_eq!(size.row(By::Nothing).map(|row| row.by), None);
    }
}
