//! The partials of blocks, and of groups of blocks.

use super::{Mutant, Source, mutant};

pub const SOURCE: Source = Source {
    path: "grid.rs",
    kernels: &["single_pass_sum_i32", "single_pass_sum_wide_i32"],
    mutants: MUTANTS,
};

/// Not commutative; a thread combines two partials.
const HORNER: &[&str] = &["single_pass_horner_u32"];

/// A thread combines four partials.
const FOUR: &[&str] = &["single_pass_sum_i32"];

/// A thread combines two partials.
const TWO: &[&str] = &["single_pass_sum_wide_i32"];

/// A thread has one partial, so there are groups of groups of groups.
const ONE: &[&str] = &["single_pass_sum_squares_f64"];

const MUTANTS: &[Mutant] = &[
    // Arrival numbers.
    mutant(
        "every_thread_draws",
        "increments the arrival counter in every thread instead of once for each block",
        "if thread_idx_x() == 0 && level.members > 1 {",
        "if level.members > 1 {",
    ),
    mutant(
        "single_block_draws",
        "a single block increments a counter that it does not have",
        "if thread_idx_x() == 0 && level.members > 1 {",
        "if thread_idx_x() == 0 {",
    ),
    mutant(
        "index_for_arrival",
        "uses the block with the last index, which may not be the last to start",
        "self.draw(level, block_idx_x())",
        "block_idx_x() % level.group",
    ),
    mutant(
        "one_arrival_too_many",
        "the arrival counter does not wrap to 0 after the last member",
        ".fetch_increment(counter as usize, level.members_with(member))",
        ".fetch_increment(counter as usize, level.members_with(member) + 1)",
    ),
    mutant(
        "counter_of_a_full_group",
        "the counter of the last group waits for as many members as the others have",
        ".fetch_increment(counter as usize, level.members_with(member))",
        ".fetch_increment(counter as usize, level.group)",
    ),
    mutant(
        "one_counter_of_a_level",
        "all groups of a level have the same counter",
        "let counter = level.first_counter + member / level.group;",
        "let counter = level.first_counter;",
    ),
    mutant(
        "counters_of_the_first_level",
        "all levels have the same counters",
        "let counter = level.first_counter + member / level.group;",
        "let counter = member / level.group;",
    ),
    mutant(
        "arrival_of_one_thread",
        "the other threads do not have the arrival number, and return",
        "if storage.arrival.get(0) != members - 1 {",
        "if arrival != members - 1 {",
    ),
    mutant(
        "no_such_arrival",
        "no block gets this number, because they are numbered from 0",
        "if storage.arrival.get(0) != members - 1 {",
        "if storage.arrival.get(0) != members {",
    ),
    mutant(
        "first_arrival_combines",
        "the first block waits for blocks that may never start",
        "if storage.arrival.get(0) != members - 1 {",
        "if storage.arrival.get(0) != 0 {",
    ),
    mutant(
        "arrival_of_every_thread",
        "threads without the arrival number store theirs",
        "    if tid == 0 {
        storage.arrival.set(0, arrival);
",
        "    if tid < 32 {
        storage.arrival.set(0, arrival);
",
    ),
    mutant(
        "arrival_kept",
        "the block that combined a group does not draw a number for it",
        "storage.arrival.set(0, storage.draw(level, member));",
        "",
    ),
    mutant(
        "every_thread_draws_again",
        "increments the counter of groups in every thread",
        "if tid == 0 && level.members > 1 {
            storage.arrival",
        "if level.members > 1 {
            storage.arrival",
    ),
    mutant(
        "draws_at_the_end",
        "the last block increments a counter that it does not have",
        "if tid == 0 && level.members > 1 {
            storage.arrival",
        "if tid == 0 {
            storage.arrival",
    ),
    // Levels and groups.
    mutant(
        "group_of_threads",
        "a group has a partial for each thread, and not as many as its threads combine",
        "group: threads * of_thread(acc_bytes) as u32,",
        "group: threads,",
    ),
    mutant(
        "groups_rounded_down",
        "the last group does not exist if it is smaller",
        "let groups = self.members.div_ceil(self.group);",
        "let groups = self.members / self.group;",
    ),
    mutant(
        "group_of_blocks",
        "a group's partial is stored with those of the blocks",
        "first_partial: self.first_partial + self.members,",
        "first_partial: self.first_partial,",
    ),
    mutant(
        "partials_of_two_levels",
        "the third level's partials are those of the first",
        "first_partial: self.first_partial + self.members,",
        "first_partial: self.members,",
    )
    .on(ONE),
    mutant(
        "counters_of_one_level",
        "the second level's counters are those of the first",
        "first_counter: self.first_counter + groups,",
        "first_counter: self.first_counter,",
    ),
    mutant(
        "counters_of_two_levels",
        "the third level's counters are those of the second",
        "first_counter: self.first_counter + groups,",
        "first_counter: groups,",
    )
    .on(ONE),
    mutant(
        "members_of_a_full_group",
        "the last group has as many members as the others",
        "        if behind < self.group {
            behind
        } else {",
        "        if false {
            behind
        } else {",
    ),
    mutant(
        "members_up_to_the_end",
        "a group has all members behind its first",
        "        if behind < self.group {
            behind
        } else {",
        "        if true {
            behind
        } else {",
    ),
    mutant(
        "members_from_the_first",
        "counts a group's members from the first of the level",
        "let behind = self.members - first;",
        "let behind = self.members - 0 * first;",
    ),
    mutant(
        "members_from_the_member",
        "counts a group's members from the one that asks",
        "let first = member - member % self.group;",
        "let first = member;",
    ),
    mutant(
        "member_kept",
        "a group has the number of its last block, and not its own",
        "member /= level.group;",
        "",
    ),
    mutant(
        "first_group_of_all",
        "every group combines the partials of the first",
        "let first = member - member % level.group;",
        "let first = 0;",
    ),
    // Partials.
    mutant(
        "stored_by_arrival",
        "stores partials in the order in which their blocks have started",
        "storage.partials.store(index as usize, partial);",
        "let index = index - member % level.group + storage.arrival.get(0);
            storage.partials.store(index as usize, partial);",
    )
    .on(HORNER),
    mutant(
        "stored_with_the_blocks",
        "stores the partials of groups with those of blocks",
        "let index = level.first_partial + member;",
        "let index = member;",
    ),
    mutant(
        "last_stores_nothing",
        "the combining block waits for its own partial",
        "        if tid == 0 {
            let index",
        "        if tid == 0 && storage.arrival.get(0) + 1 != level.members_with(member) {
            let index",
    ),
    mutant(
        "every_thread_stores",
        "threads without the partial store too",
        "        if tid == 0 {
            let index",
        "        if tid < 2 {
            let index",
    ),
    mutant(
        "one_member_too_many",
        "`<=` for `<`: waits for a partial behind the last",
        "own + (k as u32) < members;",
        "own + (k as u32) <= members;",
    ),
    mutant(
        "last_member_left_out",
        "no thread combines the last partial",
        "own + (k as u32) < members;",
        "own + (k as u32) + 1 < members;",
    ),
    mutant(
        "partials_overlap",
        "adjacent threads combine the same partials",
        "let own = thread_idx_x() * Self::OF_THREAD as u32;",
        "let own = thread_idx_x();",
    ),
    mutant(
        "partials_in_turn",
        "a thread's partials are a block's width apart",
        "        let has = |k: usize| own + (k as u32) < members;
        let index = |k: usize| (level.first_partial + first + own) as usize + k;
",
        "        let own = |k: usize| thread_idx_x() + k as u32 * block_dim_x();
        let has = |k: usize| own(k) < members;
        let index = |k: usize| (level.first_partial + first + own(k)) as usize;
",
    )
    .on(HORNER),
    mutant(
        "first_member_of_the_level",
        "waits for the partials of the first group",
        "(level.first_partial + first + own) as usize + k;",
        "(level.first_partial + own) as usize + k;",
    ),
    mutant(
        "partials_of_the_first_level",
        "waits for partials of blocks instead of groups",
        "(level.first_partial + first + own) as usize + k;",
        "(first + own) as usize + k;",
    ),
    mutant(
        "partial_of_the_first",
        "polls the first of a thread's partials for all of them",
        "polled[k] = self.partials.poll(index(k));",
        "polled[k] = self.partials.poll(index(0));",
    ),
    mutant(
        "last_not_polled",
        "loads the last partial without checking its ready flag",
        "                if has(k) {
                    polled[k]",
        "                if has(k) && own + (k as u32) + 1 < members {
                    polled[k]",
    ),
    mutant(
        "polls_once",
        "uses a partial that is not ready",
        "            if ready {
                break;
            }
",
        "            break;
",
    ),
    mutant(
        "last_polled_decides",
        "all of a thread's partials count as ready if the last one is",
        "ready &= polled[k].is_ready();",
        "ready = polled[k].is_ready();",
    ),
    mutant(
        "last_not_combined",
        "skips the last partial",
        "if has(k) {
            values[k]",
        "if has(k) && own + (k as u32) + 1 < members {
            values[k]",
    ),
    mutant(
        "value_of_the_first",
        "resets the first of a thread's partials instead of the others",
        "self.partials.load_and_reset(index(k), polled[k]);",
        "self.partials.load_and_reset(index(0), polled[k]);",
    ),
    mutant(
        "one_of_two",
        "drops the second of a thread's two partials",
        "2 => op.combine(a, b),",
        "2 => a,",
    )
    .on(TWO),
    mutant(
        "two_exchanged",
        "combines a thread's two partials in reverse order",
        "2 => op.combine(a, b),",
        "2 => op.combine(b, a),",
    )
    .on(HORNER),
    mutant(
        "two_of_four",
        "drops half of a thread's four partials",
        "_ => op.combine(op.combine(a, b), op.combine(c, d)),",
        "_ => op.combine(a, b),",
    )
    .on(FOUR),
    mutant(
        "two_of_four_twice",
        "combines half of a thread's four partials twice",
        "_ => op.combine(op.combine(a, b), op.combine(c, d)),",
        "_ => op.combine(op.combine(a, b), op.combine(a, b)),",
    )
    .on(FOUR),
    // The steps of a block.
    mutant(
        "no_barrier_before",
        "warps store values in the scratch before all have read the arrival number, and the first warp its values",
        "        // All threads have read the arrival number, and the first warp the scratch.
        sync_threads();
",
        "",
    ),
    mutant(
        "no_barrier_behind",
        "threads read the arrival number before it is stored",
        "        }
        sync_threads();
    }
",
        "        }
    }
",
    ),
    mutant(
        "first_lanes_alone",
        "combines the partials of each warp's first thread only",
        "block_reduce_in_order::<I, O>(op, value, storage.scratch)",
        "combine_warps::<I, O>(op, value, storage.scratch)",
    ),
    mutant(
        "groups_left_out",
        "the last block of the first group stores its partial as the result",
        "while level.members > 1 {
        if tid == 0 {",
        "if level.members > 1 {
        if tid == 0 {",
    ),
    mutant(
        "every_lane_stores",
        "lanes without the result store too",
        "    if tid == 0 {
        storage.result.set(0, partial);
",
        "    if tid < 32 {
        storage.result.set(0, partial);
",
    ),
    mutant(
        "lane_1_stores",
        "a lane without the result stores",
        "    if tid == 0 {
        storage.result.set(0, partial);
",
        "    if tid == 1 {
        storage.result.set(0, partial);
",
    ),
];
