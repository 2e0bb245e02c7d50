//! Measurements without a CUDA device: the library on the CPU, a loop that only reads, a plain loop, and the
//! simulator's counts of the kernels.

use std::hint::black_box;
use std::time::Instant;

use anyhow::Result;
use rayon::ThreadPoolBuilder;
use rayon::prelude::*;
use warpfold::file::DType;
use warpfold::{ArgMax, ArgMin, Device, Dot, Max, MeanVariance, Min, SinglePass, Sum};
use warpfold_results::schema::{Backend, By, Cache, Row, Suite, Timing};

use super::answers::{Truth, naive, truth};
use super::cases::{Case, with_case};
use super::data::{self, Expected, Number};
use super::options::{BackendName, Operation, SweepOptions};
use super::requested::{Requested, requested};
use super::rounds::{Run, Timed, Verdict};
use super::run::Sweep;
#[cfg(feature = "sweeps")]
use super::simulated;
use crate::options::BadOption;

/// The default types.
const TYPES: [DType; 3] = [DType::I32, DType::F32, DType::F64];

/// Runs the requested suites on the CPU and in the simulator.
pub fn run(options: &SweepOptions, sweep: &mut Sweep) -> Result<()> {
    let wants = |name| options.measures_on(name, false);
    for suite in options.suites() {
        let done = match suite {
            Suite::Whole if wants(BackendName::Cpu) => whole(options, sweep),
            #[cfg(feature = "sweeps")]
            Suite::Ladder | Suite::Kepler if wants(BackendName::Sim) => {
                simulated::run(suite, options, sweep)
            }
            other => {
                let name = other.name();
                sweep.note(format!("suite {name} has rows on a CUDA device only"));
                Ok(())
            }
        };
        if let Err(error) = done {
            sweep.failed(suite, error)?;
        }
    }
    Ok(())
}

/// The largest number of integers of which three arrays fit into a quarter of the memory.
pub fn max_integers(memory_bytes: u64) -> usize {
    (memory_bytes / 4 / (3 * size_of::<i32>() as u64)).max(1) as usize
}

/// Whole-array reductions with the requested number of threads.
fn whole(options: &SweepOptions, sweep: &mut Sweep) -> Result<()> {
    let threads = options.cpu_threads.unwrap_or(0).into(); // 0: one for each core
    let pool = ThreadPoolBuilder::new().num_threads(threads).build()?;
    pool.install(|| all_types(options, sweep))
}

/// Times every type, operator and size.
fn all_types(options: &SweepOptions, sweep: &mut Sweep) -> Result<()> {
    let Requested { sizes, types } = requested(options, 12..=26, &TYPES)?;
    sweep.announce(types.len() * options.ops.len() * sizes.len());
    // The ladder's CPU rows have one type.
    #[cfg(not(feature = "sweeps"))]
    of_type::<i32>(options, &sizes, sweep)?;
    #[cfg(feature = "sweeps")]
    for element in types {
        warpfold::with_type!(element, |T| of_type::<T>(options, &sizes, sweep)?);
    }
    Ok(())
}

fn of_type<T: Number>(options: &SweepOptions, sizes: &[usize], sweep: &mut Sweep) -> Result<()>
where
    Sum: Case<T>,
    Min: Case<T>,
    Max: Case<T>,
    ArgMin: Case<T>,
    ArgMax: Case<T>,
    Dot: Case<T>,
    MeanVariance: Case<T>,
{
    let longest = sizes.iter().copied().max().unwrap_or(1);
    let file = options.input.as_deref();
    let mut values = data::elements::<T>(file, longest, sweep.seed())?;
    data::refuse_useless(&values).map_err(BadOption::new)?;
    let arrays = options.ops.iter().map(|op| op.arrays()).max().unwrap_or(1);
    let words_of =
        |n: usize, arrays: usize| (n * size_of::<T>() * arrays).div_ceil(size_of::<u64>());
    let words = data::draw::<u64>(words_of(longest, arrays), sweep.seed() + 1)?;
    let second = match arrays {
        1 => Vec::new(),
        _ => data::draw::<T>(longest, sweep.seed() + 2)?,
    };
    for &op in &options.ops {
        for &n in sizes {
            if sweep.is_over() {
                return Ok(());
            }
            // Elements from a file stay as they are.
            let extreme = op.element_op().filter(|_| file.is_none());
            let planted = extreme.and_then(|op| data::plant(&mut values[..n], op, sweep.seed()));
            let b = if op.arrays() == 2 {
                &second[..n]
            } else {
                &values[..n]
            };
            let group = Group {
                a: &values[..n],
                b,
                truth: truth(op, (&values[..n], b), file.is_some())?,
                words: &words[..words_of(n, op.arrays())],
                op,
                options,
            };
            with_case!(op, |C| group.time::<C>(sweep)?);
            if let Some((index, value)) = planted {
                values[index] = value;
            }
        }
    }
    Ok(())
}

