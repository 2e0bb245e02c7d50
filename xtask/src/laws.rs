//! What must hold of PTX and SASS, checked without a GPU. `tests/laws.rs` applies these to every
//! entry; `cargo xtask sass` shows what they see.

pub mod memory;

use crate::sass::profile::Profile;
use std::collections::BTreeSet;

/// The names of a PTX module's entry points.
pub fn entries(ptx: &str) -> BTreeSet<&str> {
    declared(ptx, ".entry")
}

/// The functions that a PTX module declares and nobody defines.
pub fn unresolved(ptx: &str) -> BTreeSet<&str> {
    declared(ptx, ".extern .func")
}

/// The names after a keyword: `.visible .entry NAME(`, `.extern .func (.param .b32 r) NAME`.
fn declared<'a>(ptx: &'a str, keyword: &str) -> BTreeSet<&'a str> {
    let mut names = BTreeSet::new();
    for line in ptx
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"))
    {
        let Some((_, mut rest)) = line.split_once(keyword) else {
            continue;
        };
        rest = rest.trim_start();
        if rest.starts_with('(') {
            rest = rest
                .split_once(')')
                .map_or("", |(_, after)| after)
                .trim_start();
        }
        let end = rest.find(|c: char| !(c.is_alphanumeric() || "_$%".contains(c)));
        names.insert(&rest[..end.unwrap_or(rest.len())]);
    }
    names
}

/// What an entry breaks for sm_90, where `kernel` is its name without operator and element.
/// Empty where it keeps every law.
pub fn broken(kernel: &str, profile: &Profile) -> Vec<String> {
    let Profile {
        resources, counts, ..
    } = profile;
    let shuffles: usize = counts.shfl.values().sum();
    let downs = counts.shfl.get("DOWN").copied().unwrap_or(0);
    let mut broken = Vec::new();
    let mut law = |holds: bool, text: String| {
        if !holds {
            broken.push(text);
        }
    };

    law(
        counts.generic == 0,
        format!("{} instructions take a generic address", counts.generic),
    );
    law(
        counts.local == 0 && resources.stack == 0,
        format!(
            "local memory: {} accesses, {} bytes of stack",
            counts.local, resources.stack
        ),
    );
    law(
        resources.spill_stores + resources.spill_loads == 0,
        format!(
            "spills: {} bytes stored, {} loaded",
            resources.spill_stores, resources.spill_loads
        ),
    );
    if [
        "reduce_0",
        "reduce_0_modulo",
        "reduce_1",
        "reduce_2",
        "reduce_3",
    ]
    .contains(&kernel)
    {
        law(
            counts.lds > 0 && counts.sts > 0,
            format!(
                "a tree in shared memory needs LDS and STS, there are {} and {}",
                counts.lds, counts.sts
            ),
        );
        law(
            shuffles == 0,
            format!("this rung has no shuffles yet, there are {shuffles}"),
        );
    }
    if kernel == "reduce_4" || kernel == "reduce_5" || kernel.starts_with("reduce_5_") {
        law(
            downs > 0 && downs == shuffles,
            format!("the last warp shuffles down: {downs} of {shuffles} SHFL are DOWN"),
        );
    }
    if kernel == "reduce_4_redux" {
        law(counts.redux > 0, "no REDUX".into());
        law(
            shuffles == 0,
            format!("REDUX replaces shuffles, there are {shuffles}"),
        );
    }
    if kernel == "read_ceiling" {
        law(
            counts.ldg.contains_key(&128),
            format!("no 128-bit load; widths in bits: {:?}", counts.ldg),
        );
    }
    if let Some(widest) = copied_at_once(kernel) {
        for (what, widths) in [("load", &counts.ldg), ("store", &counts.stg)] {
            law(
                widths.keys().next_back() == Some(&widest),
                format!("the widest {what} moves {widest} bits; widths in bits: {widths:?}"),
            );
        }
        law(
            counts.ldg == counts.stg,
            format!(
                "what is loaded is stored as it is; widths in bits: {:?}, {:?}",
                counts.ldg, counts.stg
            ),
        );
    }
    let (base, elements) = match kernel.split_once("_vec") {
        Some((base, elements)) => (base, elements.parse().unwrap_or(1)),
        None => (kernel, 1),
    };
    if ["stable", "warp_atomic", "block_atomic"].contains(&base) {
        law(
            downs > 0 && downs == shuffles,
            format!("warps shuffle down: {downs} of {shuffles} SHFL are DOWN"),
        );
        // A load before sm_100 brings no more than 16 bytes.
        let asked = element_bits(&profile.name).map(|bits| (bits * elements).min(128));
        let widest = counts.ldg.keys().next_back().copied();
        law(
            asked.is_none() || asked == widest || elements == 1,
            format!("loads of {asked:?} bits; widths in bits: {:?}", counts.ldg),
        );
    }
    if ["warp_atomic", "block_atomic"].contains(&base) {
        // No instruction multiplies in memory.
        let is_loop = profile.name.contains("_product_");
        law(
            (counts.atom > 0) == is_loop && (counts.red > 0) != is_loop,
            format!("{} RED and {} ATOM", counts.red, counts.atom),
        );
    }
    if base == "triple_interleaved" {
        law(
            counts.dependent_shfl == 0,
            format!("{} SHFL wait for the one before", counts.dependent_shfl),
        );
    }
    if base == "triple_in_turn" {
        law(
            counts.dependent_shfl > 0,
            "no SHFL waits for the one before: there is nothing to compare with".into(),
        );
    }
    broken
}

