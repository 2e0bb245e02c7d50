//! The handles.

use super::{Source, mutant};

pub const SOURCE: Source = Source {
    path: "mem/vector.rs",
    kernels: &["read_ceiling"],
    mutants: &[mutant(
        "vectors_rounded_up",
        "the last vector lies partly behind the array",
        "len: self.len / N,",
        "len: self.len.div_ceil(N),",
    )],
};
