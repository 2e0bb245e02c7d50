//! Runs segmented reductions in the simulator with all checks, a trial for each operator.
//!
//! A case has random segments: all empty, all of one item, short, around a tile, of several tiles, or short among long
//! ones; some items before and behind them; offsets of each width, or rows; and arrays that start anywhere. It is right if
//! there are no findings under any schedule, every segment has the bits of the single-pass kernel for its items, and no
//! other memory has changed. Then some offsets are made bad, and the kernels must report the first of them.
//!
//! Other trials compare the bits of each segment among the others with those in another order, among more, and alone.
//! [`trials`](kernels_sim::trials) says how many cases there are.

use std::process::ExitCode;

use cuda_sim::{Schedule, Simulator};
use kernels_gpu::element::{bf16, f16};
use kernels_gpu::entry::segments::PARTITION;
use kernels_gpu::entry::{Segments, SinglePass};
use kernels_gpu::op::{ArgMax, ArgMin, Max, MeanVariance, Min, Product, Sum, SumSquares, SumWide};
use kernels_gpu::segments::RUN;
use kernels_gpu::tile::items_of_tile;
use kernels_sim::Data;
use kernels_sim::data::DrawnItems;
use kernels_sim::kernels::{Histogram, Horner, Parity, Point, Spread, Volume};
use kernels_sim::segments::{
    Drawn, Input, KINDS, Kernels, Parts, Wrong, combines, overlaps, partitions, parts, reduce,
    runs_of_parts,
};
use kernels_sim::share::Share;
use kernels_sim::trials::{count_case, rounds, run, simulators};
use libtest_mimic::{Failed, Trial};
use rand::rngs::StdRng;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};

fn main() -> ExitCode {
    run("segments", trials)
}

fn trials(seed: u64) -> Vec<Trial> {
    let large = |name: &str, check: fn(u64, &dyn Fn() -> Simulator) -> Result<(), Wrong>| {
        Trial::test(name, move || {
            let simulator = || {
                Simulator::new()
                    .check_all()
                    .schedule(Schedule::Random(seed))
            };
            check(seed, &simulator).map_err(|wrong| format!("{wrong} (seed {seed})").into())
        })
    };
    let mut trials = vec![
        large("huge segments", |seed, simulator| {
            let random = &mut StdRng::seed_from_u64(seed);
            let tiles = random.random_range(RUN + 1..3 * RUN);
            combines(
                &<Sum as Segments<f32>>::ENTRIES[1],
                (random.random_range(1..4), tiles),
                seed,
                simulator,
            )
        }),
        // More runs than a warp combines at once, which are as many as 32 groups of an eighth of a run.
        large("a segment of runs of runs", |seed, simulator| {
            let tiles = 4 * RUN * RUN + 1;
            combines(
                &<Sum as Segments<f32>>::ENTRIES[1],
                (1, tiles),
                seed,
                simulator,
            )
        }),
        large("segments that overlap", |_, simulator| {
            overlaps(&Kernels::of::<f32, Sum>(), simulator)
        }),
        large("segments of several parts", |seed, simulator| {
            parts(&Kernels::of::<f32, Sum>(), seed, simulator)
        }),
        large("a segment of two runs of parts", |seed, simulator| {
            runs_of_parts(&Kernels::of::<f32, Sum>(), seed, simulator)
        }),
        // A block has no room to exchange them, as it does with short results.
        large("short rows with long results", |seed, simulator| {
            let kernels = Kernels::of::<u32, Histogram>();
            for len in [1, 2, 4] {
                let input =
                    Input::draw::<u32>(&kernels.window, Data::Rough, [0; 3], 700 * len, seed);
                reduce::<u32, _>(&kernels, Histogram, &input, &Parts::Rows(len), simulator)?;
            }
            Ok(())
        }),
        large("many windows", |seed, simulator| {
            partitions(&PARTITION.entries[0], seed, simulator)
        }),
    ];
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
    macro_rules! batches {
        ($($op:expr => $items:ty;)*) => { $(
            trials.push(batches::<$items, _>($op, seed));
        )* };
    }
    batches! {
        Sum => f32;
        Sum => f64;
        SumWide => f16;
        ArgMax => f32;
        MeanVariance => f32;
        Horner { x: 31 } => u32;
        Volume => (f32, f64, i8);
    }
    trials
}

