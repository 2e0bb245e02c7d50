//! `warpfold-bench exact`: the time of exact sums beside that of the default and of a read.
//!
//! Each round makes every call once: a read of as many bytes (the read ceiling), the default reduction and the exact one.
//! The time of the read is the device's, that of the other calls the host's, until it has the result. The exact results
//! are compared with sums of one item after another. CUB's sums have rounds of their own, and may be inexact.

use std::fs;
use std::hint::black_box;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use rayon::prelude::*;
use serde::Serialize;
use warpfold::{Accumulator, Buffer, Determinism, Device, Dot, Float, SinglePass, Sum, bf16, f16};
use warpfold_results::accuracy::By;

use crate::accuracy::peers::Cub;
use crate::machine::Started;
use crate::options::ExactOptions;
use crate::print_line;

/// The rounds of which the median is taken.
const ROUNDS: usize = 11;

/// The items that are drawn; longer arrays repeat them.
const DRAWN: usize = 1 << 22;

/// The magnitudes of the items.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Spread {
    /// Normally distributed.
    Normal,
    /// The exponents from -32 to 31.
    Binades,
    /// All exponents of normal numbers.
    All,
}

#[derive(Serialize)]
struct Row {
    op: &'static str,
    element: &'static str,
    spread: Spread,
    n: usize,
    /// The median time of each call in microseconds.
    read_us: Option<f64>,
    default_us: f64,
    exact_us: f64,
    /// CUB's, by default and in the mode `gpu_to_gpu`.
    cub_us: Option<f64>,
    cub_gpu_to_gpu_us: Option<f64>,
}

#[derive(Serialize)]
struct Record {
    #[serde(flatten)]
    started: Started,
    device: String,
    /// The versions of CUB and its compiler.
    cub: Option<String>,
    rounds: usize,
    rows: Vec<Row>,
}

pub fn run(options: &ExactOptions) -> Result<()> {
    let device = match options.cpu {
        true => Device::cpu(),
        false => Device::auto()?,
    };
    let cub = options.peers.then(|| Cub::build(&device)).transpose()?;
    let mut record = Record {
        started: Started::now()?,
        device: device.name().into(),
        cub: cub.as_ref().map(|cub| cub.version.clone()),
        rounds: ROUNDS,
        rows: vec![],
    };
    print_line(&format!(
        "{device}: microseconds, medians of {ROUNDS} rounds"
    ))?;
    print_line(
        "op  type spread        n       read    default      exact  of read  of default        cub gpu_to_gpu",
    )?;
    use Spread::{All, Binades, Normal};
    for n in &options.n {
        let (rows, cub) = (&mut record.rows, cub.as_ref());
        sum::<f64>(&device, *n, &[Normal, Binades, All], cub, rows)?;
        sum::<f32>(&device, *n, &[Normal, Binades], cub, rows)?;
        sum::<f16>(&device, *n, &[Normal], cub, rows)?;
        sum::<bf16>(&device, *n, &[Normal], cub, rows)?;
        dot::<f64>(&device, *n, rows)?;
        dot::<f32>(&device, *n, rows)?;
    }
    if let Some(file) = &options.json {
        let text = serde_json::to_string_pretty(&record)?;
        fs::write(file, text + "\n").with_context(|| format!("cannot write {}", file.display()))?;
    }
    Ok(())
}

/// The items that are drawn.
fn draw<T: Float>(spread: Spread, of: impl Fn(f64) -> T + Sync, seed: u64) -> Vec<T> {
    let exponents = match spread {
        Spread::All => T::MIN_EXPONENT + T::SIGNIFICAND as i32 - 1..T::MAX_EXPONENT - 1,
        _ => -32..32,
    };
    let item = |i: usize| {
        let mut random = StdRng::seed_from_u64(seed << 32 | i as u64);
        if spread == Spread::Normal {
            // Box and Muller's.
            let (u, angle) = (1.0 - random.random::<f64>(), random.random::<f64>());
            return of((-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * angle).cos());
        }
        let value =
            random.random_range(1.0..2.0) * 2f64.powi(random.random_range(exponents.clone()));
        of(if random.random() { value } else { -value })
    };
    (0..DRAWN).into_par_iter().map(item).collect()
}

