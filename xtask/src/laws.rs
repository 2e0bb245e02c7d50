//! Rules for PTX and SASS, checked without a GPU. `tests/laws.rs` checks every entry; `cargo xtask sass`
//! prints the counts.
//!
//! PTX, for every architecture:
//!
//! - the entries of every module are those of the tables ([`entries`]);
//! - every declared function is defined ([`unresolved`]), so no kernel prints;
//! - no function of C that compares bytes is linked ([`comparisons`]), because no kernel needs one;
//! - there are no texts ([`texts`]): a panic is only a `trap`;
//! - a handle has no more memory accesses than a raw pointer ([`memory`]); the same holds for SASS.
//!
//! Machine code of every entry, for every architecture ([`machine`]):
//!
//! - no generic addresses, no local memory, no spills, no calls;
//! - loads are as wide as possible: up to 128 bits, and a divisor of the vector. Those of a step are in
//!   flight together. Single items are loaded only before and after the vectors, and in a separate loop if an
//!   input may have no vectors. Copies store with the width of their loads;
//! - an operator's value is read from the constant bank;
//! - a partial is stored once; a cell gets a `RED`, or a loop around an `ATOM` if no instruction applies the
//!   operator (products). `keyed_cas` has this loop on purpose;
//! - the same for shared memory, where only sums of floats and 64-bit values need a loop. A kernel that does
//!   not need shared memory has none, and no barrier;
//! - an instruction converts `f16`.
//!
//! Machine code for sm_90, where shuffles have a copy for diverged warps:
//!
//! - one shuffle for each 32 bits in each step, so two for a 64-bit value; none if the source has none;
//!   `REDUX` if the source has it;
//! - no shuffle of the interleaved triple depends on the previous one;
//! - entries of 16-bit floats have at most three more instructions per element than those of `f32`, in which
//!   they compute.
//!
//! [`kernels`] lists what each kernel promises; a kernel that is not in the list breaks a law.

pub mod claim;
pub mod kernels;
pub mod machine;
pub mod memory;

use std::collections::BTreeSet;

/// The names of a PTX module's entry points.
pub fn entries(ptx: &str) -> BTreeSet<&str> {
    declared(ptx, ".entry")
}

/// The functions that a PTX module declares but does not define.
pub fn unresolved(ptx: &str) -> BTreeSet<&str> {
    declared(ptx, ".extern .func")
}

/// C's functions that compare bytes, if a PTX module defines or declares them.
pub fn comparisons(ptx: &str) -> BTreeSet<&str> {
    let mut functions = declared(ptx, ".func");
    functions.retain(|name| ["memcmp", "bcmp"].contains(name));
    functions
}

/// The texts in a PTX module: initialised arrays of bytes that are printable UTF-8.
pub fn texts(ptx: &str) -> Vec<String> {
    let array = |line: &str| {
        let (_, array) = line.split_once(" .b8 ")?;
        let (bytes, _) = array.split_once("= {")?.1.split_once('}')?;
        let bytes = bytes.split(',').map(|byte| byte.trim().parse::<u8>());
        let text = String::from_utf8(bytes.collect::<Result<_, _>>().ok()?).ok()?;
        let text = text.trim_end_matches('\0');
        let is_text = !text.is_empty() && text.chars().all(|c| !c.is_control() || c == '\n');
        is_text.then(|| text.to_owned())
    };
    ptx.lines().filter_map(array).collect()
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

#[cfg(test)]
mod tests {
    use super::*;

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
    fn functions_that_compare_bytes_are_found() {
        assert!(comparisons(PTX).is_empty());
        let defined = ".visible .func  (.param .b32 func_retval0) memcmp(\n.func other(\n";
        let declared = ".extern .func  (.param .b32 func_retval0) bcmp\n(\n";
        assert_eq!(comparisons(defined), ["memcmp"].into());
        assert_eq!(comparisons(declared), ["bcmp"].into());
    }

    #[test]
    fn texts_are_read() {
        let ptx = "\
.global .align 1 .b8 anon_1[11] = {115, 114, 99, 47, 108, 105, 98, 46, 114, 115, 0};
.global .align 4 .b8 table[4] = {1, 2, 3, 4};
.global .align 1 .b8 empty[4];
.extern .shared .align 16 .b8 dynamic[];
";
        assert_eq!(texts(ptx), ["src/lib.rs"]);
    }

    #[test]
    fn entries_and_unresolved_functions_are_read() {
        assert_eq!(
            entries(PTX),
            ["reduce_0_sum_i32", "reduce_1_sum_i32"].into()
        );
        let expected = ["_ZN4core9panicking5panicE", "abort"];
        assert_eq!(unresolved(PTX), expected.into());
    }
}
