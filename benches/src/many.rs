//! `warpfold-bench many`: one array on several GPUs beside the same array on one of them.
//!
//! Started by a launcher, each process is a rank, whose bytes NCCL moves. In one process there is a rank for each of
//! `--gpus`, with NCCL and with threads in turn. The first GPU has the whole array, of which its part is a view, and every
//! result is compared with that of the whole array: the bits must be equal.

use std::fmt::Debug;
use std::fs;
use std::hint::black_box;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use serde::Serialize;
use warpfold::many::{Distributed, Launch, Nccl, Threads};
use warpfold::{Buffer, Determinism, Device, Dot, Element, Error, Predicate, View, bf16, f16};

use crate::machine::Started;
use crate::options::ManyOptions;
use crate::print_line;

/// The rounds of which the median is taken.
const ROUNDS: usize = 21;

/// The elements that are drawn; longer arrays repeat them.
const DRAWN: usize = 1 << 22;

/// The bytes that a rank gathers in a call.
const GATHERED: usize = 1024;

/// The length of the arrays by which every operator is checked: no multiple of a tile.
const CHECKED: usize = (1 << 20) + 12_345;

#[derive(Serialize)]
struct Row {
    engine: &'static str,
    ranks: usize,
    op: &'static str,
    n: usize,
    /// The median time of a call on one GPU with the whole array, in microseconds.
    one_us: f64,
    /// That of a call of all ranks.
    all_us: f64,
    /// That of a call on one GPU with the part of rank 0.
    part_us: f64,
}

#[derive(Serialize)]
struct Record {
    #[serde(flatten)]
    started: Started,
    device: String,
    nccl: Option<(u32, u32, u32)>,
    rounds: usize,
    /// The median time of a gather of 1 KiB of each rank, in microseconds, for each engine.
    gather_us: Vec<(&'static str, usize, f64)>,
    gathers: Vec<Gather>,
    rows: Vec<Row>,
}

/// The time of a gather after a rank has done something else, without the wait for the other ranks.
#[derive(Serialize)]
struct Gather {
    engine: &'static str,
    n: usize,
    /// Behind a sum of the rank's part, in microseconds.
    read_us: f64,
    /// Behind a pause as long as this sum, in which the GPU does nothing.
    pause_us: f64,
}

pub fn run(options: &ManyOptions) -> Result<()> {
    if Launch::from_env()?.is_some_and(|launch| launch.size() > 1) {
        let all = Distributed::from_env()?;
        let rows = rank(&all, "NCCL, processes", options)?;
        return match all.rank() {
            0 => report(&all, vec![rows], options),
            _ => Ok(()),
        };
    }
    let devices = (0..options.gpus)
        .map(Device::nth)
        .collect::<Result<Vec<Device>, Error>>()?;
    let mut done = vec![];
    match Nccl::version() {
        Ok(_) => {
            let ranks = Nccl::of_devices(&devices)?.into_iter().zip(&devices);
            let ranks = ranks.map(|(rank, device)| Distributed::new(device.clone(), rank));
            done.push(threads(ranks.collect(), "NCCL, one process", options)?);
        }
        Err(error) => print_line(&format!("without NCCL: {error}"))?,
    }
    let ranks = Threads::new(devices.len()).into_iter().zip(&devices);
    let ranks = ranks.map(|(rank, device)| Distributed::new(device.clone(), rank));
    done.push(threads(ranks.collect(), "threads", options)?);
    report(
        &Distributed::new(devices[0].clone(), warpfold::many::Single),
        done,
        options,
    )
}

/// Runs each rank on a thread; returns what rank 0 has measured.
fn threads(ranks: Vec<Distributed>, engine: &'static str, options: &ManyOptions) -> Result<Done> {
    let results: Vec<Result<Done>> = std::thread::scope(|scope| {
        let run = |all| scope.spawn(move || rank(&all, engine, options));
        let threads: Vec<_> = ranks.into_iter().map(run).collect();
        threads
            .into_iter()
            .map(|thread| thread.join().expect("a rank does not panic"))
            .collect()
    });
    let mut done: Vec<Done> = results.into_iter().collect::<Result<_>>()?;
    Ok(done.swap_remove(0))
}

/// Compares the results of every operator over an array with those of one GPU; returns their number.
macro_rules! check_array {
    ($element:ident, $all:expr, $x:expr) => {
        check_array!($element, $all, $x; sum sum_wide product min max min_max argmin argmax mean mean_variance norm_l2)
    };

    ($element:ident, $all:expr, $x:expr; $($call:ident)*) => {{
        let (all, x): (&Distributed, &Array<$element>) = ($all, $x);
        let mut checked = 0;
        $(
            let got = text(all.$call(x.part()?)?);
            if let Some(whole) = x.whole() {
                let expected = text(all.device().$call(whole)?);
                ensure!(got == expected, "{}: {got}, not {expected}", stringify!($call));
            }
            checked += 1;
        )*
        let got = all.count(x.part()?, Predicate::Nonzero)?;
        if let Some(whole) = x.whole() {
            ensure!(got == all.device().count(whole, Predicate::Nonzero)?, "count");
        }
        let got = text(all.reduce((x.part()?, x.part()?), Dot)?);
        if let Some(whole) = x.whole() {
            let expected = text(all.device().reduce((whole, whole), Dot).run()?);
            ensure!(got == expected, "dot: {got}, not {expected}");
        }
        checked + 2
    }};
}

/// A call on one GPU, whose result is text.
type OnOne<'a> = dyn Fn(&Device, View<'_, f32>) -> Result<String, Error> + 'a;