/// An array on the device that repeats what was drawn.
fn repeated<T: Float>(device: &Device, drawn: &[T], n: usize) -> Result<warpfold::Buffer<T>> {
    let mut x = device.alloc(n)?;
    for start in (0..n).step_by(DRAWN) {
        x.write(start, &drawn[..DRAWN.min(n - start)])?;
    }
    Ok(x)
}

/// The exact sum of `n` terms that repeat, by one item after another.
fn expected(n: usize, add: impl Fn(&mut Accumulator, usize) + Sync) -> Accumulator {
    let of = |items: usize| {
        let parts = (0..items).into_par_iter().with_min_len(1 << 14);
        parts
            .fold(Accumulator::new, |mut sum, i| {
                add(&mut sum, i);
                sum
            })
            .reduce(Accumulator::new, |mut a, b| {
                a.merge(&b);
                a
            })
    };
    let (whole, mut sum) = (of(DRAWN.min(n)), of(n % DRAWN));
    for _ in 0..n / DRAWN {
        sum.merge(&whole);
    }
    sum
}

/// Conversions from the numbers that are drawn.
trait Drawn: Float {
    fn of(value: f64) -> Self;

    /// CUB's sum, for which `result` has room; `None` if it is not compared.
    fn by_cub(
        _: &Cub,
        _: &Device,
        _items: &Buffer<Self>,
        _result: &mut Buffer<Self>,
        _: By,
    ) -> Option<Result<Self>> {
        None
    }
}

macro_rules! drawn {
    ($($float:ident |$value:ident| $of:expr $(, $cub:ident)?;)*) => { $(
        impl Drawn for $float {
            fn of($value: f64) -> Self {
                $of
            }

            $(
                fn by_cub(
                    $cub: &Cub,
                    device: &Device,
                    items: &Buffer<Self>,
                    result: &mut Buffer<Self>,
                    by: By,
                ) -> Option<Result<Self>> {
                    Some($cub.sum_into(device, items, result, by))
                }
            )?
        }
    )* };
}

drawn! {
    f16 |value| f16::from_f64(value);
    bf16 |value| bf16::from_f64(value);
    f32 |value| value as f32, cub;
    f64 |value| value, cub;
}

fn sum<T: Drawn>(
    device: &Device,
    n: usize,
    spreads: &[Spread],
    cub: Option<&Cub>,
    rows: &mut Vec<Row>,
) -> Result<()>
where
    Sum: SinglePass<T, Output = T>,
{
    for spread in spreads {
        let drawn = draw(*spread, T::of, 1);
        let x = repeated(device, &drawn, n)?;
        let exact = device.determinism(Determinism::Exact);
        let right = expected(n, |sum, i| sum.add(drawn[i])).sum::<T>();
        let row = Row {
            op: "sum",
            element: T::NAME,
            spread: *spread,
            n,
            read_us: None,
            default_us: 0.0,
            exact_us: 0.0,
            cub_us: None,
            cub_gpu_to_gpu_us: None,
        };
        let default = || {
            black_box(device.reduce(&x, Sum).run()?);
            Ok(())
        };
        let is_right = || {
            let got: T = exact.reduce(&x, Sum).run()?;
            ensure!(got == right, "{got:?} instead of {right:?}");
            Ok(())
        };
        let mut row = time(device, row, n * size_of::<T>(), default, is_right)?;
        // Its time does not depend on the data.
        if let Some(cub) = cub.filter(|_| *spread == Spread::Normal) {
            time_cub(cub, device, &x, right, &mut row)?;
        }
        print_row(&row)?;
        rows.push(row);
    }
    Ok(())
}

