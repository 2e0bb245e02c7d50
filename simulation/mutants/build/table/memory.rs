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
        "the last vector extends past the end of the array",
        "len: self.len / N,",
        "len: self.len.div_ceil(N),",
    ),
    mutant(
        "no_head",
        "vectors start at the array's start, even if it is unaligned",
        "            % Self::PERIOD
    }",
        "            * 0
    }",
    )
    .on(ANYWHERE),
    mutant(
        "head_as_long_as_what_lies_behind",
        "the head's length is the array's offset from alignment, instead of the distance to it",
        "            .wrapping_neg()
",
        "",
    )
    .on(&["stable_vec4"]),
    mutant(
        "head_past_the_end",
        "the array ends before its first vector",
        ".min(self.len);",
        ";",
    )
    .on(ANYWHERE),
    mutant(
        "rest_as_long_as_the_array",
        "adds the head's length to the end of the array",
        "len: (self.len - head) / N,",
        "len: self.len / N,",
    )
    .on(ANYWHERE),
    mutant(
        "first_vector_before_the_array",
        "rounds the first vector's address down",
        "address.wrapping_add(mask) & !mask",
        "address & !mask",
    )
    .on(ANYWHERE),
    mutant(
        "all_vectors_by_start",
        "assumes that an array that starts with a vector also ends with one",
        " && self.len.is_multiple_of(N)",
        "",
    )
    .on(ANYWHERE),
    mutant(
        "all_vectors_by_length",
        "assumes that an array of a whole number of vectors starts with one",
        "self.start.addr().is_multiple_of(alignment) && ",
        "",
    )
    .on(ANYWHERE),
    mutant(
        "has_what_only_begins",
        "treats a vector that extends past the array's end as inside",
        "self.start.wrapping_add(index + 1).addr() <= self.end",
        "self.start.wrapping_add(index).addr() < self.end",
    )
    .on(ANYWHERE),
    mutant(
        "last_vector_lost",
        "treats a vector that ends at the array's end as outside",
        ".addr() <= self.end",
        ".addr() < self.end",
    )
    .on(ANYWHERE),
    mutant(
        "halves_exchanged",
        "swaps the two words of a structure's load",
        ".write_unaligned([low, high])",
        ".write_unaligned([high, low])",
    )
    .on(&["single_pass_arg_min_indexed_i64"]),
    mutant(
        "skew_of_a_whole_vector",
        "takes an array that starts with a vector as if it started behind one",
        "Some((period - Layout::<T, N>::head(address)) % period)",
        "Some(period - Layout::<T, N>::head(address))",
    )
    .on(&["single_pass_sum_i32"]),
];
