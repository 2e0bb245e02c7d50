//! The laws of exact sums, in which a warp adds its vectors in one of several ways.

use super::Broken;
use crate::laws::claim::Claim;
use crate::sass::profile::Counts;

/// Each way loads the vectors of a group by itself, as wide as possible. All but one are in flight together: registers
/// may lack for the last.
pub fn loads(broken: &mut Broken, claim: &Claim, counts: &Counts) {
    let (wide, item) = (claim.load_bits(), claim.item_load_bits());
    let vectors = claim.vectors_in_flight() * claim.loads();
    let of_ways = claim.ways() * vectors;
    if claim.item_arrays == 1 {
        let expected = [(wide, of_ways), (item, claim.item_loads())].into();
        broken.unless_equal("loads by bits", &counts.ldg, &expected);
    } else {
        // Arrays with different alignments are loaded by granules, parts of which may not be needed.
        let found = counts.ldg.get(&wide).copied().unwrap_or(0);
        broken.unless(
            found >= of_ways && counts.ldg.contains_key(&item),
            format!(
                "loads must have {wide} bits, {of_ways} at least, and {item} for single items: {:?}",
                counts.ldg
            ),
        );
    }
    let (least, together) = (vectors - 1, counts.in_flight.get(&wide));
    broken.unless(
        together.is_some_and(|together| *together >= least),
        format!("{together:?} loads of vectors are in flight together instead of {least}"),
    );
}

/// Digits and flags are added by atomics, and one more counts the blocks. The only stores are the zeros of the next launch's
/// cells and the copy of this one's.
pub fn result(broken: &mut Broken, claim: &Claim, counts: &Counts) {
    broken.unless_equal("stores by bits", &counts.stg, &[(64, 2)].into());
    // Because of the fence behind them, ptxas makes ATOM of those without a result.
    // Digits are added where they are flushed and at the end, then come the flags and the block. The loop that flushes the
    // many digits of a product of `f64` is unrolled.
    let expected = if claim.ways() == 1 { 8 } else { 4 };
    broken.unless(
        (counts.red, counts.atom) == (0, expected),
        format!(
            "digits, flags and blocks are added by {expected} ATOM: {} RED and {} ATOM",
            counts.red, counts.atom
        ),
    );
}

#[cfg(test)]
mod tests {
    use super::super::tests::{breaks, entry, keeps};
    use super::super::{broken, broken_on_every_arch};
    use crate::laws::claim::{Claim, tests::claim};

    const REST: &str = "STS LDS ATOMS.ADD BAR.SYNC ATOMG.E.ADD.64 x4 STG.E.64 x2";

    fn exact(op: &'static str, items: &'static str, vector: u32) -> Claim<'static> {
        Claim {
            vector,
            acc_bits: 8 * 4 * 20,
            ..claim("exact", op, items)
        }
    }

    #[test]
    fn laws_of_loads_can_fail() {
        let sum = exact("sum", "f32", 4);
        let way = "LDG.E.128 x4 BRA";
        keeps(sum, &format!("{way} {way} {way} LDG.E {REST}"));
        breaks(sum, &format!("{way} {way} LDG.E {REST}"), "loads by bits");
        breaks(sum, &format!("{way} {way} {way} LDG.E x2 {REST}"), "loads");
        breaks(
            sum,
            &format!("{} LDG.E {REST}", "LDG.E.128 x2 BRA ".repeat(6)),
            "Some(2) loads of vectors are in flight together instead of 3",
        );
        let squares = exact("sum_squares", "f64", 2);
        keeps(
            squares,
            &format!("{way} LDG.E.64 {}", REST.replace("ADD.64 x4", "ADD.64 x8")),
        );
        let dot = exact("dot", "f32_f32", 4);
        let granules = "LDG.E.64 x4 BRA";
        keeps(
            dot,
            &format!("{way} {granules} {way} {granules} LDG.E x2 {REST}"),
        );
        breaks(dot, &format!("{way} LDG.E x2 {REST}"), "8 at least");
        breaks(dot, &format!("{way} {way} {REST}"), "32 for single items");
    }

    #[test]
    fn laws_of_cells_can_fail() {
        let sum = exact("sum", "f32", 4);
        let ways = "LDG.E.128 x4 BRA ".repeat(3);
        let with = |old: &str, new: &str| {
            let changed = REST.replace(old, new);
            assert_ne!(changed, REST, "{old}");
            format!("{ways} LDG.E {changed}")
        };
        keeps(sum, &format!("{ways} LDG.E {REST}"));
        for (old, new, law) in [
            ("STG.E.64 x2", "STG.E.64", "stores by bits"),
            ("STG.E.64", "STG.E", "stores by bits"),
            (
                "ATOMG.E.ADD.64 x4",
                "ATOMG.E.ADD.64 x3",
                "are added by 4 ATOM",
            ),
            ("ATOMG.E.ADD.64 x4", "REDG.E.ADD.64 x4", "4 RED"),
            ("ATOMS.ADD", "ATOMS.CAST.SPIN", "loops around ATOMS"),
            ("ATOMS.ADD", "", "must have LDS"),
            ("BAR.SYNC", "BAR.SYNC SHFL.DOWN", "SHFL"),
        ] {
            breaks(sum, &with(old, new), law);
        }
    }

    #[test]
    fn only_pairs_of_halves_may_spill() {
        let spilled = |bytes| {
            let mut spilled = entry(&format!(
                "{} LDG.E.U16 x2 HADD2.F32 x98 {REST}",
                "LDG.E.128 x4 BRA ".repeat(3)
            ));
            spilled.resources.stack = bytes;
            spilled.resources.spill_stores = bytes;
            spilled
        };
        let halves = exact("dot", "f16_f16", 8);
        assert_eq!(broken(&halves, &spilled(64)), Vec::<String>::new());
        assert_eq!(broken(&halves, &spilled(68)).len(), 2);
        let floats = exact("dot", "f32_f32", 4);
        let found = broken_on_every_arch(&floats, &spilled(4));
        assert!(found.iter().any(|law| law.contains("spills")), "{found:?}");
    }
}
