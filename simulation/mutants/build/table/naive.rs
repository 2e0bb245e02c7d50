//! `reduce_naive`.

use super::{Mutant, Source, mutant};

pub const SOURCE: Source = Source {
    path: "harris/naive.rs",
    kernels: &["reduce_naive"],
    mutants: MUTANTS,
};

const MUTANTS: &[Mutant] = &[
    mutant(
        "bound_includes_the_end",
        "`<=` for `<`: one thread reads past the end",
        "if i < input.len() {",
        "if i <= input.len() {",
    ),
    mutant(
        "no_bound",
        "the last block's threads all read",
        "if i < input.len() {",
        "if i < usize::MAX {",
    ),
    mutant(
        "last_element_left_out",
        "the bound is one too small",
        "if i < input.len() {",
        "if i + 1 < input.len() {",
    ),
    mutant(
        "not_atomic",
        "load, combine, store instead of the atomic update",
        "output.combine_atomic::<T, O>(op, 0, input.get(i));",
        "output.set(0, op.combine(output.get(0), input.get(i)));",
    ),
    mutant(
        "wrong_dimension",
        "the block's number times the blocks, not the threads",
        "block_dim_x() as usize +",
        "cuda_std::thread::grid_dim_x() as usize +",
    ),
    mutant(
        "thread_left_out",
        "every thread of a block takes the block's first element",
        " + thread_idx_x() as usize",
        "",
    ),
    mutant(
        "cell_per_block",
        "each block has a cell of its own, which the output has not",
        "combine_atomic::<T, O>(op, 0,",
        "combine_atomic::<T, O>(op, block_idx_x() as usize,",
    ),
    mutant(
        "index_u32",
        "the index wraps at 2^32",
        "block_idx_x() as usize * block_dim_x() as usize + thread_idx_x() as usize",
        "(block_idx_x() * block_dim_x() + thread_idx_x()) as usize",
    ),
];
