//! Several arrays side by side.

use super::{Source, mutant};

/// Rounds, so the order of its items is fixed.
const FLOATS: &[&str] = &["single_pass_dot_f32_f32"];

pub const SOURCE: Source = Source {
    path: "items.rs",
    kernels: &["single_pass_dot_i32_i32"],
    mutants: &[
        mutant(
            "items_of_the_first",
            "all items of a vector are its first",
            "items[e] = ($(loaded.$i[e]),+)",
            "items[e] = ($(loaded.$i[0 * e]),+)",
        )
        .nth(1, 3),
        mutant(
            "shifted_items_of_the_first",
            "all items of a shifted vector are its first",
            "items[e] = ($(loaded.$i[e]),+)",
            "items[e] = ($(loaded.$i[0 * e]),+)",
        )
        .nth(2, 3)
        .on(FLOATS),
        mutant(
            "second_array_backwards",
            "reverses the elements of the other arrays' vectors",
            "items[e] = ($(loaded.$i[e]),+)",
            "items[e] = ($(loaded.$i[e ^ $i & (N - 1)]),+)",
        )
        .nth(1, 3),
        mutant(
            "shifted_second_array_backwards",
            "reverses the elements of the other arrays' shifted vectors",
            "items[e] = ($(loaded.$i[e]),+)",
            "items[e] = ($(loaded.$i[e ^ $i & (N - 1)]),+)",
        )
        .nth(2, 3),
        mutant(
            "second_vector_of_the_first",
            "always loads the first vector of the other arrays",
            "($(arrays.$i.vector::<N>(first)),+)",
            "($(arrays.$i.vector::<N>(first >> (31 * $i))),+)",
        ),
        mutant(
            "second_shifted_vector_of_the_first",
            "always loads the first shifted vector of the other arrays",
            "($(arrays.$i.shifted::<N>(start, first)),+)",
            "($(arrays.$i.shifted::<N>(start, first >> (31 * $i))),+)",
        ),
        mutant(
            "second_element_of_the_start",
            "always loads the first element of the other arrays",
            "($(arrays.$i.get(index)),+)",
            "($(arrays.$i.get(index >> (31 * $i))),+)",
        ),
        mutant(
            "granules_of_one_array",
            "loads shifted vectors if any of the arrays has their granules",
            "$(arrays.$i.has_granules::<N>(first))&&+",
            "$(arrays.$i.has_granules::<N>(first))||+",
        ),
        mutant(
            "length_of_none",
            "the last item of several arrays does not exist",
            "arrays.0.len()",
            "arrays.0.len().saturating_sub(1)",
        ),
    ],
};
