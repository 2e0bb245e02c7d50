//! The handles.

use super::{Mutant, Source, mutant};

pub const SOURCE: Source = Source {
    path: "mem/vector.rs",
    kernels: &["read_ceiling"],
    mutants: MUTANTS,
};

/// Their vectors may have a head.
const ANYWHERE: &[&str] = &["stable_vec2", "stable_vec4"];

const MUTANTS: &[Mutant] = &[
    mutant(
        "vectors_rounded_up",
        "the last vector lies partly behind the array",
        "len: self.len / N,",
        "len: self.len.div_ceil(N),",
    ),
    mutant(
        "no_head",
        "vectors begin where the array does, wherever that is",
        "((step - behind) % step)",
        "(0 * (step - behind))",
    )
    .on(ANYWHERE),
    mutant(
        "head_as_long_as_what_lies_behind",
        "the head ends as far behind a place for a vector as the array begins",
        "((step - behind) % step)",
        "behind",
    )
    .on(&["stable_vec4"]),
    mutant(
        "head_past_the_end",
        "an array that ends before its first vector",
        ".min(self.len);",
        ";",
    )
    .on(ANYWHERE),
    mutant(
        "rest_as_long_as_the_array",
        "the head's elements are counted once more behind the array",
        "len: self.len - head,",
        "len: self.len,",
    )
    .on(ANYWHERE),
];