/// The bits that a copy moves at once, where that is its own and not the element's.
fn copied_at_once(kernel: &str) -> Option<u32> {
    match kernel {
        "copy_vec2" => Some(64),
        "copy_vec4" => Some(128),
        _ => None,
    }
}

/// The bits of the element that an entry's name ends in; none of a place.
fn element_bits(entry: &str) -> Option<u32> {
    let element = entry.rsplit('_').next()?;
    let bits = element.trim_start_matches(|c: char| !c.is_ascii_digit());
    bits.parse().ok().filter(|_| !entry.contains("_indexed_"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sass::{parse, profile};
    use cuda_builder::NvvmArch;

    const PTX: &str = "\
// .visible .entry in_a_comment()
.extern .func  (.param .b32 func_retval0) _ZN4core9panicking5panicE
(
.extern .func abort
.extern .shared .align 16 .b8 dynamic[];
.visible .entry reduce_0_sum_i32(
\t.param .u64 .ptr .align 4 reduce_0_sum_i32_param_0,
.func helper(
.visible .entry reduce_1_sum_i32(
";

    #[test]
    fn entries_and_unresolved_functions_are_read() {
        assert_eq!(
            entries(PTX),
            ["reduce_0_sum_i32", "reduce_1_sum_i32"].into()
        );
        let expected = ["_ZN4core9panicking5panicE", "abort"];
        assert_eq!(unresolved(PTX), expected.into());
    }

    /// SASS with these opcodes, as an entry without resources.
    fn entry(opcodes: &str) -> Profile {
        let mut listing = String::from(".section\t.text.k,\"ax\"\n");
        for (index, opcode) in opcodes.split_whitespace().enumerate() {
            listing += &format!("/*{:04x}*/ {opcode} R0, R1 ;\n", index * 16);
        }
        Profile {
            name: "k".into(),
            resources: profile::Resources {
                registers: 16,
                ..Default::default()
            },
            counts: profile::Counts::of(&parse::parse(&listing)[0], NvvmArch::Compute90),
        }
    }

    #[track_caller]
    fn keeps(kernel: &str, opcodes: &str) {
        let broken = broken(kernel, &entry(opcodes));
        assert!(broken.is_empty(), "{broken:?}");
    }

    #[track_caller]
    fn breaks(kernel: &str, opcodes: &str, law: &str) {
        let broken = broken(kernel, &entry(opcodes));
        assert_eq!(broken.len(), 1, "{broken:?}");
        assert!(broken[0].contains(law), "{broken:?}");
    }

    #[test]
    fn laws_of_every_entry_can_fail() {
        keeps("reduce_naive", "LDG.E REDG.E.ADD EXIT");
        breaks("reduce_naive", "LD.E REDG.E.ADD EXIT", "generic");
        breaks("reduce_naive", "LDG.E ST.E EXIT", "generic");
        breaks("reduce_naive", "LDG.E RED.E.ADD EXIT", "generic");
        breaks("reduce_naive", "LDG.E QSPC.E.S REDG.E.ADD EXIT", "generic");
        breaks("reduce_naive", "LDG.E STL EXIT", "local memory: 1");
        let mut spilled = entry("LDG.E");
        spilled.resources.spill_loads = 4;
        assert!(broken("reduce_naive", &spilled)[0].contains("spills"));
        let mut stacked = entry("LDG.E");
        stacked.resources.stack = 16;
        assert!(broken("reduce_naive", &stacked)[0].contains("16 bytes of stack"));
    }

    #[test]
    fn laws_of_shuffles_and_atomics_can_fail() {
        let broken = |kernel: &str, op_element: &str, opcodes: &str| {
            let name = format!("{kernel}_{op_element}");
            broken(
                kernel,
                &Profile {
                    name,
                    ..entry(opcodes)
                },
            )
            .join("; ")
        };
        let stable = |element, opcodes| broken("stable_vec4", &format!("sum_{element}"), opcodes);
        assert_eq!(stable("i32", "LDG.E.128 LDG.E SHFL.DOWN"), "");
        assert_eq!(stable("f16", "LDG.E.64 LDG.E.U16 SHFL.DOWN"), "");
        assert_eq!(stable("f64", "LDG.E.128 LDG.E.64 SHFL.DOWN"), "");
        assert!(stable("i32", "LDG.E.64 SHFL.DOWN").contains("loads of Some(128) bits"));
        assert!(stable("i8", "LDG.E.U8 SHFL.DOWN").contains("loads of Some(32) bits"));
        assert!(stable("i32", "LDG.E.128").contains("shuffle down"));
        assert!(stable("i32", "LDG.E.128 SHFL.BFLY").contains("shuffle down"));
        let atomic = |op, opcodes| broken("warp_atomic", &format!("{op}_i32"), opcodes);
        assert_eq!(atomic("sum", "LDG.E SHFL.DOWN REDG.E.ADD"), "");
        assert_eq!(atomic("product", "LDG.E SHFL.DOWN ATOMG.E.CAS"), "");
        assert!(atomic("sum", "LDG.E SHFL.DOWN ATOMG.E.ADD").contains("0 RED and 1 ATOM"));
        assert!(atomic("product", "LDG.E SHFL.DOWN REDG.E.ADD").contains("1 RED and 0 ATOM"));
        // `entry` gives every instruction the same registers.
        assert!(broken("triple_interleaved", "sum_i32", "SHFL.DOWN SHFL.DOWN").is_empty());
        assert!(
            broken("triple_in_turn", "sum_i32", "SHFL.DOWN SHFL.DOWN").contains("no SHFL waits")
        );
    }

    #[test]
    fn laws_of_the_rungs_can_fail() {
        for tree in [
            "reduce_0",
            "reduce_0_modulo",
            "reduce_1",
            "reduce_2",
            "reduce_3",
        ] {
            keeps(tree, "LDG.E STS BAR.SYNC LDS STG.E");
            breaks(tree, "LDG.E STS BAR.SYNC STG.E", "needs LDS");
            breaks(tree, "LDG.E LDS BAR.SYNC STG.E", "needs LDS");
            breaks(tree, "LDG.E STS LDS SHFL.DOWN", "no shuffles yet");
        }
        for shuffled in ["reduce_4", "reduce_5", "reduce_5_x16"] {
            keeps(shuffled, "LDG.E STS LDS SHFL.DOWN SHFL.DOWN");
            breaks(shuffled, "LDG.E STS LDS", "shuffles down");
            breaks(
                shuffled,
                "LDG.E SHFL.DOWN SHFL.BFLY",
                "1 of 2 SHFL are DOWN",
            );
        }
        keeps("reduce_4_redux", "LDG.E STS LDS REDUX.SUM.S32");
        breaks("reduce_4_redux", "LDG.E STS LDS", "no REDUX");
        breaks("reduce_4_redux", "REDUX.SUM SHFL.DOWN", "replaces shuffles");
        keeps("copy_vec2", "LDG.E LDG.E.64 STG.E STG.E.64");
        breaks("copy_vec2", "LDG.E.64 STG.E.64 LDG.E STG.E.U8", "as it is");
        keeps("copy_vec4", "LDG.E.128 STG.E.128 LDG.E.U8 STG.E.U8");
        keeps("copy_scalar", "LDG.E.U16 STG.E.U16");
        let halves = broken("copy_vec4", &entry("LDG.E.128 STG.E.64 STG.E.64"));
        assert!(halves[0].contains("widest store"), "{halves:?}");
        let halves = broken("copy_vec4", &entry("LDG.E.64 LDG.E.64 STG.E.128"));
        assert!(halves[0].contains("widest load"), "{halves:?}");
        keeps("read_ceiling", "LDG.E.128 LDG.E STS LDS");
        breaks("read_ceiling", "LDG.E.64 LDG.E STS LDS", "no 128-bit load");
    }
}
