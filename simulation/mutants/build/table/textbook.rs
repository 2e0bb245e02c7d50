//! The textbook kernels: fences, flags, reuse, `sync_warp`.

use super::{Mutant, Source, mutant};

const fn source(path: &'static str, mutants: &'static [Mutant]) -> Source {
    Source {
        path,
        kernels: &[],
        mutants,
    }
}

pub const LAST_BLOCK: Source = source(
    "textbook/last_block.rs",
    &[
        mutant(
            "no_release_fence",
            "the count may be visible before the partial",
            "        // The count must not be visible before the partial.
        device_fence();
",
            "",
        ),
        mutant(
            "release_fence_late",
            "the fence is after the count",
            "        device_fence();
        let before = counters[0].fetch_add(1, Relaxed);
",
            "        let before = counters[0].fetch_add(1, Relaxed);
        device_fence();
",
        ),
        mutant(
            "release_fence_of_block",
            "the fence has block scope",
            "        // The count must not be visible before the partial.
        device_fence();
",
            "        cuda_std::thread::block_fence();
",
        ),
        mutant(
            "no_acquire_fence",
            "partials may be read before the count was seen",
            "        // Orders the loads of the partials after the count.
        device_fence();
",
            "",
        ),
        mutant(
            "count_of_block_scope",
            "the counter is atomic only within the block",
            "counters[0].fetch_add(1, Relaxed);",
            "unsafe {
            cuda_std::atomic::mid::atomic_fetch_add_u32_block(
                (&raw const counters[0]).cast_mut().cast(), Relaxed, 1)
        };",
        ),
        mutant(
            "count_not_atomic",
            "a load, an addition and a store: two blocks may count as one",
            "counters[0].fetch_add(1, Relaxed);",
            "counters[0].load(Relaxed);
        counters[0].store(before + 1, Relaxed);",
        ),
        mutant(
            "counted_by_warp",
            "a block increments the counter 32 times",
            "    if tid == 0 {
        output.set(1 + block",
            "    if tid < 32 {
        output.set(1 + block",
        ),
        mutant(
            "counted_one_more",
            "no block is the last",
            "(before + 1 == blocks).into()",
            "(before == blocks).into()",
        ),
        mutant(
            "no_barrier_after_flag",
            "threads check whether the block is the last before thread 0 has stored it",
            "    sync_threads();
    if scratch.get(threads) == 0 {
",
            "    if scratch.get(threads) == 0 {
",
        ),
        mutant(
            "own_partial_left_out",
            "the last block adds all partials but one",
            "while b < blocks {",
            "while b + 1 < blocks {",
        ),
    ],
);

pub const MAXIMA: Source = source(
    "textbook/maxima.rs",
    &[
        mutant(
            "scratch_reused",
            "the second tree's values overwrite the maximum before all threads have read it",
            "    // All threads must have the maximum before the scratch memory is reused.
    sync_threads();
",
            "",
        ),
        mutant(
            "identity_0",
            "threads past the end contribute 0 to the maximum",
            "value.unwrap_or(i32::MIN)",
            "value.unwrap_or(0)",
        ),
        mutant(
            "no_barrier_before_read",
            "threads read the result while the last step writes it",
            "        // For the next step, or for the loads of the result.
        sync_threads();
",
            "        if s > 1 { sync_threads(); }
",
        ),
        mutant(
            "tail_counted",
            "threads past the end count too",
            "(value == Some(largest)).into()",
            "value.is_none_or(|v| v == largest).into()",
        ),
    ],
);

pub const STENCIL: Source = source(
    "textbook/stencil.rs",
    &[
        mutant(
            "no_right_halo",
            "the tile's last element is not stored",
            "    if tid == threads - 1 {
        tile.set(1 + threads, element(i + 1));
    }
",
            "",
        ),
        mutant(
            "left_halo_of_first_block",
            "only the first block stores the tile's first element",
            "    if tid == 0 {
        tile.set(0, if i > 0 { element(i - 1) } else { 0 });",
            "    if i == 0 {
        tile.set(0, 0);",
        ),
        mutant(
            "halo_of_wrong_element",
            "the right halo is the block's own last element",
            "element(i + 1));",
            "element(i));",
        ),
        mutant(
            "no_barrier",
            "reads neighbours before they are stored",
            "    sync_threads();

",
            "",
        ),
        mutant(
            "tail_leaves_early",
            "threads past the end return before the barrier",
            "    // tile[1 + t] is",
            "    if i >= input.len() { return; }
    // tile[1 + t] is",
        ),
        mutant(
            "tile_one_further",
            "elements are stored one index too high in the tile",
            "tile.set(1 + tid, element(i));",
            "tile.set(2 + tid, element(i));",
        ),
        mutant(
            "element_bound_includes_the_end",
            "`<=` for `<`: the right neighbour of the last is read",
            "let element = |i: usize| if i < input.len()",
            "let element = |i: usize| if i <= input.len()",
        ),
        mutant(
            "in_place",
            "stores results in the input, which other blocks still read",
            "output.set(i, left",
            "input.set(i, left",
        ),
    ],
);

pub const SCAN: Source = source(
    "textbook/scan.rs",
    &[
        mutant(
            "flag_relaxed",
            "the flag may be visible before the sums",
            "store(1, Release)",
            "store(1, Relaxed)",
        ),
        mutant(
            "wait_relaxed",
            "the sum may be read before the flag",
            "load(Acquire)",
            "load(Relaxed)",
        ),
        mutant(
            "flag_before_sums",
            "thread 0 sets the flag when only its own sum is stored",
            "    // All sums of the block must be stored before the flag is set.
    sync_threads();
",
            "",
        ),
        mutant(
            "waits_for_itself",
            "the block waits for its own flag",
            "while counters[block].load",
            "while counters[1 + block].load",
        ),
        mutant(
            "does_not_wait",
            "reads the previous sum without waiting for it",
            "            while counters[block].load(Acquire) == 0 {}
",
            "",
        ),
        mutant(
            "number_in_grid",
            "a block may wait for one that never starts",
            "counters[0].fetch_add(1, Relaxed) as i32",
            "cuda_std::thread::block_idx_x() as i32",
        ),
        mutant(
            "block_number_without_barrier",
            "threads read the block's number before thread 0 has stored it",
            "    sync_threads();
    let block",
            "    let block",
        ),
        mutant(
            "scan_without_barrier_after_write",
            "a thread loads before another thread has stored",
            "        scratch.set(tid, sum);
        sync_threads();
",
            "        scratch.set(tid, sum);
",
        ),
        mutant(
            "scan_without_barrier_after_read",
            "a thread stores before another thread has loaded",
            "        // All loads must precede the next store.
        sync_threads();
",
            "",
        ),
        mutant(
            "scan_of_distance",
            "the distance increases by 1 instead of doubling",
            "distance *= 2;",
            "distance += 1;",
        ),
    ],
);
