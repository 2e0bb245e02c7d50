//! The handles.

use super::{Mutant, Source, mutant};

pub const SOURCE: Source = Source {
    path: "mem/vector.rs",
    kernels: &["read_ceiling"],
    mutants: MUTANTS,
};

/// Their elements have 12 bytes, and four of them are a vector.
const TWELVE_BYTES: &[&str] = &["single_pass_arg_min_indexed_i32"];

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
        "            % Self::PERIOD
    }",
        "            * 0
    }",
    )
    .on(ANYWHERE),
    mutant(
        "head_as_long_as_what_lies_behind",
        "the head ends as far behind a place for a vector as the array begins",
        "            .wrapping_neg()
",
        "",
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
        "self.start.addr().is_multiple_of(alignment) && ",
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
    mutant(
        "head_of_numbers",
        "the head of elements of 12 bytes as if they had 4",
        ".wrapping_mul(Self::INVERSE)",
        "",
    )
    .on(TWELVE_BYTES),
    mutant(
        "first_vector_aligned_by_address",
        "the first vector of elements of 12 bytes begins within an element",
        "if size_of::<T>() == Layout::<T, N>::STEP {",
        "if true {",
    )
    .on(TWELVE_BYTES),
    mutant(
        "period_of_half",
        "a vector is taken to begin at every second element where it begins at every fourth",
        "let period = Self::ALIGNMENT / Self::STEP;",
        "let period = (Self::ALIGNMENT / Self::STEP).div_ceil(2);",
    )
    .on(TWELVE_BYTES),
    mutant(
        "halves_exchanged",
        "the two words of a structure's load in the other order",
        ".write_unaligned([low, high])",
        ".write_unaligned([high, low])",
    )
    .on(&["single_pass_arg_min_indexed_i64"]),
    mutant(
        "vectors_anywhere",
        "an array that has vectors nowhere is taken to have some",
        "if !Layout::<T, N>::ALWAYS && !address.is_multiple_of(Layout::<T, N>::STEP) {",
        "if N == 0 {",
    )
    .on(&["single_pass_arg_min_indexed_i64"]),
];
