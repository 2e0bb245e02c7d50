//! Keys are put into the table.

pub mod sink;

use super::super::{Source, mutant};

const COMBINE: &[&str] = &["group_combine_sum_f32_by_u32"];

const WIDE_KEYS: &[&str] = &["group_insert_by_u64"];

pub const SOURCE: Source = Source {
    path: "groups/insert.rs",
    kernels: COMBINE,
    mutants: &[
        mutant(
            "tiles_left_count_twice",
            "skips as many tiles as an earlier launch has left",
            "self.first as usize + number - again;",
            "self.first as usize + number;",
        ),
        mutant(
            "one_tile_left_too_many",
            "`<=` for `<`: takes a tile behind those that an earlier launch has left",
            "if number < again {",
            "if number <= again {",
        ),
        mutant(
            "bins_not_cleared",
            "a bin starts with what shared memory happens to hold",
            "        sink.clear(bin);
",
            "",
        ),
        mutant(
            "no_barrier_after_the_number",
            "a thread reads a tile's number before it is stored",
            "        sync_threads();
        let tile = words.get(NUMBER);",
            "        let tile = words.get(NUMBER);",
        ),
        mutant(
            "taken_tile_lost_when_full",
            "a tile that a block takes from a full table is lost",
            "                work.leave(tile);
                tile = NONE;",
            "                tile = NONE;",
        ),
        mutant(
            "begun_tile_lost",
            "a tile whose keys have no slot is lost",
            "                work.leave(tile);
                work.leave(work.tile",
            "                work.leave(work.tile",
        ),
        mutant(
            "next_tile_lost",
            "the tile that a block has taken next is lost",
            "                work.leave(work.tile(taken.0, tiles));
",
            "",
        ),
        mutant(
            "grows_too_late",
            "blocks take tiles until the table is full",
            "if before + claims > work.limit {",
            "if before + claims > 2 * work.limit {",
        )
        .on(WIDE_KEYS),
        mutant(
            "value_behind_the_last",
            "`<=` for `<`: loads a value behind the last one",
            "                if i < n {
                    values",
            "                if i <= n {
                    values",
        ),
        mutant(
            "last_key_counts_again",
            "lanes behind the last key combine its value again",
            "values[r] = sink.load(i);
                }",
            "values[r] = sink.load(i);
                } else {
                    values[r] = sink.load(last);
                }",
        ),
        mutant(
            "key_of_empty_bins_has_one",
            "the key that looks like an empty bin is in a bin that no key owns",
            "if places.is_idle >> r & 1 == 0 && key != K::EMPTY {",
            "if places.is_idle >> r & 1 == 0 {",
        ),
        mutant(
            "key_of_empty_slots_forgotten",
            "the host does not learn that the key of empty slots occurs",
            "work.state.set_atomic(State::HAS_EMPTY, 1);",
            "",
        ),
        mutant(
            "first_lane_for_all",
            "the first lane combines its own value for the warp",
            "value = if is_peer { all } else { value };",
            "",
        ),
        mutant(
            "bin_of_another_key",
            "a key is in the bin that another one has come to own",
            "if before == K::EMPTY || before == key {",
            "if true {",
        ),
        mutant(
            "values_of_all_lanes",
            "a warp combines the values of other keys with those of its first lane's key",
            "let of_peer = if is_peer { value } else { sink.identity() };",
            "let of_peer = value;",
        ),
        mutant(
            "key_without_a_slot_owns_a_bin",
            "a block combines a bin whose key is not in the table",
            "owners.set(bin, K::EMPTY);
            });",
            "let _ = bin;
            });",
        ),
        mutant(
            "new_key_without_a_slot",
            "a key that comes to own a bin is not put into the table",
            "let skipped = places.is_idle | places.in_bin & !places.is_new;",
            "let skipped = places.is_idle | places.in_bin;",
        ),
        mutant(
            "neighbour_forgotten",
            "a key in the second of its bins is combined into the first",
            "                is_other |= 1 << r;
",
            "",
        ),
        mutant(
            "same_slot_again",
            "a search does not go on with the next slot",
            "slots[r] = table.next(slots[r] as usize) as u32;",
            "",
        ),
        mutant(
            "one_probe_too_few_counts",
            "a tile is lost only if its first row has no slot",
            "is_lost: searched != 0,",
            "is_lost: searched & 1 != 0,",
        ),
        mutant(
            "claims_of_a_thread_forgotten",
            "the number of groups is too small",
            "                        claimed += 1;
",
            "",
        ),
        mutant(
            "first_bin_not_flushed",
            "the first of a thread's bins is not combined into its cell",
            "if own[i] != K::EMPTY {
        let first",
            "if i > 0 && own[i] != K::EMPTY {
        let first",
        ),
        mutant(
            "claims_kept",
            "a block adds the claims of earlier tiles again",
            "                words.set(CLAIMS, 0);
                let",
            "                let",
        ),
    ],
};
