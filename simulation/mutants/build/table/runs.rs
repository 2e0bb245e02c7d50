//! The starts of runs.

use super::{Source, mutant};

/// Keys of 4, 8 and 12 bytes: a lane has rows of four keys, of two, and one row.
const ALL: &[&str] = &["find_runs_u32", "find_runs_u64", "find_runs_point"];

const NARROW: &[&str] = &["find_runs_u32"];

const WIDE: &[&str] = &["find_runs_u64"];

pub const SOURCE: Source = Source {
    path: "runs.rs",
    kernels: WIDE,
    mutants: &[
        mutant(
            "tile_is_the_block",
            "a block waits for tiles of blocks that have not started",
            "words.set(TILE, work.arrivals.fetch_increment(0, tiles as u32));",
            "words.set(TILE, cuda_std::thread::block_idx_x());",
        ),
        mutant(
            "counter_not_reset",
            "the arrival counter is not 0 behind the last tile",
            "fetch_increment(0, tiles as u32)",
            "fetch_increment(0, tiles as u32 + 1)",
        ),
        mutant(
            "no_barrier_after_the_arrival",
            "a thread reads the tile's number before it is stored",
            "    sync_threads();
    let tile = words.get(TILE) as usize;",
            "    let tile = words.get(TILE) as usize;",
        ),
        mutant(
            "rows_not_aligned",
            "the first tile begins with the keys, although they do not start with a vector",
            "first: first.wrapping_sub(skew.unwrap_or(0)),",
            "first,",
        ),
        mutant(
            "no_barrier_after_the_counts",
            "a warp adds counts that others have not stored yet",
            "<< IS_SPARSE);
    }
    sync_threads();",
            "<< IS_SPARSE);
    }",
        ),
        mutant(
            "own_warp_is_before",
            "a warp's starts are numbered behind their own number",
            "if (w as u32) < warp { count }",
            "if (w as u32) <= warp { count }",
        ),
        mutant(
            "last_warp_not_counted",
            "the starts of a tile's last warp are not counted",
            "        of_tile += count;",
            "        of_tile += if w + 1 < ALL_WARPS { count } else { 0 };",
        ),
        mutant(
            "no_end",
            "the number of keys is not stored behind the starts",
            "                starts.set(all.number() as usize, n);
",
            "",
        ),
        mutant(
            "no_barrier_after_looking_back",
            "a warp numbers its starts before their number is known",
            "    sync_threads();
    let run = before",
            "    let run = before",
        ),
        mutant(
            "narrow_starts_only",
            "stores starts of 64 bits as numbers of 32 bits",
            "if self.wide.len() > 0 {",
            "if false {",
        ),
    ],
};

