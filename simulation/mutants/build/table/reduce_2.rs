//! `reduce_2`, and with an unrolled last warp `reduce_2_warp`.

use super::{Mutant, Source, mutant};

pub const SOURCE: Source = Source {
    path: "harris/reduce_2.rs",
    kernels: &["reduce_2"],
    mutants: MUTANTS,
};

const MUTANTS: &[Mutant] = &[
    mutant(
        "no_barrier_after_load",
        "the tree starts before the elements are stored",
        "    scratch.set(tid, loaded);
    sync_threads();
",
        "    scratch.set(tid, loaded);
",
    ),
    mutant(
        "no_barrier_in_tree",
        "a step reads what the previous step is still writing",
        "        // The next step reads what this one wrote.
        sync_threads();
",
        "",
    ),
    mutant(
        "no_barrier_in_last_warp",
        "assumes that the last warp runs in lock-step",
        "        // The next step reads what this one wrote.
        sync_threads();
",
        "        if s > 32 { sync_threads(); }
",
    ),
    mutant(
        "barrier_of_warp_in_tree",
        "a warp barrier instead of a block barrier",
        "        // The next step reads what this one wrote.
        sync_threads();
",
        "        unsafe { cuda_std::warp::sync_warp(u32::MAX) };
",
    ),
    mutant(
        "bound_includes_the_end",
        "`<=` for `<`: one thread too many adds",
        "if tid < s {",
        "if tid <= s {",
    ),
    mutant(
        "last_step_left_out",
        "the loop ends before s = 1",
        "while s > 0 {",
        "while s > 1 {",
    ),
    mutant(
        "first_step_left_out",
        "does not add the upper half",
        "let mut s = threads / 2;",
        "let mut s = threads / 4;",
    ),
    mutant(
        "first_step_too_wide",
        "the first step adds elements past the end of the scratch memory",
        "let mut s = threads / 2;",
        "let mut s = threads;",
    ),
    mutant(
        "offset_one_less",
        "adds the element before the right one",
        "scratch.get(tid + s)",
        "scratch.get(tid + s - 1)",
    ),
    mutant(
        "tail_counts_the_last_again",
        "threads past the end load the last element instead of the identity",
        "        op.identity()
    };",
        "        input.get(input.len().saturating_sub(1))
    };",
    ),
    mutant(
        "result_first_of_all",
        "stores every block's partial in output[0]",
        "output.set(block_idx_x() as usize,",
        "output.set(0,",
    ),
    mutant(
        "result_one_further",
        "stores every block's partial at the next block's index",
        "output.set(block_idx_x() as usize,",
        "output.set(block_idx_x() as usize + 1,",
    ),
];

pub const LAST_WARP: Source = Source {
    path: "harris/reduce_2_warp.rs",
    kernels: &["reduce_2_warp"],
    mutants: &[
        mutant(
            "no_barrier_before_last_warp",
            "the last warp reads what other warps are still writing",
            "        halve(s);
        // The next step reads what this one wrote.
        sync_threads();
",
            "        halve(s);
        if s > 64 { sync_threads(); }
",
        ),
        mutant(
            "lock_step",
            "no barriers of the warp, as before Volta",
            "unsafe { sync_warp(FULL_MASK) };",
            "",
        ),
        mutant(
            "sync_of_half_a_warp",
            "the mask names lanes 0 to 15",
            "unsafe { sync_warp(FULL_MASK) };",
            "unsafe { sync_warp(0xFFFF) };",
        ),
        mutant(
            "sync_of_halves",
            "each half of the warp waits only for itself, but reads from the other",
            "unsafe { sync_warp(FULL_MASK) };",
            "unsafe { sync_warp(0xFFFF << (tid & 16)) };",
        ),
        mutant(
            "shuffle_for_sync",
            "a shuffle synchronises lanes, but does not order memory",
            "unsafe { sync_warp(FULL_MASK) };",
            "unsafe { cuda_std::warp::warp_shuffle_down(FULL_MASK, s, 1, 32) };",
        ),
        mutant(
            "all_lanes_add",
            "without the test, a lane writes a value that a lower lane reads in the same step",
            "        if tid < s {
            scratch.set(",
            "        if tid < s || s < WARP_SIZE {
            scratch.set(",
        ),
        mutant(
            "half_a_warp_finishes",
            "lanes 16 to 31 do not arrive at the warp's barriers",
            "if tid < WARP_SIZE {",
            "if tid < WARP_SIZE / 2 {",
        ),
        mutant(
            "one_warp_has_64_values",
            "a block of one warp reads behind its values",
            "        if threads > WARP_SIZE {
            halve(32);
        }
",
            "        halve(32);
",
        ),
        mutant(
            "step_left_out",
            "does not add the upper half of 16 values",
            "        halve(8);
",
            "",
        ),
    ],
};
