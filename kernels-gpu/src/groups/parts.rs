//! Groups by parts: pairs whose keys have the same part of a hash are brought together, so that the bins of one block are
//! enough for all keys of a part.
//!
//! A hash table in global memory costs several accesses to the L2 cache for each pair, at random addresses. For many groups
//! it is faster to move each pair once, in runs of adjacent pairs, and then to combine in shared memory alone:
//!
//! ```text
//! sample    a few keys: are there many groups, none of them frequent?       parts[SAMPLED], parts[DISTINCT], parts[FREQUENT]
//! split     each tile: sorts its pairs by part, appends them to the parts   parts[part], pairs
//! collect   each part: combines its pairs in bins, appends these            parts[GROUPS], unique, results
//! ```
//!
//! There are as many pairs as memory for a part, `capacity`, and as many keys as a block has bins. If a part has more,
//! [`Parts::LOST`] is set, the results are incomplete, and the host uses the [table](super::Table).
//!
//! # Requirements of every launch
//!
//! Keys and values have 32 bits. `parts` has [`Parts::WORDS`] words, all 0 before the launch of [`split`](split::split).
//! `pairs` has `PARTS * capacity` elements, at most 2^32 - 2^16.

pub mod collect;
pub mod sample;
pub mod split;

use super::GroupKey;
use crate::element::Element;
use crate::mem::Global;

/// The number of parts.
pub const PARTS: u32 = 256;

/// Words that the launches share, and the host reads. The first [`PARTS`] are the numbers of the parts' pairs.
pub struct Parts;

impl Parts {
    /// Not 0 if a part has too many pairs, or too many keys.
    pub const LOST: usize = PARTS as usize;
    /// The number of groups that [`collect`](collect::collect) has stored.
    pub const GROUPS: usize = Self::LOST + 1;
    /// The number of keys in the [sample](sample::sample), without those that are equal to one before them in a row.
    pub const SAMPLED: usize = Self::LOST + 2;
    /// The number of distinct keys in the sample.
    pub const DISTINCT: usize = Self::LOST + 3;
    /// The number of frequent keys in the sample.
    pub const FREQUENT: usize = Self::LOST + 4;
    /// The number of words.
    pub const WORDS: usize = Self::LOST + 5;
}

/// The pairs of all parts.
#[derive(Clone, Copy, Debug)]
pub struct Pairs {
    /// The pairs of part `p` are from `p * capacity` on.
    pub pairs: Global<u64>,
    /// [`Parts`].
    pub parts: Global<u32>,
    /// The most pairs of a part.
    pub capacity: u32,
}

/// The part of a key: bits of its hash that select neither the first of its bins nor its first slot.
#[inline(always)]
pub fn part_of(key: u32) -> u32 {
    key.hash() as u32 % PARTS
}

/// A key and the bits of a value in one word.
#[inline(always)]
fn pair_of(key: u32, value: u32) -> u64 {
    u64::from(value) << 32 | u64::from(key)
}

/// The key of a pair.
#[inline(always)]
fn key_of(pair: u64) -> u32 {
    pair as u32
}

/// The value of a pair.
///
/// # Safety
///
/// The pair has the bits of a value of this type, which has 4 bytes.
#[inline(always)]
unsafe fn value_of<T: Element>(pair: u64) -> T {
    const { assert!(size_of::<T>() == size_of::<u32>()) };
    let bits = (pair >> 32) as u32;
    // SAFETY: the caller's contract; the word has as many bytes as the value (asserted).
    unsafe { core::mem::transmute_copy(&bits) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_keep_their_bits() {
        let pair = pair_of(0xFFFF_FFF0, (-1.5f32).to_bits());
        assert_eq!(key_of(pair), 0xFFFF_FFF0);
        // SAFETY: the pair has the bits of an `f32`.
        assert_eq!(unsafe { value_of::<f32>(pair) }, -1.5);
    }
}
