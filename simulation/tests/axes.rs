//! Runs reductions along axes in the simulator with all checks, a trial for each operator.
//!
//! A case has random dimensions, kept and reduced, and an array whose strides have any order and sign, with gaps, or are 0. It is right
//! if there are no findings under any schedule, every column has the bits of the single-pass kernel for its gathered items,
//! and no other memory has changed.
//!
//! By default there are few cases; with `WARPFOLD_TESTS=all`, many. `WARPFOLD_SEED=<number>` repeats the run with that
//! seed.

use std::env;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use cuda_sim::{Buffer, Schedule, Simulator};
use kernels_gpu::axes::{Dim, Shape, THREADS, combine};
use kernels_gpu::element::{bf16, f16};
use kernels_gpu::entry::{Axes, SinglePass};
use kernels_gpu::items::Items;
use kernels_gpu::op::{ArgMax, ArgMin, Max, MeanVariance, Min, Product, Sum, SumSquares, SumWide};
use kernels_gpu::tile::items_of_tile;
use kernels_sim::Data;
use kernels_sim::axes::reduce;
use kernels_sim::data::DrawnItems;
use kernels_sim::kernels::{Histogram, Horner, Parity, Point, Spread, Volume};
use kernels_sim::launch::{Array, launch};
use kernels_sim::segments::{Input, whole};
use kernels_sim::share::Share;
use libtest_mimic::{Arguments, Failed, Trial};
use rand::rngs::StdRng;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};

/// The kinds of cases.
const KINDS: u64 = 8;

/// The columns of a case that are compared, if it has more.
const COMPARED: usize = 24;

static CASES: AtomicU64 = AtomicU64::new(0);

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let seed = env::var("WARPFOLD_SEED").ok();
    let seed = seed
        .and_then(|seed| seed.parse().ok())
        .unwrap_or_else(|| rand::random::<u32>().into());
    let began = Instant::now();
    let conclusion = libtest_mimic::run(&arguments, trials(seed));
    if !arguments.list {
        println!(
            "summary: axes: {} cases, all checks on (seed {seed}, {:.1} s)",
            CASES.load(Ordering::Relaxed),
            began.elapsed().as_secs_f64()
        );
    }
    conclusion.exit_code()
}

fn trials(seed: u64) -> Vec<Trial> {
    let mut trials = vec![Trial::test("long columns in several rounds", move || {
        several_rounds(seed)
    })];
    macro_rules! add {
        ($($op:expr => $items:ty;)*) => { $(
            trials.push(trial::<$items, _>($op, seed));
        )* };
    }
    add! {
        Sum => f32;
        SumWide => i8;
        SumWide => f32;
        Sum => f64;
        Sum => f16;
        Sum => u8;
        Sum => i64;
        Min => i32;
        Max => bf16;
        Product => f32;
        ArgMin => f64;
        ArgMax => f32;
        MeanVariance => f32;
        MeanVariance => f64;
        SumSquares => f64;
        Horner { x: 31 } => u32;
        Horner { x: 1_000_003 } => (u32, u8);
        Spread { centre: Point { x: [0.5, -0.25, 0.125] } } => Point;
        Volume => (f32, f64, i8);
        Parity => [u16; 3];
        Histogram => u8;
    }
    trials
}

fn trial<I: DrawnItems, O: Axes<I> + SinglePass<I> + Send>(op: O, seed: u64) -> Trial {
    let name = <O as Axes<I>>::ENTRIES[0].name;
    Trial::test(format!("simulator {name}"), move || {
        let rounds = match Share::of_environment(seed) {
            Share::All => 5 * KINDS,
            Share::Fourth { .. } => 2,
        };
        for round in 0..rounds {
            // Each kind in turn.
            let seed = seed.wrapping_add(round);
            check::<I, O>(op, seed).map_err(|wrong| {
                let why = wrong.message().unwrap_or("failed");
                format!("{name}: {why} (seed {seed})")
            })?;
        }
        Ok(())
    })
}

/// The lengths of the kept and of the reduced dimensions.
fn lens<I: Items>(random: &mut StdRng, kind: u64) -> (Vec<usize>, Vec<usize>) {
    let tile = items_of_tile::<I>();
    let mut few = |most: usize| random.random_range(1..=most);
    match kind {
        // Many short columns.
        0 => (vec![few(900)], vec![few(9)]),
        1 => (vec![few(40)], vec![few(300)]),
        // Several tiles.
        2 => (vec![few(5)], vec![tile + few(2 * tile)]),
        // Tiles in runs.
        3 => (vec![few(3)], vec![few(3), tile]),
        // Ends of tiles.
        4 => (vec![few(3), few(3)], vec![tile - 2 + few(4)]),
        // One column, or items of one column each.
        5 => match few(2) {
            1 => (vec![], vec![few(5), few(tile / 3)]),
            _ => (vec![few(50), few(5)], vec![]),
        },
        _ => {
            let mut dims = |count: usize, most: usize| (0..count).map(|_| few(most)).collect();
            match kind {
                6 => (dims(2, 6), dims(3, 9)),
                _ => (dims(4, 3), dims(4, 4)),
            }
        }
    }
}

/// Strides for these lengths in any order, some with gaps or 0, and the number of items that they span.
fn strides(random: &mut StdRng, lens: &[usize]) -> (Vec<Dim>, usize) {
    let mut order: Vec<usize> = (0..lens.len()).collect();
    match random.random_range(0..3) {
        0 => order.reverse(),
        1 => {}
        _ => order.shuffle(random),
    }
    let mut dims = vec![Dim { len: 1, stride: 0 }; lens.len()];
    let backwards = [0.0, 0.5, 1.0][random.random_range(0..3)];
    let (mut stride, mut last) = (1, 0);
    for axis in order {
        let len = lens[axis];
        let own = match random.random_range(0..12) {
            0 => 0,
            1 => stride + random.random_range(0..3),
            _ => stride,
        };
        let sign = if random.random_bool(backwards) { -1 } else { 1 };
        dims[axis] = Dim {
            len,
            stride: sign * own as isize,
        };
        last += (len - 1) * own;
        stride = stride.max(own * len);
    }
    (dims, last + 1)
}

