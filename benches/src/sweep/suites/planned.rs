//! A plan of the library's as something to time.

use std::cell::RefCell;
use std::rc::Rc;

use warpfold::Plan;
use warpfold_results::schema::Row;

use crate::sweep::data::{self, Expected, Number};
use crate::sweep::subject::{POISON, Subject};

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
pub fn planned<'a, R: Number>(
    row: Row,
    plan: SharedPlan<'a, R>,
    expected: Expected<R>,
) -> Subject<'a> {
    let (spoiled, judged) = (Rc::clone(&plan), Rc::clone(&plan));
    Subject {
        row,
        spoil: Box::new(move || Ok(spoiled.borrow_mut().fill_scratch(POISON)?)),
        enqueue: Box::new(move |_| Ok(plan.borrow_mut().enqueue()?)),
        judge: Box::new(move || Ok(data::judge(judged.borrow().result()?, expected))),
    }
}
