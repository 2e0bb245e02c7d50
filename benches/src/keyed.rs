//! Reduction by key: particles in a box of cells, summed per cell by every algorithm, its twin from
//! nvcc, and CUB.
//!
//! Before each timed run, untimed, a large array is read, which empties the caches and keeps the
//! device busy while the host enqueues, and the cells are set to zero, as a simulation does in each
//! of its steps. After it all cells are compared; the particles' values are small integers, so sums
//! are exact in any order.

pub mod data;
pub mod peers;
pub mod report;

use std::cell::RefCell;
use std::fs;

use anyhow::{Context, Result, ensure};
use kernels_gpu::element::Number;
use warpfold::{Buffer, Cells, Device, DeviceInfo, Keyed, KeyedAlgorithm, Plan, Sum};
use warpfold_results::schema::Cache;

use crate::machine::describe;
use crate::options::{KeyedOptions, bad_option};
use crate::report::{self as reports, By, Started};
use crate::timing::{Samples, between_events};
use crate::{check_writable, say};
use data::{ARRAYS, Distribution, Particles};
use peers::{Launch, Peers, Runs};
use report::{Report, Row};

/// A type of the particles' values.
pub trait Value: Number {
    fn of(value: i32) -> Self;
    fn add(a: Self, b: Self) -> Self;
}

impl Value for f32 {
    fn of(value: i32) -> Self {
        value as Self
    }

    fn add(a: Self, b: Self) -> Self {
        a + b
    }
}

impl Value for f64 {
    fn of(value: i32) -> Self {
        value.into()
    }

    fn add(a: Self, b: Self) -> Self {
        a + b
    }
}

/// Integers of the array that empties the caches: 256 MiB.
const FLUSH: usize = 1 << 26;

/// Whether every answer was right.
pub fn run(options: &KeyedOptions) -> Result<bool> {
    let started = Started::now()?;
    let device = match options.device {
        Some(index) => Device::nth(index),
        None => Device::auto(),
    };
    let device = device.map_err(bad_option)?;
    if let Some(file) = &options.json {
        check_writable(file)?;
    }
    let seed = options.seed.unwrap_or_else(|| rand::random::<u32>().into());
    let mut report = Report::new(started, options, seed);
    match device.info() {
        Some(info) => on_gpu(&device, info, options, &mut report)?,
        None => on_cpu(&device, options, &mut report)?,
    }
    say(&format!("{}\n", report.tables()))?;
    if let Some(file) = &options.json {
        let json = serde_json::to_string_pretty(&report)?;
        fs::write(file, json + "\n").with_context(|| format!("cannot write {}", file.display()))?;
    }
    Ok(report.is_right())
}

fn on_gpu(
    gpu: &Device,
    info: &DeviceInfo,
    options: &KeyedOptions,
    report: &mut Report,
) -> Result<()> {
    report.device = Some(reports::Device::Cuda(describe(gpu, info)?));
    let peers = options.peers.then(|| Peers::build(info.compute_capability));
    report.peers = peers.as_ref().map(|peers| match peers {
        Ok(peers) => reports::Peers::Built(peers.built.clone()),
        Err(reason) => reports::Peers::Absent(format!("{reason:#}")),
    });
    say(&format!("{}\n", report.header()))?;
    let peers = peers.and_then(Result::ok);
    let flush = gpu.upload(&vec![1; FLUSH])?;
    let flush = RefCell::new(gpu.read_ceiling(&flush)?);
    for distribution in Distribution::ALL {
        let particles = draw(options, distribution, report.seed)?;
        let bench = Bench {
            gpu,
            flush: Some(&flush),
            peers: peers.as_ref(),
            threads: options.threads,
            distribution,
            particles: &particles,
        };
        report.rows.extend(bench.rows::<f32>(options)?);
        report.rows.extend(bench.rows::<f64>(options)?);
    }
    Ok(())
}

/// One row: what the library does where there is no GPU.
fn on_cpu(cpu: &Device, options: &KeyedOptions, report: &mut Report) -> Result<()> {
    let reason = cpu.fallback_reason();
    report.device = Some(reports::Device::Cpu {
        no_cuda: reason.map_or_else(String::new, ToString::to_string),
        asked_n: report.n,
    });
    say(&format!("{}\n", report.header()))?;
    for distribution in Distribution::ALL {
        let bench = Bench {
            gpu: cpu,
            flush: None,
            peers: None,
            threads: options.threads,
            distribution,
            particles: &draw(options, distribution, report.seed)?,
        };
        report.rows.push(bench.on_cpu::<f32>()?);
        report.rows.push(bench.on_cpu::<f64>()?);
    }
    Ok(())
}

fn draw(options: &KeyedOptions, distribution: Distribution, seed: u64) -> Result<Particles> {
    Particles::draw(options.side, options.particles, distribution, seed)
}

/// One distribution of particles.
pub struct Bench<'a, 'p> {
    pub gpu: &'a Device,
    /// Read before each timed run.
    pub flush: Option<&'a RefCell<Plan<'p, i32>>>,
    pub peers: Option<&'a Peers>,
    /// Per block.
    pub threads: u32,
    pub distribution: Distribution,
    pub particles: &'a Particles,
}

