//! What a run of the bench leaves behind: the table for people and the JSON for programs.

use comfy_table::{CellAlignment, Table, presets};
use serde::Serialize;

use crate::machine::Machine;
use crate::peers::Built;
use crate::timing::{Samples, Summary, Wrong};

/// The version of the JSON; a change of meaning gives it a new number.
pub const SCHEMA: &str = "warpfold-bench/ladder/1";

/// One run of `warpfold-bench ladder`. Serialised as it stands: this struct and what it is made of
/// are the schema. Times are milliseconds, sizes are bytes, ratios are plain numbers.
#[derive(Debug, Serialize)]
pub struct Report {
    /// [`SCHEMA`].
    pub schema: &'static str,
    /// When the run began, RFC 3339, UTC.
    pub date: String,
    /// Of the package.
    pub version: &'static str,
    /// The commit the binary was built from, or `unknown`.
    pub commit: &'static str,
    /// As it was typed.
    pub command_line: String,
    /// The computer.
    pub machine: Machine,
    /// What reduced the integers.
    pub device: Device,
    /// What they were compared with; null when `--peers` was not asked for.
    pub peers: Option<Peers>,
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
#[derive(Debug, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Device {
    /// A CUDA device.
    Cuda {
        name: String,
        /// CUDA's index of it.
        index: u32,
        compute_capability: (u32, u32),
        multiprocessors: u32,
        memory_bytes: u64,
        /// Highest clocks, where the driver tells them.
        clock_khz: Option<u32>,
        memory_clock_khz: Option<u32>,
        /// The CUDA version that the driver serves: `13.0`.
        driver: String,
        /// The module the kernels come from: `sm_90`.
        ptx_arch: String,
        /// Of the stream that is timed: `default` or `non-blocking`.
        stream: String,
    },
    /// The processor of the machine.
    Cpu {
        /// Why no CUDA device was used.
        no_cuda: String,
        /// How many integers had been asked for.
        asked_n: usize,
    },
}

/// What became of `--peers`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Peers {
    /// Compiled and timed.
    Built(Built),
    /// Not there, and why.
    Absent(String),
}

/// Who wrote the code of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
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
#[derive(Debug, Serialize)]
pub struct Row {
    pub kernel: String,
    pub by: By,
    /// Per block.
    pub threads: Option<u32>,
    /// Elements per thread, where it is a choice (reduce_5).
    pub chunks: Option<u32>,
    /// Of the first pass.
    pub blocks: Option<u64>,
    pub passes: Option<usize>,
    /// Every timed run, in the order of the rounds.
    pub samples_ms: Vec<f64>,
    /// Present when a run gave another sum than `answer`; `time` is then null.
    pub wrong: Option<Wrong>,
    pub time: Option<Time>,
}

/// What the samples of a right row come to.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Time {
    #[serde(flatten)]
    pub summary: Summary,
    /// Bytes of input over the median.
    pub gb_per_s: f64,
    /// Median of the ceiling over the median.
    pub of_ceiling: Option<f64>,
    /// Median of the rung before, of as many threads, over the median: above 1 is faster.
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

    fn is_twin_of(&self, other: &Row) -> bool {
        let key = |row: &Row| (row.kernel.clone(), row.threads, row.chunks);
        self.by == By::Nvcc && other.by == By::Warpfold && key(self) == key(other)
    }

    fn median_ms(&self) -> Option<f64> {
        self.time.map(|time| time.summary.median_ms)
    }
}

impl Report {
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
            let before = self.rows[..i]
                .iter()
                .rposition(|other| other.by == By::Warpfold && other.threads == row.threads)
                .filter(|_| row.by == By::Warpfold)
                .and_then(|before| medians[before]);
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

    /// Bytes of input.
    pub fn bytes(&self) -> u64 {
        self.n as u64 * 4
    }

