//! `bench`: runs suites over many sizes, with peers and the hardware's limit, and records how it measured.
//!
//! Rows with the same input form a group and are timed in turn, once per round ([`rounds`]). The ways of
//! timing are `Timing` and `Cache` of the schema; [`subject`] implements them on a device. Every run
//! overwrites the result first, and its answer is compared with an exact one ([`data`]).

mod answers;
mod cases;
#[cfg(feature = "sweeps")]
mod clocks;
mod copies;
pub mod data;
mod events;
mod graph;
pub mod options;
mod output;
mod processor;
#[cfg(feature = "sweeps")]
mod profiled;
#[cfg(feature = "sweeps")]
pub mod python;
mod requested;
mod rounds;
mod run;
#[cfg(feature = "sweeps")]
mod simulated;
mod subject;
mod suites;

use anyhow::{Context, Result};
use warpfold::Device;
use warpfold_results::words::thousands;

use self::options::{BackendName, Sizes, SuiteName, SweepOptions};
use self::output::{Output, Target};
use self::run::Sweep;
use crate::machine;
use crate::options::{BadOption, LadderOptions, bad_option};

#[cfg(feature = "sweeps")]
/// Runs the sweep and writes the results; then fails if an answer is wrong, a row too slow, or a part missing.
pub fn run(options: &SweepOptions) -> Result<()> {
    // Errors of the command line come before any measurement.
    options.check().map_err(refuse)?;
    suites::check(options)?;
    let output = Output::open(options, Target::Folder(options.out.clone()))?;
    let gpu = gpu(options)?;
    let has_gpu = gpu.is_ok();
    options.check_backends(has_gpu).map_err(refuse)?;
    let missing = gpu.as_ref().err().and_then(Option::as_ref);
    let missing = missing.map(|reason| format!("no CUDA device was found: {reason}"));
    missing.iter().for_each(|note| eprintln!("note: {note}"));
    measure(options, &output, gpu, missing.into_iter().collect())
}

/// The ladder at one size, as a table; without a CUDA device, sums on the CPU.
pub fn ladder(ladder: &LadderOptions) -> Result<()> {
    let mut options = ladder.sweep();
    suites::check(&options)?;
    let target = ladder.json.clone();
    let output = Output::open(&options, target.map_or(Target::Terminal, Target::Json))?;
    let gpu = gpu(&options)?;
    let mut notes = Vec::new();
    if gpu.is_err() {
        notes.push("no CUDA device (`cargo xtask doctor` explains why): sums on the CPU".into());
        notes.push("`cargo xtask ladder --sim` simulates each rung, without a GPU".into());
        let limit = processor::max_integers(machine::current()?.free_memory_bytes);
        let n = ladder.on_cpu(limit);
        if let Some(requested) = ladder.n.filter(|requested| *requested > n) {
            notes.push(format!(
                "n is {}, because {} integers do not fit into a quarter of the free memory",
                thousands(n as u64),
                thousands(requested as u64)
            ));
        }
        options.sizes = vec![Sizes::one(n)];
        options.suite = vec![SuiteName::Whole];
        options.backend = vec![BackendName::Cpu];
        options.quick = true;
    }
    measure(&options, &output, gpu, notes)
}

/// The CUDA device, or why there is none: `None` if the options exclude it.
type Gpu = Result<Device, Option<warpfold::Error>>;

/// Measures on the device, on the CPU and in the simulator, as requested.
fn measure(options: &SweepOptions, output: &Output, gpu: Gpu, notes: Vec<String>) -> Result<()> {
    let gpu = gpu.as_ref().ok();
    let mut sweep = Sweep::begin(options, gpu)?;
    sweep.handle_interrupts()?;
    for note in notes {
        sweep.note_in_header(note);
    }
    if let Some(gpu) = gpu {
        suites::run(gpu, options, &mut sweep)?;
    }
    if on_processor(options, gpu) {
        processor::run(options, &mut sweep)?;
    }
    #[cfg(feature = "sweeps")]
    if options.profile {
        profiled::run(options.device.unwrap_or(0), &mut sweep);
    }
    let (results, ended) = sweep.finish();
    output.write(&results)?;
    ended
}

/// The CUDA device; fails if it was requested and there is none.
fn gpu(options: &SweepOptions) -> Result<Gpu> {
    let is_requested = options.backend.contains(&BackendName::Cuda);
    if !options.backend.is_empty() && !is_requested {
        return Ok(Err(None));
    }
    match Device::nth(options.device.unwrap_or(0)) {
        Ok(gpu) => Ok(Ok(gpu)),
        Err(error) if is_requested || options.device.is_some() => Err(bad_option(error)),
        Err(error) => Ok(Err(Some(error))),
    }
}

/// Whether to measure on the CPU or in the simulator.
fn on_processor(options: &SweepOptions, gpu: Option<&Device>) -> bool {
    let backends = [BackendName::Cpu, BackendName::Sim];
    backends
        .into_iter()
        .any(|name| options.measures_on(name, gpu.is_some()))
}

/// A [`BadOption`] with this text.
fn refuse(text: impl Into<String>) -> anyhow::Error {
    BadOption::new(text.into()).into()
}

/// Like [`Context::with_context`], for a [`BadOption`].
trait OrRefuse<T> {
    fn or_refuse(self, what: impl FnOnce() -> String) -> Result<T>;
}

impl<T, E: Into<anyhow::Error>> OrRefuse<T> for Result<T, E> {
    fn or_refuse(self, what: impl FnOnce() -> String) -> Result<T> {
        self.map_err(Into::into)
            .with_context(what)
            .map_err(|error| refuse(format!("{error:#}")))
    }
}