/// The time in milliseconds, and what was wrong with the answer.
type Outcome = (f64, Option<String>);

/// A row and its run, with the caches as they are to be found.
pub struct Timed<'a> {
    pub row: Row,
    pub run: Box<dyn FnMut(Cache) -> Result<Outcome> + 'a>,
}

impl Bench<'_, '_> {
    /// Every algorithm for one type of values, with its peers, in rounds.
    fn rows<T: Value>(&self, options: &KeyedOptions) -> Result<Vec<Row>>
    where
        Sum: Keyed<u32, T>,
    {
        let (warmup, repeats) = (options.warmup, options.repeats);
        self.with_rows::<T, _>(|mut timed| {
            for round in 0..warmup + repeats {
                for Timed { row, run } in &mut timed {
                    let (ms, wrong) = run(Cache::Cold).with_context(|| row.kernel.clone())?;
                    if round >= warmup {
                        row.samples_us.push(ms * 1e3);
                    }
                    row.wrong = row.wrong.take().or(wrong);
                }
            }
            Ok(timed.into_iter().map(|timed| timed.row.done()).collect())
        })
    }

    /// Gives `then` every algorithm for one type of values, with its peers.
    pub fn with_rows<T: Value, R>(
        &self,
        then: impl FnOnce(Vec<Timed<'_>>) -> Result<R>,
    ) -> Result<R>
    where
        Sum: Keyed<u32, T>,
    {
        let n = self.particles.keys.len();
        let values: Vec<T> = self
            .particles
            .values
            .iter()
            .map(|value| T::of((*value).into()))
            .collect();
        let sums: Vec<T> = self.particles.sums.iter().map(|sum| T::of(*sum)).collect();
        let keys = self.gpu.upload(&self.particles.keys)?;
        let values = self.gpu.upload(&values)?;
        let cells = [
            RefCell::new(self.gpu.cell_arrays::<T, _>(1, self.cells(), Sum)?),
            RefCell::new(self.gpu.cell_arrays::<T, _>(ARRAYS, self.cells(), Sum)?),
        ];
        let work = Work {
            keys: &keys,
            values: &values,
            sums: &sums,
        };

        let mut timed = Vec::new();
        for algorithm in KeyedAlgorithm::ALL {
            timed.extend(self.pair(work, 1, algorithm, &cells[0])?);
        }
        for algorithm in [KeyedAlgorithm::Ballot, KeyedAlgorithm::Match] {
            timed.extend(self.pair(work, ARRAYS, algorithm, &cells[1])?);
        }
        if let Some(peers) = self.peers {
            timed.push(self.cub(work, peers, n)?);
        }
        then(timed)
    }

    pub fn cells(&self) -> usize {
        self.particles.sums.len() / ARRAYS
    }

    fn row<T: Value>(&self, kernel: impl Into<String>, by: By) -> Row {
        Row::new(kernel, by, T::NAME, self.distribution)
    }

    /// One of ours and its twin, which writes the very same cells.
    fn pair<'a, T: Value>(
        &'a self,
        work: Work<'a, T>,
        arrays: usize,
        algorithm: KeyedAlgorithm,
        cells: &'a RefCell<Cells<T, Sum>>,
    ) -> Result<Vec<Timed<'a>>>
    where
        Sum: Keyed<u32, T>,
    {
        let n = work.keys.len();
        let name = match arrays {
            1 => algorithm.kernel_name().to_owned(),
            _ => format!("{}_x{arrays}", algorithm.kernel_name()),
        };
        let threads = self.threads;
        let clear = || Ok(cells.borrow_mut().clear()?);
        let mut pair = vec![Timed {
            row: self.row::<T>(&name, By::Warpfold),
            run: Box::new(move |cache| {
                cells.borrow_mut().choose(algorithm, threads);
                let values = work.values.view(..arrays * n)?;
                let combine = || Ok(cells.borrow_mut().combine(work.keys, values)?);
                let ms = self.time(cache, clear, combine)?;
                Ok((ms, work.judge(&cells.borrow())?))
            }),
        }];
        if let Some(peers) = self.peers {
            let twin = peers.twin::<T>(&name)?;
            let on = self.launch(work);
            pair.push(Timed {
                row: self.row::<T>(&name, By::Nvcc),
                run: Box::new(move |cache| {
                    let (to, count) = (cells.borrow().as_device_ptr(), cells.borrow().len());
                    let ms = self.time(cache, clear, || {
                        // SAFETY: keys and values are live buffers of this device, and so are the
                        // cells, `count` for each array; all keys are below `count` (they are those
                        // of `Particles`); allocations begin at multiples of 256 bytes. The context
                        // is current, and what is enqueued is waited for (`time`).
                        unsafe { twin.enqueue(on, to, count, threads) }
                    })?;
                    Ok((ms, work.judge(&cells.borrow())?))
                }),
            });
        }
        Ok(pair)
    }

