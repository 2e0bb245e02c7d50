//! Keys are put into the table.

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
            "slots_of_bins_not_cleared",
            "a bin that no key owns has the slot that shared memory happens to hold",
            "        owners.slots.set(bin, NONE);
",
            "",
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
            "lost_rows_but_the_last",
            "a key without a slot counts in a thread's last row only",
            "is_lost |= slot == NONE;",
            "is_lost = slot == NONE;",
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
            "if is_idle >> r & 1 == 0 && own[r] != K::EMPTY {",
            "if is_idle >> r & 1 == 0 {",
        ),
        mutant(
            "key_of_empty_slots_forgotten",
            "the host does not learn that the key of empty slots occurs",
            "                        work.state.set_atomic(State::HAS_EMPTY, 1);
",
            "",
        ),
        mutant(
            "lanes_of_equal_keys_not_idle",
            "all lanes combine their warp's values",
            "                    is_idle |= 1 << r;
",
            "",
        ),
        mutant(
            "first_lane_for_all",
            "the first lane combines its own value for the warp",
            "value = unsafe { sink.of_warp(value) };",
            "",
        ),
        mutant(
            "bin_of_another_key",
            "a key is in the bin that another one has come to own",
            "if before == K::EMPTY || before == key {",
            "if true {",
        ),
        mutant(
            "slot_of_a_new_bin_forgotten",
            "a bin is not combined into the cell of its key",
            "owners.slots.set(places[r], slot);",
            "",
        ),
        mutant(
            "last_copy_left_out",
            "the last copy of a bin is not combined",
            "        let mut copy = 1;
        while copy < Self::COPIES {",
            "        let mut copy = 1;
        while copy + 1 < Self::COPIES {",
        ),
        mutant(
            "copies_of_two_bins",
            "adjacent bins share their copies",
            ".combine_atomic::<T, O>(self.op, bin * Self::COPIES + copy, value);",
            ".combine_atomic::<T, O>(self.op, bin + copy, value);",
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
