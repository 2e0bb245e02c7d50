//! Shared memory has 32 banks, each of which serves one 4-byte word per wavefront.

use super::merge::lanes_of;

const BANKS: usize = 32;
const WORD: u64 = 4;

/// The wavefronts of one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Wavefronts {
    /// Wavefronts needed.
    pub taken: u32,
    /// Wavefronts needed without bank conflicts.
    pub ideal: u32,
    /// The largest number of words that one bank serves for one group of lanes.
    pub ways: u32,
}

/// How many adjacent lanes form a group: as many as can fill the 32 banks once. Half a warp for 8-byte
/// elements, a quarter for 16-byte elements. For smaller elements, the whole warp.
pub(super) fn lanes_together(size: u32) -> u32 {
    match size {
        0..=4 => 32,
        5..=8 => 16,
        _ => 8,
    }
}

/// A group of lanes needs as many wavefronts as its busiest bank has different words to serve. Lanes that
/// access the same word share it.
pub(super) fn wavefronts(active: u32, addresses: &[u64; 32], size: u32) -> Wavefronts {
    let together = lanes_together(size);
    let mut sum = Wavefronts {
        taken: 0,
        ideal: 0,
        ways: 0,
    };
    let first = u32::MAX >> (32 - together);
    for group in (0..32).step_by(together as usize) {
        let active = active & first << group;
        if active != 0 {
            let ways = ways(active, addresses, size);
            sum.taken += ways;
            sum.ideal += 1;
            sum.ways = sum.ways.max(ways);
        }
    }
    sum
}

