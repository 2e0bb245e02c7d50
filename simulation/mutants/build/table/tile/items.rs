//! Tiles: shifted vectors, single items, accumulators.

use super::super::{Mutant, mutant};
use super::{ARG_MIN, HORNER, ONE_SLOT, PAIR, SINGLE, SLOTS};

/// An accumulator for each of 16 slots.
const SIXTEEN_SLOTS: &[&str] = &["single_pass_parity_u8_3"];

/// Zero is no identity.
const MAX: &[&str] = &["single_pass_max_i32"];

pub const MUTANTS: &[Mutant] = &[
    // Shifted tiles.
    mutant(
        "every_other_shifted_row",
        "skips every other row of shifted vectors that are absorbed one by one",
        "lane.absorb([vector], [self.first_of(row) as u64]);
                row += 1;",
        "lane.absorb([vector], [self.first_of(row) as u64]);
                row += 2;",
    )
    .on(SINGLE),
    mutant(
        "shifted_row_of_the_first",
        "loads the first row of a group for all its rows",
        "rows[k] = self.source.shifted(self.first_of(row + k))",
        "rows[k] = self.source.shifted(self.first_of(row))",
    )
    .on(SLOTS),
    mutant(
        "shifted_indices_of_the_first",
        "all groups of rows have the indices of the first",
        "            compiler_barrier();
            lane.absorb(rows, self.indices(row));
",
        "            compiler_barrier();
            lane.absorb(rows, self.indices(0));
",
    )
    .on(PAIR),
    mutant(
        "shifted_groups_overlap",
        "advances by one row instead of a group of rows",
        "            row += K;
        }
    }
}

impl<I: Items, O: Op<I>, S: Vectored<I>",
        "            row += 1;
        }
    }
}

impl<I: Items, O: Op<I>, S: Vectored<I>",
    )
    .on(SLOTS),
    mutant(
        "first_shifted_group_alone",
        "skips all shifted rows after the first group",
        "            compiler_barrier();
            lane.absorb(rows, self.indices(row));
            row += K;
",
        "            compiler_barrier();
            lane.absorb(rows, self.indices(row));
            row = end;
",
    )
    .on(SLOTS),
    mutant(
        "rows_of_other_lanes",
        "a lane's run does not end after 8 rows",
        "behind.div_ceil(self.step).min(ROWS)",
        "behind.div_ceil(self.step).min(2 * ROWS)",
    )
    .on(HORNER),
    mutant(
        "rows_rounded_down",
        "skips the last row if it is not whole",
        "behind.div_ceil(self.step).min(ROWS)",
        "(behind / self.step).min(ROWS)",
    )
    .on(SLOTS),
    mutant(
        "no_rows_before_the_array",
        "a lane whose first item is before the array has no rows",
        "self.source.len().wrapping_sub(self.first)",
        "self.source.len().saturating_sub(self.first)",
    ),
    // Item by item.
    mutant(
        "bound_of_the_first_row",
        "checks the bounds of the first row of a group only",
        "self.first_of(row + K - 1).wrapping_add(N - 1)",
        "self.first_of(row).wrapping_add(N - 1)",
    )
    .on(PAIR),
    mutant(
        "bound_of_the_first_item",
        "checks the bounds of the first item of a group only",
        "self.is_item(first) && self.is_item(last) && row % K == 0",
        "self.is_item(first) && row % K == 0",
    )
    .on(HORNER),
    mutant(
        "item_of_the_first",
        "loads the first item of a row for all its items",
        "rows[k][e] = self.source.get(self.first_of(row + k) + e)",
        "rows[k][e] = self.source.get(self.first_of(row + k) + 0 * e)",
    )
    .on(HORNER),
    mutant(
        "items_of_the_first_row",
        "loads the first row of a group for all its rows",
        "rows[k][e] = self.source.get(self.first_of(row + k) + e)",
        "rows[k][e] = self.source.get(self.first_of(row) + e)",
    )
    .on(ONE_SLOT),
    mutant(
        "indices_of_items_of_the_first_row",
        "all groups of rows have the indices of the first",
        "                lane.absorb(rows, self.indices(row));
            } else {",
        "                lane.absorb(rows, self.indices(0));
            } else {",
    )
    .on(HORNER),
    mutant(
        "single_rows_in_groups",
        "advances by a group of rows after one row",
        "row += 1;
                continue;
            }
            if is_whole {",
        "row += K;
                continue;
            }
            if is_whole {",
    ),
    mutant(
        "row_left_out",
        "skips the rows of an operator whose rows may be combined one after another",
        "self.absorb_row(lane, first);",
        "",
    )
    .on(SLOTS),
    mutant(
        "incomplete_group_left_out",
        "skips a group of rows of which some items do not exist",
        "            } else {
                self.absorb_one_by_one(lane, row);
            }
            row += K;
