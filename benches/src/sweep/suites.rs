//! The suites on a CUDA device.

mod copy;
mod kernels;
mod keyed;
mod operators;
mod planned;
mod whole;

use std::cell::RefCell;
use std::rc::Rc;

use anyhow::{Context, Result};
use warpfold::{Buffer, Device, DeviceInfo, View};
use warpfold_results::schema::{Cache, Row, Suite, Timing};

use super::data::{self, Expected};
use super::options::{OF_INTEGERS, SweepOptions};
use super::rounds::Timed;
use super::run::Sweep;
use super::subject::{Stage, Subject};

/// Up to so many bytes, what a launch costs is most of the time or a good part of it: such reductions are
/// timed with it, and without it in graphs.
const SMALL_BYTES: usize = 16 << 20;

/// The L2 cache fits so often into what is read to empty it.
const FLUSH_TIMES_L2: u64 = 4;

/// What all suites on a device have in common.
struct Bench<'a> {
    gpu: &'a Device,
    info: &'a DeviceInfo,
    options: &'a SweepOptions,
    stage: Stage<'a>,
    /// More memory than the L2 cache holds.
    elsewhere: &'a Buffer<i32>,
}

impl Bench<'_> {
    /// Whether so many bytes may be found in the cache. Far beyond it, what the run before left there is no
    /// help.
    fn is_cached(&self, bytes: u64) -> bool {
        bytes <= 2 * self.info.l2_bytes
    }

    /// The ways of timing that fit a whole reduction of so many bytes.
    fn ways(&self, bytes: usize) -> impl Iterator<Item = (Cache, Timing)> + use<> {
        let cached = self.is_cached(bytes as u64);
        let small = bytes <= SMALL_BYTES;
        let ways = [
            (true, Cache::Cold, Timing::Device),
            (cached, Cache::Warm, Timing::Device),
            (small, Cache::Warm, Timing::Launch),
            (small, Cache::Warm, Timing::Stream),
            (small, Cache::Warm, Timing::Graph),
        ];
        ways.into_iter()
            .filter(|(fits, ..)| *fits)
            .map(|(_, cache, timing)| (cache, timing))
    }

    /// The device's own time of each: of all with cold caches, then of those that fit with warm ones.
    fn by_device<'s>(&'s self, subjects: &[Rc<Subject<'s>>]) -> Vec<Timed<'s>> {
        let timed = |cache| move |subject| self.stage.timed(subject, cache, Timing::Device);
        let cold = subjects.iter().map(timed(Cache::Cold));
        let cached = subjects
            .iter()
            .filter(|subject| self.is_cached(subject.row.bytes));
        cold.chain(cached.map(timed(Cache::Warm))).collect()
    }
}

/// Refuses options by which nothing could be measured, before there is any data.
pub fn check(options: &SweepOptions) -> Result<()> {
    kernels::check(options)
}

/// Runs those that were asked for. One that fails leaves what it has, and the others go on.
pub fn run(gpu: &Device, options: &SweepOptions, sweep: &mut Sweep) -> Result<()> {
    let info = gpu.info().context("a CUDA device")?;
    let words = (info.l2_bytes * FLUSH_TIMES_L2) as usize / size_of::<i32>();
    let elsewhere = gpu.upload(&data::draw::<i32>(words.max(1 << 24), sweep.seed())?)?;
    sweep.flushes((elsewhere.len() * size_of::<i32>()) as u64);
    let bench = Bench {
        gpu,
        info,
        options,
        stage: Stage::new(gpu, &elsewhere)?,
        elsewhere: &elsewhere,
    };
    let has_integers = !options.types_of(&OF_INTEGERS).is_empty();
    for suite in options.suites() {
        let done = match suite {
            Suite::Whole => whole::run(&bench, sweep),
            Suite::Operators => operators::run(&bench, sweep),
            Suite::Ladder | Suite::Kepler if has_integers => kernels::run(&bench, suite, sweep),
            Suite::Copy if has_integers => copy::run(&bench, sweep),
            Suite::Keyed => keyed::run(&bench, sweep),
            Suite::Ladder | Suite::Kepler | Suite::Copy => Ok(()),
        };
        if let Err(error) = done {
            sweep.failed(suite, error)?;
        }
    }
    Ok(())
}

/// The fastest that the device reads these integers.
fn ceiling<'a>(
    bench: &Bench<'a>,
    row: Row,
    input: impl Into<View<'a, i32>>,
    expected: Expected<i32>,
) -> Result<Subject<'a>> {
    let plan = bench.gpu.read_ceiling(input)?;
    let row = Row { op: None, ..row };
    Ok(planned::planned(row, Rc::new(RefCell::new(plan)), expected))
}
