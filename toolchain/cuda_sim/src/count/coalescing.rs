//! Global memory: the sectors of a request, and the contention of its atomics on one address.

use super::merge::lanes_of;

/// The unit of global memory transfers in bytes.
const SECTOR: u64 = 32;

/// The number of different sectors that the active lanes access.
pub(super) fn sectors(active: u32, addresses: &[u64; 32], size: u32) -> u32 {
    let mut sectors = [0; 64];
    let mut used = 0;
    for lane in lanes_of(active) {
        let address = addresses[lane];
        let first = address / SECTOR;
        let last = (address + u64::from(size.max(1)) - 1) / SECTOR;
        for sector in first..=last {
            sectors[used] = sector;
            used += 1;
        }
    }
    runs(&mut sectors[..used]).0
}

/// The largest number of active lanes at one address.
pub(super) fn most_on_one_address(active: u32, addresses: &[u64; 32]) -> u32 {
    let mut popular = [0; 32];
    let mut used = 0;
    for lane in lanes_of(active) {
        popular[used] = addresses[lane];
        used += 1;
    }
    runs(&mut popular[..used]).1
}

/// The number of different values, and how often the most frequent one occurs.
fn runs(values: &mut [u64]) -> (u32, u32) {
    // Addresses mostly increase with the lane.
    if !values.is_sorted() {
        values.sort_unstable();
    }
    let (mut different, mut most, mut run) = (0, 0, 0);
    let mut last = None;
    for &value in &*values {
        if last == Some(value) {
            run += 1;
        } else {
            different += 1;
            run = 1;
        }
        last = Some(value);
        most = most.max(run);
    }
    (different, most)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::{BTreeMap, BTreeSet};

    /// Where allocations start: at a sector.
    const START: u64 = 0x7f00_0000_0100;

    fn all_lanes(size: u32, place: impl Fn(u64) -> u64) -> u32 {
        let address = |lane| START + place(lane as u64) * u64::from(size);
        sectors(u32::MAX, &std::array::from_fn(address), size)
    }

    #[test]
    fn known_patterns() {
        assert_eq!(all_lanes(4, |lane| lane), 4);
        assert_eq!(all_lanes(4, |lane| lane + 1), 5);
        assert_eq!(all_lanes(4, |lane| lane * 2), 8);
        assert_eq!(all_lanes(4, |lane| lane * 8), 32);
        assert_eq!(all_lanes(4, |_| 7), 1);
        assert_eq!(all_lanes(4, |lane| 31 - lane), 4);
        assert_eq!(all_lanes(8, |lane| lane), 8);
        assert_eq!(all_lanes(16, |lane| lane), 16);
        assert_eq!(all_lanes(32, |lane| lane), 32);
        assert_eq!(all_lanes(1, |lane| lane), 1);
        assert_eq!(all_lanes(2, |lane| lane), 2);
    }

    #[test]
    fn lanes_that_stand_aside_touch_nothing() {
        let addresses = std::array::from_fn(|lane| START + lane as u64 * 4);
        assert_eq!(sectors(0, &addresses, 4), 0);
        assert_eq!(sectors(0xff, &addresses, 4), 1);
        assert_eq!(sectors(0x8000_0001, &addresses, 4), 2);
        assert_eq!(most_on_one_address(0, &addresses), 0);
    }

    #[test]
    fn lanes_on_one_address() {
        assert_eq!(most_on_one_address(u32::MAX, &[START; 32]), 32);
        let bins = std::array::from_fn(|lane| START + lane as u64 % 3 * 4);
        assert_eq!(most_on_one_address(u32::MAX, &bins), 11);
        assert_eq!(most_on_one_address(0b1101, &bins), 2);
    }

    proptest! {
        /// The first and last byte of a contiguous row: all sectors in between.
        #[test]
        fn unit_stride(start in 0_u64..1000, first in 0_u32..32, count in 1_u32..32) {
            let count = count.min(32 - first);
            let active = (u32::MAX >> (32 - count)) << first;
            for size in [1, 2, 4, 8, 16, 32] {
                let row = std::array::from_fn(|lane| (start + lane as u64) * size);
                let begin = row[first as usize];
                let end = begin + u64::from(count) * size;
                let expected = end.div_ceil(32) - begin / 32;
                prop_assert_eq!(u64::from(sectors(active, &row, size as u32)), expected);
            }
        }

        #[test]
        fn any_pattern(
            active: u32,
            size in prop::sample::select(&[1_u32, 2, 4, 8, 16, 32]),
            places in prop::array::uniform32(0_u64..60),
        ) {
            let addresses = places.map(|place| START + place * u64::from(size));
            let mut touched = BTreeSet::new();
            let mut popular = BTreeMap::new();
            for lane in (0..32).filter(|lane| active >> lane & 1 == 1) {
                touched.insert(addresses[lane] / 32);
                *popular.entry(addresses[lane]).or_insert(0) += 1;
            }
            let most = popular.into_values().max().unwrap_or(0);
            prop_assert_eq!(sectors(active, &addresses, size) as usize, touched.len());
            prop_assert_eq!(most_on_one_address(active, &addresses), most);
        }
    }
}