/// The cases of all trials of batches, if all run. A case is a segment in two batches and alone.
const BATCH_CASES: usize = 10_000;

/// The trials of batches.
const BATCH_TRIALS: usize = 7;

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

/// A trial of segments in several batches.
fn batches<I: DrawnItems, O: Segments<I> + Send>(op: O, seed: u64) -> Trial {
    let name = O::ENTRIES[0].name;
    Trial::test(format!("batches {name}"), move || {
        let cases = match Share::of_environment(seed) {
            Share::All => BATCH_CASES.div_ceil(BATCH_TRIALS),
            Share::Fourth { .. } => 100,
        };
        let (mut done, mut seed) = (0, seed);
        while done < cases {
            done += in_batches::<I, O>(op, seed).map_err(|wrong| {
                let why = wrong.message().unwrap_or("failed");
                format!("{name}: {why} (seed {seed})")
            })?;
            seed = seed.wrapping_add(1);
        }
        (0..done).for_each(|_| count_case());
        Ok(())
    })
}

/// Compares random segments among each other with those in another order among others, and alone; the number of cases.
fn in_batches<I: DrawnItems, O: Segments<I>>(op: O, seed: u64) -> Result<usize, Failed> {
    let random = &mut StdRng::seed_from_u64(seed);
    let kernels = Kernels::of::<I, O>();
    let tile = items_of_tile::<I>();
    let (count, most) = match random.random_range(0..8) {
        0 => (4, 3 * tile),
        1 => (12, 300),
        2 | 3 => (60, 40),
        _ => (250, 9),
    };
    let lens: Vec<usize> = (0..count).map(|_| random.random_range(0..=most)).collect();
    let n = lens.iter().sum::<usize>() + 1;
    let start = random.random_range(0..5);
    let starts = [start, random.random_range(0..9), start];
    let input = Input::draw::<I>(&kernels.window, Data::Rough, starts, n, seed);
    let mut first = 0;
    let ranges = lens.iter().map(|len| {
        first += len;
        first - len..first
    });
    let ranges: Vec<_> = ranges.collect();
    let parts = |ends: Vec<i64>, random: &mut StdRng| match random.random_range(0..3) {
        0 => Parts::U32(ends),
        1 => Parts::I32(ends),
        _ => Parts::Wide(ends),
    };
    let simulator = || {
        let simulator = Simulator::new().check_all();
        simulator.schedule(Schedule::Random(seed))
    };
    let reduced = |input: &Input, parts: &Parts| {
        reduce::<I, O>(&kernels, op, input, parts, &simulator).map_err(|wrong| wrong.to_string())
    };
    let ends = ranges.iter().map(|range| range.end as i64);
    let wanted = reduced(
        &input,
        &parts([0].into_iter().chain(ends).collect(), random),
    )?;

    let mut numbers: Vec<Option<usize>> = (0..count).map(Some).collect();
    numbers.extend(vec![None; random.random_range(0..=count)]);
    numbers.shuffle(random);
    // Behind some items of no segment.
    let mut indices = vec![0; random.random_range(0..9)];
    let mut ends = vec![indices.len() as i64];
    for number in &numbers {
        let range = match number {
            Some(number) => ranges[*number].clone(),
            None => {
                let first = random.random_range(0..n);
                first..n.min(first + random.random_range(0..=most))
            }
        };
        indices.extend(range);
        ends.push(indices.len() as i64);
    }
    let got = reduced(&input.gathered(&indices), &parts(ends, random))?;
    let differs = |number: usize, got: &[u8], how: &str| {
        let wanted = &wanted[number];
        format!(
            "segment {number} of {count}, {} items: {got:?} {how}, not {wanted:?}",
            lens[number]
        )
    };
    for (got, number) in got.iter().zip(numbers) {
        if let Some(number) = number
            && *got != wanted[number]
        {
            return Err(differs(number, got, "in another batch").into());
        }
    }
    for number in 0..count {
        let mut indices = vec![0; random.random_range(0..9)];
        let first = indices.len();
        indices.extend(ranges[number].clone());
        let ends = vec![first as i64, indices.len() as i64];
        let got = reduced(&input.gathered(&indices), &parts(ends, random))?;
        if got[0] != wanted[number] {
            return Err(differs(number, &got[0], "alone").into());
        }
    }
    Ok(count)
}
