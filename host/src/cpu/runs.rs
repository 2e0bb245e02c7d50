//! Runs of equal keys: each thread takes pieces of the array.
//!
//! The starts of each piece are counted first, so that each piece has its part of the results. A key is compared with the one
//! before it, also with that of the piece before.

use std::ops::Range;

use kernels_gpu::element::Element;
use rayon::prelude::*;

use super::parallel::map;

/// The keys of a piece; reading them takes longer than waking a thread.
const PIECE: usize = 1 << 16;

/// The number of runs that start in each piece.
pub(crate) fn count_runs<K: Element>(keys: &[K]) -> Vec<usize> {
    let pieces = keys.len().div_ceil(PIECE);
    let count = |piece| {
        let (first, pairs) = pairs(keys, piece);
        let differ = pairs.filter(|(_, before, key)| before != key);
        usize::from(first.is_some()) + differ.count()
    };
    map(pieces, &count)
}

/// Stores the first key of each run in `unique`, and its start in `starts`; `offset` makes one of a number. They have as many
/// elements as there are runs, and `counts` are those of [`count_runs`].
pub(crate) fn find_runs<K: Element, T: Element>(
    keys: &[K],
    counts: &[usize],
    unique: &mut [K],
    starts: &mut [T],
    offset: impl Fn(usize) -> T + Sync,
) {
    let (mut unique, mut starts) = (unique, starts);
    let mut parts = Vec::with_capacity(counts.len());
    for count in counts {
        let own_keys;
        let own_starts;
        (own_keys, unique) = unique.split_at_mut(*count);
        (own_starts, starts) = starts.split_at_mut(*count);
        parts.push((own_keys, own_starts));
    }
    let parts = parts.into_par_iter().enumerate();
    parts.for_each(|(piece, (unique, starts))| {
        let (first, pairs) = pairs(keys, piece);
        let differ = pairs.filter(|(_, before, key)| before != key);
        let found = first.into_iter().chain(differ.map(|(i, _, key)| (i, key)));
        for ((unique, start), (i, key)) in unique.iter_mut().zip(starts).zip(found) {
            (*unique, *start) = (key, offset(i));
        }
    });
}

/// The array's first key, if the piece starts with it, and the piece's other keys: index, the key before it, and the key.
fn pairs<K: Element>(
    keys: &[K],
    piece: usize,
) -> (Option<(usize, K)>, impl Iterator<Item = (usize, K, K)>) {
    let Range { start, end } = piece * PIECE..keys.len().min((piece + 1) * PIECE);
    let first = keys.first().filter(|_| start == 0).map(|key| (0, *key));
    let from = start.max(1);
    let before = &keys[from - 1..end - 1];
    let pairs = before.iter().zip(&keys[from..end]).zip(from..);
    (first, pairs.map(|((before, key), i)| (i, *before, *key)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_cross_the_ends_of_pieces() {
        for len in [1, 2, 3, PIECE - 1, PIECE, PIECE + 1] {
            for n in [0, 1, PIECE, PIECE + 1, 3 * PIECE + 5] {
                let keys: Vec<u32> = (0..n).map(|i| (i / len) as u32).collect();
                let counts = count_runs(&keys);
                let runs = counts.iter().sum();
                assert_eq!(runs, n.div_ceil(len), "{n} keys, runs of {len}");
                let (mut unique, mut starts) = (vec![0; runs], vec![0; runs]);
                find_runs(&keys, &counts, &mut unique, &mut starts, |i| i as u64);
                let wanted = 0..runs;
                assert!(
                    unique
                        .iter()
                        .copied()
                        .eq(wanted.clone().map(|run| run as u32))
                );
                assert!(
                    starts
                        .iter()
                        .copied()
                        .eq(wanted.map(|run| (run * len) as u64))
                );
            }
        }
    }

    #[test]
    fn a_nan_is_a_run_alone() {
        let keys = [f32::NAN, f32::NAN, 0.0, -0.0, 1.0];
        assert_eq!(count_runs(&keys), [4]);
    }
}
