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
use super::options::{KERNEL_TYPES, SweepOptions};
use super::rounds::Timed;
use super::run::Sweep;
use super::subject::{Subject, Timer};
use crate::peers::Cub;

/// The largest input for which the launch is a large part of the time: such reductions are timed also with
/// the launch, and in graphs without it.
const SMALL_BYTES: usize = 16 << 20;

/// The size of the flush, in multiples of the L2 cache.
const FLUSH_TIMES_L2: u64 = 4;

/// The device, the options and the timer of all suites.
struct Bench<'a> {
    gpu: &'a Device,
    info: &'a DeviceInfo,
    options: &'a SweepOptions,
    timer: Timer<'a>,
    /// The memory that a flush reads, larger than the L2 cache.
    flush_buffer: &'a Buffer<i32>,
}

impl Bench<'_> {
    /// Whether an input may be in the L2 cache after the previous run, at least in part.
    fn is_cached(&self, bytes: u64) -> bool {
        bytes <= 2 * self.info.l2_bytes
    }

    /// Whether the launch is a large part of the time.
    fn is_small(&self, bytes: usize) -> bool {
        bytes <= SMALL_BYTES
    }

    /// The ways of timing a whole-array reduction of this size.
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
            .filter(|(is_used, ..)| *is_used)
            .map(|(_, cache, timing)| (cache, timing))
    }

    /// Rows of the device's own time: with cold caches for all subjects, with warm ones for small inputs.
    fn device_rows<'s>(&'s self, subjects: &[Rc<Subject<'s>>]) -> Vec<Timed<'s>> {
        let timed = |cache| move |subject| self.timer.timed(subject, cache, Timing::Device);
        let cold = subjects.iter().map(timed(Cache::Cold));
        let cached = subjects
            .iter()
            .filter(|subject| self.is_cached(subject.row.bytes));
        cold.chain(cached.map(timed(Cache::Warm))).collect()
    }
}

/// Refuses options with which a kernel could not be launched, before data are made.
pub fn check(options: &SweepOptions) -> Result<()> {
    kernels::check(options)
}

/// Runs the requested suites. If a suite fails, its rows are kept and the other suites run.
pub fn run(gpu: &Device, options: &SweepOptions, sweep: &mut Sweep) -> Result<()> {
    let info = gpu.info().context("the device is not a CUDA device")?;
    let words = (info.l2_bytes * FLUSH_TIMES_L2) as usize / size_of::<i32>();
    let flush_buffer = gpu.upload(&data::draw::<i32>(words.max(1 << 24), sweep.seed())?)?;
    sweep.set_flush_bytes((flush_buffer.len() * size_of::<i32>()) as u64);
    let bench = Bench {
        gpu,
        info,
        options,
        timer: Timer::new(gpu, &flush_buffer)?,
        flush_buffer: &flush_buffer,
    };
    let has_integers = !options.types_of(&KERNEL_TYPES).is_empty();
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

/// The fastest read of these copies of integers.
fn ceiling_subject<'a>(
    bench: &Bench,
    row: Row,
    inputs: Vec<View<'a, i32>>,
    expected: Expected<i32>,
) -> Result<Subject<'a>> {
    let plan = |input| Ok(Rc::new(RefCell::new(bench.gpu.read_ceiling(input)?)));
    let plans: Result<Vec<_>> = inputs.into_iter().map(plan).collect();
    let row = Row { op: None, ..row };
    Ok(planned::plan_subject(row, plans?, move |got| {
        data::check(got, expected)
    }))
}

/// CUB's sum of these copies of integers.
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
    let (overwritten, outputs) = (Rc::clone(&cells), Rc::clone(&cells));
    Ok(Subject {
        row,
        copies,
        overwrite: Box::new(move || bench.timer.overwrite(&overwritten)),
        enqueue: Box::new(move |copy, stream| {
            let result = cells.as_device_ptr() + (copy * size_of::<i32>()) as u64;
            let temp = (temp.as_device_ptr(), temp_bytes);
            // SAFETY: the stream is this device's and its context is current (`Subject::enqueue`). All
            // addresses are of live memory of this device: `n` elements in each copy, a cell for each, and
            // the temporary storage that CUB requires. It lives at least as long as this closure, which is
            // dropped only after a wait for all enqueued work (`Timer::time`, `Events`).
            unsafe { cub.enqueue(inputs.address(copy), n, result, temp, stream) }
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
    use crate::sweep::options::{Sizes, SuiteName};

    /// The results of a suite on the simulated device, whose times mean nothing.
    pub fn simulate(
        options: &SweepOptions,
        run: impl FnOnce(&Bench, &mut Sweep) -> Result<()>,
    ) -> Results {
        let gpu = simulated();
        let flush_buffer = gpu.upload(&[1; 1000]).unwrap();
        let bench = Bench {
            gpu: &gpu,
            info: gpu.info().unwrap(),
            options,
            timer: Timer::new(&gpu, &flush_buffer).unwrap(),
            flush_buffer: &flush_buffer,
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
        let rows = |name, suite: Suite| {
            let options = SweepOptions {
                suite: vec![name],
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
        assert_eq!(
            rows(SuiteName::Ladder, Suite::Ladder),
            Algorithm::LADDER.len()
        );
        assert_eq!(
            rows(SuiteName::Kepler, Suite::Kepler),
            Algorithm::KEPLER.len() + 2,
            "and triples in both orders"
        );
        assert_eq!(rows(SuiteName::Copy, Suite::Copy), CopyWidth::ALL.len());
    }
}
