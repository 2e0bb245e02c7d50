//! Single-pass reductions.

use super::{Source, mutant};

pub const SOURCE: Source = Source {
    path: "single_pass.rs",
    kernels: &["single_pass_sum_i32", "single_pass_horner_u32"],
    mutants: &[
        mutant(
            "drawn_twice",
            "a block increments the arrival counter a second time",
            "grid_reduce::<I, O>(op, value, arrival, storage)",
            "grid_reduce::<I, O>(op, value, storage.arrive(), storage)",
        )
        .on(&["single_pass_sum_i32"]),
        mutant(
            "order_not_kept",
            "a non-commutative operator gets items a grid apart",
            "let value = if O::COMMUTATIVE {",
            "let value = if true {",
        )
        .on(&["single_pass_horner_u32"]),
    ],
};
