//! Reduction by key.

use super::{Mutant, Source, mutant};

pub const DELIVER: Source = Source {
    path: "keyed.rs",
    kernels: &["keyed_atomic"],
    mutants: &[mutant(
        "bound_includes_the_end",
        "`<=` for `<`: the key after the last cell's is written",
        "if key.cell() < self.cells.len() {",
        "if key.cell() <= self.cells.len() {",
    )],
};

pub const ATOMIC: Source = Source {
    path: "keyed/atomic.rs",
    kernels: &["keyed_atomic"],
    mutants: &[mutant(
        "reads_behind_the_end",
        "`<=` for `<`: one thread reads behind the arrays",
        "if i < task.keys.len() {",
        "if i <= task.keys.len() {",
    )],
};

pub const PEERS: Source = Source {
    path: "keyed/peers.rs",
    kernels: &["keyed_ballot", "keyed_match"],
    mutants: PEERS_MUTANTS,
};

const PEERS_MUTANTS: &[Mutant] = &[
    mutant(
        "lanes_leave_early",
        "a lane that knows its peers returns, although the next round's mask names it",
        "            peers = group;\n",
        "            return group;\n",
    )
    .on(&["keyed_ballot"]),
    mutant(
        "key_of_whole_warp",
        "the mask names lanes without an element",
        "warp_shuffle_idx(members, key, highest(unclaimed), WARP_SIZE)",
        "warp_shuffle_idx(u32::MAX, key, highest(unclaimed), WARP_SIZE)",
    )
    .on(&["keyed_ballot"]),
    mutant(
        "match_in_whole_warp",
        "the mask names lanes without an element",
        "warp_match_any(members, key)",
        "warp_match_any(u32::MAX, key)",
    )
    .on(&["keyed_match"]),
    mutant(
        "rank_counts_itself",
        "every rank is one too large",
        "peers & (!1 << lane)",
        "peers & (!0 << lane)",
    ),
    mutant(
        "even_ranks_leave",
        "the lanes that have just combined a value return",
        "rank >> step & 1 == 0",
        "rank >> step & 1 == 1",
    ),
    mutant(
        "only_receivers_shuffle",
        "lanes whose value is read do not reach the shuffle",
        "                let taken = values[a].shuffle(members, Shuffle::Idx(next));
                if below != 0 {
",
        "                if below != 0 {
                    let taken = values[a].shuffle(members, Shuffle::Idx(next));
",
    ),
    mutant(
        "loop_by_lane",
        "a lane with nothing left to combine returns, although others read its value",
        "if !warp_vote_any(members, below != 0) {",
        "if below == 0 {",
    ),
    mutant(
        "ballot_in_whole_warp",
        "the mask names lanes without an element",
        "warp_vote_ballot(members, rank",
        "warp_vote_ballot(u32::MAX, rank",
    ),
    mutant(
        "first_is_last",
        "the first peer stores, which has only its own value",
        "highest(peers) == lane_id()",
        "peers.trailing_zeros() == lane_id()",
    ),
];

pub const WARP: Source = Source {
    path: "keyed/warp.rs",
    kernels: &["keyed_match", "keyed_ballot"],
    mutants: &[
        mutant(
            "keyed_whole_warp_always",
            "the mask of the last warp names lanes that have returned",
            "warp_vote_ballot(FULL_MASK, i < n)",
            "warp_vote_ballot(FULL_MASK, true)",
        ),
        mutant(
            "keyed_reads_behind_the_end",
            "`<=` for `<`: a lane has an element that is not there",
            "if i < n {",
            "if i <= n {",
        ),
        mutant(
            "keyed_all_peers_deliver",
            "stores the values of the other peers too",
            "if holds_result {",
            "if holds_result || true {",
        ),
        mutant(
            "keyed_group_rejected_as_one",
            "counts the elements without a cell once for each group",
            "task.reject(peers.count_ones());",
            "task.reject(1);",
        ),
        mutant(
            "keyed_bound_includes_the_end",
            "`<=` for `<`: the key after the last cell's is written",
            "key.cell() < cells);",
            "key.cell() <= cells);",
        ),
        mutant(
            "keyed_values_of_first_array",
            "all arrays use the values of the first",
            "task.values.get(a * n + i)",
            "task.values.get(i)",
        )
        .on(&["keyed_match_x3"]),
        mutant(
            "keyed_cells_of_first_array",
            "combines all arrays into the cells of the first",
            "let cell = a * cells + key.cell();",
            "let cell = key.cell();",
        )
        .on(&["keyed_match_x3"]),
    ],
};

pub const BINS: Source = Source {
    path: "keyed/bins.rs",
    kernels: &["keyed_bins"],
    mutants: &[
        mutant(
            "no_barrier_after_clearing",
            "a bin gets an owner while another thread clears it",
            "    // Every bin is empty.
    sync_threads();
",
            "",
        ),
        mutant(
            "no_barrier_after_owners",
            "a thread reads a bin's owner before all threads have competed for it",
            "    // Every bin has its owner.
    sync_threads();
",
            "",
        ),
        mutant(
            "no_barrier_after_values",
            "flushes a bin before all values are in it",
            "    // Every bin has its values.
    sync_threads();
",
            "",
        ),
        mutant(
            "bins_not_cleared",
            "a bin starts with the old contents of its memory",
            "        bins.set(bin, op.identity());
",
            "",
        ),
        mutant(
            "owner_not_asked",
            "keys that share a bin share its sum",
            "if owners.get(bin) == keys[e] {",
            "if true {",
        ),
        mutant(
            "owner_by_store",
            "the last thread owns the bin",
            "owners.combine_atomic::<K, Min>(Min, bin_of(keys[e]), keys[e]);",
            "owners.set(bin_of(keys[e]), keys[e]);",
        ),
        mutant(
            "tail_not_guarded",
            "the last tile reads past the end of the arrays",
            "if i < n {",
            "if first < n {",
        ),
        mutant(
            "keys_without_cell_in_bins",
            "does not skip a key without a cell",
            "counts[e] = i < n && keys[e].cell() < cells;",
            "counts[e] = i < n;",
        ),
    ],
};

pub const RUNS: Source = Source {
    path: "keyed/runs.rs",
    kernels: &["keyed_runs"],
    mutants: &[
        mutant(
            "head_without_before",
            "skips the part of a run in the preceding lanes",
            "op.combine(before, head)",
            "head",
        ),
        mutant(
            "every_head_goes_on",
            "the keys of two lanes are not compared",
            "is_there && key_before == keys[0]",
            "is_there",
        ),
        mutant(
            "first_lane_goes_on",
            "lane 0 uses its own tail as that of a preceding lane",
            "is_there && key_before == keys[0]",
            "key_before == keys[0]",
        ),
        mutant(
            "scan_through_heads",
            "a run continues through a lane in which another one starts",
            "!(linked && single)",
            "!linked",
        ),
        mutant(
            "scan_from_lane_0",
            "adds tails of other runs",
            "if distance <= lane - start {",
            "if distance <= lane {",
        ),
        mutant(
            "every_tail_delivered",
            "stores a tail that continues twice",
            "if links >> lane >> 1 & 1 == 0 {",
            "if true {",
        ),
        mutant(
            "keys_behind_the_end",
            "the last warp reads keys past the end of the array",
            "task.keys.get((i + e).min(last))",
            "task.keys.get(i + e)",
        ),
        mutant(
            "value_behind_the_end",
            "the last warp reads a value past the end of the array",
            "if i + e <= last {",
            "if i + e <= last + 1 {",
        ),
        mutant(
            "vectors_behind_the_end",
            "the last warp loads vectors past the end of the arrays",
            "if first + tile <= n =>",
            "if first < n =>",
        ),
        mutant(
            "rejected_behind_the_end",
            "counts elements that do not exist",
            "(i + e < n && ",
            "(",
        ),
    ],
};
