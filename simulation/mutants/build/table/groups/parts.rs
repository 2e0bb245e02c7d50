//! Groups are combined by parts.

use super::super::{Source, mutant};

const COLLECT: &[&str] = &["group_collect_sum_f32_by_u32"];

const SPLIT: &[&str] = &["group_split_by_u32"];

const SAMPLE: &[&str] = &["group_sample_by_u32"];

pub const SAMPLE_SOURCE: Source = Source {
    path: "groups/parts/sample.rs",
    kernels: SAMPLE,
    mutants: &[
        mutant(
            "no_barrier_before_the_sample",
            "keys are counted before the table is empty",
            "    // The table is empty.
    sync_threads();
",
            "",
        ),
        mutant(
            "no_barrier_behind_the_numbers",
            "the first thread stores the numbers before all warps have added theirs",
            "    // The numbers of all warps are added.
    sync_threads();
",
            "",
        ),
        mutant(
            "numbers_of_one_lane",
            "the keys of a warp's first lane alone are counted",
            "of_lane.map(|number| unsafe { reduce_down::<u32, Sum>(Sum, number) });",
            "of_lane;",
        ),
        mutant(
            "word_of_an_empty_slot",
            "a key has the word of an empty slot",
            "(key.hash() >> 32) as u32 | 1;",
            "(key.hash() >> 32) as u32 & 0xFFFF_0000;",
        ),
        mutant(
            "slot_of_another_key",
            "a key is counted in the slot of another",
            "if before == 0 || before == word {",
            "if before == 0 || before >> 20 == word >> 20 {",
        ),
        mutant(
            "no_slot_behind_the_last",
            "a search leaves the table",
            "slot = (slot + 1) % SLOTS;",
            "slot += 1 << 9;",
        ),
        mutant(
            "neighbours_counted_together",
            "four slots have one counter",
            "let shift = slot % 4 * 8;",
            "let shift = 0;",
        ),
        mutant(
            "frequent_key_counted_again",
            "a key becomes frequent with every row behind the fifth",
            "before == FREQUENT_BEFORE);",
            "before >= FREQUENT_BEFORE);",
        ),
        mutant(
            "equal_neighbours_counted",
            "all keys of a row are counted",
            "                == thread_idx_x() % WARP_SIZE;",
            "                <= thread_idx_x() % WARP_SIZE;",
        ),
        mutant(
            "other_rows_never_counted",
            "the first row of each warp is the sample",
            "if sync_threads_or(of_lane[2]) == 0 {",
            "if sync_threads_or(1) == 0 {",
        ),
        mutant(
            "other_rows_counted_behind_a_frequent_key",
            "rows are counted that a frequent key makes needless",
            "if sync_threads_or(of_lane[2]) == 0 {",
            "if sync_threads_or(0) == 0 {",
        ),
        mutant(
            "first_items_alone",
            "the sample is the array's start",
            "* apart + lane as usize);",
            "* 32 + lane as usize);",
        ),
    ],
};

pub const SPLIT_SOURCE: Source = Source {
    path: "groups/parts/split.rs",
    kernels: SPLIT,
    mutants: &[
        mutant(
            "no_barrier_before_counting",
            "pairs of a whole tile are counted before the counters are 0",
            "    clear(memory);
    // Every counter is 0.
    sync_threads();
    // The number of a pair",
            "    clear(memory);
    // The number of a pair",
        ),
        mutant(
            "no_barrier_before_counting_the_last",
            "pairs of the last tile are counted before the counters are 0",
            "    clear(memory);
    // Every counter is 0.
    sync_threads();
    each_of_tile",
            "    clear(memory);
    each_of_tile",
        ),
        mutant(
            "no_barrier_behind_counting",
            "places are reserved before every pair of a whole tile is counted",
            "    compiler_barrier();
    // Every pair is counted.
    sync_threads();
",
            "    compiler_barrier();
",
        ),
        mutant(
            "numbers_of_one_part",
            "pairs of a part have the same place",
            "let place = part << 16 | memory.counts.fetch_add(part, 1);",
            "let place = part << 16 | memory.counts.fetch_add(part, 1) >> 1;",
        ),
        mutant(
            "part_cut_off",
            "pairs of high parts have the places of low ones",
            "memory.starts.get(places[r] >> 16) + (places[r] & 0xFFFF);",
            "memory.starts.get(places[r] >> 16 & 1) + (places[r] & 0xFFFF);",
        ),
        mutant(
            "no_barrier_before_the_starts",
            "pairs of a whole tile are placed before the parts have places",
            "    // Every part has its place.
    sync_threads();
    if memory.is_lost.get(0) != 0 {
        return;
    }
    unrolled!",
            "    if memory.is_lost.get(0) != 0 {
        return;
    }
    unrolled!",
        ),
        mutant(
            "no_barrier_before_appending",
            "pairs of a whole tile are appended before it is sorted",
            "    // The tile is sorted by parts.
    sync_threads();
    unrolled!",
            "    unrolled!",
        ),
        mutant(
            "no_barrier_before_appending_the_last",
            "pairs of the last tile are appended before it is sorted",
            "    // The tile is sorted by parts.
    sync_threads();
    each_of_tile",
            "    each_of_tile",
        ),
        mutant(
            "last_tile_in_one_place",
            "pairs of the last tile have the same place",
            "memory.starts.fetch_add(part_of(key), 1);",
            "memory.starts.get(part_of(key));",
        ),
        mutant(
            "places_of_the_tile_forgotten",
            "the pairs of a part are stored behind their place",
            "index.wrapping_sub(before)",
            "index",
        ),
        mutant(
            "too_many_pairs_in_silence",
            "the host does not learn that a part has too many pairs",
            "to.parts.set_atomic(Parts::LOST, 1);",
            "",
        ),
        mutant(
            "too_many_pairs_stored",
            "pairs are stored in the next part",
            "memory.is_lost.fetch_add(0, 1);",
            "",
        ),
        mutant(
            "room_for_one_more",
            "a part may have a pair too many",
            "if first + count > to.capacity {",
            "if first + count > to.capacity + 1 {",
        ),
    ],
};

