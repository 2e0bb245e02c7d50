//! Whole reductions as a program calls them: the library's default beside CUB's, of several types and
//! operators, over arrays of many sizes.
//!
//! A timed run is a single call between two events on an idle stream, as the times of other libraries
//! are usually given. So the time that the host takes to launch is in it, for all rows alike: short
//! reductions are mostly that. A kernel that does nothing is timed among them, which is the least that
//! such a time can be. Arrays that fit the L2 cache are found there.
//!
//! The library's blocking call is timed too, by the host's clock: from the call to the value.
//!
//! Before each run the result is overwritten; after it, it must be right.

pub mod peers;
mod record;
mod table;

use std::cell::RefCell;
use std::fs;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};
use warpfold::{Buffer, Device, Element, Max, Min, Operator, Sum};

use self::peers::WholePeers;
use self::record::{By, Record, Row, Size};
use crate::machine::describe;
use crate::options::{WholeOptions, bad_option};
use crate::report::{self, Started};
use crate::timing::{Run, Timed, rounds};
use crate::{check_writable, say};

/// Whether every answer was right.
pub fn run(options: &WholeOptions) -> Result<bool> {
    let started = Started::now()?;
    let gpu = Device::nth(options.device.unwrap_or(0)).map_err(bad_option)?;
    let info = gpu.info().context("these are timed on a CUDA device")?;
    if let Some(file) = &options.json {
        check_writable(file)?;
    }
    let seed = options.seed.unwrap_or_else(|| rand::random::<u32>().into());
    let peers = options
        .peers
        .then(|| WholePeers::build(info.compute_capability));
    let counts = (options.warmup as usize, options.repeats as usize);
    let device = report::Device::Cuda(describe(&gpu, info)?);
    let mut record = Record::new(started, device, peers.as_ref(), seed, counts);
    let peers = peers.and_then(Result::ok);
    say(&format!("{}\n", record.header()))?;
    let bench = Bench {
        gpu: &gpu,
        options,
        peers: peers.as_ref(),
        seed,
        counts,
    };
    for element in &options.types {
        let sizes = match element.as_str() {
            "i32" => bench.sizes::<i32>()?,
            "f32" => bench.sizes::<f32>()?,
            "f64" => bench.sizes::<f64>()?,
            other => unreachable!("clap refuses {other}"),
        };
        record.sizes.extend(sizes);
    }
    say(&record.table())?;
    if let Some(file) = &options.json {
        let json = serde_json::to_string_pretty(&record)?;
        fs::write(file, json + "\n").with_context(|| format!("cannot write {}", file.display()))?;
    }
    Ok(record.is_right())
}

/// An element type of the suite.
trait Number: Element + PartialOrd {
    /// Any integer; a float from 0 to 1, so that no sum is near zero.
    fn draw(rng: &mut SmallRng) -> Self;

    /// The value whose bytes are all this: no right answer.
    const POISON: Self;

    /// What the sum of all is, for [`is_sum`](Self::is_sum).
    fn total(values: &[Self]) -> f64;

    /// Whether it is the sum whose total is this: of integers modulo 2^32, of floats to within what
    /// any order of additions in a tree may round.
    fn is_sum(self, total: f64) -> bool;
}

macro_rules! floats {
    ($($float:ident within $error:literal)*) => { $(
        impl Number for $float {
            const POISON: Self = -1.0;

            fn draw(rng: &mut SmallRng) -> Self {
                rng.random()
            }

            fn total(values: &[Self]) -> f64 {
                values.iter().map(|value| f64::from(*value)).sum()
            }

            fn is_sum(self, total: f64) -> bool {
                (f64::from(self) - total).abs() <= $error * total
            }
        }
    )* };
}

floats!(f32 within 1e-5 f64 within 1e-11);

impl Number for i32 {
    const POISON: Self = 0x5A5A_5A5A;

    fn draw(rng: &mut SmallRng) -> Self {
        rng.random()
    }

    /// Wrapped, which an `f64` holds.
    fn total(values: &[Self]) -> f64 {
        values
            .iter()
            .fold(0i32, |sum, x| sum.wrapping_add(*x))
            .into()
    }

    fn is_sum(self, total: f64) -> bool {
        f64::from(self) == total
    }
}

/// What all sizes have in common.
struct Bench<'a> {
    gpu: &'a Device,
    options: &'a WholeOptions,
    peers: Option<&'a WholePeers>,
    seed: u64,
    counts: (usize, usize),
}

