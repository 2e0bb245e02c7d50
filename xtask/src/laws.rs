//! What must hold of PTX and SASS, checked without a GPU. `tests/laws.rs` applies these to every
//! entry; `cargo xtask sass` shows what they see.
//!
//! Of the PTX, for every architecture:
//!
//! - the entries of every module are those of the tables ([`entries`]), and nothing is declared
//!   that nobody defines ([`unresolved`]), so no kernel prints;
//! - the functions by which kernels compare bytes are not in it ([`comparisons`]): ours compare none;
//! - no text is in it ([`texts`]): of a panic nothing is left but a `trap`;
//! - a handle costs no access to memory over a raw pointer ([`memory`]), in SASS too.
//!
//! Of the machine code of every entry, for every architecture ([`machine`]):
//!
//! - no generic address, no local memory, no spills, no calls;
//! - loads are as wide as they can be (up to 128 bits, for a vector whose bits they divide), and those of a
//!   step are in flight together; single items are loaded only around the vectors, and by a loop of their
//!   own where an input may have no vectors; copies store as they load;
//! - an operator's value is read from the constant bank;
//! - a partial is stored once; a cell gets a `RED`, and a loop around an `ATOM` only where no
//!   instruction applies the operator (products, and `keyed_cas`, which is there to be one);
//! - in shared memory likewise: no loop but to add floats and for 64 bits; who needs no shared memory
//!   has none, and no barrier;
//! - an `f16` is converted by an instruction.
//!
//! For sm_90, in whose code a warp that diverged has its own copy of the shuffles:
//!
//! - a shuffle for each 32 bits of each step, so 64-bit values go by halves; none in a kernel that
//!   has none in its source; `REDUX` where it is asked for;
//! - no shuffle of the interleaved triple waits for the one before;
//! - 16-bit floats take at most three instructions an element more than `f32`, in which they are
//!   combined.
//!
//! [`kernels`] has what each kernel promises. One that is not there breaks a law.

pub mod claim;
pub mod kernels;
pub mod machine;
pub mod memory;

use std::collections::BTreeSet;

/// The names of a PTX module's entry points.
pub fn entries(ptx: &str) -> BTreeSet<&str> {
    declared(ptx, ".entry")
}

/// The functions that a PTX module declares and nobody defines.
pub fn unresolved(ptx: &str) -> BTreeSet<&str> {
    declared(ptx, ".extern .func")
}

/// The functions of C that compare bytes, among those that a PTX module defines or declares.
pub fn comparisons(ptx: &str) -> BTreeSet<&str> {
    let mut functions = declared(ptx, ".func");
    functions.retain(|name| ["memcmp", "bcmp"].contains(name));
    functions
}

/// The texts in a PTX module: arrays of bytes with an initial value that are UTF-8 and printable.
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
    fn comparisons_of_bytes_are_found() {
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