/// A call of all ranks.
type OnAll<'a> = dyn Fn(View<'_, f32>) -> Result<String, Error> + 'a;

/// What a rank has measured.
struct Done {
    rows: Vec<Row>,
    gathers: Vec<Gather>,
    gather_us: (&'static str, usize, f64),
}

fn report(first: &Distributed, done: Vec<Done>, options: &ManyOptions) -> Result<()> {
    let gather_us = done.iter().map(|done| done.gather_us).collect();
    let (rows, gathers): (Vec<_>, Vec<_>) =
        (done.into_iter().map(|done| (done.rows, done.gathers))).unzip();
    let record = Record {
        started: Started::now()?,
        device: first.device().name().into(),
        nccl: Nccl::version().ok(),
        rounds: ROUNDS,
        gather_us,
        gathers: gathers.into_iter().flatten().collect(),
        rows: rows.into_iter().flatten().collect(),
    };
    if let Some(file) = &options.json {
        let text = serde_json::to_string_pretty(&record)?;
        fs::write(file, text + "\n").with_context(|| format!("cannot write {}", file.display()))?;
    }
    Ok(())
}

/// Checks every operator, and times some of them.
fn rank(all: &Distributed, engine: &'static str, options: &ManyOptions) -> Result<Done> {
    let checked = check(all)?;
    let gather_us = median(|| Ok(all.communicator().all_gather(&[1; GATHERED])?))?;
    let (mut rows, mut gathers) = (vec![], vec![]);
    if all.rank() == 0 {
        let (device, size) = (all.device(), all.size());
        print_line(&format!("{size} ranks, the first on {device}; {engine}"))?;
        print_line(&format!(
            "{checked} results of n = {CHECKED} have the bits of one GPU"
        ))?;
        print_line(&format!(
            "a gather of {GATHERED} bytes takes {gather_us:.1} us"
        ))?;
        print_line(
            "op                     n     one GPU  all ranks  part of 0   speedup  more than the part",
        )?;
    }
    for n in &options.n {
        let drawn = draw::<f32>(|x| x as f32);
        let x = Array::new(all, &drawn, *n)?;
        let checked: usize = check_array!(f32, all, &x);
        if all.rank() == 0 {
            print_line(&format!(
                "{checked} results of n = {n} have the bits of one GPU"
            ))?;
        }
        let exact = |device: &Device| device.determinism(Determinism::Exact);
        let mut time = |op: &'static str, one: &OnOne<'_>, each: &OnAll<'_>| -> Result<()> {
            let part = x.part()?;
            let (mut one_us, mut part_us) = (0.0, 0.0);
            let got = each(part)?;
            if let Some(whole) = x.whole() {
                let expected = one(all.device(), whole)?;
                ensure!(
                    got == expected,
                    "{op} of {n}: {got} on all ranks, {expected} on one GPU"
                );
                one_us = median(|| Ok(one(all.device(), whole)?))?;
                part_us = median(|| Ok(one(all.device(), part)?))?;
            }
            all.communicator().barrier()?;
            let all_us = median(|| Ok(each(part)?))?;
            if x.is_whole {
                let (speed, more) = (one_us / all_us, all_us - part_us);
                print_line(&format!(
                    "{op:14} {n:>12} {one_us:>10.1} {all_us:>10.1} {part_us:>10.1} {speed:>9.3} {more:>19.1}"
                ))?;
                rows.push(Row {
                    engine,
                    ranks: all.size(),
                    op,
                    n: *n,
                    one_us,
                    all_us,
                    part_us,
                });
            }
            Ok(())
        };
        time("sum", &|device, x| Ok(text(device.sum(x)?)), &|x| {
            Ok(text(all.sum(x)?))
        })?;
        time(
            "exact sum",
            &|device, x| Ok(text(exact(device).sum(x)?)),
            &|x| Ok(text(all.determinism(Determinism::Exact).sum(x)?)),
        )?;
        time("min", &|device, x| Ok(text(device.min(x)?)), &|x| {
            Ok(text(all.min(x)?))
        })?;
        time("argmin", &|device, x| Ok(text(device.argmin(x)?)), &|x| {
            Ok(text(all.argmin(x)?))
        })?;
        time(
            "mean_variance",
            &|device, x| Ok(text(device.mean_variance(x)?)),
            &|x| Ok(text(all.mean_variance(x)?)),
        )?;
        let gather = gathers_behind(all, engine, *n, x.part()?)?;
        if all.rank() == 0 {
            print_line(&format!(
                "gather         {n:>12} behind a sum {:.1} us, behind a pause as long {:.1} us",
                gather.read_us, gather.pause_us
            ))?;
        }
        gathers.push(gather);
    }
    Ok(Done {
        rows,
        gathers,
        gather_us: (engine, all.size(), gather_us),
    })
}

