//! Several arrays side by side.

use super::{Source, mutant};

pub const SOURCE: Source = Source {
    path: "items.rs",
    kernels: &["single_pass_dot_i32_i32"],
    mutants: &[
        mutant(
            "unlike_taken_for_alike",
            "reads vectors of arrays with different alignment together",
            "let alike = $(all.$i.0 == head)&&+;",
            "let alike = $(all.$i.0 < usize::MAX)&&+;",
        ),
        mutant(
            "alike_taken_for_unlike",
            "reads arrays with equal alignment without vectors",
            "alike.then_some(",
            "(!alike).then_some(",
        ),
        mutant(
            "items_of_the_first",
            "all items of a vector are its first",
            "items[e] = ($(loaded.$i[e]),+)",
            "items[e] = ($(loaded.$i[0 * e]),+)",
        ),
        mutant(
            "second_array_backwards",
            "reverses the elements of the other arrays' vectors",
            "items[e] = ($(loaded.$i[e]),+)",
            "items[e] = ($(loaded.$i[e ^ $i & (N - 1)]),+)",
        ),
        mutant(
            "second_vector_of_the_first",
            "always reads the first vector of the other arrays",
            "($(vectors.$i.get(index)),+)",
            "($(vectors.$i.get(index >> (31 * $i))),+)",
        ),
        mutant(
            "second_element_of_the_start",
            "always reads the first element of the other arrays",
            "($(arrays.$i.get(index)),+)",
            "($(arrays.$i.get(index >> (31 * $i))),+)",
        ),
        mutant(
            "last_vector_lost",
            "skips the last vector if there are several arrays",
            "has_vector<const N: usize>(vectors: Self::Vectors<N>, index: usize) -> bool {
                vectors.0.has(index)",
            "has_vector<const N: usize>(vectors: Self::Vectors<N>, index: usize) -> bool {
                vectors.0.has(index + 1)",
        ),
    ],
};
