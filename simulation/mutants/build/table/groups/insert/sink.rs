//! What becomes of the values of keys.

use super::super::super::{Source, mutant};
use super::COMBINE;

pub const SOURCE: Source = Source {
    path: "groups/insert/sink.rs",
    kernels: COMBINE,
    mutants: &[
        mutant(
            "copies_of_two_bins",
            "adjacent bins share their copies",
            ".combine_atomic::<T, O>(self.op, bin * Self::COPIES + copy, value);",
            ".combine_atomic::<T, O>(self.op, bin + copy, value);",
        ),
        mutant(
            "last_copy_left_out",
            "the last copy of a bin is not combined",
            "        let mut copy = 1;
        while copy < Self::COPIES {",
            "        let mut copy = 1;
        while copy + 1 < Self::COPIES {",
        ),
    ],
};