/// Times a gather behind a sum of this rank's part, and behind a pause as long. The shortest time of all ranks is that of the
/// rank that came last, and so had not to wait for another.
fn gathers_behind(
    all: &Distributed,
    engine: &'static str,
    n: usize,
    part: View<'_, f32>,
) -> Result<Gather> {
    let sum = || -> Result<()> {
        black_box(all.device().sum(part)?);
        Ok(())
    };
    let start = Instant::now();
    sum()?;
    let own = start.elapsed().as_nanos() as u64;
    let longest = each_rank(all, own)?.into_iter().max().unwrap_or(own);
    let pause = || {
        let start = Instant::now();
        while (start.elapsed().as_nanos() as u64) < longest {
            std::hint::spin_loop();
        }
        Ok(())
    };
    let time = |before: &dyn Fn() -> Result<()>| -> Result<f64> {
        let mut times = vec![];
        for _ in 0..ROUNDS {
            before()?;
            let start = Instant::now();
            black_box(all.communicator().all_gather(&[1; GATHERED])?);
            let own = start.elapsed().as_nanos() as u64;
            times.push(each_rank(all, own)?.into_iter().min().unwrap_or(own));
        }
        times.sort_unstable();
        Ok(times[ROUNDS / 2] as f64 / 1e3)
    };
    Ok(Gather {
        engine,
        n,
        read_us: time(&sum)?,
        pause_us: time(&pause)?,
    })
}

/// The numbers of all ranks.
fn each_rank(all: &Distributed, number: u64) -> Result<Vec<u64>> {
    let bytes = all.communicator().all_gather(&number.to_le_bytes())?;
    let numbers = bytes.as_chunks().0.iter();
    Ok(numbers.map(|bytes| u64::from_le_bytes(*bytes)).collect())
}

/// The bits of the floats in the text are those of the result.
fn text(result: impl Debug) -> String {
    format!("{result:?}")
}

/// The median time of a call in microseconds, after one that is not counted.
fn median<R>(call: impl Fn() -> Result<R>) -> Result<f64> {
    call()?;
    let mut times = vec![];
    for _ in 0..ROUNDS {
        let start = Instant::now();
        black_box(call()?);
        times.push(start.elapsed().as_secs_f64() * 1e6);
    }
    times.sort_by(f64::total_cmp);
    Ok(times[ROUNDS / 2])
}

fn draw<T>(of: impl Fn(f64) -> T) -> Vec<T> {
    let mut random = StdRng::seed_from_u64(1);
    (0..DRAWN)
        .map(|_| of(random.random_range(-1.0..1.0) * 100.0))
        .collect()
}

/// An array on rank 0, and each rank's part of it.
struct Array<T: Element> {
    buffer: Buffer<T>,
    /// The elements of this rank in the buffer.
    part: usize,
    /// Whether the buffer has the whole array.
    is_whole: bool,
}

impl<T: Element> Array<T> {
    /// Repeats what was drawn. A second buffer would not fit beside the longest arrays, so rank 0's part is a view.
    fn new(all: &Distributed, drawn: &[T], n: usize) -> Result<Self> {
        let share = all.share(n as u64);
        let is_whole = all.rank() == 0;
        let part = (share.end - share.start) as usize;
        let len = if is_whole { n } else { part };
        let mut buffer = all.device().alloc(len)?;
        let mut at = 0;
        while at < len {
            let first = (share.start as usize + at) % drawn.len();
            let piece = (drawn.len() - first).min(len - at);
            buffer.write(at, &drawn[first..first + piece])?;
            at += piece;
        }
        Ok(Self {
            buffer,
            part,
            is_whole,
        })
    }

    fn part(&self) -> Result<View<'_, T>, Error> {
        self.buffer.view(..self.part)
    }

    fn whole(&self) -> Option<View<'_, T>> {
        self.is_whole.then(|| (&self.buffer).into())
    }
}

/// Compares the results of every operator with those of one GPU, for every type of element; returns their number.
fn check(all: &Distributed) -> Result<usize> {
    let mut checked = 0;
    macro_rules! elements {
        ($($element:ident |$value:ident| $of:expr;)*) => { $(
            let drawn = draw::<$element>(|$value| $of);
            checked += check_array!($element, all, &Array::new(all, &drawn, CHECKED)?);
        )* };
    }
    elements! {
        i8 |x| x as i8;
        i32 |x| x as i32;
        u64 |x| x.abs() as u64;
        f16 |x| f16::from_f64(x);
        bf16 |x| bf16::from_f64(x);
        f32 |x| x as f32;
        f64 |x| x;
    }
    Ok(checked)
}
