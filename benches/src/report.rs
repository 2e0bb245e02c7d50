//! What a run of the bench leaves behind; the JSON is this, `table.rs` is the form for people.

use std::env;
use std::time::SystemTime;

use anyhow::Result;
use serde::{Deserialize, Serialize};
pub use warpfold_results::machine::{Cuda, Machine};

use crate::data::Integers;
use crate::gain::rung_before;
use crate::machine;
use crate::peers::Built;
use crate::timing::{Samples, Summary, Wrong};

/// The version of the JSON; a change of meaning gives it a new number.
pub const SCHEMA: &str = "warpfold-bench/ladder/1";

/// One run of `warpfold-bench ladder`. Serialised as it stands: this struct and what it is made of
/// are the schema. Times are milliseconds, sizes are bytes, ratios are plain numbers.
#[derive(Debug, Serialize, Deserialize)]
pub struct Report {
    /// [`SCHEMA`].
    pub schema: String,
    /// When the run began, RFC 3339, UTC.
    pub date: String,
    /// Of the package.
    pub version: String,
    /// The commit the binary was built from, or `unknown`.
    pub commit: String,
    /// As it was typed.
    pub command_line: String,
    /// The computer.
    pub machine: Machine,
    /// What reduced the integers.
    pub device: Device,
    /// What they were compared with; null when `--peers` was not asked for.
    pub peers: Option<Peers>,
    /// What else a reader must know.
    pub notes: Vec<String>,
    /// Of the random integers.
    pub seed: u64,
    /// Elements reduced, each an `i32`.
    pub n: usize,
    /// The sum that every run must give.
    pub answer: i32,
    /// Rounds before the timed ones.
    pub warmup: usize,
    /// Timed rounds: the length of every `samples_ms`.
    pub repeats: usize,
    /// The fastest that this device reads the input by; null on a CPU.
    pub ceiling: Option<Row>,
    /// In the order in which a round runs them.
    pub rows: Vec<Row>,
}

/// What reduced the integers.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Device {
    /// A CUDA device.
    Cuda(Cuda),
    /// The processor of the machine.
    Cpu {
        /// Why no CUDA device was used.
        no_cuda: String,
        /// How many integers had been asked for.
        asked_n: usize,
    },
}

/// What became of `--peers`.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Peers {
    /// Compiled and timed.
    Built(Built),
    /// Not there, and why.
    Absent(String),
}

/// Who wrote the code of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum By {
    Warpfold,
    /// nvcc's twin of the `warpfold` row with the same kernel, threads and chunks.
    Nvcc,
    Cub,
    /// A plain loop on the CPU.
    Host,
}

/// One thing that was timed.
#[derive(Debug, Serialize, Deserialize)]
pub struct Row {
    pub kernel: String,
    pub by: By,
    /// Per block.
    pub threads: Option<u32>,
    /// Elements per thread, where the kernel's name does not say it (reduce_5's loop).
    pub chunks: Option<u32>,
    /// Of the first pass.
    pub blocks: Option<u32>,
    pub passes: Option<usize>,
    /// Every timed run, in the order of the rounds.
    pub samples_ms: Vec<f64>,
    /// Present when a run gave another sum than `answer`; `time` is then null.
    pub wrong: Option<Wrong>,
    pub time: Option<Time>,
}

/// What the samples of a right row come to.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Time {
    #[serde(flatten)]
    pub summary: Summary,
    /// Bytes of input over the median.
    pub gb_per_s: f64,
    /// Median of the ceiling over the median.
    pub of_ceiling: Option<f64>,
    /// Median of the rung before (of its own rung, for a variant; see [`rung_before`]) over the
    /// median: above 1 is faster.
    pub gain: Option<f64>,
    /// The median over that of nvcc's twin: below 1 is faster.
    pub over_twin: Option<f64>,
}

impl Row {
    /// A row without samples yet.
    pub fn new(kernel: impl Into<String>, by: By) -> Row {
        Row {
            kernel: kernel.into(),
            by,
            threads: None,
            chunks: None,
            blocks: None,
            passes: None,
            samples_ms: Vec::new(),
            wrong: None,
            time: None,
        }
    }

