//! `reduce_4`, `reduce_4_redux`, and the fold to one warp, which `reduce_5` has too.

use super::{Mutant, Source, mutant};

pub const SOURCE: Source = Source {
    path: "harris/reduce_4.rs",
    kernels: &["reduce_4"],
    mutants: MUTANTS,
};

const MUTANTS: &[Mutant] = &[
    mutant(
        "no_barrier_after_load",
        "the tree starts before the elements are stored",
        "    scratch.set(tid, value);
    sync_threads();
",
        "    scratch.set(tid, value);
",
    )
    .on(&["reduce_4", "reduce_5"]),
    mutant(
        "no_barrier_in_tree",
        "a step reads what the previous step is still writing",
        "        // The next step reads what this one wrote.
        sync_threads();
",
        "",
    )
    .on(&["reduce_4_redux", "reduce_5_x2"]),
    mutant(
        "two_warps_left",
        "`>` for `>=`: the second warp's values are lost",
        "while s >= WARP_SIZE {",
        "while s > WARP_SIZE {",
    ),
    mutant(
        "fold_from_block",
        "the first step adds elements past the end of the scratch memory",
        "unsafe { block_threads() } / 2;",
        "unsafe { block_threads() };",
    ),
    mutant(
        "half_a_warp_shuffles",
        "16 lanes reach a shuffle of 32",
        "if tid < WARP_SIZE {",
        "if tid < WARP_SIZE / 2 {",
    )
    .nth(1, 2),
    mutant(
        "lane_of_next_warp_shuffles",
        "`<=` for `<`: lane 0 of the second warp comes to a shuffle of 32",
        "if tid < WARP_SIZE {",
        "if tid <= WARP_SIZE {",
    )
    .nth(2, 2)
    .on(&["reduce_4_redux"]),
    mutant(
        "lane_for_warp",
        "lane 0 of each warp continues instead of all lanes of warp 0",
        "if tid < WARP_SIZE {",
        "if tid % WARP_SIZE == 0 {",
    )
    .nth(1, 2),
    mutant(
        "result_of_last_lane",
        "lane 31 stores, but lane 0 has the result",
        "if tid == 0 {",
        "if tid == WARP_SIZE - 1 {",
    )
    .nth(1, 2),
    mutant(
        "result_before_warp_is_reduced",
        "thread 0 stores its own value",
        "output.set(block_idx_x() as usize, partial);",
        "output.set(block_idx_x() as usize, value);",
    )
    .nth(1, 2),
    mutant(
        "first_bound_includes_the_end",
        "`<=` for `<`: a thread reads past the end",
        "if i < input.len() {",
        "if i <= input.len() {",
    ),
    mutant(
        "second_next_thread",
        "the second element is the next thread's first",
        "let second = (block_idx_x() + grid_dim_x()) as usize * threads + tid;",
        "let second = i + 1;",
    ),
];
