//! Pairs are partitioned.

use super::super::{Source, mutant};

const PARTITION: &[&str] = &["partition_count_by_u32", "partition_u32_by_u32"];

pub const SOURCE: Source = Source {
    path: "groups/partition.rs",
    kernels: PARTITION,
    mutants: &[
        mutant(
            "counters_not_cleared",
            "a counter starts with what shared memory happens to hold",
            "    table.set(tid, 0);
",
            "",
        ),
        mutant(
            "key_behind_the_last_counted",
            "`<=` for `<`: loads a key behind the last one",
            "if first + r * (THREADS as usize) < n {
            own[r]",
            "if first + r * (THREADS as usize) <= n {
            own[r]",
        ),
        mutant(
            "one_tile_counted",
            "a block counts one of its tiles only",
            "        number += grid_dim_x();",
            "        break;",
        ),
        mutant(
            "no_barrier_after_the_count",
            "a thread reads a counter that others still change",
            "    // Every key is counted.
    sync_threads();
",
            "",
        ),
        mutant(
            "block_overwrites_the_totals",
            "a block stores its counts instead of adding them",
            "totals.fetch_add(tid as usize, table.get(tid));",
            "totals.set(tid as usize, table.get(tid));",
        ),
        mutant(
            "second_tile_as_the_first",
            "a block takes its first tile twice",
            " + (r / rows_of::<K>()) as u32;",
            ";",
        ),
        mutant(
            "pair_behind_the_last",
            "`<=` for `<`: loads a pair behind the last one",
            "if tile != NONE && i < n {",
            "if tile != NONE && i <= n {",
        ),
        mutant(
            "no_barrier_before_the_ranks",
            "a pair is counted before the counter is cleared",
            "    memory.counters.set(tid, 0);
    // Every counter is 0.
    sync_threads();
",
            "    memory.counters.set(tid, 0);
",
        ),
        mutant(
            "no_barrier_after_the_ranks",
            "a thread reads a counter that others still change",
            "    // Every pair is counted.
    sync_threads();
",
            "",
        ),
        mutant(
            "places_taken_in_two_steps",
            "two blocks take the same places",
            "before = taken.fetch_add(tid as usize, in_part);",
            "before = taken.get_atomic(tid as usize);
        taken.set_atomic(tid as usize, before + in_part);",
        ),
        mutant(
            "parts_at_the_same_place",
            "all parts begin with the array",
            "let position = of_part + before;",
            "let position = before;",
        ),
        mutant(
            "ranks_forgotten",
            "the pairs of a part overwrite each other",
            "memory.starts.get(part_of(keys[r])) + ranks[r];",
            "memory.starts.get(part_of(keys[r]));",
        ),
        mutant(
            "values_of_other_keys",
            "values are not sorted with their keys",
            "memory.values.set(at, values[r]);",
            "memory.values.set(tid + r as u32 * THREADS, values[r]);",
        ),
        mutant(
            "no_barrier_after_the_sort",
            "a thread stores a pair that is not there yet",
            "    // The block is sorted.
    sync_threads();
",
            "",
        ),
        mutant(
            "pair_behind_the_block",
            "`<=` for `<`: stores a pair that the block does not have",
            "if at < in_block {",
            "if at <= in_block {",
        ),
    ],
};
