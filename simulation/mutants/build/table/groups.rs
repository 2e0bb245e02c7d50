//! Groups: the table of keys, and the kernels around it.

pub mod insert;
pub mod parts;
pub mod sort;

use super::{Source, mutant};

const INSERT: &[&str] = &["group_insert_by_u32", "group_insert_by_u64"];

const NUMBER: &[&str] = &["group_number_by_u32"];

const LIST: &[&str] = &["group_list_by_u32"];

const REHASH: &[&str] = &["group_rehash_by_u32"];

const SORT: &[&str] = &["sort_count_by_u64", "sort_scan", "sort_scatter_by_u64"];

const SCAN: &[&str] = &["sort_scan"];

pub const SOURCE: Source = Source {
    path: "groups.rs",
    kernels: INSERT,
    mutants: &[
        mutant(
            "sign_not_inverted",
            "sorts signed keys as unsigned ones",
            "((self ^ flip as Self) >> shift)",
            "(self >> shift)",
        )
        .on(SORT),
        mutant(
            "first_of_too_many",
            "a search begins behind the table",
            "self.slots().leading_zeros() - 31",
            "self.slots().leading_zeros() - 32",
        ),
        mutant(
            "no_first_behind_the_last",
            "a search does not go on with the first slot",
            "(slot + 1) & (self.slots() - 1)",
            "slot + 1",
        ),
        mutant(
            "claimed_by_another",
            "a thread has the slot that another one has claimed at the same time",
            "                if word == K::EMPTY {
                    *claimed += 1;
                    return slot as u32;
                }
",
            "                *claimed += 1;
                return slot as u32;
",
        )
        .on(REHASH),
        mutant(
            "key_of_empty_slots_found_in_one",
            "the key that looks like an empty slot has the number of one",
            "        if key == K::EMPTY {
            return self.slots();
        }
",
            "",
        )
        .on(NUMBER),
        mutant(
            "claim_in_two_steps",
            "a thread overwrites a key that another one has just stored",
            "words.compare_and_swap(slot, Self::EMPTY, self)",
            "{
                    let word = words.get_atomic(slot);
                    if word == Self::EMPTY {
                        words.set_atomic(slot, self);
                    }
                    word
                }",
        ),
        mutant(
            "owner_in_two_steps",
            "two keys own a bin",
            "owners.compare_and_swap(bin, Self::EMPTY, self)",
            "{
                    let owner = owners.get_atomic(bin);
                    if owner == Self::EMPTY {
                        owners.set(bin, self);
                    }
                    owner
                }",
        ),
        mutant(
            "slot_loaded_plainly",
            "a load of a slot is not atomic, but other threads claim it",
            "words.get_atomic(slot)",
            "words.get(slot)",
        ),
        mutant(
            "own_warp_before",
            "a warp's sum is added to itself",
            "before += if w < warp { of_warp } else { 0 };",
            "before += if w <= warp { of_warp } else { 0 };",
        )
        .on(LIST),
        mutant(
            "no_barrier_before_the_sums",
            "a warp reads sums that others have not stored yet",
            "    // The sum of every warp is stored.
    sync_threads();
",
            "",
        )
        .on(LIST),
        mutant(
            "no_barrier_after_the_sums",
            "the next sum overwrites those that threads have not read yet",
            "    // Every thread has read the sums.
    sync_threads();
",
            "",
        )
        .on(SCAN),
        mutant(
            "inclusive",
            "a thread's own value is in the sum before it",
            "(before + sum - value, all)",
            "(before + sum, all)",
        )
        .on(LIST),
    ],
};

