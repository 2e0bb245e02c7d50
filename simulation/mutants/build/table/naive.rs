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
        "all threads of the last block read",
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
        "a load, a combination and a store instead of the atomic update",
        "output.combine_atomic::<T, O>(op, 0, input.get(i));",
        "output.set(0, op.combine(output.get(0), input.get(i)));",
    ),
    mutant(
        "wrong_dimension",
        "multiplies the block's index by the number of blocks instead of threads",
        "block_dim_x() as usize +",
        "cuda_std::thread::grid_dim_x() as usize +",
    ),
    mutant(
        "thread_left_out",
        "all threads of a block load the block's first element",
        " + thread_idx_x() as usize",
        "",
    ),
    mutant(
        "cell_per_block",
        "each block uses its own cell, which the output lacks",
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