    /// Whether this is nvcc's twin of `other`.
    pub fn is_twin_of(&self, other: &Row) -> bool {
        let key = |row: &Row| (row.kernel.clone(), row.threads, row.chunks);
        self.by == By::Nvcc && other.by == By::Warpfold && key(self) == key(other)
    }

    /// Of a right row.
    pub fn median_ms(&self) -> Option<f64> {
        self.time.map(|time| time.summary.median_ms)
    }
}

/// What a report begins with.
pub struct Started {
    pub date: String,
    pub command_line: String,
    pub machine: Machine,
}

impl Started {
    /// Now, here.
    pub fn now() -> Result<Started> {
        let arguments: Vec<_> = env::args_os()
            .map(|a| a.to_string_lossy().into_owned())
            .collect();
        Ok(Started {
            date: humantime::format_rfc3339_seconds(SystemTime::now()).to_string(),
            command_line: arguments.join(" "),
            machine: machine::here()?,
        })
    }
}

impl Report {
    /// A report without rows yet.
    pub fn new(
        started: Started,
        device: Device,
        peers: Option<Peers>,
        integers: &Integers,
        (warmup, repeats): (usize, usize),
    ) -> Report {
        Report {
            schema: SCHEMA.into(),
            date: started.date,
            version: env!("CARGO_PKG_VERSION").into(),
            commit: env!("WARPFOLD_COMMIT").into(),
            command_line: started.command_line,
            machine: started.machine,
            device,
            peers,
            notes: Vec::new(),
            seed: integers.seed,
            n: integers.values.len(),
            answer: integers.sum,
            warmup,
            repeats,
            ceiling: None,
            rows: Vec::new(),
        }
    }

    /// Gives every row its samples (the ceiling's first, where there is one, then the rows' in
    /// order) and works out what follows from them.
    pub fn fill(&mut self, samples: Vec<Samples>) {
        let bytes = self.bytes() as f64;
        for (row, samples) in self.ceiling.iter_mut().chain(&mut self.rows).zip(samples) {
            row.time = samples.summary().map(|summary| Time {
                summary,
                gb_per_s: bytes / summary.median_ms / 1e6,
                of_ceiling: None,
                gain: None,
                over_twin: None,
            });
            row.samples_ms = samples.ms;
            row.wrong = samples.wrong;
        }

        let ceiling = self.ceiling.as_ref().and_then(Row::median_ms);
        let medians: Vec<_> = self.rows.iter().map(Row::median_ms).collect();
        for i in 0..self.rows.len() {
            let row = &self.rows[i];
            let before = rung_before(&self.rows, i).and_then(|before| medians[before]);
            let twin = self.rows.iter().position(|other| other.is_twin_of(row));
            let twin = twin.and_then(|twin| medians[twin]);
            if let Some(time) = &mut self.rows[i].time {
                let median = time.summary.median_ms;
                time.of_ceiling = ceiling.map(|ceiling| ceiling / median);
                time.gain = before.map(|before| before / median);
                time.over_twin = twin.map(|twin| median / twin);
            }
        }
    }

    /// Whether every run of every row gave the exact answer.
    pub fn is_right(&self) -> bool {
        self.ceiling
            .iter()
            .chain(&self.rows)
            .all(|row| row.wrong.is_none())
    }

    /// The numbers of threads, in the order of the rows; none on a CPU.
    pub fn threads(&self) -> Vec<u32> {
        let mut threads: Vec<_> = self.rows.iter().filter_map(|row| row.threads).collect();
        threads.dedup();
        threads
    }

    /// The rows of one number of threads and those that do not depend on it.
    pub fn rows_of(&self, threads: Option<u32>) -> impl Iterator<Item = &Row> {
        self.rows
            .iter()
            .filter(move |row| row.threads.is_none_or(|own| Some(own) == threads))
    }

