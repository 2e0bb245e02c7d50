//! An operator whose panics name the call that panicked, with its arguments.

use super::operator::{Reduction, Rows};
use super::quiet::panics_name;
use core::fmt::Debug;
use std::format;
use std::string::String;
use std::vec::Vec;

/// The same list and operator; [`caught`](super::quiet::caught) names a call that panics.
pub(super) struct Called<'a, A>(pub(super) &'a dyn Reduction<A>);

impl<A: Copy + Debug> Reduction<A> for Called<'_, A> {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn is_commutative(&self) -> bool {
        self.0.is_commutative()
    }

    fn identity(&self) -> A {
        panics_name(|| self.0.identity(), || "identity()".into())
    }

    fn lift(&self, item: usize, index: u64) -> A {
        panics_name(
            || self.0.lift(item, index),
            || {
                let items = self.0.text(item, 1);
                format!("lift({}, {index})", &items[1..items.len() - 1])
            },
        )
    }

    fn combine(&self, a: A, b: A) -> A {
        panics_name(|| self.0.combine(a, b), || format!("combine({a:?}, {b:?})"))
    }

    fn offset(&self, acc: A, by: u64) -> A {
        panics_name(
            || self.0.offset(acc, by),
            || format!("offset({acc:?}, {by})"),
        )
    }

    fn finish(&self, acc: A) -> String {
        panics_name(|| self.0.finish(acc), || format!("finish({acc:?})"))
    }

    fn empty(&self) -> String {
        panics_name(|| self.0.empty(), || "empty()".into())
    }

    fn rows(&self) -> Vec<Rows> {
        self.0.rows()
    }

    fn absorb(&self, acc: A, item: usize, width: usize, first: &[u64]) -> A {
        panics_name(
            || self.0.absorb(acc, item, width, first),
            || {
                let row = |k| self.0.text(item + k * width, width);
                let rows: Vec<_> = (0..first.len()).map(row).collect();
                format!("absorb({acc:?}, [{}], {first:?})", rows.join(", "))
            },
        )
    }

    fn selected(&self, first: u64) -> Option<A> {
        panics_name(
            || self.0.selected(first),
            || format!("precedes or preceding of {}", self.0.text(0, self.0.len())),
        )
    }

    fn text(&self, item: usize, len: usize) -> String {
        self.0.text(item, len)
    }
}
