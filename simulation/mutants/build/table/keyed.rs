//! Reduction by key.

use super::{Mutant, Source, mutant};

pub const DELIVER: Source = Source {
    path: "keyed.rs",
    kernels: &["keyed_atomic"],
    mutants: &[
        mutant(
            "bound_includes_the_end",
            "`<=` for `<`: the key after the last cell's is written",
            "if key.cell() < self.below {",
            "if key.cell() <= self.below {",
        ),
        mutant(
            "last_rejected_noted",
            "notes the greatest index of a rejected element",
            "if (index as u64) < self.0.get_atomic(1) {",
            "if (index as u64) > self.0.get_atomic(1) {",
        ),
        mutant(
            "first_rejected_by_store",
            "a thread that has loaded an old index overwrites a smaller one",
            "self.0.combine_atomic::<u64, Min>(Min, 1, index as u64);",
            "self.0.set(1, index as u64);",
        ),
    ],
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
        "result_of_the_first",
        "broadcasts the value of the first peer, which is only its own",
        "let last = highest(peers);",
        "let last = peers.trailing_zeros();",
    )
    .on(&["all_reduce_peers"]),
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
            ".add(peers.count_ones().into(), i",
            ".add(1, i",
        ),
        mutant(
            "keyed_last_peer_rejected",
            "notes the index of the last peer as that of the first",
            "i - distance as usize);",
            "i);",
        ),
        mutant(
            "keyed_bound_includes_the_end",
            "`<=` for `<`: the key after the last cell's is written",
            "key.cell() < task.below);",
            "key.cell() <= task.below);",
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
            "counts[e] = i < n && keys[e].cell() < below;",
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
        mutant(
            "last_rejected_of_four",
            "notes the last of a thread's rejected elements",
            "outside.trailing_zeros()",
            "outside.ilog2()",
        ),
    ],
};

pub const KEYS: Source = Source {
    path: "keyed/keys.rs",
    kernels: &["keyed_match", "keyed_runs"],
    mutants: &[
        mutant(
            "narrow_keys_as_wide",
            "loads keys of 8 bits as keys of 32 bits",
            "            1 => self.of_width::<u8>().get(index).into(),
",
            "",
        ),
        mutant(
            "halves_as_bytes",
            "loads only the lower half of keys of 16 bits",
            "2 => self.of_width::<u16>()",
            "2 => self.of_width::<u8>()",
        ),
        mutant(
            "bytes_as_keys",
            "as many keys as there are bytes",
            "memory.len() >> bytes.trailing_zeros()",
            "memory.len()",
        ),
        mutant(
            "vectors_of_keys_anywhere",
            "loads vectors from an address at which none may start",
            "self.start.addr() & (alignment - 1) == 0",
            "true",
        )
        .on(&["keyed_runs"]),
        mutant(
            "vectors_by_bytes",
            "loads a vector of four bytes as four keys of 16 bits",
            "1 => widened(self.vectors::<u8>()",
            "1 => widened(self.vectors::<u16>()",
        )
        .on(&["keyed_runs"]),
    ],
};

pub const COUNT: Source = Source {
    path: "keyed/count.rs",
    kernels: &["count_few", "count_many"],
    mutants: &[
        mutant(
            "count_no_barrier_before",
            "counts while another thread sets the counter to 0",
            "    // Every counter is 0.
    sync_threads();
",
            "",
        )
        .on(&["count_few"]),
        mutant(
            "count_no_barrier_after",
            "adds a counter to its cell while other threads count",
            "    // Every element is counted.
    sync_threads();

    // The sum",
            "
    // The sum",
        )
        .on(&["count_few"]),
        mutant(
            "counters_not_cleared",
            "a counter starts with the old contents of its memory",
            "        owners.set(c, NO_OWNER);
        counters.set(c, 0);
",
            "        owners.set(c, NO_OWNER);
",
        )
        .on(&["count_many"]),
        mutant(
            "no_counter_for_rejected",
            "keys without a cell are counted in the last cell's counter",
            "key.up_to(self.below)",
            "key.up_to(self.below - 1)",
        )
        .on(&["count_few"]),
        mutant(
            "one_copy_only",
            "adds only the first copy of a counter to its cell",
            "while copy <= mask {",
            "while copy < 1 {",
        )
        .on(&["count_few"]),
        mutant(
            "cells_include_the_rejected",
            "writes the cell after the last",
            "while cell < below {",
            "while cell <= below {",
        )
        .on(&["count_few"]),
        mutant(
            "count_bound_includes_the_end",
            "`>` for `>=`: the key after the last cell's is counted",
            "if cell >= self.below {",
            "if cell > self.below {",
        )
        .on(&["count_many"]),
        mutant(
            "owner_by_load",
            "two keys own a counter",
            "owner = self.owners.compare_and_swap(counter, NO_OWNER, key);",
            "self.owners.compare_and_swap(counter, NO_OWNER, key);",
        )
        .on(&["count_many"]),
        mutant(
            "counter_without_its_owner",
            "adds a counter to the cell with the counter's number",
            "let cell = owners.get(c) as usize;",
            "let cell = c as usize;",
        )
        .on(&["count_many"]),
        mutant(
            "halves_alone_are_equal",
            "keys are taken for equal if both halves of a vector are",
            "low == high && low == low.rotate_left",
            "low == high || low == low.rotate_left",
        ),
        mutant(
            "vector_counted_as_one",
            "a vector of equal keys is counted as one key",
            "to.add(K::of_half(low, 0), Self::PER_LOAD as u32, index);",
            "to.add(K::of_half(low, 0), 1, index);",
        ),
        mutant(
            "half_counted_twice",
            "counts the first half of a vector twice",
            "to.add(K::of_half(high, e), 1, index + e)",
            "to.add(K::of_half(low, e), 1, index + e)",
        ),
        mutant(
            "last_word_skipped",
            "does not count a load that is alone",
            "        while w < end {
            Self::count_word",
            "        while w + 1 < end {
            Self::count_word",
        ),
        mutant(
            "head_skipped",
            "does not count the keys before the first vector",
            "            if tid < head {
                to.add",
            "            if false {
                to.add",
        ),
        mutant(
            "tail_behind_the_end",
            "`<=` for `<`: a thread reads behind the keys",
            "            if tail + tid < self.keys.len() {",
            "            if tail + tid <= self.keys.len() {",
        ),
        mutant(
            "every_block_counts_the_ends",
            "all blocks count the keys before and after the vectors",
            "        if block_idx_x() == 0 {",
            "        if true {",
        ),
        mutant(
            "shares_overlap",
            "a block also counts a vector of the next one",
            "end: (first + per_block).min(words),",
            "end: (first + per_block + 1).min(words),",
        ),
        mutant(
            "rejected_in_the_head_not_found",
            "the first key without a cell is searched only in the vectors",
            "is_first_block && tid < head && has_no_cell(tid)",
            "false && is_first_block && tid < head && has_no_cell(tid)",
        )
        .on(&["count_few"]),
    ],
};
