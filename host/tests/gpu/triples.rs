//! Sums of triples: exact, for views with any start and any number of triples.

use std::sync::Arc;

use libtest_mimic::{Completion, Failed, Trial};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use warpfold::{Device, Element, Sum, Triple, TripleOrder};

use crate::lab::Lab;
use crate::sizes::{around, start};

pub fn trials(lab: &Arc<Lab>) -> Vec<Trial> {
    TripleOrder::ALL
        .into_iter()
        .flat_map(|order| {
            macro_rules! of {
                ($element:ident) => {
                    lab.trial(
                        format!("{} {}", order.kernel_name(), stringify!($element)),
                        move |lab, device| sums(lab, device, order, $element::from),
                    )
                };
            }
            [of!(i32), of!(f32), of!(f64)]
        })
        .collect()
}

/// Small whole numbers, whose sums are exact in any order.
fn sums<T: Element>(
    lab: &Lab,
    device: &Device,
    order: TripleOrder,
    of: fn(i16) -> T,
) -> Result<Completion, Failed>
where
    Sum: Triple<T>,
{
    const SPARE: usize = 8;
    let rng = &mut StdRng::seed_from_u64(lab.seed);
    let sizes = around(256);
    let largest = 3 * sizes.last().expect("there are some") + SPARE;
    let numbers: Vec<i16> = (0..largest).map(|_| rng.random_range(-3..=3)).collect();
    let values: Vec<T> = numbers.iter().map(|number| of(*number)).collect();
    let x = device.upload(&values)?;
    for triples in sizes {
        let start = start(triples);
        let view = start..start + 3 * triples;
        let mut plan = device.sum_triples(x.view(view.clone())?, order)?;
        plan.enqueue()?;
        plan.enqueue()?; // the cells are reset
        let got = plan.result()?;
        for (field, got) in got.into_iter().enumerate() {
            let of_field = numbers[view.clone()].iter().skip(field).step_by(3);
            let sum: i64 = of_field.map(|number| i64::from(*number)).sum();
            let sum = i16::try_from(sum).expect("random signs keep the sum small");
            if got != of(sum) {
                return Err(format!(
                    "{triples} triples from {start}, field {field}: {got:?} instead of {sum} \
                     (seed {})",
                    lab.seed
                )
                .into());
            }
        }
    }
    Ok(Completion::Completed)
}
