//! Where there is no CUDA device, and where it is asked for: the library's CPU beside a loop that only
//! reads and a loop that anyone would write, and the simulator's counts of the kernels.

use std::hint::black_box;
use std::time::Instant;

use anyhow::{Context, Result};
use rayon::ThreadPoolBuilder;
use rayon::prelude::*;
use warpfold::{Device, Max, Min, SinglePass, Sum};
use warpfold_results::schema::{Backend, By, Cache, Row, Suite, Timing};

use super::asked::{Asked, asked};
use super::data::{self, Expected, Number};
use super::options::{BackendName, Op, SweepOptions};
use super::rounds::{Run, Timed, Verdict};
use super::run::Sweep;
#[cfg(feature = "sweeps")]
use super::simulated;
use crate::options::BadOption;

/// What was asked for; without a wish, both.
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

/// Integers that a quarter of so much memory holds three times: in an array, for the ceiling, and on the device.
pub fn most(memory_bytes: u64) -> usize {
    (memory_bytes / 4 / (3 * size_of::<i32>() as u64)).max(1) as usize
}

/// Whole reductions, by as many threads as were asked for.
fn whole(options: &SweepOptions, sweep: &mut Sweep) -> Result<()> {
    let threads = options.cpu_threads.unwrap_or(0).into(); // 0: one for each core
    let pool = ThreadPoolBuilder::new().num_threads(threads).build()?;
    pool.install(|| all_types(options, sweep))
}

/// Every type, operator and size.
fn all_types(options: &SweepOptions, sweep: &mut Sweep) -> Result<()> {
    let Asked { sizes, types } = asked(options, 12..=26)?;
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
    Sum: SinglePass<T, Output: Into<Option<T>>>,
    Min: SinglePass<T, Output: Into<Option<T>>>,
    Max: SinglePass<T, Output: Into<Option<T>>>,
{
    let longest = sizes.iter().copied().max().unwrap_or(1);
    let file = options.input.as_deref();
    let mut values = data::elements::<T>(file, longest, sweep.seed())?;
    data::refuse_useless(&values).map_err(BadOption::new)?;
    let words = (longest * size_of::<T>()).div_ceil(size_of::<u64>());
    let words = data::draw::<u64>(words, sweep.seed() + 1)?;
    for &op in &options.ops {
        for &n in sizes {
            if sweep.is_over() {
                return Ok(());
            }
            // Someone's own elements stay as they are.
            let planted = match file {
                None => data::plant(&mut values[..n], op, sweep.seed()),
                Some(_) => None,
            };
            let group = Group {
                values: &values[..n],
                expected: data::expected(&values[..n], op, file.is_some())
                    .context("an empty array")?,
                words: &words[..(n * size_of::<T>()).div_ceil(size_of::<u64>())],
                op,
                options,
            };
            match op {
                Op::Sum => group.time(Sum, sweep)?,
                Op::Min => group.time(Min, sweep)?,
                Op::Max => group.time(Max, sweep)?,
            }
            if let Some((at, value)) = planted {
                values[at] = value;
            }
        }
    }
    Ok(())
}

/// Reductions of one input by one operator.
struct Group<'a, T: Number> {
    values: &'a [T],
    expected: Expected<T>,
    /// As many bytes, to be read and nothing else.
    words: &'a [u64],
    op: Op,
    options: &'a SweepOptions,
}

impl<T: Number> Group<'_, T> {
    fn time<O: SinglePass<T, Output: Into<Option<T>>>>(
        &self,
        op: O,
        sweep: &mut Sweep,
    ) -> Result<()> {
        let cpu = &Device::cpu();
        let input = cpu.upload(self.values)?;
        let parity = self.words.iter().fold(0, |all, word| all ^ word);
        let parity = Expected::exactly(parity);
        let named = Some(O::ENTRY.op.to_owned());
        let mut rows = vec![
            self.timed(By::Warpfold, "cpu", named.clone(), || {
                let got = cpu.reduce(black_box(&input), op).run()?;
                Ok(data::judge(got, self.expected))
            }),
            self.timed(By::Loop, "one loop, one core", named, || {
                Ok(data::judge(
                    data::naive(black_box(self.values), self.op),
                    self.expected,
                ))
            }),
            self.timed(By::Ceiling, "plain_read", None, || {
                Ok(data::judge(plain_read(black_box(self.words)), parity))
            }),
        ];
        if self.options.wrong_kernel {
            let all_but_one = input.view(..self.values.len() - 1)?;
            let named = Some(O::ENTRY.op.to_owned());
            rows.push(self.timed(By::Warpfold, "wrong_kernel", named, move || {
                let got = cpu.reduce(all_but_one, op).run()?;
                Ok(data::judge(got, self.expected))
            }));
        }
        sweep.group(
            &format!(
                "{} of {} {} on the CPU",
                O::ENTRY.op,
                self.values.len(),
                T::NAME
            ),
            rows,
        )
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
            bytes: size_of_val(self.values) as u64,
            cache: Cache::Warm,
            timing: Timing::Call,
            ..Row::new(Suite::Whole, kernel, T::NAME, self.values.len())
        };
        Timed::new(row, move || {
            let start = Instant::now();
            let verdict = work()?;
            let us = start.elapsed().as_secs_f64() * 1e6;
            Ok(Run { us, verdict })
        })
    }
}

/// Reads all words, in one piece for each thread. The compiler makes vector instructions of it.
fn plain_read(words: &[u64]) -> u64 {
    let piece = words.len().div_ceil(rayon::current_num_threads());
    let pieces = words.par_chunks(piece.max(1));
    let read = |piece: &[u64]| piece.iter().fold(0, |all, word| all ^ word);
    pieces.map(read).reduce(|| 0, |a, b| a ^ b)
}
