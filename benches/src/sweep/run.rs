//! A run in progress: its results, its limits and its progress bar.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow};
use indicatif::{ProgressBar, ProgressStyle};
use warpfold::Device;
use warpfold_results::schema::{By, Method, Peer, Profiled, Results, Row, SCHEMA, Suite};

#[cfg(feature = "sweeps")]
use super::clocks::ClockReader;
use super::options::SweepOptions;
use super::rounds::{Limits, Timed, rounds};
#[cfg(feature = "sweeps")]
use crate::machine::pci_bus_id;
use crate::machine::{Started, describe};
use crate::options::BadOption;
use crate::peers::Built;

/// The widest interval of a stable row, relative to the median.
const SPREAD_LIMIT: f64 = 0.03;

/// A run in progress.
pub struct Sweep {
    results: Results,
    limits: Limits,
    begun: Instant,
    ends: Option<Instant>,
    /// Announced groups that are not yet timed.
    left: u64,
    /// The index of the next group.
    group: usize,
    interrupted: Arc<AtomicBool>,
    /// The first suite that failed.
    failed: Option<Suite>,
    #[cfg(feature = "sweeps")]
    clocks: Option<ClockReader>,
    bar: ProgressBar,
}

impl Sweep {
    /// Starts a run.
    pub fn begin(options: &SweepOptions, gpu: Option<&Device>) -> Result<Self> {
        let begun = Instant::now();
        let started = Started::now()?;
        let info = gpu.and_then(Device::info);
        let budget = options.budget(gpu.is_some());
        #[cfg(feature = "sweeps")]
        let mut notes = Vec::new();
        #[cfg(not(feature = "sweeps"))]
        let notes = Vec::new();
        #[cfg(feature = "sweeps")]
        let clocks = info.and_then(|info| {
            let bus_id = pci_bus_id(info.index).map_err(|error| error.to_string());
            let opened = bus_id.and_then(|bus_id| ClockReader::open(bus_id, begun));
            let noted = |reason| notes.push(format!("the clocks were not recorded: {reason}"));
            opened.map_err(noted).ok()
        });
        let limits = Limits {
            warmup: options.warmup(),
            rounds: options.rounds(),
            spread: SPREAD_LIMIT,
            until: None,
        };
        let device = match (gpu, info) {
            (Some(gpu), Some(info)) => Some(describe(gpu, info)?),
            _ => None,
        };
        let results = Results {
            schema: SCHEMA.into(),
            date: started.date,
            version: env!("CARGO_PKG_VERSION").into(),
            commit: env!("WARPFOLD_COMMIT").into(),
            compiler: env!("WARPFOLD_COMPILER").into(),
            command_line: started.command_line,
            complete: true,
            machine: started.machine,
            device,
            peers: Vec::new(),
            method: Method {
                seed: options.seed.unwrap_or_else(|| rand::random::<u32>().into()),
                input: options
                    .input
                    .as_ref()
                    .map(|file| file.display().to_string()),
                warmup_rounds: limits.warmup,
                rounds: limits.rounds,
                flush_bytes: 0,
                spread_limit: limits.spread,
                budget_s: budget.map(|budget| budget.as_secs_f64()),
                took_s: 0.0,
            },
            clocks: Vec::new(),
            notes,
            rows: Vec::new(),
            profiled: Vec::new(),
        };
        let style = ProgressStyle::with_template("{bar:30} {pos}/{len} {msg}, {eta} left")?;
        let bar = match options.quiet {
            true => ProgressBar::hidden(),
            false => ProgressBar::new(0).with_style(style),
        };
        bar.enable_steady_tick(Duration::from_millis(500));
        Ok(Self {
            results,
            limits,
            begun,
            ends: budget.map(|budget| begun + budget),
            left: 0,
            group: 0,
            interrupted: Arc::default(),
            failed: None,
            #[cfg(feature = "sweeps")]
            clocks,
            bar,
        })
    }

    /// From here on an interrupt (Ctrl-C) ends the measurements; a second one ends the program.
    pub fn handle_interrupts(&self) -> Result<()> {
        let flag = Arc::clone(&self.interrupted);
        ctrlc::set_handler(move || {
            if flag.swap(true, Ordering::Relaxed) {
                std::process::exit(130);
            }
            eprintln!("stopping: the results so far are kept (press Ctrl-C again to stop at once)");
        })
        .context("cannot install a handler of interrupts")
    }

    /// The seed of the random elements.
    pub fn seed(&self) -> u64 {
        self.results.method.seed
    }

    /// Records the number of bytes that are read before each cold run.
    pub fn set_flush_bytes(&mut self, bytes: u64) {
        self.results.method.flush_bytes = bytes;
    }

    /// Adds groups to those that are still to be timed.
    pub fn announce(&mut self, groups: usize) {
        self.left += groups as u64;
        self.bar.inc_length(groups as u64);
    }

    /// Adds a note on the whole run, which the header of the tables prints.
    pub fn note_in_header(&mut self, text: String) {
        self.results.notes.push(text);
    }

