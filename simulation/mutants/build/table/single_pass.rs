//! Single passes.

use super::{Source, mutant};

pub const SOURCE: Source = Source {
    path: "single_pass.rs",
    kernels: &["single_pass_sum_i32", "single_pass_horner_u32"],
    mutants: &[
        mutant(
            "drawn_twice",
            "a block draws a second number when it has reduced its share",
            "grid_reduce::<I, O>(op, value, arrival, storage)",
            "grid_reduce::<I, O>(op, value, storage.arrive(), storage)",
        )
        .on(&["single_pass_sum_i32"]),
        mutant(
            "order_not_kept",
            "an operator that is not commutative gets items a grid's width apart",
            "let value = if O::COMMUTATIVE {",
            "let value = if true {",
        )
        .on(&["single_pass_horner_u32"]),
    ],
};
