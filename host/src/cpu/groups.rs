//! Groups of equal keys on the CPU: a hash table from a key to the number of its group.
//!
//! Groups are numbered in the order of their first items. The loop is sequential; what follows it, the gathering of the
//! groups' items and their reductions, runs on all cores.

use kernels_gpu::groups::GroupKey;
use rayon::prelude::*;

use crate::element::Element;
use crate::error::Error;
use crate::host;

/// An empty slot; otherwise a slot has the number of a group.
const EMPTY: u32 = u32::MAX;

/// The fewest values that a core gathers.
const MIN_LEN: usize = 1 << 14;

/// The slots of the first table.
const FIRST_SLOTS: usize = 1 << 10;

/// The key of each group, and the number of each item's group. There are fewer than 2^32 keys; `word` makes one of a key.
///
/// # Errors
///
/// [`Error::OutOfHostMemory`].
pub(crate) fn find_groups<K: Copy, W: GroupKey>(
    keys: &[K],
    word: impl Fn(K) -> W,
) -> Result<(Vec<K>, Vec<u32>), Error> {
    let mut unique: Vec<K> = vec![];
    let mut indices = host::zeroes(keys.len())?;
    let mut slots = host::filled(FIRST_SLOTS, EMPTY)?;
    let first = |slots: &[u32], hash: u64| hash as usize & (slots.len() - 1);
    for (index, key) in indices.iter_mut().zip(keys) {
        let own = word(*key);
        let mut slot = first(&slots, own.hash());
        *index = loop {
            match slots[slot] {
                EMPTY => {
                    slots[slot] = unique.len() as u32;
                    unique.push(*key);
                    break slots[slot];
                }
                number if word(unique[number as usize]) == own => break number,
                _ => slot = (slot + 1) & (slots.len() - 1),
            }
        };
        if unique.len() > slots.len() / 2 {
            slots = host::filled(4 * slots.len(), EMPTY)?;
            for (number, key) in unique.iter().enumerate() {
                let mut slot = first(&slots, word(*key).hash());
                while slots[slot] != EMPTY {
                    slot = (slot + 1) & (slots.len() - 1);
                }
                slots[slot] = number as u32;
            }
        }
    }
    Ok((unique, indices))
}

/// The items of each group in their order, group after group, and where each group starts, with the number of items
/// behind the last one.
///
/// # Errors
///
/// [`Error::OutOfHostMemory`].
pub(crate) fn order_of_groups(
    indices: &[u32],
    groups: usize,
) -> Result<(Vec<u32>, Vec<u32>), Error> {
    let mut offsets = host::zeroes::<u32>(groups + 1)?;
    for group in indices {
        offsets[*group as usize + 1] += 1;
    }
    for group in 0..groups {
        offsets[group + 1] += offsets[group];
    }
    let mut next = host::copy(&offsets)?;
    let mut items = host::zeroes(indices.len())?;
    for (item, group) in indices.iter().enumerate() {
        let at = &mut next[*group as usize];
        items[*at as usize] = item as u32;
        *at += 1;
    }
    Ok((items, offsets))
}

/// The values of these items.
///
/// # Errors
///
/// [`Error::OutOfHostMemory`].
pub(crate) fn gather<T: Element>(values: &[T], items: &[u32]) -> Result<Vec<T>, Error> {
    let mut gathered = host::copy(values)?;
    let pairs = gathered.par_iter_mut().zip(items).with_min_len(MIN_LEN);
    pairs.for_each(|(to, item)| *to = values[*item as usize]);
    Ok(gathered)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_numbered_by_their_first_items() {
        let (unique, indices) = find_groups(&[7u32, 0, 7, u32::MAX, 0], |key| key).unwrap();
        assert_eq!(
            (unique, indices),
            (vec![7, 0, u32::MAX], vec![0, 1, 0, 2, 1])
        );
        let keys: Vec<u64> = (0..10_000).map(|i| (i % 5_000) << 40).collect();
        let (unique, indices) = find_groups(&keys, |key| key).unwrap();
        assert_eq!(unique, keys[..5_000]);
        assert!((0..10_000).all(|i| indices[i] as usize == i % 5_000));
    }

    #[test]
    fn the_order_of_items_is_stable() {
        let (items, offsets) = order_of_groups(&[1, 0, 1, 2, 0], 3).unwrap();
        assert_eq!((items, offsets), (vec![1, 4, 0, 2, 3], vec![0, 2, 4, 5]));
    }
}
