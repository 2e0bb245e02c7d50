//! What single passes do with their elements, and how a grid reads two arrays side by side.

use super::{Source, mutant};

pub const SOURCE: Source = Source {
    path: "single_pass.rs",
    kernels: &["single_pass", DOT, COUNT],
    mutants: &[
        mutant(
            "drawn_twice",
            "a block draws a second ticket when it has reduced its share",
            "grid_reduce::<T, O>(value, ticket, meeting)",
            "grid_reduce::<T, O>(value, meeting.ticket(), meeting)",
        )
        .on(&["single_pass"]),
        mutant(
            "dot_of_one_array",
            "both arrays are the first",
            "grid_stride_pairs::<T, W, N>(a, b, identity,",
            "grid_stride_pairs::<T, W, N>(a, a, identity,",
        )
        .on(&[DOT]),
        mutant(
            "squares_for_products",
            "both factors are the second array's",
            "A::product(x.widen(), y.widen())",
            "A::product(y.widen(), y.widen())",
        )
        .on(&[DOT]),
        mutant(
            "dot_without_what_there_is",
            "a thread keeps its last product alone",
            "combine(sum, A::product",
            "combine(<Sum as Combine<W>>::IDENTITY, A::product",
        )
        .on(&[DOT]),
        mutant(
            "predicate_the_other_way_round",
            "asks whether the value is less than the element",
            "P::holds(rows[k][e], self.value)",
            "P::holds(self.value, rows[k][e])",
        )
        .on(&[COUNT]),
        mutant(
            "rows_of_the_first",
            "as many times the first row as there are rows",
            "P::holds(rows[k][e], self.value)",
            "P::holds(rows[0 * k][e], self.value)",
        )
        .on(&[COUNT]),
        mutant(
            "first_element_of_each_row",
            "as many times the first element of a vector as it has elements",
            "P::holds(rows[k][e], self.value)",
            "P::holds(rows[k][0 * e], self.value)",
        )
        .on(&[COUNT]),
        mutant(
            "count_begins_again",
            "a thread keeps the count of its last step alone",
            "count + u64::from(here)",
            "u64::from(here)",
        )
        .on(&[COUNT]),
    ],
};

pub const PAIRS: Source = Source {
    path: "grid_stride.rs",
    kernels: &[DOT],
    mutants: &[
        mutant(
            "unlike_taken_for_alike",
            "vectors that begin at different elements are read side by side",
            "if N == 1 || head != head_of_b {",
            "if N == 1 {",
        ),
        mutant(
            "second_of_first_load",
            "the other loads of elements take the second array's element of the first",
            "loaded[k] = (a.get(i + k * stride), b.get(i + k * stride));",
            "loaded[k] = (a.get(i + k * stride), b.get(i));",
        ),
        mutant(
            "bound_of_first_pair",
            "asks whether the first of the pairs of elements is inside",
            "while i + (PAIRS_IN_FLIGHT - 1) * stride < a.len() {",
            "while i < a.len() {",
        ),
        mutant(
            "pairs_read_again",
            "two pairs of elements are read, but the loop goes on by one",
            "i += PAIRS_IN_FLIGHT * stride;",
            "i += stride;",
        ),
        mutant(
            "rest_of_pairs_lost",
            "the pairs of elements that fill no step are left out",
            "while i < a.len() {",
            "while i < a.len() && false {",
        ),
        mutant(
            "second_of_first_vector",
            "the other loads of vectors take the second array's vector of the first",
            "                vectors_of_b.get(v + k * stride),
",
            "                vectors_of_b.get(v),
",
        ),
        mutant(
            "second_vector_backwards",
            "the elements of the second array's vectors in the other order",
            "loaded[k].1[e]",
            "loaded[k].1[N - 1 - e]",
        ),
        mutant(
            "last_vectors_backwards",
            "the same of the vectors that fill no step",
            "of_b[e]",
            "of_b[N - 1 - e]",
        ),
        mutant(
            "head_of_pairs_lost",
            "the pairs before the vectors are left out",
            "    if i < a.len() {
",
            "    if thread >= head && i < a.len() {
",
        ),
        mutant(
            "tail_of_pairs_lost",
            "the pairs behind the vectors are left out",
            "    if i < a.len() {
",
            "    if i < head {
",
        ),
        mutant(
            "second_of_tail_from_start",
            "behind the vectors the second array's element is sought at the array's start",
            "        value = pair(value, a.get(i), b.get(i));
    }
",
            "        value = pair(value, a.get(i), b.get(thread));
    }
",
        ),
    ],
};

const DOT: &str = "single_pass_dot";

const COUNT: &str = "single_pass_count";
