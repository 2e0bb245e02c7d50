//! Every entry of the ladder, for every number of threads and at all boundary lengths.

use std::sync::Arc;

use kernels_gpu::entry::{Ladder, teaching};
use libtest_mimic::{Completion, Failed, Trial};
use warpfold::{Algorithm, Device, Error, Max, Min, Pass, Sum};

use crate::lab::{Lab, Set};
use crate::oracle::{Oracle, Subject, close, same};
use crate::sizes::{THREADS, around, start};

/// `row!(Sum i32);` for every operator and element with a ladder.
macro_rules! for_all_ladders {
    ($row:ident) => {
        $row!(Sum i32);
        $row!(Sum u32);
        $row!(Sum i64);
        $row!(Sum u64);
        $row!(Sum f32);
        $row!(Sum f64);
        $row!(Min i32);
        $row!(Min f32);
        $row!(Max i32);
        $row!(Max f32);
    };
}

pub(crate) use for_all_ladders;

/// The number of rows of the ladders.
pub fn rows() -> usize {
    let other = |kernel: &str| kernel == "read_ceiling" || kernel.starts_with("triple");
    let rows = teaching::KERNELS.entries.iter();
    rows.filter(|entry| !other(entry.kernel)).count()
}

pub fn trials(lab: &Arc<Lab>) -> Vec<Trial> {
    let mut trials = vec![];
    macro_rules! sweeps {
        ($op:ident $element:ident) => {
            for entry in <$op as Ladder<$element>>::ENTRIES {
                let name = format!("ladder {}", entry.name);
                trials.push(lab.trial(name, move |lab, device| {
                    sweep::<$element, $op>(lab, device, entry.kernel)
                }));
            }
        };
    }
    for_all_ladders!(sweeps);
    // The single-pass reduction, with grids that are not the default.
    macro_rules! single_pass_rows {
        ($op:ident $element:ident) => {
            let name = concat!(
                "ladder single_pass ",
                stringify!($op),
                " ",
                stringify!($element)
            );
            trials.push(lab.trial(name, move |lab, device| {
                sweep::<$element, $op>(lab, device, "single_pass")
            }));
        };
    }
    for_all_ladders!(single_pass_rows);
    assert_eq!(trials.len(), rows() + 10, "a sweep for every row");
    trials
}

/// The algorithms that use a kernel; for the loop, also a number of chunks that is not a power of two.
pub fn algorithms(kernel: &str) -> Vec<Algorithm> {
    let odd_loop = Algorithm::Reduce5Loop { chunks: 3 };
    let rungs = Algorithm::all().chain([odd_loop]);
    rungs.filter(|rung| rung.kernel_name() == kernel).collect()
}

fn sweep<T: Subject, O: Oracle<T> + Ladder<T>>(
    lab: &Lab,
    device: &Device,
    kernel: &str,
) -> Result<Completion, Failed> {
    let data = lab.data::<T>()?;
    for algorithm in algorithms(kernel) {
        for threads in THREADS {
            if algorithm == Algorithm::SinglePass && threads > 512 {
                continue;
            }
            for n in around(items_per_thread(algorithm) * threads as usize) {
                let case = Case {
                    lab,
                    device,
                    algorithm,
                    threads,
                    n,
                };
                case.check::<T, O>(&data.whole, Comparison::Exact)?;
                if T::ROUNDOFF > 0.0 {
                    case.check::<T, O>(&data.rough, Comparison::Rounded)?;
                }
            }
        }
    }
    Ok(Completion::Completed)
}

struct Case<'a> {
    lab: &'a Lab,
    device: &'a Device,
    algorithm: Algorithm,
    threads: u32,
    n: usize,
}

/// How a result is compared.
enum Comparison {
    /// Bit by bit, because adding the elements does not round.
    Exact,
    /// Within the rounding error, and with the same bits in both runs if the algorithm guarantees that.
    Rounded,
}

