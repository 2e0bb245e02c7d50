//! What becomes of the values of keys.

use super::super::super::{Source, mutant};
use super::COMBINE;

pub const SOURCE: Source = Source {
    path: "groups/insert/sink.rs",
    kernels: COMBINE,
    mutants: &[mutant(
        "last_copy_left_out",
        "the last copy of a bin is not combined",
        "while copy < copies {",
        "while copy + 1 < copies {",
    )],
};
