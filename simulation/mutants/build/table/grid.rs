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
        "a partial lies where the ticket says, and is sought where the block's number does",
        "partials.leave(own as usize, partial);",
        "partials.leave(ticket as usize, partial);",
    ),
    mutant(
        "waits_for_itself",
        "the block that takes has left nothing in its own place",
        "if block(k) < blocks && block(k) != own {",
        "if block(k) < blocks {",
    ),
    mutant(
        "one_block_too_many",
        "`<=` for `<`: looks at a place behind the last",
        "if block(k) < blocks && block(k) != own {",
        "if block(k) <= blocks && block(k) != own {",
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
        "own_forgotten",
        "the partial of the block that takes the others is left out",
        "value = O::combine(value, partial);",
        "value = O::combine(value, O::IDENTITY);",
    ),
    mutant(
        "own_in_every_lane",
        "each lane begins with the block's own partial",
        "let mut value = O::IDENTITY;",
        "let mut value = partial;",
    ),
    mutant(
        "own_of_each_lane",
        "the partial of the lane, which only lane 0 holds",
        "let (partial, _) = unsafe { warp_shuffle_idx(FULL_MASK, partial, 0, WARP_SIZE) };",
        "let (partial, _) = unsafe { (partial, ()) };",
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
