//! `bench`: every suite over many sizes, beside the peers and the hardware's limit, with what a reader
//! needs to argue with the figures.
//!
//! Rows with the same input form a group, and are timed in turn, once a round ([`rounds`]). The ways of
//! timing are those of `Timing` and `Cache` of the schema; how each is done on a
//! device stands in [`subject`]. Every run of every row overwrites the result first, and its answer is
//! compared with an exact one; elements that are all zero are refused ([`data`]).

mod answers;
mod asked;
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
mod python;
mod rounds;
mod run;
#[cfg(feature = "sweeps")]
mod simulated;
mod subject;
mod suites;

use anyhow::{Context, Result};
use warpfold::Device;
use warpfold_results::words::thousands;

use self::options::{BackendName, Sizes, SweepOptions, Wanted};
use self::output::{Output, Target};
use self::run::Sweep;
use crate::machine;
use crate::options::{BadOption, LadderOptions, bad_option};

#[cfg(feature = "sweeps")]
/// Fails where an answer was wrong, a row slower than it may be, or the run broken off; the results are
/// written all the same.
pub fn run(options: &SweepOptions) -> Result<()> {
    // What can be wrong with the command line is said before anything is measured.
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
        notes.push("no CUDA device (`cargo xtask doctor` says why): sums on the CPU".into());
        notes.push("`cargo xtask ladder --sim` simulates each rung, without a GPU".into());
        let fits = processor::most(machine::here()?.free_memory_bytes);
        let n = ladder.on_cpu(fits);
        if let Some(asked) = ladder.n.filter(|asked| *asked > n) {
            notes.push(format!(
                "n is {}, because {} integers do not fit into a quarter of the free memory",
                thousands(n as u64),
                thousands(asked as u64)
            ));
        }
        options.sizes = vec![Sizes::one(n)];
        options.suite = vec![Wanted::Whole];
        options.backend = vec![BackendName::Cpu];
        options.quick = true;
    }
    measure(&options, &output, gpu, notes)
}

/// The CUDA device, or why none is used: `None` where the options want none.
type Gpu = Result<Device, Option<warpfold::Error>>;

/// Measures on the device, and on the CPU what is asked for there.
fn measure(options: &SweepOptions, output: &Output, gpu: Gpu, notes: Vec<String>) -> Result<()> {
    let gpu = gpu.as_ref().ok();
    let mut sweep = Sweep::begin(options, gpu)?;
    sweep.heed_interrupts()?;
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

/// The CUDA device; fails where it was asked for and is not there.
fn gpu(options: &SweepOptions) -> Result<Gpu> {
    let asked = options.backend.contains(&BackendName::Cuda);
    if !options.backend.is_empty() && !asked {
        return Ok(Err(None));
    }
    match Device::nth(options.device.unwrap_or(0)) {
        Ok(gpu) => Ok(Ok(gpu)),
        Err(error) if asked || options.device.is_some() => Err(bad_option(error)),
        Err(error) => Ok(Err(Some(error))),
    }
}

/// Whether the CPU, or the simulator on it, has something to do.
fn on_processor(options: &SweepOptions, gpu: Option<&Device>) -> bool {
    let others = [BackendName::Cpu, BackendName::Sim];
    others
        .into_iter()
        .any(|name| options.measures_on(name, gpu.is_some()))
}

/// An error that the command line led to.
fn refuse(text: impl Into<String>) -> anyhow::Error {
    BadOption::new(text.into()).into()
}

/// As [`Context::context`], of a bad option.
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