    /// Everything that holds for all rows, for people.
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
            Device::Cuda {
                name,
                index,
                compute_capability: (major, minor),
                multiprocessors,
                memory_bytes,
                clock_khz,
                memory_clock_khz,
                driver,
                ptx_arch,
                stream,
            } => {
                let mhz = |khz: &Option<u32>| match khz {
                    Some(khz) => format!("{} MHz", khz / 1000),
                    None => "unknown".into(),
                };
                lines.push(format!(
                    "device   {index}: {name}, compute capability {major}.{minor}, {multiprocessors} multiprocessors, {:.1} GiB",
                    gib(*memory_bytes)
                ));
                lines.push(format!(
                    "         CUDA {driver} driver, kernels from PTX for {ptx_arch}, {stream} stream, highest clocks: SM {}, memory {}",
                    mhz(clock_khz),
                    mhz(memory_clock_khz)
                ));
            }
            Device::Cpu { no_cuda, .. } => {
                lines.push(format!("device   none: {no_cuda}"));
                lines.push(
                    "         No CUDA device was used; the CPU reduces the integers instead."
                        .into(),
                );
            }
        }
        match &self.peers {
            None => {}
            Some(Peers::Built(built)) => lines.push(format!(
                "peers    nvcc {} ({}), {}; CUB {}",
                built.nvcc_version,
                built.nvcc.display(),
                built.nvcc_flags.join(" "),
                built.cub_version
            )),
            Some(Peers::Absent(reason)) => lines.push(format!("peers    none: {reason}")),
        }
        lines.push(format!(
            "data     {} random i32, {:.3} GB, seed {}, exact sum {} (wrapped to i32)",
            thousands(self.n as u64),
            self.bytes() as f64 / 1e9,
            self.seed,
            self.answer
        ));
        if let Device::Cpu { asked_n, .. } = self.device
            && asked_n != self.n
        {
            lines.push(format!(
                "         {} were asked for; these are what a quarter of the free memory holds twice",
                thousands(asked_n as u64)
            ));
        }
        lines.push(format!(
            "method   median of {} rounds after {} of warm-up, every row once a round, every answer checked",
            self.repeats, self.warmup
        ));
        lines.join("\n")
    }

    /// One table for each number of threads, or the one of a CPU.
    pub fn tables(&self) -> String {
        let mut groups: Vec<_> = self.rows.iter().filter_map(|row| row.threads).collect();
        groups.dedup();
        if groups.is_empty() {
            return self.table(None).to_string();
        }
        let tables: Vec<_> = groups
            .iter()
            .map(|&t| self.table(Some(t)).to_string())
            .collect();
        tables.join("\n\n")
    }

    /// The rungs of one number of threads, then what does not depend on it: CUB and the ceiling.
    fn table(&self, threads: Option<u32>) -> Table {
        let twins = self.rows.iter().any(|row| row.by == By::Nvcc);
        let mut header = vec![
            "kernel",
            "threads",
            "blocks",
            "passes",
            "ms",
            "min",
            "max",
            "GB/s",
            "% ceiling",
            "gain",
            "correct",
        ];
        if twins {
            header.extend(["nvcc ms", "ours/nvcc"]);
        }
        let mut table = Table::new();
        table.load_style(presets::ASCII_MARKDOWN).set_header(header);
        for column in table.column_iter_mut().skip(1) {
            column.set_cell_alignment(CellAlignment::Right);
        }

        let shown = self.rows.iter().filter(|row| row.by != By::Nvcc);
        let shown = shown.filter(|row| row.threads.is_none_or(|own| Some(own) == threads));
        for row in shown.chain(&self.ceiling) {
            let mut cells = row.cells();
            if twins {
                let twin = self.rows.iter().find(|other| other.is_twin_of(row));
                cells.push(twin.map_or(String::new(), Row::median_cell));
                cells.push(cell(row.time.and_then(|time| time.over_twin), |ratio| {
                    format!("{ratio:.3}")
                }));
            }
            table.add_row(cells);
        }
        table
    }
}