    /// Bytes of input.
    pub fn bytes(&self) -> u64 {
        self.n as u64 * 4
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    fn row(kernel: &str, by: By, threads: Option<u32>) -> Row {
        Row {
            threads,
            ..Row::new(kernel, by)
        }
    }

    pub fn samples(ms: f64) -> Samples {
        Samples {
            ms: vec![ms; 3],
            wrong: None,
        }
    }

    /// Two rungs with twins at two numbers of threads, CUB, and the ceiling.
    pub fn report(samples: Vec<Samples>) -> Report {
        let mut rows = Vec::new();
        for threads in [256, 512] {
            for kernel in ["reduce_2", "reduce_3"] {
                rows.push(row(kernel, By::Warpfold, Some(threads)));
                rows.push(row(kernel, By::Nvcc, Some(threads)));
            }
        }
        rows.push(row("DeviceReduce::Sum", By::Cub, None));
        let device = Device::Cpu {
            no_cuda: "a test".into(),
            asked_n: 1_000_000,
        };
        let peers = Some(Peers::Absent("a test".into()));
        let integers = Integers {
            values: vec![0; 1_000_000],
            seed: 1,
            sum: 5,
        };
        let mut report = Report::new(Started::now().unwrap(), device, peers, &integers, (1, 3));
        report.ceiling = Some(row("read_ceiling", By::Warpfold, None));
        report.rows = rows;
        report.fill(samples);
        report
    }

    pub fn right() -> Report {
        report(
            [1.0, 8.0, 4.0, 2.0, 2.5, 10.0, 10.0, 2.0, 2.0, 1.25]
                .map(samples)
                .into(),
        )
    }

    #[test]
    fn ratios_compare_with_the_row_before_the_twin_and_the_ceiling() {
        let report = right();
        let time = |i: usize| report.rows[i].time.unwrap();
        assert_eq!(time(0).gain, None);
        assert_eq!(time(0).over_twin, Some(2.0));
        assert_eq!(time(0).of_ceiling, Some(0.125));
        assert_eq!(time(0).gb_per_s, 0.5);
        assert_eq!(
            time(2).gain,
            Some(4.0),
            "against our row before, not against its twin"
        );
        assert_eq!(time(2).over_twin, Some(0.8));
        assert_eq!(time(4).gain, None, "another number of threads begins anew");
        assert_eq!(time(6).gain, Some(5.0));
        assert_eq!(time(8).gain, None, "CUB is no rung");
        assert_eq!(time(8).of_ceiling, Some(0.8));
        assert!(report.is_right());
    }

    #[test]
    fn a_wrong_row_has_no_time_anywhere() {
        let mut samples: Vec<_> = [1.0; 10].map(samples).into();
        samples[1].wrong = Some(Wrong {
            runs: 1,
            of: 4,
            got: 77,
        });
        let report = report(samples);
        assert!(!report.is_right());
        assert_eq!(report.rows[0].time, None);
        assert_eq!(
            report.rows[2].time.unwrap().gain,
            None,
            "nothing to compare with"
        );
        let table = report.tables();
        let line = table
            .lines()
            .find(|line| line.contains("reduce_2"))
            .unwrap();
        assert!(
            line.contains("WRONG") && line.contains("1 of 4 runs, first 77"),
            "{line}"
        );
        let json = serde_json::to_value(&report).unwrap();
        assert!(json["rows"][0]["time"].is_null());
        assert_eq!(json["rows"][0]["wrong"]["got"], 77);
    }

    #[test]
    fn the_json_has_every_sample_and_flat_times() {
        let json = serde_json::to_value(right()).unwrap();
        assert_eq!(json["schema"], SCHEMA);
        assert_eq!(json["rows"][1]["by"], "nvcc");
        assert_eq!(json["rows"][1]["samples_ms"].as_array().unwrap().len(), 3);
        assert_eq!(json["rows"][1]["time"]["median_ms"], 4.0);
        assert_eq!(json["device"]["kind"], "cpu");
        assert_eq!(json["peers"]["absent"], "a test");
    }
}
