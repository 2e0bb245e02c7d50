//! The sort of pairs.

use super::super::{Source, mutant};

const SCAN: &[&str] = &["sort_scan"];

const SCATTER: &[&str] = &["sort_scatter_by_u64"];

const COUNT: &[&str] = &["sort_count_by_u64"];

pub const SOURCE: Source = Source {
    path: "groups/sort.rs",
    kernels: SCATTER,
    mutants: &[
        mutant(
            "no_barrier_before_counting",
            "a thread counts in a counter that is not 0 yet",
            "    // Every counter is 0.
    sync_threads();
",
            "",
        )
        .on(COUNT),
        mutant(
            "no_barrier_after_counting",
            "a thread stores a count to which others still add",
            "    // Every key is counted.
    sync_threads();
",
            "",
        )
        .on(COUNT),
        mutant(
            "counts_by_tile",
            "a tile's counts are adjacent, where they are read as far apart as there are tiles",
            "tid as usize * grid_dim_x() as usize + tile,",
            "tile * RADIX as usize + tid as usize,",
        )
        .on(COUNT),
        mutant(
            "carry_of_a_scan_lost",
            "the sums start again with 0 for each part of the tiles",
            "let mut before = total + before;",
            "let mut before = before;",
        )
        .on(SCAN),
        mutant(
            "total_of_the_last_part",
            "a digit's sum is that of the last part of the tiles",
            "        total += all;",
            "        total = all;",
        )
        .on(SCAN),
        mutant(
            "own_count_before_itself",
            "a tile's own count is in the sum before it",
            "counts.set(digit * tiles + at + e, before);
            }
            before += own[e];",
            "before += own[e];
                counts.set(digit * tiles + at + e, before);
            }",
        )
        .on(SCAN),
        mutant(
            "tile_behind_the_last_counted",
            "`<=` for `<`: adds the first count of the next digit",
            "            if at + e < tiles {
                own",
            "            if at + e <= tiles {
                own",
        )
        .on(SCAN),
        mutant(
            "index_in_the_tile",
            "a pair without a payload gets its index in the tile",
            "                i as u32
",
            "                (i - start) as u32
",
        ),
        mutant(
            "no_warp_barrier_after_clearing",
            "a lane reads a counter that is not 0 yet",
            "unsafe { sync_warp(FULL_MASK) };",
            "",
        )
        .nth(1, 3),
        mutant(
            "no_warp_barrier_before_counting",
            "a lane's row is in the count of its own row",
            "unsafe { sync_warp(FULL_MASK) };",
            "",
        )
        .nth(2, 3),
        mutant(
            "no_warp_barrier_after_counting",
            "a lane reads a counter of the row before the last",
            "unsafe { sync_warp(FULL_MASK) };",
            "",
        )
        .nth(3, 3),
        mutant(
            "lanes_without_pairs_are_peers",
            "lanes behind the last pair count",
            "unsafe { warp_vote_ballot(FULL_MASK, has) };",
            "FULL_MASK;",
        ),
        mutant(
            "seven_bits",
            "the highest bit of a digit does not separate peers",
            "while bit < RADIX.ilog2() {",
            "while bit < RADIX.ilog2() - 1 {",
        ),
        mutant(
            "unstable_in_a_row",
            "the pairs of a row with the same digit are in reverse order",
            "(peers & lanes_below).count_ones()",
            "(peers & !lanes_below & !(1 << lane)).count_ones()",
        ),
        mutant(
            "row_ranked_alone",
            "a row's ranks do not follow those of the row before",
            "ranks[r] = before + ",
            "ranks[r] = ",
        ),
        mutant(
            "counter_of_the_last_row",
            "a counter has the last row's pairs only",
            "memory.counters.set(counter, before + peers.count_ones());",
            "memory.counters.set(counter, peers.count_ones());",
        ),
        mutant(
            "no_barrier_after_the_counters",
            "a thread adds counters that other warps have not completed",
            "    // All counters are complete.
    sync_threads();
",
            "",
        ),
        mutant(
            "warps_not_apart",
            "the pairs of all warps start at the same place",
            "        in_digit += count;",
            "        in_digit = count;",
        ),
        mutant(
            "no_barrier_after_the_places",
            "a thread reads a digit's place before it is stored",
            "    // Every digit has its place.
    sync_threads();
",
            "",
        ),
        mutant(
            "no_barrier_after_the_tile",
            "a thread stores pairs that others have not put in order yet",
            "    // The tile is sorted.
    sync_threads();
",
            "",
        ),
        mutant(
            "position_of_the_tile",
            "a pair's position in the tile is added to that of the digit, which has it already",
            "position.wrapping_sub(before_in_tile)",
            "position",
        ),
        mutant(
            "other_tiles_ignored",
            "each tile's pairs are stored where the first one's are",
            "before + counts.get(tid as usize * tiles + tile);",
            "before;",
        ),
        mutant(
            "pair_behind_the_last",
            "`<=` for `<`: stores a pair behind the last one",
            "if at < in_tile {",
            "if at <= in_tile {",
        ),
    ],
};
