//! Counts loads that are in flight together.

use super::parse::Function;
use super::profile::width;
use super::registers::written_and_read;
use std::collections::{BTreeMap, BTreeSet};

/// The most non-atomic loads from global memory that are in flight together, by width in bits: no instruction
/// between them jumps or reads a register that one of them writes.
pub fn most(function: &Function) -> BTreeMap<u32, usize> {
    let mut loaded = BTreeSet::new();
    let (mut loads, mut most) = (BTreeMap::new(), BTreeMap::new());
    for instruction in &function.instructions {
        let (written, read) = written_and_read(instruction);
        let waits = read.iter().any(|register| loaded.contains(register));
        if waits || jumps(instruction.mnemonic()) {
            loaded.clear();
            loads.clear();
        }
        if instruction.mnemonic() == "LDG" && !instruction.has("STRONG") {
            loaded.extend(written);
            let width = width(instruction);
            let together = loads.entry(width).or_insert(0);
            *together += 1;
            let before = most.entry(width).or_insert(0);
            *before = (*before).max(*together);
        }
    }
    most
}

fn jumps(mnemonic: &str) -> bool {
    ["BRA", "BRX", "CALL", "RET", "EXIT"].contains(&mnemonic)
}

#[cfg(test)]
mod tests {
    use super::super::parse::tests::function;
    use super::*;

    #[track_caller]
    fn check(lines: &[&str], expected: &[(u32, usize)]) {
        let expected = expected.iter().copied().collect();
        assert_eq!(most(&function("k", lines)), expected, "{lines:#?}");
    }

    #[test]
    fn loads_are_together_until_one_is_read() {
        check(&[], &[]);
        let loads = [
            "LDG.E.128.CONSTANT R8, desc[UR6][R22.64]",
            "IADD3 R12, P0, R22, R31, RZ",
            "IMAD.X R13, R23, 0x1, R30, P0",
            "LDG.E.128.CONSTANT R12, desc[UR6][R12.64]",
        ];
        check(&loads, &[(128, 2)]);
        let third = "LDG.E.128.CONSTANT R16, desc[UR6][R20.64]";
        check(&[&loads[..], &[third]].concat(), &[(128, 3)]);
        // The first and the last register of the first load, and one that no load writes.
        for (register, expected) in [("R8", 2), ("R11", 2), ("R16", 3)] {
            let add = format!("FADD R5, R5, {register}");
            check(&[&loads[..], &[&add, third]].concat(), &[(128, expected)]);
        }
    }

    #[test]
    fn loads_are_not_together_across_a_jump() {
        let load = "LDG.E R8, desc[UR6][R22.64]";
        check(&[load, "@P0 BRA 0x270", load], &[(32, 1)]);
        check(
            &[load, "ISETP.NE.U32.AND P2, PT, R28, RZ, PT", load],
            &[(32, 2)],
        );
    }

    #[test]
    fn a_byte_takes_one_register_and_an_address_two() {
        let byte = "LDG.E.U8.CONSTANT R8, desc[UR6][R22.64]";
        let other = "LDG.E.U8.CONSTANT R20, desc[UR6][R24.64]";
        check(&[byte, "MOV R2, R9", other], &[(8, 2)]);
        // The result of the first load is the address of the next one.
        check(
            &[byte, "LDG.E.U8.CONSTANT R20, desc[UR6][R8.64]"],
            &[(8, 1)],
        );
        check(
            &[byte, "LDG.E.U8.CONSTANT R20, desc[UR6][R7.64]"],
            &[(8, 1)],
        );
    }

    #[test]
    fn loads_are_counted_by_their_widths() {
        let (wide, narrow) = ("LDG.E.128 R8, [R2.64]", "LDG.E R12, [R4.64]");
        check(&[wide, narrow, wide, narrow, narrow], &[(32, 3), (128, 2)]);
        check(&[wide, narrow, "MOV R1, R12", wide], &[(32, 1), (128, 1)]);
    }

    #[test]
    fn atomic_loads_are_not_counted() {
        let look = "LDG.E.64.STRONG.GPU R8, desc[UR6][R22.64]";
        check(&[look, look], &[]);
    }
}
