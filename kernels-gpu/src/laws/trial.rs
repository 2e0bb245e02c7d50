//! Each law, for one list of items.

use super::Law;
use super::compare::{Close, Comparison};
use super::operator::Operator;
use super::quiet::caught;
use crate::element::Element;
use crate::items::Items;
use core::fmt::{Debug, Display};
use std::string::String;
use std::vec::Vec;
use std::{format, vec};

/// The longest list: the CPU absorbs 128 items at a time.
pub(super) const MOST_ITEMS: usize = 160;

/// `Err`: what both sides of the law are, for people.
type Verdict = Result<(), String>;

/// A list of items and the operator, of which only the accumulators' type is known: so that little is
/// compiled for each operator.
pub(super) struct Trial<'a, I, A> {
    pub(super) op: &'a dyn Operator<I, A>,
    pub(super) comparison: &'a Comparison<A>,
    pub(super) items: Vec<I>,
    /// The index of the first.
    pub(super) first: u64,
    /// How far `offset` moves them.
    pub(super) by: u64,
    /// The items between two rows that are absorbed together, where the operator is commutative.
    pub(super) gap: u64,
}

impl<I: Items + Debug, A: Element> Trial<'_, I, A> {
    /// Whether the law holds.
    pub(super) fn keeps(&self, law: Law) -> Verdict {
        let verdict = caught(|| match law {
            Law::Lift => self.lift(),
            Law::Identity => self.identity(),
            Law::Commutativity => self.commutativity(),
            Law::Associativity => self.associativity(),
            Law::Absorb => self.absorb(),
            Law::Offset => self.offset(),
            Law::Grouping => self.grouping(),
            Law::Finish => self.finish(),
        });
        verdict.unwrap_or_else(|panic| Err(format!("  {panic}")))
    }

    fn lift(&self) -> Verdict {
        for (item, index) in self.items.iter().zip(self.first..) {
            let [once, again] = [(); 2].map(|()| self.op.lift(*item, index));
            self.equal(
                (&format_args!("lift({item:?}, {index})"), once),
                (&"the same again", again),
                &[],
            )?;
        }
        Ok(())
    }

    fn identity(&self) -> Verdict {
        let identity = self.op.identity();
        let lifted = self.lifted(self.first);
        let all = self.in_turn(&lifted);
        for a in [identity].into_iter().chain(lifted).chain([all]) {
            for (name, combined) in [
                ("combine(identity, a)", self.op.combine(identity, a)),
                ("combine(a, identity)", self.op.combine(a, identity)),
            ] {
                self.equal((&name, combined), (&"a", a), &[("identity", identity)])?;
            }
        }
        Ok(())
    }

    fn commutativity(&self) -> Verdict {
        if !self.op.is_commutative() {
            return Ok(());
        }
        for two in self.lifted(self.first).windows(2) {
            let (a, b) = (two[0], two[1]);
            self.equal(
                (&"combine(a, b)", self.op.combine(a, b)),
                (&"combine(b, a)", self.op.combine(b, a)),
                &[("a", a), ("b", b)],
            )?;
        }
        Ok(())
    }

    fn associativity(&self) -> Verdict {
        let combine = |a, b| self.op.combine(a, b);
        for three in self.lifted(self.first).windows(3) {
            let (a, b, c) = (three[0], three[1], three[2]);
            self.close(
                (&"combine(combine(a, b), c)", combine(combine(a, b), c)),
                (&"combine(a, combine(b, c))", combine(a, combine(b, c))),
                &[("a", a), ("b", b), ("c", c)],
                three,
            )?;
        }
        Ok(())
    }

    /// The first items, into the identity; the last ones, into what those before them come to.
    fn absorb(&self) -> Verdict {
        for rows in self.op.rows() {
            let (width, rows) = (rows.width, rows.rows);
            let Some(before) = self.items.len().checked_sub(width * rows) else {
                continue;
            };
            for before in [0, before] {
                let (head, rest) = self.items.split_at(before);
                let rest = &rest[..width * rows];
                let gap = if self.op.is_commutative() {
                    self.gap
                } else {
                    0
                };
                let start = self.first + before as u64;
                let first: Vec<u64> = (0..rows as u64)
                    .map(|k| start + k * (width as u64 + gap))
                    .collect();
                let mut lifted = self.lifted_at(head, self.first);
                let acc = self.in_turn(&lifted);
                for (row, first) in rest.chunks(width).zip(&first) {
                    lifted.extend(self.lifted_at(row, *first));
                }
                let absorbed = self.op.absorb(width, acc, rest, &first);
                let rest: Vec<_> = rest.chunks(width).collect();
                self.close(
                    (&format_args!("absorb(acc, {rest:?}, {first:?})"), absorbed),
                    (&"lift and combine, item by item", self.in_turn(&lifted)),
                    &[("acc", acc)],
                    &lifted,
                )?;
            }
        }
        Ok(())
    }

    fn offset(&self) -> Verdict {
        let acc = self.in_turn(&self.lifted(self.first));
        let further = self.lifted(self.first + self.by);
        self.close(
            (
                &format_args!("offset(acc, {})", self.by),
                self.op.offset(acc, self.by),
            ),
            (&"lifted at those indices", self.in_turn(&further)),
            &[("acc", acc)],
            &further,
        )
    }

    fn grouping(&self) -> Verdict {
        let lifted = self.lifted(self.first);
        let from_the_left = self.in_turn(&lifted);
        for (name, grouped) in self.groupings(&lifted) {
            self.close(
                (&name, grouped),
                (&"combined from the left", from_the_left),
                &[],
                &lifted,
            )?;
        }
        Ok(())
    }

    /// The accumulators as one, in several ways that a device may choose.
    fn groupings(&self, lifted: &[A]) -> Vec<(&'static str, A)> {
        /// Items of a block, and threads that stride.
        const BLOCK: usize = 3;
        const THREADS: usize = 4;
        let combine = |a, b| self.op.combine(a, b);
        let identity = self.op.identity();
        let from_the_right = lifted
            .iter()
            .rev()
            .fold(identity, |acc, a| combine(*a, acc));
        let blocks = lifted.chunks(BLOCK).map(|block| self.in_turn(block));
        // A block that has nothing to load.
        let blocks: Vec<_> = blocks.chain([identity]).collect();
        let mut groupings = vec![
            ("combined from the right", from_the_right),
            ("combined by halves", self.by_halves(lifted)),
            ("combined in blocks of three", self.in_turn(&blocks)),
        ];
        if self.op.is_commutative() {
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
            [] => self.op.identity(),
            [acc] => *acc,
            _ => {
                let (low, high) = accs.split_at(accs.len() / 2);
                self.op.combine(self.by_halves(low), self.by_halves(high))
            }
        }
    }

    fn finish(&self) -> Verdict {
        let all = self.in_turn(&self.lifted(self.first));
        for (name, acc) in [("identity", self.op.identity()), ("acc", all)] {
            let [once, again] = [(); 2].map(|()| {
                caught(|| self.op.finish(acc))
                    .map_err(|panic| format!("  finish({name}) {panic}\n  {name} = {acc:?}"))
            });
            let (once, again) = (once?, again?);
            if once != again {
                return Err(format!(
                    "  finish({name}) = {once}\n  finish({name}) again = {again}\n  {name} = {acc:?}"
                ));
            }
        }
        Ok(())
    }

    /// The items as they enter the reduction, the first at this index.
    fn lifted(&self, first: u64) -> Vec<A> {
        self.lifted_at(&self.items, first)
    }

    fn lifted_at(&self, items: &[I], first: u64) -> Vec<A> {
        let each = items.iter().zip(first..);
        each.map(|(item, index)| self.op.lift(*item, index))
            .collect()
    }

    /// The identity and the accumulators as one, from the left.
    fn in_turn(&self, accs: &[A]) -> A {
        let identity = self.op.identity();
        accs.iter().fold(identity, |a, b| self.op.combine(a, *b))
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

    /// Compares what the same items, `lifted`, come to.
    fn close(
        &self,
        left: (&dyn Display, A),
        right: (&dyn Display, A),
        given: &[(&str, A)],
        lifted: &[A],
    ) -> Verdict {
        let close = self
            .comparison
            .close(left.1, right.1, lifted.iter().copied());
        if close {
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
