//! Keys are put into the table.

pub mod bins;
pub mod sink;

use super::super::{Source, mutant};

const COMBINE: &[&str] = &["group_combine_sum_f32_by_u32"];

const WIDE_KEYS: &[&str] = &["group_insert_by_u64"];

pub const SOURCE: Source = Source {
    path: "groups/insert.rs",
    kernels: COMBINE,
    mutants: &[
        mutant(
            "last_tile_again",
            "a warp combines its last tile of an earlier launch again",
            "let mut round = work.rounds.get(warp as usize);",
            "let mut round = work.rounds.get(warp as usize).saturating_sub(1);",
        ),
        mutant(
            "no_barrier_before_the_sample",
            "a key owns a bin before it is empty",
            "    // All bins are empty.
    sync_threads();
",
            "",
        ),
        mutant(
            "no_barrier_before_the_end",
            "bins are combined into cells before they have all values",
            "    sync_threads();
    if lane == 0 {",
            "    if lane == 0 {",
        ),
        mutant(
            "rounds_forgotten",
            "the next launch does not learn which tiles are combined",
            "work.rounds.set(warp as usize, round);",
            "let _ = round;",
        ),
        mutant(
            "stopped_in_silence",
            "the host does not learn that tiles are left",
            "work.state.fetch_add(State::STOPPED, 1);",
            "",
        ),
        mutant(
            "lost_tile_combined",
            "a tile is combined although a key has no slot",
            "if unsafe { warp_vote_any(FULL_MASK, found.is_lost) } {",
            "if unsafe { warp_vote_any(FULL_MASK, found.is_lost) } && lane > 31 {",
        ),
        mutant(
            "lost_for_some_lanes",
            "only the lanes whose keys have no slot leave a tile",
            "if unsafe { warp_vote_any(FULL_MASK, found.is_lost) } {",
            "if found.is_lost {",
        ),
        mutant(
            "grows_too_late",
            "warps take tiles until the table is full",
            "is_full = before + of_warp > self.limit;",
            "is_full = before + of_warp > 4 * self.limit;",
        )
        .on(WIDE_KEYS),
        mutant(
            "claims_of_a_tile_forgotten",
            "the number of groups is too small",
            "claimed += found.claimed;",
            "let _ = found.claimed;",
        ),
        mutant(
            "claims_told_again",
            "a warp adds the claims of earlier tiles again",
            "            claimed = 0;
",
            "",
        ),
        mutant(
            "value_behind_the_last",
            "loads a value behind the last one",
            "if i <= last {",
            "if i <= last + 1 {",
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
            "first_lane_for_all",
            "the first lane combines its own value for the warp",
            "values[r] = if is_peer { all } else { values[r] };",
            "",
        ),
        mutant(
            "values_of_all_lanes",
            "a warp combines the values of other keys with those of its first lane's key",
            "let of_peer = if is_peer { values[r] } else { sink.identity() };",
            "let of_peer = values[r];",
        ),
        mutant(
            "first_lane_is_idle",
            "nobody has the value of the first lane's key",
            "u32::from(is_peer && lane != 0)",
            "u32::from(is_peer)",
        ),
        mutant(
            "next_bin",
            "a value is combined into the bin behind its own",
            "sink.into_bin(NONE - 1 - place, value);",
            "sink.into_bin(NONE - place, value);",
        ),
        mutant(
            "key_of_empty_slots_forgotten",
            "the host does not learn that the key of empty slots occurs",
            "work.state.set_atomic(State::HAS_EMPTY, 1);",
            "",
        ),
        mutant(
            "key_of_empty_bins_has_one",
            "the key that looks like an empty bin is in a bin that no key owns",
            "                places[r] = Place(table.slots() as u32);
",
            "",
        ),
        mutant(
            "idle_lane_counts",
            "a lane combines a value that the first lane has combined",
            "            if idle >> r & 1 == 0 {
                places[r] = Place(table.slots() as u32);
            }",
            "            places[r] = Place(table.slots() as u32);",
        ),
        mutant(
            "slot_of_the_first_search",
            "a search does not go on with the next slot",
            "slots[r] = table.next(slots[r] as usize) as u32;",
            "",
        ),
        mutant(
            "last_row_decides",
            "a search ends with that of the last row",
            "is_open |= words[r] != own[r]",
            "is_open = words[r] != own[r]",
        ),
        mutant(
            "claims_of_a_lane_forgotten",
            "the number of groups is too small",
            "                claimed += 1;
",
            "",
        ),
        mutant(
            "key_without_a_slot_owns_a_bin",
            "a block combines a bin whose key is not in the table",
            "if has_room != 0 && !is_lost {",
            "if has_room != 0 {",
        ),
    ],
};
