//! `bench`: every suite over many sizes, beside the peers and the hardware's limit, with what a reader
//! needs to argue with the figures.
//!
//! Rows with the same input form a group, and are timed in turn, once a round ([`rounds`]). The ways of
//! timing are those of [`Timing`] and [`Cache`]; how each is done on a
//! device stands in [`subject`]. Every run of every row overwrites the result first, and its answer is
//! compared with an exact one; elements that are all zero are refused ([`data`]).

mod asked;
mod clocks;
mod data;
mod events;
mod graph;
pub mod options;
mod output;
mod processor;
mod profiled;
mod python;
mod rounds;
mod run;
mod simulated;
mod subject;
mod suites;

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use warpfold::Device;
use warpfold_results::schema::{Backend, By, Cache, Row, Suite, Timing};

use self::options::{BackendName, SweepOptions};
use self::run::Sweep;
use crate::options::{BadOption, bad_option};

/// Fails where an answer was wrong, a row slower than it may be, or the run broken off; the results are
/// written all the same.
pub fn run(options: &SweepOptions) -> Result<()> {
    // What can be wrong with the command line is said before anything is measured.
    options.check().map_err(refuse)?;
    let output = output::Output::open(options)?;
    let gpu = device(options)?;
    options.check_backends(gpu.is_some()).map_err(refuse)?;
    let mut sweep = Sweep::begin(options, gpu.as_ref())?;
    if let Some(gpu) = &gpu {
        suites::run(gpu, options, &mut sweep)?;
    }
    if on_processor(options, gpu.as_ref()) {
        processor::run(options, &mut sweep)?;
    }
    if options.profile {
        profiled::run(options.device.unwrap_or(0), &mut sweep);
    }
    let (results, ended) = sweep.finish();
    output.write(&results)?;
    ended
}

/// The CUDA device, unless the options want none or there is none.
fn device(options: &SweepOptions) -> Result<Option<Device>> {
    let asked = options.backend.contains(&BackendName::Cuda);
    if !options.backend.is_empty() && !asked {
        return Ok(None);
    }
    match Device::nth(options.device.unwrap_or(0)) {
        Ok(gpu) => Ok(Some(gpu)),
        Err(error) if asked || options.device.is_some() => Err(bad_option(error)),
        Err(_) => Ok(None),
    }
}

/// Whether the CPU, or the simulator on it, has something to do.
fn on_processor(options: &SweepOptions, gpu: Option<&Device>) -> bool {
    let others = [BackendName::Cpu, BackendName::Sim];
    others
        .into_iter()
        .any(|name| options.measures_on(name, gpu.is_some()))
}

/// A row of ours on the CUDA device, without samples yet.
fn row(suite: Suite, kernel: &str, element: &str, n: usize) -> Row {
    Row {
        group: 0,
        suite,
        by: By::Warpfold,
        backend: Backend::Cuda,
        kernel: kernel.into(),
        variant: None,
        op: None,
        element: element.into(),
        n: n as u64,
        bytes: 0,
        threads: None,
        blocks: None,
        chunks: None,
        keys: None,
        cache: Cache::Cold,
        timing: Timing::Device,
        samples_us: Vec::new(),
        wrong: None,
        time: None,
        counts: BTreeMap::new(),
    }
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