",
        "            }
            row += K;
",
    )
    .on(HORNER),
    mutant(
        "groups_overlap",
        "advances by one row after a group of rows",
        "                self.absorb_one_by_one(lane, row);
            }
            row += K;
",
        "                self.absorb_one_by_one(lane, row);
            }
            row += 1;
",
    )
    .on(HORNER),
    mutant(
        "items_outside_loaded",
        "loads items that the array does not have",
        "                if self.is_item(i) {
                    items[e]",
        "                if i < usize::MAX {
                    items[e]",
    ),
    mutant(
        "items_outside_combined",
        "combines 0 for items that the array does not have",
        "                if self.is_item(i) {
                    lane.absorb_item",
        "                if i < usize::MAX {
                    lane.absorb_item",
    )
    .on(MAX),
    mutant(
        "slots_not_combined",
        "puts the items of an operator with one accumulator into several",
        "let slot = if has_slots::<I, O>() { slot } else { 0 };",
        "let _ = has_slots::<I, O>();",
    ),
    mutant(
        "parts_of_the_first",
        "loads the first part of a vector for each part",
        "let first = first.wrapping_add(part * PART);",
        "let first = first.wrapping_add(0 * part);",
    )
    .on(SIXTEEN_SLOTS),
    mutant(
        "index_of_the_row",
        "all items of a row have the index of its first",
        "items[e], i as u64",
        "items[e], first as u64",
    )
    .on(ARG_MIN),
    mutant(
        "accumulator_of_the_first_slot",
        "adds an item to the first slot's accumulator for each slot",
        "self.op.absorb(self.slots[slot], [[item]]",
        "self.op.absorb(self.slots[0], [[item]]",
    )
    .on(SLOTS),
    mutant(
        "first_row_one_by_one",
        "combines only the first row of a group one by one",
        "while item < K * N {",
        "while item < N {",
    )
    .on(HORNER),
    mutant(
        "columns_one_by_one",
        "combines the first items of all rows of a group before the second ones",
        "self.first_of(row + item / N).wrapping_add(item % N)",
        "self.first_of(row + item % K).wrapping_add(item / K)",
    )
    .on(HORNER),
    mutant(
        "one_by_one_outside",
        "loads items that the array does not have",
        "            if self.is_item(i) {
                let rows",
        "            if i < usize::MAX {
                let rows",
    )
    .on(HORNER),
    mutant(
        "index_of_the_row_one_by_one",
        "all items of a row have the index of its first",
        "lane.slots[0] = self.op.absorb(lane.slots[0], rows, [i as u64]);",
        "lane.slots[0] = self.op.absorb(lane.slots[0], rows, [(i - item % N) as u64]);",
    )
    .on(HORNER),
    mutant(
        "items_before_the_accumulator",
        "combines each item before its predecessors",
        "lane.slots[0] = self.op.absorb(lane.slots[0], rows, [i as u64]);",
        "lane.slots[0] = self.op.combine(self.op.lift(rows[0][0], i as u64), lane.slots[0]);",
    )
    .on(HORNER),
    // Accumulators.
    mutant(
        "slot_begins_again",
        "a slot keeps its last item only",
        "self.slots[e] = self.op.combine(self.slots[e], item);",
        "self.slots[e] = item;",
    )
    .on(SLOTS),
    mutant(
        "lane_begins_again",
        "a lane keeps its last group of rows only",
        "self.slots[0] = self.op.absorb(self.slots[0], rows, first);",
        "self.slots[0] = self.op.absorb(self.op.identity(), rows, first);",
    ),
    mutant(
        "slots_of_three_halvings",
        "the first of 16 slots is not combined with the second",
        "const HALVINGS: usize = 4;",
        "const HALVINGS: usize = 3;",
    )
    .on(SIXTEEN_SLOTS),
    mutant(
        "quarters_for_halves",
        "begins with a quarter of the slots instead of a half",
        "let half = N >> (step + 1);",
        "let half = N >> (step + 2);",
    )
    .on(SIXTEEN_SLOTS),
    mutant(
        "slot_with_itself",
        "combines a slot with itself",
        "self.slots[e + half]",
        "self.slots[e]",
    )
    .on(SLOTS),
    mutant(
        "slot_0_alone",
        "does not combine the slots",
        "if e < half {",
        "if e > half {",
    )
    .on(SLOTS),
];
