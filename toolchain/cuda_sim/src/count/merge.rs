//! Merging the logs of 32 lanes into warp instructions.
//!
//! While all lanes are at the same instruction, it is one request. When they are at different ones,
//! [`choose`] selects the one that runs first. The order of instructions within a lane is kept.

use super::event::Instruction;
use super::flow::{Flow, Node, ends_in_collective};
use super::log::Entry;
use super::tally::Tally;

/// The remaining log of each lane.
type Logs<'a> = [&'a [Entry]; 32];

/// A lane with a truncated log stops this many events before its end: the events that follow may show where
/// the lanes reconverge.
const MARGIN: usize = 64;

/// The lanes of a mask.
pub(super) fn lanes_of(mut mask: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let lane = mask.trailing_zeros();
        mask &= mask.wrapping_sub(1);
        (lane < 32).then_some(lane as usize)
    })
}

/// Merges logs that end where the warp converges.
pub(super) fn all(logs: Logs, flow: &mut Flow, tally: &mut Tally) {
    // The collective at the end is last: all lanes reconverge there.
    let mut rest = logs.map(|log| &log[..log.len() - usize::from(ends_in_collective(log))]);
    let mut ends = std::array::from_fn(|lane| &logs[lane][rest[lane].len()..]);
    let mut analysed = false;
    while let Some(group) = first_group(&rest) {
        let group = if is_all(group, &rest) {
            group
        } else {
            if !analysed {
                flow.analyse(&logs, 0);
                analysed = true;
            }
            choose(&logs, &rest, flow)
        };
        request(group, &mut rest, tally);
    }
    while let Some(group) = first_group(&ends) {
        request(group, &mut ends, tally);
    }
    flow.clear();
}

/// Merges logs, of which those with at least `full` events are continued later. Stops when one of these comes
/// near its end. Returns how many events of each log were merged.
pub(super) fn some(logs: Logs, full: usize, flow: &mut Flow, tally: &mut Tally) -> [usize; 32] {
    let mut cut = 0;
    for (lane, log) in logs.iter().enumerate() {
        cut |= u32::from(log.len() >= full) << lane;
    }
    flow.analyse(&logs, cut);
    let mut rest = logs;
    let near_end = |rest: &Logs| lanes_of(cut).any(|lane| rest[lane].len() <= MARGIN);
    while !near_end(&rest)
        && let Some(group) = first_group(&rest)
    {
        let group = if is_all(group, &rest) {
            group
        } else {
            choose(&logs, &rest, flow)
        };
        request(group, &mut rest, tally);
    }
    let done = std::array::from_fn(|lane| logs[lane].len() - rest[lane].len());
    flow.advance(&logs, done);
    done
}

/// Whether all lanes are at the same instruction.
#[inline]
fn is_all((instruction, active): (Instruction, u32), rest: &Logs) -> bool {
    let is_elsewhere = |log: &&[Entry]| log.first().is_some_and(|e| e.instruction != instruction);
    active == u32::MAX || !rest.iter().any(is_elsewhere)
}

/// The instruction of the first lane with events left, and all lanes that are at it.
#[inline]
fn first_group(rest: &Logs) -> Option<(Instruction, u32)> {
    let instruction = rest.iter().find_map(|log| log.first())?.instruction;
    let mut active = 0;
    for (lane, log) in rest.iter().enumerate() {
        let here = log.first().is_some_and(|e| e.instruction == instruction);
        active |= u32::from(here) << lane;
    }
    Some((instruction, active))
}

/// Counts one request and advances its lanes.
#[inline]
fn request((instruction, active): (Instruction, u32), rest: &mut Logs, tally: &mut Tally) {
    let mut addresses = [0; 32];
    for (lane, log) in rest.iter_mut().enumerate() {
        if active >> lane & 1 == 1
            && let Some((first, left)) = log.split_first()
        {
            addresses[lane] = first.address;
            *log = left;
        }
    }
    tally.request(instruction, active, &addresses);
}

/// Selects the instruction that runs first, and the lanes at it.
///
/// An instruction that is on all paths from another lane's instruction waits for that lane. An instruction
/// that all its lanes have jumped back to waits too, because other lanes may still be in the previous
/// iteration. The rest run in the order of the control flow.
/// they go in the order of the control flow.
fn choose(logs: &Logs, rest: &Logs, flow: &Flow) -> (Instruction, u32) {
    let mut groups = Vec::<Group>::with_capacity(8);
    for (lane, log) in rest.iter().enumerate() {
        let Some(first) = log.first() else { continue };
        let same = |group: &&mut Group| group.instruction == first.instruction;
        match groups.iter_mut().find(same) {
            Some(group) => group.lanes |= 1 << lane,
            None => groups.push(Group {
                instruction: first.instruction,
                node: flow.node(first.instruction),
                lanes: 1 << lane,
            }),
        }
    }
    let waits = |group: &Group| {
        let mut others = groups.iter().filter(|other| other.node != group.node);
        others.any(|other| flow.is_on_all_paths(group.node, other.node))
    };
    let order = |group: &Group| {
        let order_of = |lane: usize| {
            let done = &logs[lane][..logs[lane].len() - rest[lane].len()];
            flow.order(group.node, flow.previous(lane, done))
        };
        lanes_of(group.lanes).map(order_of).min()
    };
    let ready: Vec<_> = groups.iter().filter(|group| !waits(group)).collect();
    let first = match ready[..] {
        [only] => only,
        _ => ready
            .into_iter()
            .min_by_key(|group| order(group))
            .expect("post-dominance has no cycles"),
    };
    (first.instruction, first.lanes)
}

/// Lanes at the same instruction.
struct Group {
    instruction: Instruction,
    node: Node,
    lanes: u32,
}
