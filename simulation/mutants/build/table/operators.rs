//! The operators.

use super::{Mutant, Source, mutant};

pub const SUM: Source = Source {
    path: "op/sum.rs",
    kernels: &["reduce_2"],
    mutants: &[
        mutant(
            "identity_1",
            "the identity of an integer sum is 1",
            "i32, 0, |a, b|",
            "i32, 1, |a, b|",
        ),
        mutant(
            "subtracts",
            "subtracts the second value",
            "i32, 0, |a, b| a.wrapping_add(b);",
            "i32, 0, |a, b| a.wrapping_sub(b);",
        ),
        mutant(
            "atomic_of_another",
            "the atomic form is the bitwise or",
            "Sum is add: i32 u32 i64 u64 f32 f64",
            "Sum is or: i32 u32 i64 u64 f32 f64",
        )
        .on(&["reduce_naive"]),
    ],
};

pub const NUMBER: Source = Source {
    path: "op/number.rs",
    kernels: &["reduce_naive", "reduce_shared_memory"],
    mutants: &[
        mutant(
            "scope_of_block",
            "the atomic on global memory has block scope",
            "$acc _device>](cell",
            "$acc _block>](cell",
        ),
        mutant(
            "not_atomic",
            "the update of global memory is a load and a store",
            "mid::[<atomic_fetch_ $fetch _ $acc _device>](cell, Relaxed, value)",
            "{ *cell = <$op as $crate::op::Combine<$acc>>::combine(*cell, value); }",
        )
        .missed(
            "operators get a bare pointer: the handle announces an atomic update, and the \
             simulator does not see that none follows",
        ),
    ],
};

pub const EXTREMUM: Source = Source {
    path: "op/extremum.rs",
    kernels: &["reduce_2"],
    mutants: EXTREMUM_MUTANTS,
};

const EXTREMUM_MUTANTS: &[Mutant] = &[
    mutant(
        "identity_0",
        "the identity of an integer maximum is 0",
        "    i32, i32::MIN,",
        "    i32, 0,",
    ),
    mutant(
        "identity_of_the_other",
        "the identity of the maximum is that of the minimum",
        "    i32, i32::MIN,",
        "    i32, i32::MAX,",
    ),
    mutant(
        "atomic_of_the_other",
        "the atomic form is always the minimum",
        "Max is max:",
        "Max is min:",
    )
    .on(&["reduce_naive"]),
];

pub const DOT: Source = Source {
    path: "op/dot.rs",
    kernels: &["single_pass_dot_i32_i32"],
    mutants: &[mutant(
        "squares_for_products",
        "both factors come from the second array",
        "A::product(x.widen(), y.widen())",
        "A::product(y.widen(), y.widen())",
    )],
};

pub const COUNT: Source = Source {
    path: "op/count.rs",
    kernels: &["single_pass_count_less_i32_i32"],
    mutants: &[
        mutant(
            "predicate_the_other_way_round",
            "checks whether the value is less than the element",
            "Less, |element, value| element < value;",
            "Less, |element, value| value < element;",
        ),
        mutant(
            "rows_of_the_first",
            "uses the first row for all rows",
            "self.0.holds(rows[k][e])",
            "self.0.holds(rows[0 * k][e])",
        ),
        mutant(
            "first_element_of_each_row",
            "uses the first element of a vector for all its elements",
            "self.0.holds(rows[k][e])",
            "self.0.holds(rows[k][0 * e])",
        ),
        mutant(
            "count_begins_again",
            "a thread keeps only the count of its last step",
            "count + u64::from(here)",
            "u64::from(here)",
        ),
    ],
};

pub const ARG_EXTREMUM: Source = Source {
    path: "op/arg_extremum.rs",
    kernels: &["single_pass_arg_min_i32"],
    mutants: &[
        mutant(
            "index_of_the_row",
            "uses the index of a row's first element for all its elements",
            "first[k] + (at % N) as u64",
            "first[k] + 0 * (at % N) as u64",
        ),
        mutant(
            "last_of_a_group",
            "finds the last of equal values that are absorbed together",
            "let (k, e) = (K - 1 - k, N - 1 - e);",
            "",
        ),
        mutant(
            "last_of_equals",
            "selects the last of equal values",
            "a.index() <= b.index()",
            "a.index() >= b.index()",
        ),
        mutant(
            "known_without_asking",
            "skips a value that precedes the current one",
            "    if known {",
            "    if known || acc.index() != u64::MAX {",
        ),
    ],
};
