//! The suites on a CUDA device.

#[cfg(feature = "sweeps")]
mod copy;
mod kernels;
#[cfg(feature = "sweeps")]
mod keyed;
#[cfg(feature = "sweeps")]
mod operators;
mod planned;
#[cfg(feature = "sweeps")]
mod whole;

use std::cell::RefCell;
use std::rc::Rc;

use anyhow::{Context, Result};
use warpfold::{Buffer, Device, DeviceInfo, View};
use warpfold_results::schema::{Cache, Row, Suite, Timing};

use super::copies::Copies;
use super::data::{self, Expected};
use super::options::{OF_INTEGERS, SweepOptions};
use super::rounds::Timed;
use super::run::Sweep;
use super::subject::{Stage, Subject};
use crate::peers::Cub;

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

    /// Whether what a launch costs is a good part of the time.
    fn is_small(&self, bytes: usize) -> bool {
        bytes <= SMALL_BYTES
    }

    /// The ways of timing that fit a whole-array reduction of so many bytes.
    fn ways(&self, bytes: usize) -> impl Iterator<Item = (Cache, Timing)> + use<> {
        let cached = self.is_cached(bytes as u64);
        let small = self.is_small(bytes);
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
            #[cfg(feature = "sweeps")]
            Suite::Whole => whole::run(&bench, sweep),
            #[cfg(feature = "sweeps")]
            Suite::Operators => operators::run(&bench, sweep),
            Suite::Ladder | Suite::Kepler if has_integers => kernels::run(&bench, suite, sweep),
            #[cfg(feature = "sweeps")]
            Suite::Copy if has_integers => copy::run(&bench, sweep),
            #[cfg(feature = "sweeps")]
            Suite::Keyed => keyed::run(&bench, sweep),
            _ => Ok(()),
        };
        if let Err(error) = done {
            sweep.failed(suite, error)?;
        }
    }
    Ok(())
}

/// The fastest that the device reads these integers, of which there are copies.
fn ceiling<'a>(
    bench: &Bench,
    row: Row,
    inputs: Vec<View<'a, i32>>,
    expected: Expected<i32>,
) -> Result<Subject<'a>> {
    let plan = |input| Ok(Rc::new(RefCell::new(bench.gpu.read_ceiling(input)?)));
    let plans: Result<Vec<_>> = inputs.into_iter().map(plan).collect();
    let row = Row { op: None, ..row };
    Ok(planned::planned(row, plans?, move |got| {
        data::check(got, expected)
    }))
}

/// CUB's sum of integers, of which there are copies.
fn cub_subject<'a>(
    bench: &'a Bench<'a>,
    row: Row,
    cub: Cub,
    inputs: &'a Copies<'a, i32>,
    expected: Expected<i32>,
) -> Result<Subject<'a>> {
    let (n, copies) = (row.n as usize, inputs.count());
    let cells = Rc::new(bench.gpu.alloc::<i32>(copies)?);
    let temp_bytes = cub.temp_bytes(n)?;
    let temp = bench.gpu.alloc::<u8>(temp_bytes.max(1))?;
    let (spoiled, outputs) = (Rc::clone(&cells), Rc::clone(&cells));
    Ok(Subject {
        row,
        copies,
        spoil: Box::new(move || bench.stage.spoil(&spoiled)),
        enqueue: Box::new(move |copy, stream| {
            let to = cells.as_device_ptr() + (copy * size_of::<i32>()) as u64;
            let temp = (temp.as_device_ptr(), temp_bytes);
            // SAFETY: live device memory of the device whose stream this is and whose context is current
            // (`Subject::enqueue`): `n` elements in each copy, a cell for each, and as much temporary storage as CUB
            // has asked for. All of it lives as long as this closure or longer, and what is enqueued is waited for
            // before the closure goes (`Stage::time`, `Events`).
            unsafe { cub.enqueue(inputs.address(copy), n, to, temp, stream) }
        }),
        check: Box::new(move |copies| {
            let got = outputs.view(..copies)?.download()?;
            let mut verdicts = got.into_iter().map(|got| data::check(got, expected));
            Ok(verdicts.find(Result::is_err).unwrap_or(Ok(())))
        }),
    })
}

#[cfg(test)]
mod tests {
    use warpfold::{Algorithm, CopyWidth};
    use warpfold_results::schema::{By, Results};

    use super::*;
    use crate::driver::simulated;
    use crate::sweep::options::{Sizes, Wanted};

    /// What a suite leaves behind on the simulated device, whose times say nothing.
    pub fn simulate(
        options: &SweepOptions,
        run: impl FnOnce(&Bench, &mut Sweep) -> Result<()>,
    ) -> Results {
        let gpu = simulated();
        let elsewhere = gpu.upload(&[1; 1000]).unwrap();
        let bench = Bench {
            gpu: &gpu,
            info: gpu.info().unwrap(),
            options,
            stage: Stage::new(&gpu, &elsewhere).unwrap(),
            elsewhere: &elsewhere,
        };
        let mut sweep = Sweep::begin(options, None).unwrap();
        run(&bench, &mut sweep).unwrap();
        let (results, ended) = sweep.finish();
        ended.unwrap();
        assert!(results.complete);
        for row in &results.rows {
            assert!(row.time.is_some() && row.wrong.is_none(), "{row:?}");
        }
        results
    }

    #[test]
    fn every_kernel_and_every_copy_is_right() {
        let rows = |wanted, suite: Suite| {
            let options = SweepOptions {
                suite: vec![wanted],
                sizes: vec![Sizes::one(1000)],
                threads: vec![64],
                quick: true,
                quiet: true,
                ..SweepOptions::default()
            };
            let results = simulate(&options, |bench, sweep| match suite {
                #[cfg(feature = "sweeps")]
                Suite::Copy => copy::run(bench, sweep),
                _ => kernels::run(bench, suite, sweep),
            });
            let rows = results.rows.into_iter();
            let cold = rows.filter(|row| row.cache == Cache::Cold && row.by == By::Warpfold);
            cold.count()
        };
        assert_eq!(rows(Wanted::Ladder, Suite::Ladder), Algorithm::LADDER.len());
        assert_eq!(rows(Wanted::Kepler, Suite::Kepler), Algorithm::KEPLER.len());
        assert_eq!(rows(Wanted::Copy, Suite::Copy), CopyWidth::ALL.len());
    }
}
