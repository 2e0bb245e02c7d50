//! Calls of the library as something to time.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Instant;

use anyhow::Result;
use warpfold::{Device, Input, Items, Plan, SinglePass};
use warpfold_results::schema::{Cache, Row, Timing};

use crate::sweep::data::{self, Expected, Number};
use crate::sweep::rounds::{Run, Timed, Verdict};
use crate::sweep::subject::{POISON, Stage, Subject};

/// A plan that is run by one row and read by another, too.
pub type SharedPlan<'a, R> = Rc<RefCell<Plan<'a, R>>>;

/// The row, with the plan's launch.
pub fn plan_row<R>(row: Row, plan: &Plan<R>) -> Row {
    let first = plan.passes().first();
    Row {
        threads: first.map(|pass| pass.threads),
        blocks: first.map(|pass| pass.blocks),
        ..row
    }
}

/// The plan as something to time, with the value that it must give. Its partials are poisoned with the
/// result, so that each must be written anew; a single pass empties its own.
pub fn planned<'a, T: Number, R: Into<Option<T>> + 'a>(
    row: Row,
    plan: SharedPlan<'a, R>,
    expected: Expected<T>,
) -> Subject<'a> {
    let (spoiled, judged) = (Rc::clone(&plan), Rc::clone(&plan));
    Subject {
        row,
        spoil: Box::new(move || Ok(spoiled.borrow_mut().fill_scratch(POISON)?)),
        enqueue: Box::new(move |_| Ok(plan.borrow_mut().enqueue()?)),
        judge: Box::new(move || Ok(data::judge(judged.borrow().result()?, expected))),
    }
}

/// The default algorithm, as [`reduce_into`](Device::reduce_into) launches it.
pub fn reduced_into<'a, I: Items, O: SinglePass<I>>(
    row: Row,
    (gpu, stage): (&'a Device, &'a Stage<'a>),
    input: impl Input<'a, I> + Copy + 'a,
    op: O,
    judge: impl Fn(O::Acc) -> Verdict + 'a,
) -> Result<Subject<'a>> {
    let cell = Rc::new(RefCell::new(gpu.alloc::<O::Acc>(1)?));
    let scratch = RefCell::new(gpu.scratch()?);
    let (spoiled, judged) = (Rc::clone(&cell), Rc::clone(&cell));
    Ok(Subject {
        row,
        spoil: Box::new(move || stage.spoil(&spoiled.borrow())),
        enqueue: Box::new(move |_| {
            let (mut cell, scratch) = (cell.borrow_mut(), &mut scratch.borrow_mut());
            Ok(gpu.reduce_into::<I, _>(input, op, &mut *cell, 0, scratch)?)
        }),
        judge: Box::new(move || Ok(judge(judged.borrow().download()?[0]))),
    })
}

/// A call that waits for its value, by the host's clock.
pub fn called<'a, T>(
    row: Row,
    mut call: impl FnMut() -> Result<T> + 'a,
    judge: impl Fn(T) -> Verdict + 'a,
) -> Timed<'a> {
    let row = Row {
        cache: Cache::Warm,
        timing: Timing::Call,
        ..row
    };
    Timed::new(row, move || {
        // Another process may have been at work on the device, and to change between processes takes a
        // hundred microseconds.
        call()?;
        let start = Instant::now();
        let got = call()?;
        let us = start.elapsed().as_secs_f64() * 1e6;
        let verdict = judge(got);
        Ok(Run { us, verdict })
    })
}