pub const LOOK_BACK: Source = Source {
    path: "runs/look_back.rs",
    kernels: WIDE,
    mutants: &[
        mutant(
            "first_tile_before_itself",
            "the first tile's starts are numbered behind its own number",
            "            return Count(0);
",
            "            return count;
",
        ),
        mutant(
            "sum_left_out",
            "adds the counts of tiles, but not the sum in front of them",
            "lane <= sums.trailing_zeros()",
            "lane < sums.trailing_zeros()",
        ),
        mutant(
            "counts_before_the_sum_added",
            "adds tiles that are in the sum already",
            "Count::of_word(if needed { word } else { 0 });",
            "Count::of_word(word);",
        ),
        mutant(
            "own_count_added",
            "looks back from the tile itself",
            "word = self.get(end - 1 - lane as usize);",
            "word = self.get(end - lane as usize);",
        ),
        mutant(
            "last_tile_added_twice",
            "the next step back overlaps with the last one by a tile",
            "end -= WARP_SIZE as usize;",
            "end -= WARP_SIZE as usize - 1;",
        ),
        mutant(
            "sum_must_be_the_nearest",
            "goes on beyond a sum that is not in the nearest tile",
            "            if sums != 0 {
                break;
            }
            end",
            "            if sums & 1 != 0 {
                break;
            }
            end",
        ),
        mutant(
            "sum_without_own_count",
            "a tile's sum does not include its own starts",
            "self.word(before.and(count));",
            "self.word(before);",
        ),
        mutant(
            "waits_for_the_nearest_only",
            "adds the tiles further in front before they have a count",
            "warp_vote_any(FULL_MASK, is_missing)",
            "warp_vote_any(FULL_MASK, is_missing && lane == 0)",
        ),
        mutant(
            "word_stored_plainly",
            "another block may see a part of a tile's word",
            "self.tiles.set_atomic(tile, state | self.word(count));",
            "self.tiles.set(tile, state | self.word(count));",
        ),
        mutant(
            "word_loaded_plainly",
            "a load may be from before the loop",
            "self.tiles.get_atomic(tile)",
            "self.tiles.get(tile)",
        ),
        mutant(
            "words_of_earlier_launches",
            "takes a word of an earlier launch for one of this launch",
            "word & !(Self::SUM | Self::COUNT) != 0;",
            "word == self.epoch << Self::EPOCH_BIT;",
        ),
        mutant(
            "sparse_tiles_forgotten",
            "the host does not learn that a run in front of the last tile is long",
            "let sparse = if is_sparse { Count::IS_SPARSE } else { 0 };",
            "let sparse = 0;",
        ),
        mutant(
            "runs_without_epoch",
            "the host takes the number of runs for that of an earlier launch",
            "self.runs.set_for_host(0, self.word(all));",
            "self.runs.set_for_host(0, all.0);",
        ),
    ],
};

