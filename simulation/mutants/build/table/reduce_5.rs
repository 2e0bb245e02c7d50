//! `reduce_5` and its unrolled forms.

use super::{Mutant, Source, mutant};

pub const SOURCE: Source = Source {
    path: "harris/reduce_5.rs",
    kernels: &["reduce_5"],
    mutants: MUTANTS,
};

const UNROLLED: &[&str] = &["reduce_5_x2", "reduce_5_x4"];

const MUTANTS: &[Mutant] = &[
    mutant(
        "bound_includes_the_end",
        "`<=` for `<`: a thread reads past the end",
        "while i < input.len() {",
        "while i <= input.len() {",
    ),
    mutant(
        "stride_of_block",
        "a thread advances by a block instead of a grid",
        "let stride = grid_dim_x() as usize * block_dim_x() as usize;",
        "let stride = block_dim_x() as usize;",
    )
    .nth(1, 2),
    mutant(
        "one_chunk_only",
        "the loop ends after its first chunk",
        "        i += stride;
",
        "        i += stride;
        break;
",
    ),
    mutant(
        "block_left_out",
        "every block starts at the first block's elements",
        "let mut i = block_idx_x() as usize * block_dim_x() as usize + thread_idx_x() as usize;",
        "let mut i = thread_idx_x() as usize;",
    ),
    mutant(
        "stride_u32",
        "the stride wraps to 0 at 2^32 threads",
        "grid_dim_x() as usize * block_dim_x() as usize;",
        "(grid_dim_x() * block_dim_x()) as usize;",
    )
    .nth(1, 2),
    mutant(
        "unrolled_bound_of_first",
        "checks the bounds of the first chunk only",
        "if i + (CHUNKS - 1) * stride < input.len() {",
        "if i < input.len() {",
    )
    .on(UNROLLED),
    mutant(
        "unrolled_bound_one_chunk_less",
        "checks the bounds of the last chunk but one",
        "if i + (CHUNKS - 1) * stride < input.len() {",
        "if i + (CHUNKS - 2) * stride < input.len() {",
    )
    .on(UNROLLED),
    mutant(
        "unrolled_no_tail",
        "a thread with a chunk past the end reads none",
        "for c in 0..CHUNKS {",
        "for c in CHUNKS..CHUNKS {",
    )
    .on(UNROLLED),
    mutant(
        "unrolled_tail_without_first",
        "the tail starts with the second chunk",
        "for c in 0..CHUNKS {",
        "for c in 1..CHUNKS {",
    )
    .on(UNROLLED),
    mutant(
        "unrolled_same_chunk",
        "always reads the first chunk",
        "*chunk = input.get(i + c * stride);",
        "*chunk = input.get(i);",
    )
    .on(UNROLLED),
    mutant(
        "unrolled_tail_bound",
        "the tail's bound is one chunk too small",
        "            if i + c * stride < input.len() {",
        "            if i + c * stride < input.len() + stride {",
    )
    .on(UNROLLED),
    mutant(
        "result_first_of_all",
        "stores every block's partial in output[0]",
        "output.set(block_idx_x() as usize,",
        "output.set(0,",
    )
    .on(&["reduce_5", "reduce_5_x2"]),
];
