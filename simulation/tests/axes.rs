//! Runs reductions along axes in the simulator with all checks, a trial for each operator.
//!
//! A case has random dimensions, kept and reduced, and an array whose strides have any order and sign, with gaps, or are 0. It is right
//! if there are no findings under any schedule, every column has the bits of the single-pass kernel for its gathered items,
//! and no other memory has changed.
//!
//! [`trials`](kernels_sim::trials) says how many cases there are.

use std::process::ExitCode;

use cuda_sim::{Schedule, Simulator};
use kernels_gpu::element::{bf16, f16};
use kernels_gpu::entry::{Axes, SinglePass};
use kernels_gpu::op::{ArgMax, ArgMin, Max, MeanVariance, Min, Product, Sum, SumSquares, SumWide};
use kernels_sim::axes::{self, Drawn, KINDS, Kernels, reduce};
use kernels_sim::data::DrawnItems;
use kernels_sim::kernels::{Histogram, Horner, Parity, Point, Spread, Volume};
use kernels_sim::trials::{rounds, run, simulators};
use libtest_mimic::{Failed, Trial};
use rand::SeedableRng;
use rand::rngs::StdRng;

fn main() -> ExitCode {
    run("axes", trials)
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
        rounds(seed, 2, 5 * KINDS, |seed| check::<I, O>(op, seed))
    })
}

fn check<I: DrawnItems, O: Axes<I> + SinglePass<I>>(op: O, seed: u64) -> Result<(), Failed> {
    let kernels = Kernels::of::<I, O>();
    let mut drawn = Drawn::draw::<I>(&kernels.columns, seed % KINDS, seed);
    let mut first: Option<Vec<Vec<u8>>> = None;
    for (schedule, simulator) in simulators(seed) {
        let got = reduce::<I, O>(&kernels, op, &drawn, &|| simulator.clone()).map_err(|wrong| {
            format!("{wrong} ({schedule}, {:?})", (&drawn.kept, &drawn.reduced))
        })?;
        if *first.get_or_insert_with(|| got.clone()) != got {
            return Err(format!("the bits differ under {schedule}").into());
        }
    }
    Ok(drawn.check::<I, O>(op, &first.expect("there are schedules"))?)
}

fn several_rounds(seed: u64) -> Result<(), Failed> {
    let simulator = || {
        Simulator::new()
            .check_all()
            .schedule(Schedule::Random(seed))
    };
    let entry = &<Sum as Axes<f32>>::ENTRIES[1];
    axes::several_rounds(entry, &mut StdRng::seed_from_u64(seed), &simulator)
        .map_err(|wrong| format!("{wrong} (seed {seed})").into())
}