pub const PART: Source = Source {
    path: "runs/part.rs",
    kernels: WIDE,
    mutants: &[
        mutant(
            "group_behind_the_end_is_sparse",
            "a group that is not whole counts as one without start",
            "with_starts == 0 && first < n && size <= n - first;",
            "with_starts == 0;",
        ),
        mutant(
            "last_group_is_sparse",
            "only the last group of a part may be without start",
            "is_sparse |= with_starts",
            "is_sparse = with_starts",
        ),
        mutant(
            "part_begins_with_no_start",
            "a part's first key is compared with itself",
            "self.keys.get(self.first.wrapping_sub(1).min(n - 1))",
            "self.keys.get(self.first.min(n - 1))",
        ),
        mutant(
            "row_before_is_the_first",
            "each row is compared with the key in front of the part",
            "                row_before = turned;
",
            "",
        ),
        mutant(
            "lane_above",
            "a lane's first key is compared with the last one of the lane above",
            "Shuffle::Idx((lane + 31) % WARP_SIZE)",
            "Shuffle::Idx((lane + 1) % WARP_SIZE)",
        ),
        mutant(
            "vectors_of_the_last_part",
            "loads vectors of a part that is not whole",
            " && Self::KEYS <= n - self.first;",
            ";",
        ),
        mutant(
            "start_at_the_end",
            "`<=` for `<`: loads a key behind the last one",
            "if index < self.keys.len() {",
            "if index <= self.keys.len() {",
        ),
        mutant(
            "starts_behind_the_end",
            "places behind the last key may be starts",
            "            mask &= exist;
",
            "",
        ),
        mutant(
            "first_key_no_start",
            "the first key is no start if the key in front of the part equals it",
            "                mask |= 1 << start;
",
            "",
        ),
        mutant(
            "first_key_at_the_first_bit",
            "the first key is where the vector begins",
            "mask |= 1 << start;",
            "mask |= 1;",
        ),
        mutant(
            "mask_of_the_last_group",
            "the groups share the bits of their masks",
            "masks |= u64::from(mask) << (group * MOST_KEYS as u32);",
            "masks |= u64::from(mask);",
        ),
        mutant(
            "no_room_for_a_group",
            "places starts beyond the warp's shared memory",
            "if placed + total > most_places::<K>() {",
            "if placed + total > 2 * most_places::<K>() {",
        ),
        mutant(
            "group_without_room_counted",
            "a group for which there was no room counts as placed",
            "if placed + of_group <= most_places::<K>() {",
            "if true {",
        ),
        mutant(
            "later_group_without_room_counted",
            "the same for groups that are placed later",
            "if placed + of_group > most_places::<K>() {",
            "if false {",
        ),
        mutant(
            "first_key_of_the_vector",
            "keeps the first key of a row's vector",
            "self.kept.set(number, own[r][e]);",
            "self.kept.set(number, own[r][0]);",
        ),
        mutant(
            "places_overwritten",
            "later groups' places overwrite those that lanes have not read yet",
            "unsafe { sync_warp(FULL_MASK) };",
            "",
        )
        .nth(2, 3),
        mutant(
            "places_read_before_stored",
            "lanes read places that others have not stored yet",
            "unsafe { sync_warp(FULL_MASK) };",
            "",
        )
        .nth(3, 3),
        mutant(
            "one_start_of_a_lane",
            "leaves out the kept starts behind the first 32",
            "            number += WARP_SIZE;
",
            "            break;
",
        ),
        mutant(
            "kept_before_the_first",
            "lanes in front of the first kept start store one too",
            "            if number >= skew {
",
            "            if number + 1 >= skew {
",
        ),
        mutant(
            "last_kept_left_out",
            "the starts begin with lane 0, but not their end",
            "while number < skew + kept {",
            "while number < kept {",
        ),
        mutant(
            "group_of_other_lanes_left_out",
            "leaves out a group in which only some lanes have starts",
            "warp_vote_any(FULL_MASK, mask != 0)",
            "cuda_std::warp::warp_vote_all(FULL_MASK, mask != 0)",
        ),
        mutant(
            "first_keys_again",
            "the same keys for all starts of a lane",
            "                later.keys = self.keys_of(first, later.placed);
",
            "",
        ),
        mutant(
            "kept_not_numbered",
            "later starts overwrite the results of the kept ones",
            "            run += found.placed as usize;
",
            "",
        ),
        mutant(
            "groups_numbered_alike",
            "each time, the results before are overwritten",
            "            run += later.placed as usize;
",
            "",
        ),
        mutant(
            "kept_groups_again",
            "the groups of kept starts are placed again",
            "            later = unsafe { self.later(found, found.groups) };",
            "            later = unsafe { self.later(found, 0) };",
        ),
        mutant(
            "last_group_twice",
            "the last group is also placed with those whose keys are loaded again",
            "GROUPS - u32::from(self.placed > 0)",
            "GROUPS - u32::from(self.placed > u32::MAX - 1)",
        ),
        mutant(
            "last_group_of_a_full_part",
            "a last group that has been placed is placed again",
            "if found.placed > 0 && found.groups < GROUPS {",
            "if found.placed > 0 {",
        ),
        mutant(
            "last_group_by_the_first_mask",
            "the last group has the starts of the first",
            "self.place(found.mask(group), group, 0, Some(&found.last))",
            "self.place(found.mask(0), group, 0, Some(&found.last))",
        ),
        mutant(
            "last_group_too_early",
            "the last group is stored while other lanes still place their starts",
            "unsafe { sync_warp(FULL_MASK) };",
            "",
        )
        .nth(1, 3),
        mutant(
            "scan_without_the_step",
            "a lane of the scan leaves out the one at its distance",
            "sums += if lane >= step { below } else { 0 };",
            "sums += if lane > step { below } else { 0 };",
        ),
        mutant(
            "own_starts_are_below",
            "a lane's places are behind its own number",
            "let lanes_below = sums - counts;",
            "let lanes_below = sums;",
        ),
        mutant(
            "rows_numbered_alike",
            "each row of a group overwrites the places of the one before",
            "            rows += all >> byte(r) & BYTE;
",
            "            rows = all >> byte(r) & BYTE;
",
        ),
        mutant(
            "byte_of_seven_bits",
            "a row of 128 starts has none",
            "const BYTE: u32 = 0xff;",
            "const BYTE: u32 = 0x7f;",
        )
        .on(NARROW),
        mutant(
            "lanes_of_one_key",
            "the places of adjacent lanes overlap",
            "as u32 + lane * N as u32;",
            "as u32 + lane;",
        )
        .on(ALL),
    ],
};
