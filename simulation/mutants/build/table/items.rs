//! Several arrays side by side.

use super::{Source, mutant};

pub const SOURCE: Source = Source {
    path: "items.rs",
    kernels: &["single_pass_dot_i32_i32"],
    mutants: &[
        mutant(
            "unlike_taken_for_alike",
            "vectors that begin at different items are read side by side",
            "let alike = $(all.$i.0 == head)&&+;",
            "let alike = $(all.$i.0 < usize::MAX)&&+;",
        ),
        mutant(
            "alike_taken_for_unlike",
            "arrays that lie alike are read as if they had no vectors",
            "alike.then_some(",
            "(!alike).then_some(",
        ),
        mutant(
            "items_of_the_first",
            "every item but the first of each vector is the first",
            "items[e] = ($(loaded.$i[e]),+)",
            "items[e] = ($(loaded.$i[0 * e]),+)",
        ),
        mutant(
            "second_array_backwards",
            "the elements of the other arrays' vectors in the other order",
            "items[e] = ($(loaded.$i[e]),+)",
            "items[e] = ($(loaded.$i[e ^ $i & (N - 1)]),+)",
        ),
        mutant(
            "second_vector_of_the_first",
            "the other arrays' vectors are always their first",
            "($(vectors.$i.get(index)),+)",
            "($(vectors.$i.get(index >> (31 * $i))),+)",
        ),
        mutant(
            "second_element_of_the_start",
            "the other arrays' elements are always their first",
            "($(arrays.$i.get(index)),+)",
            "($(arrays.$i.get(index >> (31 * $i))),+)",
        ),
        mutant(
            "last_vector_lost",
            "of several arrays, the last vector is left out",
            "has_vector<const N: usize>(vectors: Self::Vectors<N>, index: usize) -> bool {
                vectors.0.has(index)",
            "has_vector<const N: usize>(vectors: Self::Vectors<N>, index: usize) -> bool {
                vectors.0.has(index + 1)",
        ),
    ],
};
