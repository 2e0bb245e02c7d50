//! The simulator and the device agree, bit for bit: for every entry, at a random n, start, number
//! of threads and grid, each block leaves the same partial on both.
//!
//! Of floats too, where the order of additions is fixed; where it is the hardware's, with data
//! whose sum does not round.

use std::error::Error;
use std::sync::Arc;

use cuda_sim::{Schedule, Simulator};
use kernels_gpu::element::{
    Element as Number, indexed_f32, indexed_f64, indexed_i32, indexed_i64, indexed_u32, indexed_u64,
};
use kernels_gpu::entry::{ENTRIES, Entry};
use kernels_gpu::needs::{Load, ResultIn};
use kernels_gpu::op::Op;
use kernels_sim::case::{Launched, Wrong};
use kernels_sim::oracle::{Drawn, Oracle, Value, same};
use kernels_sim::{Case, Data, for_all_pairs};
use libtest_mimic::{Completion, Trial};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use warpfold::{
    Algorithm, And, ArgMax, ArgMin, Device, Element, Max, Min, NanMax, NanMin, Operator, Or, Plan,
    Product, Sum, SumWide, Xor, bf16, f16,
};

use crate::lab::Lab;
use crate::ladder::algorithms;
use crate::sizes::THREADS;

/// Launches of each entry.
const LAUNCHES: u64 = 12;

pub fn trials(lab: &Arc<Lab>) -> Vec<Trial> {
    (0..)
        .zip(ENTRIES)
        .map(|(index, entry)| {
            let name = format!("simulator {}", entry.name);
            macro_rules! agree {
                ($by:ident: $($types:ident)+) => {
                    return lab.trial(name, move |lab, device| {
                        let launches = if lab.light { 1 } else { LAUNCHES };
                        let exponent = if lab.light { 11.0 } else { 17.0 };
                        for launch in index * LAUNCHES..index * LAUNCHES + launches {
                            Draw::new(*entry, lab.seed ^ launch, exponent)
                                .$by::<$($types),+>(device)
                                .map_err(|wrong| format!("{wrong} (seed {})", lab.seed))?;
                        }
                        Ok(Completion::Completed)
                    })
                };
            }
            if entry.kernel == "read_ceiling" {
                match entry.element {
                    "i32" => agree!(ceiling: i32),
                    "i64" => agree!(ceiling: i64),
                    "f32" => agree!(ceiling: f32),
                    "f64" => agree!(ceiling: f64),
                    _ => {}
                }
            }
            macro_rules! pair {
                ($op:ident $element:ident) => {
                    let pair = (<$op as Op<$element>>::NAME, <$element as Number>::NAME);
                    if (entry.op, entry.element) == pair {
                        agree!(agree: $element $op);
                    }
                };
            }
            for_all_pairs!(pair);
            let missing = format!("the {} of {} is not compared", entry.op, entry.element);
            Trial::test(name, move || Err(missing.into()))
        })
        .collect()
}

/// One launch, drawn at random.
struct Draw {
    case: Case,
    /// Elements per thread, by which the library comes to the case's grid.
    chunks: u32,
}

impl Draw {
    /// Of fewer than `2^exponent` elements.
    fn new(entry: Entry, seed: u64, exponent: f64) -> Self {
        let rng = &mut StdRng::seed_from_u64(seed);
        // As many of ten elements as of ten thousand.
        let n = 2.0f64.powf(rng.random_range(0.0..exponent)) as usize;
        let threads = match entry.kernel {
            "read_ceiling" => 256,
            _ => THREADS[rng.random_range(0..THREADS.len())],
        };
        let limited = matches!(entry.needs.load, Load::Elements(_));
        let chunks = match (entry.kernel, entry.needs.per_thread) {
            ("read_ceiling", _) => 256 / entry.element_bytes as u32,
            (_, None) if limited => entry.load_elements() as u32,
            (_, None) => rng.random_range(1..=40),
            (_, Some(elements)) => elements,
        };
        // Where the order is the hardware's, no step may round.
        let data = match (entry.needs.result, entry.op) {
            (ResultIn::OneCell, "sum" | "sum_wide") => Data::Whole,
            (ResultIn::OneCell, "product") => Data::Zeroes,
            _ => Data::ALL[rng.random_range(0..Data::ALL.len())],
        };
        let blocks = n.div_ceil((chunks * threads) as usize) as u32;
        let case = Case {
            blocks: if limited { blocks.min(1024) } else { blocks },
            start: rng.random_range(0..8) * entry.start_elements(),
            data,
            seed,
            ..Case::new(entry, threads, n)
        };
        Self { case, chunks }
    }

    fn agree<T, O>(&self, device: &Device) -> Result<(), Box<dyn Error>>
    where
        T: Element + Drawn,
        O: Operator<T, Acc: Value> + Oracle<<O as Op<T>>::Acc>,
    {
        let (launched, algorithm) = (self.simulated::<T, O>()?, self.algorithm());
        let memory = device.upload(&launched.memory)?;
        let view = memory.view(self.case.start..self.case.start + self.case.n)?;
        let reduction = device.reduce(view, <O as Oracle<<O as Op<T>>::Acc>>::OP);
        let plan = reduction
            .algorithm(algorithm)
            .threads(self.case.threads)
            .plan()?;
        self.compare(&launched.outputs, plan)
    }

    fn ceiling<T: Element + Drawn>(&self, device: &Device) -> Result<(), Box<dyn Error>>
    where
        Sum: Operator<T, Acc = T, Output = T> + Oracle<T>,
    {
        let launched = self.simulated::<T, Sum>()?;
        let memory = device.upload(&launched.memory)?;
        let view = memory.view(self.case.start..self.case.start + self.case.n)?;
        self.compare(&launched.outputs, device.read_ceiling(view)?)
    }

    fn simulated<T, O>(&self) -> Result<Launched<T, <O as Op<T>>::Acc>, Wrong>
    where
        T: Drawn,
        O: Op<T, Acc: Value> + Oracle<<O as Op<T>>::Acc>,
    {
        let schedule = Schedule::Random(self.case.seed);
        let simulator = Simulator::new().check_all().schedule(schedule);
        self.case.launch::<T, O>(simulator)
    }

    fn compare<T: Element, A: Element + Value, R>(
        &self,
        simulated: &[A],
        mut plan: Plan<'_, T, A, R>,
    ) -> Result<(), Box<dyn Error>> {
        let Self { case, .. } = self;
        let pass = plan.passes()[0];
        if (pass.blocks, pass.threads) != (case.blocks, case.threads) {
            return Err(format!("{case}: the library launches {pass:?}").into());
        }
        plan.fill_scratch(0xff)?;
        let outputs = plan.first_outputs()?;
        if outputs.len() != simulated.len() {
            return Err(format!("{case}: {} outputs on the device", outputs.len()).into());
        }
        for (i, (on_device, simulated)) in outputs.iter().zip(simulated).enumerate() {
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