/// The offset of index `index` in C order.
fn offset(dims: &[Dim], mut index: usize) -> isize {
    let mut offset = 0;
    for dim in dims.iter().rev() {
        offset += (index % dim.len) as isize * dim.stride;
        index /= dim.len;
    }
    offset
}

/// The index of the item at index 0 of all dimensions, behind those of backward dimensions.
fn start_of(dims: &[Dim]) -> isize {
    let lowest = dims
        .iter()
        .map(|dim| (dim.len as isize - 1) * dim.stride.min(0));
    -lowest.sum::<isize>()
}

fn check<I: DrawnItems, O: Axes<I> + SinglePass<I>>(op: O, seed: u64) -> Result<(), Failed> {
    let random = &mut StdRng::seed_from_u64(seed);
    let (kept, reduced) = lens::<I>(random, seed % KINDS);
    let lens = [kept.as_slice(), &reduced].concat();
    let (dims, n) = strides(random, &lens);
    let (kept, reduced) = dims.split_at(kept.len());
    // Several arrays with the same alignment, or with others.
    let start = random.random_range(0..5);
    let apart = random.random_range(0..2) * random.random_range(0..4);
    let data = [Data::Rough, Data::Rough, Data::Zeroes][random.random_range(0..3)];
    let starts = [start, start + apart, start];
    let input = Input::draw::<I>(&<O as Axes<I>>::ENTRIES[0], data, starts, n, seed);
    let mut first: Option<Vec<Vec<u8>>> = None;
    for (schedule, arch) in [
        (Schedule::Forward, 900),
        (Schedule::Reverse, 750),
        (Schedule::Random(seed), 800),
    ] {
        let simulator = || Simulator::new().check_all().schedule(schedule).arch(arch);
        let got = reduce::<I, O>(op, &input, kept, reduced, &simulator)
            .map_err(|wrong| format!("{wrong} ({schedule:?}, arch {arch}, {dims:?})"))?;
        if *first.get_or_insert_with(|| got.clone()) != got {
            return Err(format!("the bits differ under {schedule:?}").into());
        }
    }
    let got = first.expect("there are schedules");
    let items: usize = reduced.iter().map(|dim| dim.len).product();
    for compared in 0..got.len().min(COMPARED) {
        let column = match (got.len() <= COMPARED, compared) {
            (true, _) => compared,
            (_, 0 | 1) => compared * (got.len() - 1),
            _ => random.random_range(0..got.len()),
        };
        let base = start_of(&dims) + offset(kept, column);
        let indices = (0..items).map(|i| (base + offset(reduced, i)) as usize);
        let indices: Vec<usize> = indices.collect();
        let wanted = whole::<I, O>(op, &input.gathered(&indices), 0, items)?;
        if got[column] != wanted {
            return Err(format!(
                "column {column} of {kept:?}, reduced {reduced:?}: {:?} instead of {wanted:?}",
                got[column],
            )
            .into());
        }
    }
    CASES.fetch_add(1, Ordering::Relaxed);
    Ok(())
}

/// Combines random partials of columns that are too long for a test of the other kernel.
fn several_rounds(seed: u64) -> Result<(), Failed> {
    let random = &mut StdRng::seed_from_u64(seed);
    let tile = items_of_tile::<f32>();
    let tiles = random.random_range(combine::RUN + 1..3 * combine::RUN);
    let columns = random.random_range(1..4);
    let dims =
        [columns, tiles * tile - random.random_range(0..tile)].map(|len| Dim { len, stride: 1 });
    let shape = Shape::new::<f32, Sum>(&dims[..1], &dims[1..]);
    let partials: Vec<f32> = (0..tiles * columns)
        .map(|_| random.random_range(-1.0..1.0))
        .collect();
    let wanted = (0..columns).map(|column| {
        let mut level: Vec<f32> = (0..tiles)
            .map(|tile| partials[tile * columns + column])
            .collect();
        while level.len() > 1 {
            let pairs = level.chunks(2);
            level = pairs
                .map(|pair| {
                    pair.iter()
                        .copied()
                        .reduce(|a, b| a + b)
                        .unwrap_or_default()
                })
                .collect();
        }
        level[0].to_bits()
    });
    let wanted: Vec<u32> = wanted.collect();
    let partials = Buffer::from(&partials);
    let output: Buffer<f32> = Buffer::uninitialised(columns);
    for round in 0..combine::rounds(shape.tiles) {
        let shape = shape.of_round(round);
        let arrays = [
            Array::new("shape", &raw const shape, 1),
            Array::new("output", output.as_ptr(), columns),
            Array::new("partials", partials.as_ptr(), partials.len()),
        ];
        let simulator = Simulator::new()
            .check_all()
            .schedule(Schedule::Random(seed));
        let entry = &<Sum as Axes<f32>>::ENTRIES[1];
        // SAFETY: the arrays exist, and have the lengths that the shape asks for.
        unsafe { launch(entry, simulator.grid(3).block(THREADS), Sum, &arrays) }
            .map_err(|failure| format!("{failure} (seed {seed})"))?;
    }
    let got: Vec<u32> = output.to_vec().iter().map(|sum| sum.to_bits()).collect();
    match got == wanted {
        true => Ok(()),
        false => Err(format!("{got:?} instead of {wanted:?} (seed {seed})").into()),
    }
}
