//! Sums of triples: one field after the other, and interleaved, as in figures 5 and 6 of the post.

use std::cell::RefCell;
use std::rc::Rc;

use anyhow::Result;
use warpfold::TripleOrder;
use warpfold_results::schema::{By, Row, Suite};

use super::reference::{Launch, MAX_N, Reference};
use crate::peers::Peers;
use crate::sweep::copies::Copies;
use crate::sweep::data::Number;
use crate::sweep::rounds::Verdict;
use crate::sweep::run::Sweep;
use crate::sweep::subject::Subject;
use crate::sweep::suites::Bench;
use crate::sweep::suites::planned::{SharedPlan, plan_row, plan_subject};

/// Times the whole triples of an input.
pub fn time(
    bench: &Bench,
    (input, values): (&Copies<i32>, &[i32]),
    peers: Option<&Peers>,
    sweep: &mut Sweep,
) -> Result<()> {
    let n = values.len() / 3 * 3;
    let sums = [0, 1, 2].map(|field| {
        let of_field: Vec<i32> = values[..n].iter().copied().skip(field).step_by(3).collect();
        i32::sum(&of_field)
    });
    let check = move |got: [i32; 3]| match got == sums {
        true => Ok(()),
        false => Err((format!("{got:?}"), format!("{sums:?}"))),
    };
    let peers = peers.filter(|_| bench.options.wants(By::Nvcc) && n <= MAX_N);
    let mut subjects = Vec::new();
    for order in TripleOrder::ALL {
        let kernel = order.kernel_name();
        if n == 0 || !bench.options.wants_kernel(kernel) {
            continue;
        }
        let views = input.views(n)?.into_iter();
        let plans = views.map(|triples| bench.gpu.sum_triples(triples, order));
        let plans = plans.collect::<Result<Vec<_>, _>>()?;
        let row = Row {
            op: Some("sum".into()),
            bytes: (n * size_of::<i32>()) as u64,
            ..plan_row(Row::new(Suite::Kepler, kernel, "i32", n), &plans[0])
        };
        let plans = plans.into_iter().map(|plan| Rc::new(RefCell::new(plan)));
        let plans: Vec<_> = plans.collect();
        subjects.push(plan_subject(row.clone(), plans.clone(), check));
        if let Some(peers) = peers {
            let reference = Reference::of(peers, kernel)?;
            subjects.push(reference_subject(row, reference, input, plans, check));
        }
    }
    let subjects: Vec<_> = subjects.into_iter().map(Rc::new).collect();
    sweep.group(
        &format!("{} triples of i32", n / 3),
        bench.device_rows(&subjects),
    )
}

/// The reference kernel, which writes the cells of the plans.
fn reference_subject<'a>(
    row: Row,
    reference: Reference,
    input: &'a Copies<'a, i32>,
    plans: Vec<SharedPlan<'a, [i32; 3]>>,
    check: impl Fn([i32; 3]) -> Verdict + 'a,
) -> Subject<'a> {
    let (n, threads) = (row.n as usize, row.threads.unwrap_or(256));
    let row = Row {
        by: By::Nvcc,
        ..row
    };
    Subject {
        enqueue: Box::new({
            let plans = plans.clone();
            move |copy, stream| {
                let on = Launch {
                    input: input.address(copy),
                    n,
                    threads,
                    chunks: 1,
                    partials: [0; 2],
                    result: plans[copy].borrow().result_ptr(),
                    stream,
                };
                // SAFETY: the stream is this device's and its context is current (`Subject::enqueue`). Inputs and the
                // plans' three cells are live memory of this device; these kernels use no partials. All of it lives
                // at least as long as this closure, which is dropped only after a wait for all enqueued work
                // (`Timer::time`, `Events`).
                unsafe { reference.enqueue(on) }
            }
        }),
        ..plan_subject(row, plans, check)
    }
}