impl Bench<'_> {
    /// All operators and sizes of one type.
    fn sizes<T: Number>(&self) -> Result<Vec<Size>>
    where
        Sum: Operator<T, Acc = T, Output = T>,
        Min: Operator<T, Acc = T, Output = T>,
        Max: Operator<T, Acc = T, Output = T>,
    {
        let longest = self.options.n.iter().copied().max().unwrap_or(1);
        let mut values = Vec::new();
        values
            .try_reserve_exact(longest)
            .with_context(|| format!("no host memory for {longest} elements"))?;
        let rng = &mut SmallRng::seed_from_u64(self.seed);
        values.extend((0..longest).map(|_| T::draw(rng)));
        let mut sizes = Vec::new();
        for op in &self.options.ops {
            for &n in &self.options.n {
                let values = &values[..n];
                sizes.push(match op.as_str() {
                    "sum" => {
                        let total = T::total(values);
                        self.size(values, Sum, move |got: T| got.is_sum(total))?
                    }
                    "min" => {
                        let least = values
                            .iter()
                            .copied()
                            .reduce(|a, b| if b < a { b } else { a });
                        self.size(values, Min, move |got| Some(got) == least)?
                    }
                    "max" => {
                        let most = values
                            .iter()
                            .copied()
                            .reduce(|a, b| if b > a { b } else { a });
                        self.size(values, Max, move |got| Some(got) == most)?
                    }
                    other => unreachable!("clap refuses {other}"),
                });
            }
        }
        Ok(sizes)
    }

    /// One operator and one size: every row in turn.
    fn size<T: Number, O: Operator<T, Acc = T, Output = T>>(
        &self,
        values: &[T],
        op: O,
        is_right: impl Fn(T) -> bool + Copy,
    ) -> Result<Size> {
        let gpu = self.gpu;
        let input = &gpu.upload(values)?;
        let cell = &RefCell::new(gpu.upload(&[T::POISON])?);
        let answer = move |ms: f64, got: T| Run {
            ms,
            answer: is_right(got).into(),
        };
        let mut scratch = gpu.scratch()?;
        let (mut rows, mut runs) = (Vec::new(), Vec::new());
        rows.push(Row::new(By::Warpfold, "default"));
        runs.push(self.timed("reduce_into", cell, answer, || {
            let cell = &mut cell.borrow_mut();
            Ok(gpu.reduce_into(input, op, cell, 0, &mut scratch)?)
        }));
        for grid in &self.options.grids {
            let mut plan = gpu
                .reduce(input, op)
                .threads(grid.threads)
                .blocks(grid.blocks)
                .plan()?;
            rows.push(Row::new(By::Warpfold, &grid.to_string()));
            runs.push(Timed::new(grid.to_string(), move || {
                plan.fill_scratch(0x5A)?;
                let ms = gpu.time(|| plan.enqueue())?;
                Ok(answer(ms, plan.result()?))
            }));
        }
        rows.push(Row::new(By::Call, "default"));
        runs.push(Timed::new("run", move || {
            let start = Instant::now();
            let got = gpu.reduce(input, op).run()?;
            let ms = start.elapsed().as_secs_f64() * 1e3;
            Ok(answer(ms, got))
        }));
        if let Some(peers) = self.peers {
            let cub = peers.cub(O::NAME, T::NAME)?;
            let temp_bytes = cub.temp_bytes(values.len())?;
            let temp = gpu.alloc::<u8>(temp_bytes.max(1))?;
            rows.push(Row::new(By::Cub, "default"));
            runs.push(self.timed("CUB", cell, answer, move || {
                let (from, to) = (input.as_device_ptr(), cell.borrow().as_device_ptr());
                let room = (temp.as_device_ptr(), temp_bytes);
                // SAFETY: live device memory of the device whose context is current (`time` has made it
                // so) and whose stream this is: as many elements as `input` has, one, and as much room
                // as CUB has asked for. All of it lives until the row is dropped, after its last wait.
                unsafe { cub.enqueue(from, input.len(), to, room, gpu.stream_ptr()) }
            }));
            rows.push(Row::new(By::Nothing, "an empty kernel"));
            runs.push(Timed::new("nothing", move || {
                let mut enqueued = Ok(());
                let ms = gpu.time(|| {
                    // SAFETY: the stream is live and its context current (`time`).
                    enqueued = unsafe { peers.nothing(gpu.stream_ptr()) };
                    Ok(())
                })?;
                enqueued?;
                Ok(Run { ms, answer: 1 })
            }));
        }
        let samples = rounds(&mut runs, 1, self.counts.0, self.counts.1)?;
        ensure!(samples.len() == rows.len(), "a row without samples");
        let bytes = size_of_val(values);
        let rows = rows.into_iter().zip(samples);
        let rows = rows.map(|(row, samples)| row.filled(bytes, samples));
        Ok(Size {
            element: T::NAME.into(),
            op: O::NAME.into(),
            n: values.len(),
            bytes,
            rows: rows.collect(),
        })
    }

    /// A row that overwrites the result, times what `enqueue` puts on the stream, and looks at the
    /// result.
    fn timed<'t, T: Number>(
        &'t self,
        name: &str,
        cell: &'t RefCell<Buffer<T>>,
        answer: impl Fn(f64, T) -> Run + 't,
        mut enqueue: impl FnMut() -> Result<()> + 't,
    ) -> Timed<'t> {
        Timed::new(name, move || {
            cell.borrow_mut().write(0, &[T::POISON])?;
            let mut enqueued = Ok(());
            let ms = self.gpu.time(|| {
                enqueued = enqueue();
                Ok(())
            })?;
            enqueued?;
            let got = cell.borrow().download()?[0];
            Ok(answer(ms, got))
        })
    }
}
