//! The simulator and the device agree, bit for bit: for every entry, at a random n, start, number
//! of threads and grid, each block leaves the same partial on both.
//!
//! Of floats too, where the order of additions is fixed; where it is the hardware's, with data
//! whose sum does not round.

use std::error::Error;
use std::sync::Arc;

use cuda_sim::{Schedule, Simulator};
use kernels_gpu::entry::{ENTRIES, Entry};
use kernels_gpu::needs::ResultIn;
use kernels_sim::{Case, Data};
use libtest_mimic::{Completion, Trial};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use warpfold::{Algorithm, Device, Max, Min, Operator, Plan, Sum, View};

use crate::lab::Lab;
use crate::ladder::algorithms;
use crate::oracle::{Oracle, Subject, same};
use crate::sizes::THREADS;

/// Launches of each entry.
const LAUNCHES: u64 = 12;

pub fn trials(lab: &Arc<Lab>) -> Vec<Trial> {
    (0..)
        .zip(ENTRIES)
        .map(|(index, entry)| {
            let name = format!("simulator {}", entry.name);
            macro_rules! agree {
                ($op:ident $element:ident) => {
                    lab.trial(name, move |lab, device| {
                        for launch in index * LAUNCHES..(index + 1) * LAUNCHES {
                            Draw::new(*entry, lab.seed ^ launch)
                                .agree::<$element, $op>(device)
                                .map_err(|wrong| format!("{wrong} (seed {})", lab.seed))?;
                        }
                        Ok(Completion::Completed)
                    })
                };
            }
            match (entry.op, entry.element) {
                ("sum", "i32") => agree!(Sum i32),
                ("sum", "u32") => agree!(Sum u32),
                ("sum", "i64") => agree!(Sum i64),
                ("sum", "u64") => agree!(Sum u64),
                ("sum", "f32") => agree!(Sum f32),
                ("sum", "f64") => agree!(Sum f64),
                ("min", "i32") => agree!(Min i32),
                ("min", "f32") => agree!(Min f32),
                ("max", "i32") => agree!(Max i32),
                ("max", "f32") => agree!(Max f32),
                (op, element) => {
                    let missing = format!("the {op} of {element} is not compared");
                    Trial::test(name, move || Err(missing.into()))
                }
            }
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
    fn new(entry: Entry, seed: u64) -> Self {
        let rng = &mut StdRng::seed_from_u64(seed);
        // As many of ten elements as of ten thousand.
        let n = 2.0f64.powf(rng.random_range(0.0..17.0)) as usize;
        let threads = match entry.kernel {
            "read_ceiling" => 256,
            _ => THREADS[rng.random_range(0..THREADS.len())],
        };
        let chunks = match (entry.kernel, entry.needs.per_thread) {
            ("read_ceiling", _) => 256 / entry.element_bytes as u32,
            (_, None) => rng.random_range(1..=40),
            (_, Some(elements)) => elements,
        };
        let fixed_order = entry.needs.result == ResultIn::Partials || entry.op != "sum";
        let case = Case {
            blocks: n.div_ceil((chunks * threads) as usize) as u32,
            start: rng.random_range(0..8) * entry.load_elements(),
            data: if fixed_order {
                Data::Rough
            } else {
                Data::Whole
            },
            seed,
            ..Case::new(entry, threads, n)
        };
        Self { case, chunks }
    }

    fn agree<T: Subject, O: Oracle<T>>(&self, device: &Device) -> Result<(), Box<dyn Error>>
    where
        Sum: Operator<T>,
    {
        let Self { case, .. } = self;
        let schedule = Schedule::Random(case.seed);
        let simulator = Simulator::new().check_all().schedule(schedule);
        let simulated = case.launch::<T, O>(simulator)?;

        let memory = device.upload(&simulated.memory)?;
        let view = memory.view(case.start..case.start + case.n)?;
        let mut plan = self.plan::<T, O>(device, view)?;
        let pass = plan.passes()[0];
        if (pass.blocks, pass.threads) != (case.blocks, case.threads) {
            return Err(format!("{case}: the library launches {pass:?}").into());
        }
        plan.fill_scratch(0xff)?;
        let outputs = plan.first_outputs()?;
        if outputs.len() != simulated.outputs.len() {
            return Err(format!("{case}: {} outputs on the device", outputs.len()).into());
        }
        for (i, (on_device, simulated)) in outputs.iter().zip(&simulated.outputs).enumerate() {
            if !same(*on_device, *simulated) {
                return Err(format!(
                    "{case}: output {i} is {on_device:?} on the device, {simulated:?} simulated"
                )
                .into());
            }
        }
        Ok(())
    }

    fn plan<'a, T: Subject, O: Oracle<T>>(
        &self,
        device: &Device,
        view: View<'a, T>,
    ) -> Result<Plan<'a, T>, warpfold::Error>
    where
        Sum: Operator<T>,
    {
        let algorithm = match self.case.entry.kernel {
            "read_ceiling" => return device.read_ceiling(view),
            "reduce_5" => Algorithm::Reduce5Loop {
                chunks: self.chunks,
            },
            kernel => algorithms(kernel)[0],
        };
        let reduction = device.reduce(view, O::OP).algorithm(algorithm);
        reduction.threads(self.case.threads).plan()
    }
}
