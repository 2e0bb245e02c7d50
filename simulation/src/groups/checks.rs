//! What the launches must find: the groups of a map, and the order of the standard library's sort.

use std::collections::BTreeMap;

use kernels_gpu::element::Element;
use kernels_gpu::entry::Segments;
use kernels_gpu::groups::{GroupKey, NONE, RADIX};
use kernels_gpu::op::Op;

use super::{Drawn, Growth, Launches};
use crate::runs::Wrong;

/// An error, unless the results are right.
pub(super) fn compared(is_right: bool, wrong: impl FnOnce() -> String) -> Result<(), Wrong> {
    match is_right {
        true => Ok(()),
        false => Err(Wrong::Results(wrong())),
    }
}

impl Launches {
    /// Whether the groups have every key once, and each item is in the one with its key.
    ///
    /// # Errors
    ///
    /// What is wrong.
    pub fn check_groups<K: Drawn>(&self, keys: &[K]) -> Result<(), Wrong> {
        let (unique, indices, growth) = self.group(keys)?;
        let mut sorted = unique.clone();
        sorted.sort_unstable();
        let mut wanted = keys.to_vec();
        wanted.sort_unstable();
        wanted.dedup();
        compared(sorted == wanted, || {
            format!("groups {sorted:?} instead of {wanted:?} ({growth})")
        })?;
        for (i, (key, index)) in keys.iter().zip(&indices).enumerate() {
            compared(unique.get(*index as usize) == Some(key), || {
                format!("item {i} with key {key:?} is in group {index}")
            })?;
        }
        Ok(())
    }

    /// Whether the groups have every key once, with its combined values; how the table grew.
    ///
    /// # Errors
    ///
    /// What is wrong.
    pub fn check_values<K: Drawn, T: Element, O: Segments<T> + Op<T, Acc = T>>(
        &self,
        op: O,
        keys: &[K],
        values: &[T],
    ) -> Result<Growth, Wrong> {
        let mut wanted = BTreeMap::new();
        for (key, value) in keys.iter().zip(values) {
            let cell = wanted.entry(*key).or_insert(op.initial());
            *cell = op.combine(*cell, *value);
        }
        let (unique, values, growth) = self.combine(op, keys, values)?;
        let got: BTreeMap<K, T> = unique.iter().copied().zip(values).collect();
        compared(got == wanted && unique.len() == wanted.len(), || {
            format!("{got:?} instead of {wanted:?} ({growth})")
        })?;
        Ok(growth)
    }

    /// Whether the keys are in the order of their digits from `shifts` on, the lowest first, and equal ones in their own.
    ///
    /// # Errors
    ///
    /// What is wrong.
    pub fn check_sort<K: GroupKey>(
        &self,
        keys: &[K],
        flip: u64,
        shifts: &[u32],
    ) -> Result<(), Wrong> {
        let digits = |key: &K| -> Vec<u32> {
            let shifts = shifts.iter().rev();
            shifts.map(|shift| key.digit(*shift, flip)).collect()
        };
        let mut wanted: Vec<u32> = (0..keys.len() as u32).collect();
        wanted.sort_by_cached_key(|i| digits(&keys[*i as usize]));
        let (sorted, indices) = self.sort(keys, flip, shifts)?;
        compared(indices == wanted, || format!("indices {indices:?}"))?;
        let is_right = |(key, i): (&K, &u32)| *key == keys[*i as usize];
        compared(sorted.iter().zip(&wanted).all(is_right), || {
            format!("keys {sorted:?}")
        })
    }

    /// Whether `sort_scan` sums the counts of the first `digits` digits, and leaves the others.
    ///
    /// # Errors
    ///
    /// What is wrong.
    pub fn check_scan(&self, counts: &[u32], digits: u32) -> Result<(), Wrong> {
        let (got, totals) = self.scanned(counts, digits)?;
        let tiles = counts.len() / RADIX as usize;
        let mut wanted = counts.to_vec();
        let mut wanted_totals = vec![];
        for of_digit in wanted.chunks_mut(tiles).take(digits as usize) {
            let mut sum = 0;
            for count in of_digit {
                (*count, sum) = (sum, sum + *count);
            }
            wanted_totals.push(sum);
        }
        compared(totals == wanted_totals, || format!("totals {totals:?}"))?;
        let wrong = (0..counts.len()).find(|i| got[*i] != wanted[*i]);
        compared(wrong.is_none(), || {
            format!("sum {wrong:?} of {digits} digits and {tiles} tiles")
        })
    }

    /// Whether `gather` reads the values of the given indices.
    ///
    /// # Errors
    ///
    /// What is wrong.
    pub fn check_gather<T: Element>(&self, from: &[T], indices: &[u32]) -> Result<(), Wrong> {
        let got = self.gathered(from, indices)?;
        let wanted: Vec<T> = indices.iter().map(|i| from[*i as usize]).collect();
        compared(got == wanted, || format!("{got:?} instead of {wanted:?}"))
    }

    /// Whether `scatter` stores the values at the given indices, except at [`NONE`], in an array of `initial` values.
    ///
    /// # Errors
    ///
    /// What is wrong.
    pub fn check_scatter<T: Element>(
        &self,
        from: &[T],
        indices: &[u32],
        initial: T,
        len: usize,
    ) -> Result<(), Wrong> {
        let got = self.scattered(from, indices, len, initial)?;
        let mut wanted = vec![initial; len];
        for (value, index) in from.iter().zip(indices) {
            if *index != NONE {
                wanted[*index as usize] = *value;
            }
        }
        compared(got == wanted, || format!("{got:?} instead of {wanted:?}"))
    }

    /// Whether `invert` finds the positions in a permutation.
    ///
    /// # Errors
    ///
    /// What is wrong.
    pub fn check_invert(&self, permutation: &[u32]) -> Result<(), Wrong> {
        let got = self.inverted(permutation)?;
        let is_position = |(position, i)| permutation.get(position as usize) == Some(&i);
        let is_right = got.iter().copied().zip(0..).all(is_position);
        compared(is_right, || format!("{got:?} of {permutation:?}"))
    }

    /// Whether `fill` stores the value in `n` words, and in no others.
    ///
    /// # Errors
    ///
    /// What is wrong.
    pub fn check_fill<W: Element + Into<u64>>(&self, value: W, n: usize) -> Result<(), Wrong> {
        let got = self.filled(value, n)?;
        compared(got.iter().all(|word| *word == value), || format!("{got:?}"))
    }
}
