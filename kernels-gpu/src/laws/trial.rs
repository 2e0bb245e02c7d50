//! The test of each law for one list of items.

use super::Law;
use super::called::Called;
use super::compare::{Close, Comparison};
use super::operator::{Reduction as _, Rows};
use super::quiet::caught;
use crate::element::Element;
use core::cell::Cell;
use core::fmt::Display;
use std::string::String;
use std::vec::Vec;
use std::{format, vec};

/// The maximum length of a list; the CPU absorbs 128 items at a time.
pub(super) const MOST_ITEMS: usize = 160;

/// `Err` is a text with both sides of the law.
type Verdict = Result<(), String>;

/// A list of items and the operator.
pub(super) struct Trial<'a, A> {
    pub(super) list: Called<'a, A>,
    pub(super) comparison: &'a Comparison<A>,
    /// The index of the first item.
    pub(super) first: u64,
    /// The distance by which `offset` shifts the indices.
    pub(super) by: u64,
    /// The number of items between two rows that are absorbed together, if the operator is commutative.
    pub(super) gap: u64,
}

impl<A: Element> Trial<'_, A> {
    /// Tests all laws and returns the simplest failure. If `broken` is set, proptest is looking for smaller
    /// items that break this law; more complex laws are then ignored.
    pub(super) fn keeps_all(&self, broken: &Cell<Option<Law>>) -> Verdict {
        let most = broken.get();
        for law in Law::ALL
            .into_iter()
            .filter(|law| most.is_none_or(|most| *law <= most))
        {
            self.keeps(law).inspect_err(|_| broken.set(Some(law)))?;
        }
        Ok(())
    }

    fn keeps(&self, law: Law) -> Verdict {
        let verdict = caught(|| match law {
            Law::Lift => self.lift(),
            Law::Identity => self.identity(),
            Law::Commutativity => self.commutativity(),
            Law::Associativity => self.associativity(),
            Law::Absorb => self.absorb(),
            Law::Selection => self.selection(),
            Law::Offset => self.offset(),
            Law::Grouping => self.grouping(),
            Law::Finish => self.finish(),
        });
        verdict.unwrap_or_else(|panic| Err(format!("  {panic}")))
    }

    fn lift(&self) -> Verdict {
        for (item, index) in (0..self.list.len()).zip(self.first..) {
            let [once, again] = [(); 2].map(|()| self.list.lift(item, index));
            self.equal((&"lift(x, i)", once), (&"lift(x, i) again", again), &[])?;
        }
        Ok(())
    }

    fn identity(&self) -> Verdict {
        let identity = self.list.identity();
        let lifted = self.lifted(self.first);
        let all = self.in_turn(&lifted);
        for a in [identity].into_iter().chain(lifted).chain([all]) {
            for (name, combined) in [
                ("combine(identity, a)", self.list.combine(identity, a)),
                ("combine(a, identity)", self.list.combine(a, identity)),
            ] {
                self.equal((&name, combined), (&"a", a), &[("identity", identity)])?;
            }
        }
        Ok(())
    }

    fn commutativity(&self) -> Verdict {
        if !self.list.is_commutative() {
            return Ok(());
        }
        for two in self.lifted(self.first).windows(2) {
            let (a, b) = (two[0], two[1]);
            self.equal(
                (&"combine(a, b)", self.list.combine(a, b)),
                (&"combine(b, a)", self.list.combine(b, a)),
                &[("a", a), ("b", b)],
            )?;
        }
        Ok(())
    }

    fn associativity(&self) -> Verdict {
        let combine = |a, b| self.list.combine(a, b);
        for three in self.lifted(self.first).windows(3) {
            let (a, b, c) = (three[0], three[1], three[2]);
            self.close(
                (&"combine(combine(a, b), c)", combine(combine(a, b), c)),
                (&"combine(a, combine(b, c))", combine(a, combine(b, c))),
                &[("a", a), ("b", b), ("c", c)],
                || three.iter().copied(),
            )?;
        }
        Ok(())
    }

    fn selection(&self) -> Verdict {
        let Some(selected) = self.list.selected(self.first) else {
            return Ok(());
        };
        let one_by_one = self.in_turn(&self.lifted(self.first));
        self.equal(
            (&"lift of the first item that no other precedes", selected),
            (&"lift and combine, item by item", one_by_one),
            &[],
        )
    }

    /// Absorbs the first items into the identity, and the last items into the accumulator of those before them.
    fn absorb(&self) -> Verdict {
        let lifted = self.lifted(self.first);
        for Rows { rows, width } in self.list.rows() {
            let Some(last) = lifted.len().checked_sub(width * rows) else {
                continue;
            };
            for start in [0, last] {
                let gap = if self.list.is_commutative() {
                    self.gap
                } else {
                    0
                };
                let index = |k| self.first + start as u64 + k * (width as u64 + gap);
                let first: Vec<u64> = (0..rows as u64).map(index).collect();
                let acc = self.in_turn(&lifted[..start]);
                let row = |k| self.lifted_part(start + k * width, width, first[k]);
                let of_rows: Vec<_> = (0..rows).flat_map(row).collect();
                let one_by_one = of_rows.iter().fold(acc, |a, b| self.list.combine(a, *b));
                let absorbed = self.list.absorb(acc, start, width, &first);
                let row = |k| self.list.text(start + k * width, width);
                self.close(
                    (&"absorb(acc, rows, first)", absorbed),
                    (&"lift and combine, item by item", one_by_one),
                    &[("acc", acc)],
                    || lifted[..start].iter().chain(&of_rows).copied(),
                )
                .map_err(|text| {
                    let rows: Vec<_> = (0..rows).map(row).collect();
                    format!(
                        "{text}\n  rows = [{}]\n  first = {first:?}",
                        rows.join(", ")
                    )
                })?;
            }
        }
        Ok(())
    }

    fn offset(&self) -> Verdict {
        const KEEP_IDENTITY: &str =
            "\n  `acc` is the identity, which `offset` must return unchanged";
        const LIFTED_IDENTITY: &str = "\n  `lift` gives the identity, which `offset` must not move: \
            choose an identity that differs from every lifted item";
        let acc = self.in_turn(&self.lifted(self.first));
        let lifted = self.lifted(self.first + self.by);
        let further = self.in_turn(&lifted);
        let is_identity = |a| self.comparison.equal(a, self.list.identity());
        let advice = |is_unmoved| match (is_identity(acc), is_unmoved) {
            (true, _) if is_identity(further) => KEEP_IDENTITY.into(),
            (true, _) => LIFTED_IDENTITY.into(),
            // What the default does.
            (false, true) => format!(
                "\n  `lift` uses the index: implement `offset`; offset({acc:?}, {}) must return {further:?}",
                self.by
            ),
            (false, false) => String::new(),
        };
        let moved = caught(|| self.list.offset(acc, self.by))
            .map_err(|panic| format!("  {panic}{}", advice(false)))?;
        self.close(
            (&format_args!("offset(acc, {})", self.by), moved),
            (&"lifted at those indices", further),
            &[("acc", acc)],
            || lifted.iter().copied(),
        )
        .map_err(|text| text + &advice(self.comparison.equal(moved, acc)))
    }

    fn grouping(&self) -> Verdict {
        let lifted = self.lifted(self.first);
        let from_the_left = self.in_turn(&lifted);
        for (name, grouped) in self.groupings(&lifted) {
            self.close(
                (&name, grouped),
                (&"combined from the left", from_the_left),
                &[],
                || lifted.iter().copied(),
            )?;
        }
        Ok(())
    }

    /// The accumulators combined in several ways that a device may choose.
    fn groupings(&self, lifted: &[A]) -> Vec<(&'static str, A)> {
        /// The items of a block, and the number of threads with a stride.
        const BLOCK: usize = 3;
        const THREADS: usize = 4;
        let combine = |a, b| self.list.combine(a, b);
        let identity = self.list.identity();
        let from_the_right = lifted
            .iter()
            .rev()
            .fold(identity, |acc, a| combine(*a, acc));
        let blocks = lifted.chunks(BLOCK).map(|block| self.in_turn(block));
        // A block without elements.
        let blocks: Vec<_> = blocks.chain([identity]).collect();
        let mut groupings = vec![
            ("combined from the right", from_the_right),
            ("combined by halves", self.by_halves(lifted)),
            ("combined in blocks of three", self.in_turn(&blocks)),
        ];
        if self.list.is_commutative() {
            let backwards: Vec<_> = lifted.iter().rev().copied().collect();
            let thread = |t| lifted.iter().skip(t).step_by(THREADS).copied();
            let threads = [0, 2, 1, 3].map(|t| self.in_turn(&thread(t).collect::<Vec<_>>()));
            groupings.extend([
                ("combined backwards", self.in_turn(&backwards)),
                ("combined by four threads", self.by_halves(&threads)),
            ]);
        }
        groupings
    }

    fn by_halves(&self, accs: &[A]) -> A {
        match accs {
            [] => self.list.identity(),
            [acc] => *acc,
            _ => {
                let (low, high) = accs.split_at(accs.len() / 2);
                self.list.combine(self.by_halves(low), self.by_halves(high))
            }
        }
    }

    fn finish(&self) -> Verdict {
        let all = self.in_turn(&self.lifted(self.first));
        for (name, acc) in [("identity", self.list.identity()), ("acc", all)] {
            let once = self.list.finish(acc);
            let again = self.list.finish(acc);
            if once != again {
                return Err(format!(
                    "  finish({name}) = {once}\n  finish({name}) again = {again}\n  {name} = {acc:?}"
                ));
            }
        }
        let (once, again) = (self.list.empty(), self.list.empty());
        if once != again {
            return Err(format!("  empty() = {once}\n  empty() again = {again}"));
        }
        Ok(())
    }

    /// The lifted items; the first has this index.
    fn lifted(&self, first: u64) -> Vec<A> {
        self.lifted_part(0, self.list.len(), first)
    }

    /// The lifted items from `start` on, `len` of them.
    fn lifted_part(&self, start: usize, len: usize, first: u64) -> Vec<A> {
        let each = (start..start + len).zip(first..);
        each.map(|(item, index)| self.list.lift(item, index))
            .collect()
    }

    /// The identity and the accumulators, combined from the left.
    fn in_turn(&self, accs: &[A]) -> A {
        let identity = self.list.identity();
        accs.iter().fold(identity, |a, b| self.list.combine(a, *b))
    }

    fn equal(
        &self,
        left: (&dyn Display, A),
        right: (&dyn Display, A),
        given: &[(&str, A)],
    ) -> Verdict {
        match self.comparison.equal(left.1, right.1) {
            true => Ok(()),
            false => Err(self.difference(left, right, given)),
        }
    }

    /// Compares two accumulators of the same items, `lifted`.
    fn close<L: Iterator<Item = A>>(
        &self,
        left: (&dyn Display, A),
        right: (&dyn Display, A),
        given: &[(&str, A)],
        lifted: impl FnOnce() -> L,
    ) -> Verdict {
        if self.comparison.close(left.1, right.1, lifted) {
            return Ok(());
        }
        let mut text = self.difference(left, right, given);
        if matches!(self.comparison.close, Close::Exactly) && Comparison::has_floats(left.1) {
            text += "\n  floats round: if that is the difference, state a `tolerance`";
        }
        Err(text)
    }

    fn difference(
        &self,
        left: (&dyn Display, A),
        right: (&dyn Display, A),
        given: &[(&str, A)],
    ) -> String {
        let mut text = format!("  {} = {:?}\n  {} = {:?}", left.0, left.1, right.0, right.1);
        for (name, acc) in given {
            text += &format!("\n  {name} = {acc:?}");
        }
        text
    }
}