impl Row {
    fn cells(&self) -> Vec<String> {
        let kernel = match (self.by, self.chunks) {
            (By::Cub, _) => format!("cub::{}", self.kernel),
            (_, Some(chunks)) => format!("{}, {chunks} chunks", self.kernel),
            _ => self.kernel.clone(),
        };
        let time = self.time;
        let summary = time.map(|time| time.summary);
        vec![
            kernel,
            cell(self.threads, |threads| threads.to_string()),
            cell(self.blocks, |blocks| blocks.to_string()),
            cell(self.passes, |passes| passes.to_string()),
            self.median_cell(),
            cell(summary, |summary| format!("{:.4}", summary.min_ms)),
            cell(summary, |summary| format!("{:.4}", summary.max_ms)),
            cell(time, |time| format!("{:.1}", time.gb_per_s)),
            cell(time.and_then(|time| time.of_ceiling), |share| {
                format!("{:.1}", share * 100.0)
            }),
            cell(time.and_then(|time| time.gain), |gain| {
                format!("{gain:.2}x")
            }),
            match &self.wrong {
                None => "yes".into(),
                Some(wrong) => format!(
                    "NO: {} of {} runs, first {}",
                    wrong.runs, wrong.of, wrong.got
                ),
            },
        ]
    }

    fn median_cell(&self) -> String {
        match (&self.wrong, self.median_ms()) {
            (Some(_), _) => "WRONG".into(),
            (None, Some(ms)) => format!("{ms:.4}"),
            (None, None) => String::new(),
        }
    }
}

fn cell<T>(value: Option<T>, text: impl FnOnce(T) -> String) -> String {
    value.map_or(String::new(), text)
}

/// Bytes in GiB.
pub fn gib(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 30)
}

/// `400,000,000`
pub fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let groups: Vec<_> = digits
        .as_bytes()
        .rchunks(3)
        .rev()
        .map(String::from_utf8_lossy)
        .collect();
    groups.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(kernel: &str, by: By, threads: Option<u32>) -> Row {
        Row {
            threads,
            ..Row::new(kernel, by)
        }
    }

    fn samples(ms: f64) -> Samples {
        Samples {
            ms: vec![ms; 3],
            wrong: None,
        }
    }

    /// Two rungs with twins at two numbers of threads, CUB, and the ceiling.
    fn report(samples: Vec<Samples>) -> Report {
        let mut rows = Vec::new();
        for threads in [256, 512] {
            for kernel in ["reduce_2", "reduce_3"] {
                rows.push(row(kernel, By::Warpfold, Some(threads)));
                rows.push(row(kernel, By::Nvcc, Some(threads)));
            }
        }
        rows.push(row("DeviceReduce::Sum", By::Cub, None));
        let mut report = Report {
            schema: SCHEMA,
            date: "2026-11-20T00:00:00Z".into(),
            version: "0",
            commit: "unknown",
            command_line: "warpfold-bench ladder".into(),
            machine: Machine::look().unwrap(),
            device: Device::Cpu {
                no_cuda: "a test".into(),
                asked_n: 1_000_000,
            },
            peers: Some(Peers::Absent("a test".into())),
            seed: 1,
            n: 1_000_000,
            answer: 5,
            warmup: 1,
            repeats: 3,
            ceiling: Some(row("read_ceiling", By::Warpfold, None)),
            rows,
        };
        report.fill(samples);
        report
    }

    fn right() -> Report {
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
    fn a_table_for_each_number_of_threads() {
        let tables = right().tables();
        assert_eq!(tables.matches("| kernel").count(), 2);
        assert_eq!(tables.matches("cub::DeviceReduce::Sum").count(), 2);
        assert_eq!(tables.matches("read_ceiling").count(), 2);
        assert_eq!(
            tables.matches("| reduce_3").count(),
            2,
            "twins are columns, not lines"
        );
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

    #[test]
    fn numbers_for_people() {
        assert_eq!(thousands(400_000_000), "400,000,000");
        assert_eq!(thousands(1_000), "1,000");
        assert_eq!(thousands(999), "999");
        assert_eq!(thousands(0), "0");
    }
}
