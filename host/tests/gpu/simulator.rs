//! Tests that the simulator and the device agree bit for bit, for every entry with a random n, start, number
//! of threads and grid: each block stores the same partial, and a single-pass reduction the same accumulator.
//!
//! Floats agree as well if the order of additions is fixed; otherwise the data is such that sums do not
//! round.

use std::error::Error;
use std::sync::Arc;

use cuda_sim::{Schedule, Simulator};
use kernels_gpu::entry::{Entry, teaching};
use kernels_gpu::needs::{Load, ResultIn};
use kernels_gpu::single_pass::most_threads;
use kernels_sim::case::Launched;
use kernels_sim::oracle::{Drawn, Value, same};
use kernels_sim::{Case, Data, for_all_pairs};
use libtest_mimic::{Completion, Trial};
use rand::rngs::StdRng;
use rand::seq::IteratorRandom;
use rand::{RngExt, SeedableRng};
use warpfold::{
    Algorithm, And, ArgMax, ArgMin, Buffer, Ceiling, Device, Indexed, Ladder, Max, Min, NanArgMax,
    NanArgMin, NanMax, NanMin, NanSum, Or, Plan, Product, SinglePass, Sum, SumWide, Xor, bf16, f16,
};

use crate::lab::Lab;
use crate::ladder::{algorithms, for_all_ladders};
use crate::sizes::THREADS;

/// Launches of each entry.
const LAUNCHES: u64 = 12;

/// Compares a launch on the device.
type Compare = fn(&Draw, &Device) -> Result<(), Box<dyn Error>>;

pub fn trials(lab: &Arc<Lab>) -> Vec<Trial> {
    let mut trials: Vec<Trial> = vec![];
    let mut add = |entry: &'static Entry, compare: Compare| {
        let name = format!("simulator {}", entry.name);
        let index = trials.len() as u64;
        trials.push(lab.trial(name, move |lab, device| {
            let launches = if lab.light { 1 } else { LAUNCHES };
            let exponent = if lab.light { 11.0 } else { 17.0 };
            for launch in index * LAUNCHES..index * LAUNCHES + launches {
                let draw = Draw::new(*entry, lab.seed ^ launch, exponent);
                compare(&draw, device).map_err(|wrong| format!("{wrong} (seed {})", lab.seed))?;
            }
            Ok(Completion::Completed)
        }));
    };
    macro_rules! ladder {
        ($op:ident $element:ident) => {
            for entry in <$op as Ladder<$element>>::ENTRIES {
                add(entry, |draw, device| {
                    draw.ladder::<$element, _>(device, $op)
                });
            }
        };
    }
    for_all_ladders!(ladder);
    macro_rules! ceilings {
        ($($element:ident)*) => { $(
            for entry in <Sum as Ceiling<$element>>::ENTRIES {
                add(entry, Draw::ceiling::<$element>);
            }
        )* };
    }
    ceilings!(i32 i64 f32 f64);
    let triples = |entry: &&Entry| entry.kernel.starts_with("triple");
    let compared = teaching::KERNELS
        .entries
        .iter()
        .filter(|entry| !triples(entry));
    let compared = compared.count();
    macro_rules! single_pass {
        ($op:ident $element:ty) => {
            add(<$op as SinglePass<$element>>::ENTRY, |draw, device| {
                draw.single_pass::<$element, _>(device, $op)
            });
        };
    }
    let mut all = 0;
    macro_rules! count {
        ($op:ident $element:ty) => {
            all += 1;
        };
    }
    for_all_pairs!(count);
    for_all_pairs!(single_pass);
    assert_eq!(trials.len(), compared + all, "a comparison for every row");
    trials
}

/// One launch, drawn at random.
struct Draw {
    case: Case,
    /// The elements per thread with which the library chooses the case's grid.
    chunks: u32,
}