    /// Adds a note, unless there is the same one already, and prints it.
    pub fn note(&mut self, text: impl Into<String>) {
        let text = text.into();
        if !self.results.notes.contains(&text) {
            self.bar.suspend(|| eprintln!("note: {text}"));
            self.results.notes.push(text);
        }
    }

    /// Records the version of a peer that nvcc compiles, or why it is absent.
    pub fn peer_built(&mut self, by: By, built: Result<&Built, &anyhow::Error>) {
        let version = built.map(|built| {
            let nvcc = format!("nvcc {} {}", built.nvcc_version, built.nvcc_flags.join(" "));
            match by {
                By::Cub => format!("CUB {}, {nvcc}", built.cub_version),
                _ => nvcc,
            }
        });
        self.peer(by, version.map_err(|error| format!("{error:#}")));
    }

    /// Records the version of a peer, or why it is absent, unless there is the same record already.
    pub fn peer(&mut self, by: By, found: Result<String, String>) {
        let peer = Peer {
            by,
            version: found.as_ref().ok().cloned(),
            absent: found.err(),
        };
        if !self.results.peers.contains(&peer) {
            self.results.peers.push(peer);
        }
    }

    /// Whether to stop measuring: the budget is spent, or the run was interrupted.
    pub fn is_over(&self) -> bool {
        let spent = self.ends.is_some_and(|ends| Instant::now() >= ends);
        spent || self.interrupted.load(Ordering::Relaxed)
    }

    /// Times a group and stores its rows. The progress bar shows `what`.
    pub fn group(&mut self, what: &str, rows: Vec<Timed>) -> Result<()> {
        self.groups(what, vec![rows])
    }

    /// Times a group with rows of several processes. Each process has its own rounds, because the host's
    /// times change if processes alternate.
    pub fn groups(&mut self, what: &str, processes: Vec<Vec<Timed>>) -> Result<()> {
        self.bar.set_message(what.to_owned());
        let mut left = self.left.clamp(1, 1 << 20) as u32 * processes.len() as u32;
        let mut done = Ok(());
        for mut rows in processes {
            // An equal share of the remaining time for each.
            let until = self.ends.map(|ends| {
                let now = Instant::now();
                now + ends.saturating_duration_since(now) / left
            });
            left -= 1;
            let limits = Limits {
                until,
                ..self.limits
            };
            if done.is_ok() {
                let interrupted = &self.interrupted;
                done = rounds(&mut rows, limits, &|| interrupted.load(Ordering::Relaxed));
            }
            let group = self.group;
            let rows = rows.into_iter().map(|timed| timed.row);
            let timed = rows.filter(|row| !row.samples_us.is_empty());
            self.results
                .rows
                .extend(timed.map(|row| Row { group, ..row }));
        }
        self.group += 1;
        #[cfg(feature = "sweeps")]
        if let Some(Ok(clocks)) = self.clocks.as_ref().map(ClockReader::read) {
            self.results.clocks.push(clocks);
        }
        self.step();
        done
    }

    /// Counts a group as done or left out.
    pub fn step(&mut self) {
        self.left = self.left.saturating_sub(1);
        self.bar.inc(1);
    }

    /// Stores a group of rows with counts instead of times.
    pub fn keep(&mut self, rows: impl IntoIterator<Item = Row>) {
        let group = self.group;
        self.group += 1;
        let rows = rows.into_iter();
        self.results
            .rows
            .extend(rows.map(|row| Row { group, ..row }));
        self.step();
    }

    /// The rows so far.
    pub fn rows(&self) -> &[Row] {
        &self.results.rows
    }

    /// Stores profiles by Nsight Compute.
    pub fn profiled(&mut self, profiled: Vec<Profiled>) {
        self.results.profiled.extend(profiled);
    }

    /// Notes that a suite has failed; its rows are kept. A [`BadOption`] ends the run instead.
    pub fn failed(&mut self, suite: Suite, error: anyhow::Error) -> Result<()> {
        if error.is::<BadOption>() {
            return Err(error);
        }
        self.results.complete = false;
        self.failed.get_or_insert(suite);
        self.note(format!("suite {} failed: {error:#}", suite.name()));
        Ok(())
    }

    /// The results, and an error if a suite failed or the run was interrupted.
    pub fn finish(mut self) -> (Results, Result<()>) {
        let mut ended = match self.failed.take() {
            Some(suite) => Err(anyhow!("suite {} failed", suite.name())),
            None => Ok(()),
        };
        if self.interrupted.load(Ordering::Relaxed) {
            self.results.complete = false;
            self.note("interrupted: the results up to then were kept");
            ended = Err(anyhow!("interrupted"));
        } else if self.left > 0 && self.is_over() {
            self.results.complete = false;
            self.note(format!(
                "the budget was spent: {} groups were left out",
                self.left
            ));
        }
        self.bar.finish_and_clear();
        self.results.method.took_s = self.begun.elapsed().as_secs_f64();
        (self.results, ended)
    }
}
