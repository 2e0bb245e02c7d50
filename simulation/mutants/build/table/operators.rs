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
            "the second value is taken off",
            "i32, 0, |a, b| a.wrapping_add(b);",
            "i32, 0, |a, b| a.wrapping_sub(b);",
        ),
        mutant(
            "scope_of_block",
            "the atomic of global memory has the block's scope",
            "_device>](cell",
            "_block>](cell",
        )
        .on(&["reduce_naive", "reduce_shared_memory"]),
        mutant(
            "not_atomic",
            "the atomic of global memory is a load and a store",
            "mid::[<atomic_fetch_add_ $element _device>](cell, Relaxed, value)",
            "{ let sum = <Sum as Op<$element>>::combine(*cell, value); *cell = sum; }",
        )
        .on(&["reduce_naive", "reduce_shared_memory"])
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
        "    i32 = i32::MIN,",
        "    i32 = 0,",
    ),
    mutant(
        "identity_of_the_other",
        "the identity of the maximum is that of the minimum",
        "    i32 = i32::MIN,",
        "    i32 = i32::MAX,",
    ),
    mutant(
        "atomic_of_the_other",
        "the atomic form is always the minimum",
        "atomic_fetch_ $op:lower _ $element _device>",
        "atomic_fetch_min_ $element _device>",
    )
    .on(&["reduce_naive"]),
];