pub const AROUND: Source = Source {
    path: "groups/list.rs",
    kernels: LIST,
    mutants: &[
        mutant(
            "no_slot_behind_the_old_table",
            "the value of the key of empty slots is lost when the table grows",
            "while at <= slots {",
            "while at < slots {",
        )
        .on(REHASH),
        mutant(
            "one_slot_of_a_thread",
            "a thread moves one slot only",
            "        moved.set(at, new);
        at += grid_dim_x() as usize * THREADS as usize;",
            "        moved.set(at, new);
        break;",
        )
        .on(REHASH),
        mutant(
            "empty_slots_moved",
            "an empty slot has a place in the new table",
            "                new = to.find_or_claim(key, first, word, to.slots() as u32, &mut 0);
            }",
            "                new = to.find_or_claim(key, first, word, to.slots() as u32, &mut 0);
            } else {
                new = 0;
            }",
        )
        .on(REHASH),
        mutant(
            "slot_behind_whole_tiles_lost",
            "the slot behind a table of whole tiles is not listed",
            "while tile * TILE <= end {",
            "while tile * TILE < end {",
        ),
        mutant(
            "key_of_empty_slots_not_listed",
            "the slot behind the table is never in use",
            " || (at == end && state.get(State::HAS_EMPTY) != 0)",
            "",
        ),
        mutant(
            "key_of_empty_slots_always_listed",
            "the slot behind the table is in use whether its key occurs or not",
            "(at == end && state.get(State::HAS_EMPTY) != 0)",
            "at == end",
        ),
        mutant(
            "slot_behind_the_table_loaded",
            "`<=` for `<`: loads a word behind the table",
            "if at < end {",
            "if at <= end {",
        ),
        mutant(
            "no_barrier_after_the_first_number",
            "a thread reads the tile's first number before it is stored",
            "        // The number of the first group is stored.
        sync_threads();
",
            "",
        ),
        mutant(
            "groups_of_a_thread_numbered_alike",
            "a thread's groups overwrite each other",
            "                    number += 1;
",
            "",
        ),
        mutant(
            "threads_numbered_alike",
            "the threads of a block overwrite each other's groups",
            "words.get(FIRST) + before;",
            "words.get(FIRST);",
        ),
        mutant(
            "tile_listed_in_two_steps",
            "two blocks take the same numbers",
            "state.fetch_add(State::LISTED, all)",
            "{
                let before = state.get_atomic(State::LISTED);
                state.set_atomic(State::LISTED, before + all);
                before
            }",
        ),
        mutant(
            "every_second_tile_of_items",
            "a block leaves out tiles",
            "tile += grid_dim_x() as usize;",
            "tile += 2 * grid_dim_x() as usize;",
        )
        .nth(2, 2)
        .on(NUMBER),
        mutant(
            "index_behind_the_last",
            "`<=` for `<`: stores an index behind the last item's",
            "            if i < n {
                indices",
            "            if i <= n {
                indices",
        )
        .on(NUMBER),
    ],
};

pub const MOVING: Source = Source {
    path: "groups/moving.rs",
    kernels: &["gather_u64", "gather_u8"],
    mutants: &[
        mutant(
            "values_of_one_word",
            "a value begins where it would if it had one word",
            "from.get(index as usize * per_value + word);",
            "from.get(index as usize + word);",
        ),
        mutant(
            "first_word_only",
            "moves the first word of a value",
            "            to.set(i * per_value + word, value);
            word += 1;",
            "            to.set(i * per_value + word, value);
            break;",
        ),
        mutant(
            "position_behind_the_last",
            "`<=` for `<`: reads an index behind the last one",
            "while i < indices.len() {",
            "while i <= indices.len() {",
        ),
        mutant(
            "one_index_of_a_thread",
            "moves one value of each thread only",
            "        what(i, indices.get(i));
        i += grid_dim_x() as usize * THREADS as usize;",
            "        what(i, indices.get(i));
        break;",
        ),
        mutant(
            "no_index_is_an_index",
            "stores a value that has no place",
            "        if index == NONE {
            return;
        }
",
            "",
        )
        .on(&["scatter_u64", "scatter_u8"]),
        mutant(
            "scattered_as_gathered",
            "stores a value at its own position",
            "to.set(index as usize * per_value + word, value);",
            "to.set(i * per_value + word, value);",
        )
        .on(&["scatter_u64", "scatter_u8"]),
        mutant(
            "copied_not_inverted",
            "stores the indices instead of their positions",
            "to.set(index as usize, i as u32)",
            "to.set(i, index)",
        )
        .on(&["invert"]),
        mutant(
            "last_word_not_filled",
            "leaves out the last word",
            "while i < to.len() {",
            "while i + 1 < to.len() {",
        )
        .on(&["fill_u8", "fill_u64"]),
    ],
};
