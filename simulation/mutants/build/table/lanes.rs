//! Filters, and the search for peers.

use super::{Mutant, Source, mutant};

pub const FILTER: Source = Source {
    path: "filter.rs",
    kernels: &["filter_atomic", "filter_warp"],
    mutants: MUTANTS,
};

const ATOMIC: &[&str] = &["filter_atomic"];
const WARP: &[&str] = &["filter_warp"];

const MUTANTS: &[Mutant] = &[
    mutant(
        "reads_behind_the_end",
        "`<=` for `<`: one thread reads behind the array",
        "if i < input.len() {",
        "if i <= input.len() {",
    )
    .on(ATOMIC),
    mutant(
        "counter_loaded_and_stored",
        "threads that load the counter at the same time get the same place",
        "output.set(count.fetch_add(0, one) as usize, element);",
        "let place = count.get(0); count.set(0, place + one); output.set(place as usize, element);",
    )
    .on(ATOMIC),
    mutant(
        "lanes_of_the_end_leave",
        "the mask names lanes that have returned",
        "    let element = (i < input.len()).then(|| input.get(i));
",
        "    if i >= input.len() { return; }
    let element = Some(input.get(i));
",
    )
    .on(WARP),
    mutant(
        "only_kept_lanes_shuffle",
        "lanes that keep nothing do not arrive at the shuffle",
        "    if lanes == 0 {
",
        "    if kept.is_none() {
",
    )
    .on(WARP),
    mutant(
        "all_lanes_count",
        "adds the lanes of the warp instead of those that keep an element",
        "lanes.count_ones().into()",
        "WARP_SIZE.into()",
    )
    .on(WARP),
    mutant(
        "every_lane_adds",
        "lanes other than the leader increase the counter too",
        "    if lane == leader {
",
        "    if lane >= leader {
",
    )
    .on(WARP),
    mutant(
        "place_of_lane_zero",
        "lane 0 has no place from the counter unless it is the leader",
        "warp_shuffle_idx(FULL_MASK, first, leader, WARP_SIZE)",
        "warp_shuffle_idx(FULL_MASK, first, 0, WARP_SIZE)",
    )
    .on(WARP),
    mutant(
        "counts_itself",
        "every place is one too large",
        "(lanes & ((1 << lane) - 1)).count_ones()",
        "(lanes & !(!1 << lane)).count_ones()",
    )
    .on(WARP),
    mutant(
        "place_by_lane",
        "leaves gaps where a lane keeps nothing",
        "(lanes & ((1 << lane) - 1)).count_ones()",
        "lane",
    )
    .on(WARP),
];

pub const SEARCH: Source = Source {
    path: "keyed/search.rs",
    kernels: &["find_peers_match", "find_peers_hash", "all_reduce_peers"],
    mutants: &[
        mutant(
            "members_of_whole_warp",
            "the mask names lanes without an element",
            "    let members = unsafe { warp_vote_ballot(FULL_MASK, i < keys.len()) };
    if i < keys.len() {
        // SAFETY: exactly the lanes with an element arrive here.
        masks",
            "    let members = FULL_MASK;
    if i < keys.len() {
        // SAFETY: exactly the lanes with an element arrive here.
        masks",
        )
        .on(&["find_peers_match"]),
        mutant(
            "sum_behind_the_end",
            "`<=` for `<`: a lane has an element that is not there",
            "    if i < keys.len() {
        let mut value",
            "    if i <= keys.len() {
        let mut value",
        )
        .on(&["all_reduce_peers"]),
        mutant(
            "slots_not_waited_for",
            "a lane selects a slot that another has not emptied yet",
            "        // Every slot of the warp is empty.
        sync_warp(FULL_MASK);
",
            "",
        )
        .on(HASH),
        mutant(
            "slots_of_the_block",
            "all warps share the slots of the first",
            "let slot = thread_idx_x() - lane + ",
            "let slot = ",
        )
        .on(HASH),
        mutant(
            "owner_not_waited_for",
            "a lane reads the owner before all have selected",
            "            // Every slot has its owner.
            sync_warp(members);
",
            "",
        )
        .on(HASH),
        mutant(
            "peers_not_waited_for",
            "a lane reads the mask before all peers have set their bits",
            "            // Every owner has set its bit.
            sync_warp(members);
",
            "",
        )
        .on(HASH),
        mutant(
            "cleared_while_read",
            "the slot is emptied while others still read it",
            "            // Every owner has read its peers, and every other lane the owner.
            sync_warp(members);
",
            "",
        )
        .on(HASH),
        mutant(
            "selected_while_cleared",
            "a lane selects the slot for the next round while it is emptied",
            "            // The slots are free for the next round.
            sync_warp(members);
",
            "",
        )
        .on(HASH),
        mutant(
            "bit_by_store",
            "the last of several peers overwrites the others' bits",
            "slots.peers.combine_atomic::<u32, Or>(Or, slot, 1 << lane);",
            "slots.peers.set(slot, 1 << lane);",
        )
        .on(HASH),
        mutant(
            "slot_for_key",
            "keys that select the same slot are taken for peers",
            "let owns = searches && slots.owners.get(slot) == key;",
            "let owns = searches;",
        )
        .on(HASH),
        mutant(
            "found_lanes_leave",
            "a lane that knows its peers returns, although the next round's mask names it",
            "while warp_vote_any(members, peers == 0) {",
            "while peers == 0 {",
        )
        .on(HASH),
    ],
};

const HASH: &[&str] = &["find_peers_hash"];
