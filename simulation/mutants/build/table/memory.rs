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
        "len: (self.len - head) / N,",
        "len: self.len / N,",
    )
    .on(ANYWHERE),
    mutant(
        "first_vector_before_the_array",
        "the first vector is sought downwards",
        "address.wrapping_add(mask) & !mask",
        "address & !mask",
    )
    .on(ANYWHERE),
    mutant(
        "all_vectors_by_start",
        "an array that begins with a vector is taken to end with one",
        " && self.len.is_multiple_of(N)",
        "",
    )
    .on(ANYWHERE),
    mutant(
        "all_vectors_by_length",
        "an array of a whole number of vectors is taken to begin with one",
        "self.start.addr().is_multiple_of(alignment::<T, N>()) && ",
        "",
    )
    .on(ANYWHERE),
    mutant(
        "has_what_only_begins",
        "a vector that the array's end cuts is taken to be inside",
        "self.start.wrapping_add(index + 1).addr() <= self.end",
        "self.start.wrapping_add(index).addr() < self.end",
    )
    .on(ANYWHERE),
    mutant(
        "last_vector_lost",
        "a vector that ends where the array does is taken to be outside",
        ".addr() <= self.end",
        ".addr() < self.end",
    )
    .on(ANYWHERE),
];
