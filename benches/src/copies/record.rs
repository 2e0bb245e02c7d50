//! What a run of the copies leaves behind; the JSON is this.

use anyhow::Result;
use serde::Serialize;

use super::twins::Twins;
use crate::report::{Device, Machine, Peers, Started};
use crate::timing::{Samples, Summary, Wrong};

/// The version of the JSON; a change of meaning gives it a new number.
const SCHEMA: &str = "warpfold-bench/copy/2";

/// One run of `warpfold-bench copy`. Times are milliseconds, sizes are bytes.
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
    /// The twins; null when `--peers` was not asked for.
    pub peers: Option<Peers>,
    /// Of the random integers.
    pub seed: u64,
    /// Rounds before the timed ones.
    pub warmup: usize,
    /// Timed rounds.
    pub repeats: usize,
    pub sizes: Vec<Size>,
}

/// Copies of arrays of one size.
#[derive(Debug, Serialize)]
pub struct Size {
    /// Elements, each an `i32`.
    pub n: usize,
    /// In the order in which a round runs them.
    pub rows: Vec<Row>,
}

/// Who wrote the code of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum By {
    Warpfold,
    /// nvcc's twin of the row with the same kernel.
    Nvcc,
    /// CUDA's own copy.
    Driver,
}

/// One way to copy.
#[derive(Debug, Serialize)]
pub struct Row {
    pub kernel: &'static str,
    pub by: By,
    /// Blocks and threads per block.
    pub launch: Option<(u32, u32)>,
    /// Every timed run, in the order of the rounds.
    pub samples_ms: Vec<f64>,
    /// Present when a run left another sum than the source's; the rest is then null.
    pub wrong: Option<Wrong>,
    pub time: Option<Summary>,
    /// The mean of the middle half of the runs. Events tell the time in steps, which are some
    /// percent of a short copy: a median would be one step or the next.
    pub middle_ms: Option<f64>,
    /// Bytes read and written, over that mean.
    pub gb_per_s: Option<f64>,
}

impl Row {
    /// A row without samples yet.
    pub fn new(kernel: &'static str, by: By, launch: Option<(u32, u32)>) -> Row {
        Row {
            kernel,
            by,
            launch,
            samples_ms: Vec::new(),
            wrong: None,
            time: None,
            middle_ms: None,
            gb_per_s: None,
        }
    }

    /// With the samples of copies of `n` elements.
    pub fn filled(mut self, n: usize, samples: Samples) -> Row {
        self.time = samples.summary();
        let bytes = (2 * n * size_of::<i32>()) as f64;
        self.middle_ms = samples.middle_ms();
        self.gb_per_s = self.middle_ms.map(|ms| bytes / ms / 1e6);
        self.samples_ms = samples.ms;
        self.wrong = samples.wrong;
        self
    }
}

impl Size {
    pub fn new(n: usize, rows: Vec<Row>) -> Size {
        Size { n, rows }
    }

    /// The time of a row over that of nvcc's twin: below 1 is faster.
    pub fn over_twin(&self, row: &Row) -> Option<f64> {
        let is_twin = |other: &&Row| other.by == By::Nvcc && other.kernel == row.kernel;
        let twin = self.rows.iter().find(is_twin)?;
        Some(row.middle_ms? / twin.middle_ms?)
    }
}

impl Record {
    /// A record without sizes yet.
    pub fn new(
        started: Started,
        device: Device,
        twins: Option<&Result<Twins>>,
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
            peers: twins.map(|twins| match twins {
                Ok(twins) => Peers::Built(twins.built.clone()),
                Err(reason) => Peers::Absent(format!("{reason:#}")),
            }),
            seed,
            warmup,
            repeats,
            sizes: Vec::new(),
        }
    }

    /// Whether no run left anything wrong.
    pub fn is_right(&self) -> bool {
        let mut rows = self.sizes.iter().flat_map(|size| &size.rows);
        rows.all(|row| row.wrong.is_none())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn read_and_written_bytes_count() {
        let samples = Samples {
            ms: vec![2.0, 1.0, 3.0],
            wrong: None,
        };
        let row = Row::new("copy_vec4", By::Warpfold, None).filled(1_000_000, samples);
        assert_eq!(row.gb_per_s, Some(4.0));
    }

    #[test]
    fn a_ratio_needs_both_times() {
        let row = |by, ms: &[f64]| {
            let samples = Samples {
                ms: ms.to_vec(),
                wrong: None,
            };
            Row::new("copy_vec2", by, None).filled(1, samples)
        };
        let size = Size::new(1, vec![row(By::Warpfold, &[3.0]), row(By::Nvcc, &[2.0])]);
        assert_eq!(size.over_twin(&size.rows[0]), Some(1.5));
        let size = Size::new(1, vec![row(By::Warpfold, &[3.0]), row(By::Nvcc, &[])]);
        assert_eq!(size.over_twin(&size.rows[0]), None);
    }
}