/// The largest number of different words in one bank.
fn ways(active: u32, addresses: &[u64; 32], size: u32) -> u32 {
    const NONE: u8 = u8::MAX;
    // The words of a bank form a list through `next`, newest first.
    let mut newest = [NONE; BANKS];
    let mut count = [0_u8; BANKS];
    let mut words = [0_u64; 64];
    let mut next = [NONE; 64];
    let mut used = 0;
    let mut most = 0;
    for lane in lanes_of(active) {
        let address = addresses[lane];
        let last = (address + u64::from(size.max(1)) - 1) / WORD;
        for word in address / WORD..=last {
            let bank = word as usize % BANKS;
            let mut at = newest[bank];
            while at != NONE && words[usize::from(at)] != word {
                at = next[usize::from(at)];
            }
            if at == NONE {
                words[used] = word;
                next[used] = newest[bank];
                newest[bank] = used as u8;
                used += 1;
                count[bank] += 1;
                most = most.max(count[bank]);
            }
        }
    }
    u32::from(most)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::{BTreeMap, BTreeSet};

    const SIZES: [u32; 5] = [1, 2, 4, 8, 16];

    fn gcd(a: u64, b: u64) -> u64 {
        if b == 0 { a } else { gcd(b, a % b) }
    }

    fn elements(start: u64, stride: u64, size: u32) -> [u64; 32] {
        std::array::from_fn(|lane| (start + lane as u64 * stride) * u64::from(size))
    }

    #[track_caller]
    fn assert_all_lanes(addresses: [u64; 32], size: u32, taken: u32, ideal: u32, ways: u32) {
        let expected = Wavefronts { taken, ideal, ways };
        assert_eq!(wavefronts(u32::MAX, &addresses, size), expected);
    }

    #[test]
    fn known_patterns() {
        assert_all_lanes([4096; 32], 4, 1, 1, 1);
        assert_all_lanes([4096; 32], 8, 2, 2, 1);
        assert_all_lanes(elements(0, 1, 16), 16, 4, 4, 1);
        assert_all_lanes(elements(3, 1, 8), 8, 2, 2, 1);
        // Four bytes, or two halves, of the same word.
        assert_all_lanes(elements(5, 1, 1), 1, 1, 1, 1);
        assert_all_lanes(elements(5, 1, 2), 2, 1, 1, 1);
        assert_all_lanes(elements(0, 128, 1), 1, 32, 1, 32);
        let reversed = elements(0, 1, 4).map(|address| 124 - address);
        assert_all_lanes(reversed, 4, 1, 1, 1);
        assert_all_lanes(elements(0, 32, 4), 4, 32, 1, 32);
        assert_all_lanes(elements(0, 33, 4), 4, 1, 1, 1);
    }

    #[test]
    fn no_lane_takes_no_wavefront() {
        let none = Wavefronts {
            taken: 0,
            ideal: 0,
            ways: 0,
        };
        assert_eq!(wavefronts(0, &[0; 32], 4), none);
    }

    #[test]
    fn eight_bytes_go_by_halves_that_have_a_lane() {
        let addresses = elements(0, 1, 8);
        let one = Wavefronts {
            taken: 1,
            ideal: 1,
            ways: 1,
        };
        let two = Wavefronts {
            taken: 2,
            ideal: 2,
            ways: 1,
        };
        assert_eq!(wavefronts(0x0000_0001, &addresses, 8), one);
        assert_eq!(wavefronts(0xffff_0000, &addresses, 8), one);
        assert_eq!(wavefronts(0x0001_8000, &addresses, 8), two);
    }

    /// The definition, written for clarity instead of speed.
    fn oracle(active: u32, addresses: &[u64; 32], size: u32) -> Wavefronts {
        let mut sum = Wavefronts {
            taken: 0,
            ideal: 0,
            ways: 0,
        };
        let groups = (size / 4).max(1);
        for group in 0..groups {
            let mut banks = BTreeMap::<u64, BTreeSet<u64>>::new();
            for lane in (0..32).filter(|lane| lane / (32 / groups) == group) {
                if active >> lane & 1 == 1 {
                    for byte in 0..u64::from(size) {
                        let word = (addresses[lane as usize] + byte) / 4;
                        banks.entry(word % 32).or_default().insert(word);
                    }
                }
            }
            let ways = banks.values().map(BTreeSet::len).max().unwrap_or(0) as u32;
            sum.taken += ways;
            sum.ideal += u32::from(ways > 0);
            sum.ways = sum.ways.max(ways);
        }
        sum
    }

    proptest! {
        #[test]
        fn strides_conflict_by_their_gcd(stride in 1_u64..200, start in 0_u64..200) {
            let ways = gcd(stride, 32) as u32;
            let conflict = Wavefronts { taken: ways, ideal: 1, ways };
            prop_assert_eq!(wavefronts(u32::MAX, &elements(start, stride, 4), 4), conflict);
        }

        /// With stride one, the lanes of a group use all banks once.
        #[test]
        fn wide_strides_conflict_by_their_gcd(stride in 1_u64..200, start in 0_u64..200) {
            for size in [8, 16] {
                let groups = size / 4;
                let words = stride * u64::from(groups);
                let ways = (32 / groups) as u64 * gcd(words, 32) / 32;
                let taken = ways as u32 * groups;
                let conflict = Wavefronts { taken, ideal: groups, ways: ways as u32 };
                prop_assert_eq!(wavefronts(u32::MAX, &elements(start, stride, size), size), conflict);
            }
        }

        #[test]
        fn any_pattern(
            active: u32,
            size in prop::sample::select(&SIZES),
            places in prop::array::uniform32(0_u64..300),
        ) {
            let addresses = places.map(|place| place * u64::from(size));
            let expected = oracle(active, &addresses, size);
            prop_assert_eq!(wavefronts(active, &addresses, size), expected);
        }

        #[test]
        fn any_stride(
            active: u32,
            size in prop::sample::select(&SIZES),
            start in 0_u64..100,
            stride in 0_u64..100,
        ) {
            let addresses = elements(start, stride, size);
            let expected = oracle(active, &addresses, size);
            prop_assert_eq!(wavefronts(active, &addresses, size), expected);
        }
    }
}