impl Case<'_> {
    fn check<T: Subject, O: Oracle<T> + Ladder<T>>(
        &self,
        set: &Set<T>,
        comparison: Comparison,
    ) -> Result<(), Failed> {
        let start = start(self.n);
        let expected = set.answer::<O>(start, self.n);
        let wrong = |what: String| {
            let Self {
                lab,
                algorithm,
                threads,
                n,
                ..
            } = self;
            let seed = lab.seed;
            Failed::from(format!(
                "{algorithm:?}, {threads} threads, n = {n} from {start}: {what} (seed {seed})"
            ))
        };
        let (first, second, chain) = self
            .run::<T, O>(set, start)
            .map_err(|error| wrong(error.to_string()))?;
        let chain = match comparison {
            Comparison::Exact => 0.0,
            Comparison::Rounded => chain,
        };
        for value in [first, second] {
            close(value, &expected, chain).map_err(wrong)?;
        }
        if !by_atomics(self.algorithm) && !same(first, second) {
            return Err(wrong(format!(
                "{first:?} in the first run, {second:?} in the second"
            )));
        }
        Ok(())
    }

    /// The results of two runs of one plan, and the longest chain of additions. The scratch memory initially
    /// contains NaN and -1; the second run follows the first without a wait.
    fn run<T: Subject, O: Oracle<T> + Ladder<T>>(
        &self,
        set: &Set<T>,
        start: usize,
    ) -> Result<(T, T, f64), Error> {
        let view = set.device.view(start..start + self.n)?;
        let mut plan = self
            .device
            .reduce(view, O::OP)
            .algorithm(self.algorithm)
            .threads(self.threads)
            .plan()?;
        plan.fill_scratch(0xff)?;
        plan.enqueue()?;
        let first = O::value(plan.result()?, self.n);
        plan.fill_scratch(0xff)?;
        plan.enqueue()?;
        plan.enqueue()?;
        let chain = chain(self.algorithm, self.threads, plan.passes());
        Ok((first, O::value(plan.result()?, self.n), chain))
    }
}

/// Whether the hardware chooses the order of additions, and the cell treats subnormal `f32` as zero.
pub fn by_atomics(algorithm: Algorithm) -> bool {
    matches!(
        algorithm,
        Algorithm::Naive
            | Algorithm::SharedMemory
            | Algorithm::WarpAtomic { .. }
            | Algorithm::BlockAtomic { .. }
    )
}

fn items_per_thread(algorithm: Algorithm) -> usize {
    match algorithm {
        Algorithm::Stable { vector }
        | Algorithm::WarpAtomic { vector }
        | Algorithm::BlockAtomic { vector } => vector as usize,
        Algorithm::Reduce3 | Algorithm::Reduce4 | Algorithm::Reduce4Redux => 2,
        Algorithm::Reduce5Loop { chunks } | Algorithm::Reduce5 { chunks } => chunks as usize,
        _ => 1,
    }
}

/// The maximum number of additions that an element's value takes part in.
fn chain(algorithm: Algorithm, threads: u32, passes: &[Pass]) -> f64 {
    let of_pass = |pass: &Pass| match algorithm {
        // In a thread, in its block, and in a lane of the warp that combines the partials.
        Algorithm::SinglePass => {
            let grid = f64::from(pass.blocks) * f64::from(pass.threads);
            let of_thread = pass.n as f64 / grid + 16.0;
            of_thread + f64::from(threads).log2() + f64::from(pass.blocks) / 32.0 + 6.0
        }
        Algorithm::Naive => pass.n as f64,
        Algorithm::SharedMemory => f64::from(threads) + f64::from(pass.blocks),
        Algorithm::Stable { vector }
        | Algorithm::WarpAtomic { vector }
        | Algorithm::BlockAtomic { vector } => {
            // In a thread, in two rounds of shuffles, and in the longest possible chain of atomics.
            let grid = f64::from(pass.blocks) * f64::from(pass.threads);
            let of_thread = pass.n as f64 / grid + f64::from(2 * vector);
            let queue = match algorithm {
                Algorithm::Stable { .. } => 0.0,
                _ => grid / 32.0,
            };
            of_thread + 10.0 + queue
        }
        _ => items_per_thread(algorithm) as f64 + f64::from(threads).log2(),
    };
    passes.iter().map(of_pass).sum()
}