pub const COLLECT_SOURCE: Source = Source {
    path: "groups/parts/collect.rs",
    kernels: COLLECT,
    mutants: &[
        mutant(
            "value_of_the_reserved_key_not_empty",
            "the value of the key of empty bins is not set at first",
            "while bin <= bins.len {",
            "while bin < bins.len {",
        ),
        mutant(
            "no_barrier_before_the_pairs",
            "a key owns a bin before it is empty",
            "    // All bins are empty.
    sync_threads();
    if words.get(IS_LOST) != 0 {
        return;
    }
",
            "",
        ),
        mutant(
            "lost_part_collected",
            "the pairs of a part are read although some were not stored",
            "    if words.get(IS_LOST) != 0 {
        return;
    }
",
            "",
        ),
        mutant(
            "last_pair_again",
            "the last pair is combined again behind the end",
            "if at + r as u32 * THREADS < end {",
            "if at + r as u32 * THREADS < end + 1 {",
        ),
        mutant(
            "too_many_keys_in_silence",
            "the host does not learn that a part has too many keys",
            "from.parts.set_atomic(Parts::LOST, 1);",
            "",
        ),
        mutant(
            "no_barrier_before_the_results",
            "bins are stored before they have all values",
            "    // Every value is in its bin.
    sync_threads();
",
            "",
        ),
        mutant(
            "both_bins_of_a_key",
            "a key in its second bin is combined into the first",
            "places[r] = bin + u32::from(is_other & !is_one);",
            "places[r] = bin;",
        ),
        mutant(
            "reserved_key_in_a_bin",
            "the key of empty bins is combined into one",
            "if !(is_one | is_other) | (own[r] == EMPTY) {",
            "if !(is_one | is_other) {",
        ),
        mutant(
            "full_bins_not_skipped",
            "a key with two bins of other keys begins with the third one",
            "* (1 + u32::from(other[r] != EMPTY))",
            "* (2 + u32::from(other[r] != EMPTY))",
        ),
        mutant(
            "owner_of_another",
            "a key has the bin that another one came to own at the same time",
            "if owner == EMPTY || owner == key {",
            "if owner == EMPTY || owner == key || probes > 0 {",
        ),
        mutant(
            "no_bin_behind_the_last",
            "a search leaves the bins",
            "bin = if bin < self.len { bin } else { 0 };",
            "",
        ),
        mutant(
            "reserved_key_forgotten",
            "the key of empty bins has no group",
            "words.fetch_add(HAS_EMPTY, 1);",
            "",
        ),
        mutant(
            "groups_of_a_warp_counted_alone",
            "the groups of warps overwrite each other",
            "before = words.fetch_add(COUNTED, sum);",
            "words.fetch_add(COUNTED, sum);",
        ),
        mutant(
            "no_barrier_before_the_sum",
            "a block has places for the groups of some warps",
            "        // The groups of all warps are counted.
        sync_threads();
",
            "",
        ),
        mutant(
            "no_barrier_before_the_first",
            "groups are stored before their place is known",
            "        // The index of the first group is stored.
        sync_threads();
",
            "",
        ),
        mutant(
            "groups_of_lower_lanes_overwritten",
            "the groups of a warp's lanes overwrite each other",
            "+ before + sum - count)",
            "+ before)",
        ),
        mutant(
            "all_bins_stored",
            "empty bins are groups",
            "            if key != EMPTY {
                append(key, bin);
            }
",
            "            append(key, bin);
",
        ),
    ],
};
