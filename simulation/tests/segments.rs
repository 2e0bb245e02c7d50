//! Runs segmented reductions in the simulator with all checks, a trial for each operator.
//!
//! A case has random segments: all empty, all of one item, short, around a tile, of several tiles, or short among long
//! ones; some items before and behind them; offsets of each width, or rows; and arrays that start anywhere. It is right if
//! there are no findings under any schedule, every segment has the bits of the single-pass kernel for its items, and no
//! other memory has changed. Then some offsets are made bad, and the kernels must report the first of them.
//!
//! [`trials`](kernels_sim::trials) says how many cases there are.

use std::process::ExitCode;

use cuda_sim::{Buffer, Schedule, Simulator};
use kernels_gpu::element::{bf16, f16};
use kernels_gpu::entry::{Segments, SinglePass};
use kernels_gpu::op::{ArgMax, ArgMin, Max, MeanVariance, Min, Product, Sum, SumSquares, SumWide};
use kernels_gpu::segments::{Layout, Shape, THREADS, combine, window_of};
use kernels_gpu::tile::items_of_tile;
use kernels_sim::data::{DrawnItems, rough};
use kernels_sim::kernels::{Histogram, Horner, Parity, Point, Spread, Volume};
use kernels_sim::launch::{Array, launch};
use kernels_sim::segments::{Drawn, KINDS, Kernels, reduce};
use kernels_sim::trials::{rounds, run, simulators};
use libtest_mimic::{Failed, Trial};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

fn main() -> ExitCode {
    run("segments", trials)
}

fn trials(seed: u64) -> Vec<Trial> {
    let mut trials = vec![Trial::test("long segments in several rounds", move || {
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

fn trial<I: DrawnItems, O: Segments<I> + SinglePass<I> + Send>(op: O, seed: u64) -> Trial {
    Trial::test(format!("simulator {}", O::ENTRIES[0].name), move || {
        rounds(seed, 2, 5 * KINDS, |seed| {
            check::<I, O>(op, seed).map_err(|wrong| {
                let why = wrong.message().unwrap_or("failed");
                format!("{}: {why}", O::ENTRIES[0].name)
            })
        })
    })
}

fn check<I: DrawnItems, O: Segments<I> + SinglePass<I>>(op: O, seed: u64) -> Result<(), Failed> {
    let kernels = Kernels::of::<I, O>();
    let mut drawn = Drawn::draw::<I>(&kernels.window, seed % KINDS, seed);
    let mut first: Option<Vec<Vec<u8>>> = None;
    for (schedule, simulator) in simulators(seed) {
        let simulator = || simulator.clone();
        let got = reduce::<I, O>(&kernels, op, &drawn.input, &drawn.parts, &simulator)
            .map_err(|wrong| format!("{wrong} ({schedule})"))?;
        if *first.get_or_insert_with(|| got.clone()) != got {
            return Err(format!("the bits differ under {schedule}").into());
        }
    }
    drawn.check::<I, O>(op, &first.expect("there are schedules"))?;
    let first_bad = drawn.spoil();
    let simulator = || Simulator::new().check_all();
    let ended = reduce::<I, O>(&kernels, op, &drawn.input, &drawn.parts, &simulator);
    let checked = drawn.check_spoiled(first_bad, ended);
    checked.map_err(|wrong| format!("{wrong}; the first bad offset is {first_bad:?}").into())
}

/// Combines random partials of segments that are too long for a test of the other kernels.
fn several_rounds(seed: u64) -> Result<(), Failed> {
    let random = &mut StdRng::seed_from_u64(seed);
    let tile = items_of_tile::<f32>();
    let tiles = random.random_range(combine::RUN + 1..3 * combine::RUN);
    let count = random.random_range(1..3);
    let row = tiles * tile - random.random_range(0..tile);
    let layout = Layout::of::<f32>(row * count, count);
    let mut partials = vec![0f32; layout.partials()];
    let mut wanted = vec![];
    for segment in 0..count {
        let cell = (segment * row + segment) / tile;
        let mut level: Vec<f32> = (0..tiles).map(|_| rough(random)).collect();
        partials[cell] = level[0];
        let others = layout.cells + cell + 1;
        partials[others..][..tiles - 1].copy_from_slice(&level[1..]);
        while level.len() > 1 {
            level = level
                .chunks(2)
                .map(|pair| {
                    pair.iter()
                        .copied()
                        .reduce(|a, b| a + b)
                        .unwrap_or_default()
                })
                .collect();
        }
        wanted.push(level[0].to_bits());
    }
    let partials = Buffer::from(&partials);
    let output: Buffer<f32> = Buffer::uninitialised(count);
    let work: Buffer<u64> = Buffer::uninitialised(layout.words());
    let counts: Buffer<u32> = Buffer::uninitialised(2);
    let (narrow, wide): (Buffer<u32>, Buffer<u64>) = (Buffer::from(&[]), Buffer::from(&[]));
    let rounds = combine::rounds(tiles);
    for round in 0..rounds {
        let shape = Shape {
            segments: count as u64,
            row: row as u64,
            signed: 0,
            window: window_of::<f32>() as u64,
            windows: layout.windows as u64,
            round,
            is_last: (round + 1 == rounds).into(),
        };
        let arrays = [
            Array::new("shape", &raw const shape, 1),
            Array::new("narrow", narrow.as_ptr(), 0),
            Array::new("wide", wide.as_ptr(), 0),
            Array::new("output", output.as_ptr(), count),
            Array::new("partials", partials.as_ptr(), layout.partials()),
            Array::new("work", work.as_ptr(), layout.words()),
            Array::new("counts", counts.as_ptr(), counts.len()),
        ];
        let simulator = Simulator::new()
            .check_all()
            .schedule(Schedule::Random(seed));
        let entry = &<Sum as Segments<f32>>::ENTRIES[1];
        // SAFETY: the arrays exist, and have the lengths of the layout.
        unsafe { launch(entry, simulator.grid(3).block(THREADS), Sum, &arrays) }
            .map_err(|failure| format!("{failure} (seed {seed})"))?;
    }
    let got: Vec<u32> = output.to_vec().iter().map(|sum| sum.to_bits()).collect();
    match got == wanted {
        true => Ok(()),
        false => Err(format!("{got:?} instead of {wanted:?} (seed {seed})").into()),
    }
}
