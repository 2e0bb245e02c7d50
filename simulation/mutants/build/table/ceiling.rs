//! `read_ceiling`.

use super::{Mutant, Source, mutant};

pub const SOURCE: Source = Source {
    path: "ceiling.rs",
    kernels: &["read_ceiling"],
    mutants: MUTANTS,
};

const MUTANTS: &[Mutant] = &[
    mutant(
        "no_barrier",
        "the first warp takes the others' values before they are there",
        "    sync_threads();
",
        "",
    ),
    mutant(
        "barrier_of_first_lanes",
        "only lane 0 of each warp comes to the barrier",
        "        scratch.set(tid / WARP_SIZE, value);
    }
    sync_threads();
",
        "        scratch.set(tid / WARP_SIZE, value);
        sync_threads();
    }
",
    ),
    mutant(
        "lane_for_warp",
        "every warp's value goes to the lane's place, not the warp's",
        "scratch.set(tid / WARP_SIZE, value);",
        "scratch.set(tid % WARP_SIZE, value);",
    ),
    mutant(
        "every_lane_leaves_its_value",
        "lanes that do not hold the warp's result write it too",
        "if tid % WARP_SIZE == 0 {",
        "if tid < threads {",
    ),
    mutant(
        "first_warp_alone",
        "the other warps' values are not left",
        "if tid % WARP_SIZE == 0 {",
        "if tid == 0 {",
    ),
    mutant(
        "one_warp_too_many",
        "`<=` for `<`: a value behind the scratch is read",
        "let value = if tid < warps {",
        "let value = if tid <= warps {",
    ),
    mutant(
        "no_identity_for_missing_warps",
        "lanes without a warp read the scratch all the same",
        "        let value = if tid < warps {
            scratch.get(tid)
        } else {
            O::IDENTITY
        };
",
        "        let value = scratch.get(tid);
",
    ),
    mutant(
        "shuffle_of_few",
        "as many lanes as there are warps come to a shuffle of 32",
        "    if tid < WARP_SIZE {
        let warps = threads / WARP_SIZE;
",
        "    let warps = threads / WARP_SIZE;
    if tid < warps {
",
    ),
    mutant(
        "threads_without_vectors_leave",
        "an early return before shuffle and barrier",
        "    let mut value = O::IDENTITY;
",
        "    let mut value = O::IDENTITY;
    if thread >= vectors.len() { return; }
",
    ),
    mutant(
        "bound_of_first_load",
        "asks whether the first of the four loads is inside",
        "while v + (IN_FLIGHT - 1) * stride < vectors.len() {",
        "while v < vectors.len() {",
    ),
    mutant(
        "vectors_read_again",
        "four vectors are read, but the loop goes on by one",
        "v += IN_FLIGHT * stride;",
        "v += stride;",
    ),
    mutant(
        "first_of_vector_left_out",
        "the first element of each vector is not added",
        "for e in 0..N {",
        "for e in 1..N {",
    )
    .nth(2, 2),
    mutant(
        "no_tail",
        "elements behind the last vector are left out",
        "let mut i = vectors.len() * N + thread;",
        "let mut i = input.len() + thread;",
    ),
    mutant(
        "tail_too_early",
        "the tail begins at the vectors' number, not the elements'",
        "let mut i = vectors.len() * N + thread;",
        "let mut i = vectors.len() + thread;",
    ),
    mutant(
        "thread_u32",
        "the thread's number in the grid wraps at 2^32",
        "block_idx_x() as usize * threads as usize + tid as usize;",
        "(block_idx_x() * threads + tid) as usize;",
    ),
];