impl Draw {
    /// A launch of fewer than `2^exponent` elements.
    fn new(entry: Entry, seed: u64, exponent: f64) -> Self {
        let rng = &mut StdRng::seed_from_u64(seed);
        // Short and long inputs are equally frequent.
        let n = 2.0f64.powf(rng.random_range(0.0..exponent)) as usize;
        let threads = match entry.kernel {
            "read_ceiling" => 256,
            "single_pass" => {
                let most = most_threads(entry.acc_bytes);
                let allowed = THREADS.iter().filter(|threads| **threads <= most);
                *allowed.choose(rng).expect("32 threads are always allowed")
            }
            _ => THREADS[rng.random_range(0..THREADS.len())],
        };
        let limited = matches!(entry.needs.load, Load::Elements(_));
        let chunks = match (entry.kernel, entry.needs.per_thread) {
            ("read_ceiling", _) => 256 / entry.read_bytes[0] as u32,
            (_, None) if limited => entry.load_items() as u32,
            (_, None) => rng.random_range(1..=40),
            (_, Some(elements)) => elements,
        };
        // If the hardware chooses the order, no step may round.
        let single_pass = entry.kernel == "single_pass";
        let data = match entry.needs.result {
            ResultIn::OneCell if entry.op == "sum" && !single_pass => Data::Whole,
            _ => Data::ALL[rng.random_range(0..Data::ALL.len())],
        };
        let blocks = n.div_ceil((chunks * threads) as usize) as u32;
        let case = Case {
            blocks: match entry.needs.per_thread {
                None if limited => blocks.min(1024),
                _ => blocks,
            },
            starts: [rng.random_range(0..8) * entry.start_elements(), 0, 0],
            data,
            seed,
            ..Case::new(entry, threads, n)
        };
        Self { case, chunks }
    }

    fn ladder<T, O>(&self, device: &Device, op: O) -> Result<(), Box<dyn Error>>
    where
        T: Drawn,
        O: SinglePass<T> + Ladder<T>,
    {
        let (launched, memory) = (self.simulated()?, self.upload::<T>(device)?);
        let reduction = device.reduce(memory.view(self.case.starts[0]..)?, op);
        let reduction = reduction.algorithm(self.algorithm());
        let plan = reduction.threads(self.case.threads).plan()?;
        self.compare::<T, _>(&launched, plan)
    }

    fn ceiling<T: Drawn>(&self, device: &Device) -> Result<(), Box<dyn Error>>
    where
        Sum: Ceiling<T, Output = T>,
    {
        let (launched, memory) = (self.simulated()?, self.upload::<T>(device)?);
        let plan = device.read_ceiling(memory.view(self.case.starts[0]..)?)?;
        self.compare::<T, _>(&launched, plan)
    }

    fn single_pass<T, O>(&self, device: &Device, op: O) -> Result<(), Box<dyn Error>>
    where
        T: Drawn,
        O: SinglePass<T, Acc: Value>,
    {
        let memory = self.upload::<T>(device)?;
        let reduction = device.reduce(memory.view(self.case.starts[0]..)?, op);
        let plan = reduction.threads(self.case.threads).plan()?;
        let case = Case {
            // One more if the tiles are shifted to aligned addresses.
            blocks: plan.passes()[0].blocks,
            ..self.case
        };
        let draw = Self { case, ..*self };
        draw.compare::<O::Acc, _>(&draw.simulated()?, plan)
    }

    /// Uploads the case's input, with the same start.
    fn upload<T: Drawn>(&self, device: &Device) -> Result<Buffer<T>, warpfold::Error> {
        let (items, _) = self.case.draw::<T>();
        let before = vec![T::ZEROES[0]; self.case.starts[0]];
        device.upload(&[before, items].concat())
    }

    fn simulated(&self) -> Result<Launched, kernels_sim::Wrong> {
        let schedule = Schedule::Random(self.case.seed);
        self.case
            .launch(Simulator::new().check_all().schedule(schedule))
    }

    /// Compares the results of the first pass: values of `A`.
    fn compare<A: Value, R>(
        &self,
        simulated: &Launched,
        mut plan: Plan<'_, R>,
    ) -> Result<(), Box<dyn Error>> {
        let Self { case, .. } = self;
        let pass = plan.passes()[0];
        if (pass.blocks, pass.threads) != (case.blocks, case.threads) {
            return Err(format!("{case}: the library launches {pass:?}").into());
        }
        plan.fill_scratch(0xff)?;
        let on_device = Launched {
            bytes: plan.first_outputs()?,
            ..simulated.clone()
        };
        let (on_device, simulated) = (on_device.outputs::<A>(), simulated.outputs::<A>());
        if on_device.len() != simulated.len() {
            return Err(format!("{case}: {} outputs on the device", on_device.len()).into());
        }
        for (i, (on_device, simulated)) in on_device.iter().zip(&simulated).enumerate() {
            if !same(*on_device, *simulated) {
                return Err(format!(
                    "{case}: output {i} is {on_device:?} on the device, {simulated:?} simulated"
                )
                .into());
            }
        }
        Ok(())
    }

    fn algorithm(&self) -> Algorithm {
        match self.case.entry.kernel {
            "reduce_5" => Algorithm::Reduce5Loop {
                chunks: self.chunks,
            },
            kernel => algorithms(kernel)[0],
        }
    }
}