    /// CUB on the runs. How many it finds is compared each time, their keys and sums the first time.
    fn cub<'a, T: Value>(
        &'a self,
        work: Work<'a, T>,
        peers: &Peers,
        n: usize,
    ) -> Result<Timed<'a>> {
        let cub = peers.cub::<T>()?;
        let on = self.launch(work);
        let bytes = cub.temp_bytes(on)?;
        let temp = self.gpu.alloc::<u32>(bytes.div_ceil(size_of::<u32>()))?;
        let keys = self.gpu.alloc::<u32>(n)?;
        let sums = self.gpu.alloc::<T>(n)?;
        let count = self.gpu.alloc::<i32>(1)?;
        let to = Runs {
            keys: keys.as_device_ptr(),
            sums: sums.as_device_ptr(),
            count: count.as_device_ptr(),
        };
        let mut first = true;
        Ok(Timed {
            row: self.row::<T>("DeviceReduce::ReduceByKey", By::Cub),
            run: Box::new(move |cache| {
                // SAFETY: as for the twin; the outputs have room for a run of each key, and `temp`
                // for what CUB asked for; all live as long as this closure.
                let enqueue = || unsafe { cub.enqueue(on, to, temp.as_device_ptr(), bytes) };
                let ms = self.time(cache, || Ok(()), enqueue)?;
                let (found, runs) = (count.download()?[0], self.particles.runs);
                if found as usize != runs {
                    return Ok((ms, Some(format!("{found} runs, not {runs}"))));
                }
                if !std::mem::take(&mut first) {
                    return Ok((ms, None));
                }
                let (keys, sums) = (
                    keys.view(..runs)?.download()?,
                    sums.view(..runs)?.download()?,
                );
                let mut cells = vec![T::of(0); self.cells()];
                for (key, sum) in keys.into_iter().zip(sums) {
                    let cell = &mut cells[key as usize];
                    *cell = T::add(*cell, sum);
                }
                Ok((ms, differs(&cells, work.sums)))
            }),
        })
    }

    /// The CPU's loop, three times.
    fn on_cpu<T: Value>(&self) -> Result<Row>
    where
        Sum: Keyed<u32, T>,
    {
        let values = self.particles.values.iter();
        let values: Vec<T> = values.map(|value| T::of((*value).into())).collect();
        let sums: Vec<T> = self.particles.sums.iter().map(|sum| T::of(*sum)).collect();
        let keys = self.gpu.upload(&self.particles.keys)?;
        let values = self.gpu.upload(&values[..self.particles.keys.len()])?;
        let mut cells = self.gpu.cells::<T, _>(self.cells(), Sum)?;
        let mut row = self.row::<T>("warpfold, all cores", By::Warpfold);
        for _ in 0..3 {
            cells.clear()?;
            let ms = self.gpu.time(|| cells.combine(&keys, &values))?;
            row.samples_us.push(ms * 1e3);
            row.wrong = row.wrong.or(differs(&cells.download()?, &sums));
        }
        Ok(row.done())
    }

    fn launch<T: Value>(&self, work: Work<'_, T>) -> Launch {
        Launch {
            keys: work.keys.as_device_ptr(),
            values: work.values.as_device_ptr(),
            n: work.keys.len(),
            stream: self.gpu.stream_ptr(),
        }
    }

    /// Times what `enqueue` puts on the stream right behind what `clear` does. The device's context is
    /// current in both, and what they put there is waited for.
    fn time(
        &self,
        cache: Cache,
        clear: impl Fn() -> Result<()>,
        enqueue: impl Fn() -> Result<()>,
    ) -> Result<f64> {
        if let Some(flush) = self.flush {
            flush.borrow_mut().enqueue()?;
        }
        if cache == Cache::Warm {
            enqueue()?;
        }
        clear()?;
        between_events(self.gpu, enqueue)
    }
}

/// The particles on the device, and their sums.
#[derive(Clone, Copy)]
struct Work<'a, T: Value> {
    keys: &'a Buffer<u32>,
    /// All arrays.
    values: &'a Buffer<T>,
    sums: &'a [T],
}

impl<T: Value> Work<'_, T> {
    /// What is wrong with the cells.
    fn judge(&self, cells: &Cells<T, Sum>) -> Result<Option<String>>
    where
        Sum: Keyed<u32, T>,
    {
        ensure!(cells.rejected()? == 0, "a particle was rejected");
        Ok(differs(&cells.download()?, self.sums))
    }
}

/// The first cell that is not what it should be.
fn differs<T: Value>(got: &[T], expected: &[T]) -> Option<String> {
    let wrong = got.iter().zip(expected).position(|(got, sum)| got != sum)?;
    Some(format!(
        "cell {wrong} is {:?}, not {:?}",
        got[wrong], expected[wrong]
    ))
}

/// Median, fastest and slowest of times, in their own unit.
fn summary(times: &[f64]) -> Option<crate::timing::Summary> {
    let samples = Samples {
        ms: times.to_vec(),
        wrong: None,
    };
    samples.summary()
}