/// Times CUB's sums in turn, each until the host has the result.
fn time_cub<T: Drawn>(
    cub: &Cub,
    device: &Device,
    x: &Buffer<T>,
    right: T,
    row: &mut Row,
) -> Result<()> {
    let mut result = device.alloc(1)?;
    let mut times = [vec![], vec![]];
    for round in 0..=ROUNDS {
        for (by, times) in cub.modes().zip(&mut times) {
            let start = Instant::now();
            let Some(got) = T::by_cub(cub, device, x, &mut result, by) else {
                return Ok(());
            };
            let (got, right) = (got?.exactly(), right.exactly());
            let time = start.elapsed().as_secs_f64() * 1e6;
            // The terms are about 1, and sums of a few of them lose nothing.
            ensure!(
                (got - right).abs() <= 1e-6 * x.len() as f64,
                "{}: {got} instead of {right}",
                by.title()
            );
            // The first round takes the temporary storage.
            if round > 0 {
                times.push(time);
            }
        }
    }
    [row.cub_us, row.cub_gpu_to_gpu_us] = times.map(median);
    Ok(())
}

/// The median; `None` if there are no times.
pub(crate) fn median(mut times: Vec<f64>) -> Option<f64> {
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied()
}

fn dot<T: Drawn>(device: &Device, n: usize, rows: &mut Vec<Row>) -> Result<()>
where
    Dot: SinglePass<(T, T), Output = f64>,
{
    let spread = Spread::Normal;
    let (a, b) = (draw(spread, T::of, 1), draw(spread, T::of, 2));
    let (x, y) = (repeated(device, &a, n)?, repeated(device, &b, n)?);
    let exact = device.determinism(Determinism::Exact);
    let right = expected(n, |sum, i| sum.add_product(a[i], b[i])).sum::<f64>();
    let row = Row {
        op: "dot",
        element: T::NAME,
        spread,
        n,
        read_us: None,
        default_us: 0.0,
        exact_us: 0.0,
        cub_us: None,
        cub_gpu_to_gpu_us: None,
    };
    let default = || {
        black_box(device.reduce((&x, &y), Dot).run()?);
        Ok(())
    };
    let is_right = || {
        let got = exact.reduce((&x, &y), Dot).run()?;
        ensure!(got == right, "{got:?} instead of {right:?}");
        Ok(())
    };
    let row = time(device, row, 2 * n * size_of::<T>(), default, is_right)?;
    print_row(&row)?;
    rows.push(row);
    Ok(())
}

/// Times the calls of a row in turn.
fn time(
    device: &Device,
    mut row: Row,
    bytes: usize,
    default: impl Fn() -> Result<()>,
    exact: impl Fn() -> Result<()>,
) -> Result<Row> {
    let zeros = match device.is_gpu() {
        true => Some(device.alloc::<f32>(bytes / size_of::<f32>())?),
        false => None,
    };
    let mut read = zeros.as_ref().map(|x| device.read_ceiling(x)).transpose()?;
    let mut times = [vec![], vec![], vec![]];
    let of_call = |call: &dyn Fn() -> Result<()>| -> Result<f64> {
        let start = Instant::now();
        call()?;
        Ok(start.elapsed().as_secs_f64() * 1e6)
    };
    // The first round loads the kernels.
    for round in 0..=ROUNDS {
        if let Some(read) = &mut read {
            times[0].push(device.time(|| read.enqueue())? * 1e3);
        }
        times[1].push(of_call(&default)?);
        times[2].push(of_call(&exact)?);
        if round == 0 {
            times.iter_mut().for_each(Vec::clear);
        }
    }
    let [read_us, default_us, exact_us] = times.map(median);
    row.read_us = read_us;
    row.default_us = default_us.context("a round")?;
    row.exact_us = exact_us.context("a round")?;
    Ok(row)
}

fn print_row(row: &Row) -> Result<()> {
    let time = |us: Option<f64>| us.map_or("-".into(), |us| format!("{us:.1}"));
    print_line(&format!(
        "{:3} {:>4} {:7} {:>10} {:>9} {:>10.1} {:>10.1} {:>8} {:>11.2} {:>10} {:>10}",
        row.op,
        row.element,
        format!("{:?}", row.spread).to_lowercase(),
        row.n,
        time(row.read_us),
        row.default_us,
        row.exact_us,
        row.read_us
            .map_or("-".into(), |us| format!("{:.3}", us / row.exact_us)),
        row.exact_us / row.default_us,
        time(row.cub_us),
        time(row.cub_gpu_to_gpu_us),
    ))?;
    Ok(())
}
