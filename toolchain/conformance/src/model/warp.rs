//! `vote.sync`, `match.sync` and `redux.sync` over the lanes of a member mask.

use super::arithmetic::{Operation, apply};
use crate::element::Element;

/// The lanes of `mask`, lowest first.
pub fn lanes(mask: u32) -> impl Iterator<Item = usize> {
    (0..32).filter(move |lane| mask >> lane & 1 == 1)
}

/// `vote.sync.ballot`: the members whose predicate holds; bits of other lanes are 0.
pub fn ballot(mask: u32, predicates: &[bool; 32]) -> u32 {
    lanes(mask)
        .filter(|&lane| predicates[lane])
        .fold(0, |bits, lane| bits | 1 << lane)
}

/// `vote.sync.all`: whether the predicate of every member holds.
pub fn all(mask: u32, predicates: &[bool; 32]) -> bool {
    lanes(mask).all(|lane| predicates[lane])
}

/// `vote.sync.any`: whether the predicate of any member holds.
pub fn any(mask: u32, predicates: &[bool; 32]) -> bool {
    lanes(mask).any(|lane| predicates[lane])
}

/// `match.any.sync` for `lane`: the members with the same bits.
pub fn match_any(mask: u32, values: &[u64; 32], lane: usize) -> u32 {
    lanes(mask)
        .filter(|&other| values[other] == values[lane])
        .fold(0, |bits, other| bits | 1 << other)
}

/// `match.all.sync`: the mask if all members have the same bits.
pub fn match_all(mask: u32, values: &[u64; 32]) -> Option<u32> {
    let mut members = lanes(mask).map(|lane| values[lane]);
    let first = members.next()?;
    members.all(|value| value == first).then_some(mask)
}

/// `redux.sync`: the combined values of the members.
///
/// # Panics
/// If `mask` is 0.
pub fn reduce(element: Element, operation: Operation, mask: u32, values: &[u64; 32]) -> u64 {
    lanes(mask)
        .map(|lane| values[lane])
        .reduce(|a, b| apply(element, operation, a, b))
        .expect("a member mask has at least one lane")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn predicates(bits: u32) -> [bool; 32] {
        std::array::from_fn(|lane| bits >> lane & 1 == 1)
    }

    #[test]
    fn votes_count_members_only() {
        let p = predicates(0x0000_00F0);
        assert_eq!(ballot(u32::MAX, &p), 0xF0);
        assert_eq!(ballot(0x3C, &p), 0x30);
        assert!(all(0xF0, &p));
        assert!(!all(0xF1, &p));
        assert!(any(0x10, &p));
        assert!(!any(0x0F, &p));
    }

    #[test]
    fn matching_lanes() {
        let mut values = [7; 32];
        values[3] = 8;
        assert_eq!(match_any(u32::MAX, &values, 0), !8);
        assert_eq!(match_any(u32::MAX, &values, 3), 8);
        assert_eq!(match_any(0b1011, &values, 1), 0b0011);
        assert_eq!(match_all(u32::MAX, &values), None);
        assert_eq!(match_all(!8, &values), Some(!8));
        assert_eq!(match_all(8, &values), Some(8));
    }

    #[test]
    fn reductions() {
        let values: [u64; 32] = std::array::from_fn(|lane| lane as u64 + 1);
        let sum = reduce(Element::U32, Operation::Add, u32::MAX, &values);
        assert_eq!(sum, 528);
        assert_eq!(reduce(Element::U32, Operation::Xor, 0b111, &values), 0);

        let mut signed = values;
        signed[9] = u64::from(-5_i32 as u32);
        assert_eq!(
            reduce(Element::I32, Operation::Min, u32::MAX, &signed),
            signed[9]
        );
        assert_eq!(reduce(Element::I32, Operation::Max, u32::MAX, &signed), 32);
        assert_eq!(
            reduce(Element::U32, Operation::Max, u32::MAX, &signed),
            signed[9]
        );
    }
}