/// Reductions of one input by one operator.
struct Group<'a, T: Number> {
    a: &'a [T],
    /// The second array of a dot product; for other operators the first.
    b: &'a [T],
    truth: Truth<T>,
    /// As many bytes, for the loop that only reads.
    words: &'a [u64],
    op: Operation,
    options: &'a SweepOptions,
}

impl<T: Number> Group<'_, T> {
    fn time<C: Case<T>>(&self, sweep: &mut Sweep) -> Result<()> {
        let cpu = &Device::cpu();
        let (a, b) = (cpu.upload(self.a)?, cpu.upload(self.b)?);
        let parity = self.words.iter().fold(0, |all, word| all ^ word);
        let parity = Expected::exactly(parity);
        let op = <C::Op as SinglePass<C::Items>>::ENTRY.op;
        let named = Some(op.to_owned());
        let reduced = |n: usize| -> Result<Verdict> {
            let input = C::input(black_box(&a).view(..n)?, b.view(..n)?);
            let got = cpu.reduce::<C::Items, _>(input, C::OP).run()?;
            Ok(self.truth.check(C::answer(got)))
        };
        let n = self.a.len();
        let mut rows = vec![
            self.timed(By::Warpfold, "cpu", named.clone(), || reduced(n)),
            self.timed(By::Loop, "one loop, one core", named.clone(), || {
                let got = naive(self.op, black_box((self.a, self.b)));
                Ok(self.truth.check(Some(got)))
            }),
            self.timed(By::Ceiling, "plain_read", None, || {
                Ok(data::check(plain_read(black_box(self.words)), parity))
            }),
        ];
        if self.options.wrong_kernel {
            let all_but_one = || reduced(n - 1);
            rows.push(self.timed(By::Warpfold, "wrong_kernel", named, all_but_one));
        }
        sweep.group(&format!("{op} of {n} {} on the CPU", T::NAME), rows)
    }

    fn timed<'t>(
        &self,
        by: By,
        kernel: &str,
        op: Option<String>,
        mut work: impl FnMut() -> Result<Verdict> + 't,
    ) -> Timed<'t> {
        let threads = self.options.cpu_threads.filter(|_| by != By::Loop);
        let row = Row {
            by,
            op,
            variant: threads.map(|threads| format!("threads: {threads}")),
            backend: Backend::Cpu,
            bytes: (size_of_val(self.a) * self.op.arrays()) as u64,
            cache: Cache::Warm,
            timing: Timing::Call,
            ..Row::new(Suite::Whole, kernel, T::NAME, self.a.len())
        };
        Timed::new(row, move || {
            let start = Instant::now();
            let verdict = work()?;
            let us = start.elapsed().as_secs_f64() * 1e6;
            Ok(Run { us, verdict })
        })
    }
}

/// The xor of all words, with one piece for each thread; the compiler vectorises the loop.
fn plain_read(words: &[u64]) -> u64 {
    let piece = words.len().div_ceil(rayon::current_num_threads());
    let pieces = words.par_chunks(piece.max(1));
    let read = |piece: &[u64]| piece.iter().fold(0, |all, word| all ^ word);
    pieces.map(read).reduce(|| 0, |a, b| a ^ b)
}
