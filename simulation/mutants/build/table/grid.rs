//! The single pass: where the blocks of a grid meet.

use super::{Mutant, Source, mutant};

pub const SOURCE: Source = Source {
    path: "grid.rs",
    kernels: &["single_pass"],
    mutants: MUTANTS,
};

const MUTANTS: &[Mutant] = &[
    mutant(
        "every_thread_draws",
        "a ticket for every thread, not for every block",
        "if thread_idx_x() == 0 && blocks > 1 {",
        "if blocks > 1 {",
    ),
    mutant(
        "number_for_ticket",
        "the block with the last number need not be the last to begin",
        "self.tickets.draw(0, blocks)",
        "block_idx_x()",
    ),
    mutant(
        "one_ticket_too_many",
        "after the last ticket the next is not the first again",
        "self.tickets.draw(0, blocks)",
        "self.tickets.draw(0, blocks + 1)",
    ),
    mutant(
        "no_such_ticket",
        "tickets are numbered from 0: nobody has this one",
        "if ticket != blocks - 1 {",
        "if ticket != blocks {",
    ),
    mutant(
        "first_ticket_takes",
        "the first block waits for some that may never begin",
        "if ticket != blocks - 1 {",
        "if ticket != 0 {",
    ),
    mutant(
        "ticket_of_lane_0",
        "the other lanes have not drawn, and leave",
        "let (ticket, _) = unsafe { warp_shuffle_idx(FULL_MASK, ticket, 0, WARP_SIZE) };",
        "let (ticket, _) = unsafe { (ticket, ()) };",
    ),
    mutant(
        "left_by_ticket",
        "partials are combined in the order in which their blocks have begun",
        "partials.leave(own as usize, partial);",
        "partials.leave(ticket as usize, partial);",
    )
    .missed(
        "sums of whole numbers are the same in any order; of others `simulation/tests/single_pass.rs` \
         compares the bits under all schedules",
    ),
    mutant(
        "last_leaves_nothing",
        "the block that takes waits for its own partial",
        "    if tid == 0 {
        partials.leave(",
        "    if tid == 0 && ticket != blocks - 1 {
        partials.leave(",
    ),
    mutant(
        "one_block_too_many",
        "`<=` for `<`: looks at a place behind the last",
        "            unrolled!(|k < IN_FLIGHT| if block(k) < blocks {
",
        "            unrolled!(|k < IN_FLIGHT| if block(k) <= blocks {
",
    ),
    mutant(
        "last_not_looked_at",
        "takes the last partial without having looked whether it is there",
        "            unrolled!(|k < IN_FLIGHT| if block(k) < blocks {
",
        "            unrolled!(|k < IN_FLIGHT| if block(k) + 1 < blocks {
",
    ),
    mutant(
        "looks_once",
        "a partial that is not there yet is taken all the same",
        "            if found {
                break;
            }
",
        "            break;
",
    ),
    mutant(
        "last_not_taken",
        "the partial of the last block is left out",
        "        unrolled!(|k < IN_FLIGHT| if block(k) < blocks {
            value",
        "        unrolled!(|k < IN_FLIGHT| if block(k) + 1 < blocks {
            value",
    ),
    mutant(
        "first_round_alone",
        "partials beyond the first looks of each lane stay where they are",
        "while first < blocks {",
        "if first < blocks {",
    ),
    mutant(
        "one_step_of_several",
        "goes on by one look of each lane, to partials that have been taken",
        "first += IN_FLIGHT as u32 * WARP_SIZE;",
        "first += WARP_SIZE;",
    ),
    mutant(
        "every_lane_stores",
        "lanes that do not hold the result write it too",
        "    if tid == 0 {
        result.set(0, total);
",
        "    if tid < WARP_SIZE {
        result.set(0, total);
",
    ),
    mutant(
        "lane_1_stores",
        "a lane that does not hold the result writes it",
        "    if tid == 0 {
        result.set(0, total);
",
        "    if tid == 1 {
        result.set(0, total);
",
    ),
];
