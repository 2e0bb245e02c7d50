//! The library's calls as subjects and rows to time.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Instant;

use anyhow::Result;
use warpfold::{Device, Input, Items, Plan, SinglePass};
use warpfold_results::schema::{Cache, Row, Timing};

use crate::sweep::rounds::{Run, Timed, Verdict};
use crate::sweep::subject::{POISON, Subject, Timer};

/// A plan that several rows share.
pub type SharedPlan<'a, R> = Rc<RefCell<Plan<'a, R>>>;

/// The row with the blocks and threads of the plan's first pass.
pub fn plan_row<R>(row: Row, plan: &Plan<R>) -> Row {
    let first = plan.passes().first();
    Row {
        threads: first.map(|pass| pass.threads),
        blocks: first.map(|pass| pass.blocks),
        ..row
    }
}

/// A subject with a plan for each copy of the input. It overwrites the partials too, so that each must be
/// written again; a single-pass reduction resets its own.
pub fn plan_subject<'a, R: 'a>(
    row: Row,
    plans: Vec<SharedPlan<'a, R>>,
    check: impl Fn(R) -> Verdict + 'a,
) -> Subject<'a> {
    let (overwritten, outputs) = (plans.clone(), plans.clone());
    Subject {
        row,
        copies: plans.len(),
        overwrite: Box::new(move || {
            let mut plans = overwritten.iter();
            plans.try_for_each(|plan| Ok(plan.borrow_mut().fill_scratch(POISON)?))
        }),
        enqueue: Box::new(move |copy, _| Ok(plans[copy].borrow_mut().enqueue()?)),
        check: Box::new(move |copies| {
            for plan in &outputs[..copies] {
                let verdict = check(plan.borrow().result()?);
                if verdict.is_err() {
                    return Ok(verdict);
                }
            }
            Ok(Ok(()))
        }),
    }
}

/// A subject that calls [`reduce_into`](Device::reduce_into) on each copy of the input.
pub fn reduce_into_subject<'a, I: Items, O: SinglePass<I>>(
    row: Row,
    (gpu, timer): (&'a Device, &'a Timer<'a>),
    inputs: Vec<impl Input<'a, I> + Copy + 'a>,
    op: O,
    check: impl Fn(O::Acc) -> Verdict + 'a,
) -> Result<Subject<'a>> {
    let copies = inputs.len();
    let cells = Rc::new(RefCell::new(gpu.alloc::<O::Acc>(copies)?));
    let scratch = RefCell::new(gpu.scratch()?);
    let (overwritten, outputs) = (Rc::clone(&cells), Rc::clone(&cells));
    Ok(Subject {
        row,
        copies,
        overwrite: Box::new(move || timer.overwrite(&overwritten.borrow())),
        enqueue: Box::new(move |copy, _| {
            let (mut cells, scratch) = (cells.borrow_mut(), &mut scratch.borrow_mut());
            Ok(gpu.reduce_into::<I, _>(inputs[copy], op, &mut *cells, copy, scratch)?)
        }),
        check: Box::new(move |copies| {
            let got = outputs.borrow().view(..copies)?.download()?;
            Ok(got
                .into_iter()
                .map(&check)
                .find(Result::is_err)
                .unwrap_or(Ok(())))
        }),
    })
}

/// A row of a call that waits for its value, timed by the host's clock.
pub fn call_row<'a, T>(
    row: Row,
    mut call: impl FnMut() -> Result<T> + 'a,
    check: impl Fn(T) -> Verdict + 'a,
) -> Timed<'a> {
    let row = Row {
        cache: Cache::Warm,
        timing: Timing::Call,
        ..row
    };
    Timed::new(row, move || {
        // Warm-up: if another process has used the device, the switch between processes takes about 100 us.
        call()?;
        let start = Instant::now();
        let got = call()?;
        let us = start.elapsed().as_secs_f64() * 1e6;
        let verdict = check(got);
        Ok(Run { us, verdict })
    })
}
