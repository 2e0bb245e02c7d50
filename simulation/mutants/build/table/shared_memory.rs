//! `reduce_shared_memory`.

use super::{Mutant, Source, mutant};

pub const SOURCE: Source = Source {
    path: "harris/shared_memory.rs",
    kernels: &["reduce_shared_memory"],
    mutants: MUTANTS,
};

const MUTANTS: &[Mutant] = &[
    mutant(
        "no_barrier_after_identity",
        "threads add before the cell holds the identity",
        "    // No thread may add before the cell holds the identity.
    sync_threads();
",
        "",
    ),
    mutant(
        "no_barrier_before_result",
        "thread 0 loads the aggregate before all threads have added",
        "    // The block's aggregate is complete when its last thread has added.
    sync_threads();
",
        "",
    ),
    mutant(
        "barrier_of_loaders",
        "threads past the end do not reach the second barrier",
        "    // The block's aggregate is complete when its last thread has added.
    sync_threads();
",
        "    if i < input.len() {
        sync_threads();
    }
",
    ),
    mutant(
        "barrier_of_warp",
        "a warp barrier instead of a block barrier",
        "    // The block's aggregate is complete when its last thread has added.
    sync_threads();
",
        "    unsafe { cuda_std::warp::sync_warp(u32::MAX) };
",
    ),
    mutant(
        "no_identity",
        "the cell in shared memory is not initialised",
        "    if tid == 0 {
        scratch.set(0, op.identity());
    }
",
        "",
    ),
    mutant(
        "identity_by_warp_1",
        "no thread initialises the cell in a block of one warp",
        "    if tid == 0 {
        scratch.set(",
        "    if tid == 32 {
        scratch.set(",
    ),
    mutant(
        "identity_set_late",
        "initialises the cell after the barrier instead of before it",
        "    if tid == 0 {
        scratch.set(0, op.identity());
    }
    // No thread may add before the cell holds the identity.
    sync_threads();
",
        "    sync_threads();
    if tid == 0 {
        scratch.set(0, op.identity());
    }
",
    ),
    mutant(
        "not_atomic_in_block",
        "updates the shared cell by a load, a combination and a store",
        "scratch.combine_atomic::<T, O>(op, 0, loaded);",
        "scratch.set(0, op.combine(scratch.get(0), loaded));",
    ),
    mutant(
        "not_atomic_in_grid",
        "blocks update the output without an atomic",
        "output.combine_atomic::<T, O>(op, 0, scratch.get(0));",
        "output.set(0, op.combine(output.get(0), scratch.get(0)));",
    ),
    mutant(
        "counted_by_warp",
        "a whole warp adds the aggregate, 32 times in total",
        "    if tid == 0 {
        output.",
        "    if tid < 32 {
        output.",
    ),
    mutant(
        "counted_by_nobody",
        "the thread that adds the aggregate does not exist",
        "    if tid == 0 {
        output.",
        "    if tid == block_dim_x() {
        output.",
    ),
];
