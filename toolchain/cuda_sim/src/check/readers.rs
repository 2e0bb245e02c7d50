//! Reads of a location that nothing orders among each other.

use super::clocks::Clocks;
use super::slot::Slot;

/// How many slots of other blocks a list remembers. A block that reads in step needs one for each
/// warp; forgetting the oldest can only miss a race.
const OTHER_BLOCKS: usize = 64;

/// Adds a read by `thread` to `readers`.
///
/// A read that happens before it is dropped: who comes after the new one comes after the old one.
pub(super) fn add(readers: &mut Vec<Slot>, clocks: &Clocks, thread: u32, read: Slot) {
    if let Some(last) = readers.last_mut()
        && last.like(&read)
    {
        last.lanes |= read.lanes;
        return;
    }
    for slot in readers.iter_mut() {
        slot.lanes = clocks.unknown(thread, slot);
    }
    drop_older(readers, &read);
    readers.retain(|slot| !slot.is_empty());
    let others = readers.iter().filter(|slot| slot.block != read.block);
    if others.count() > OTHER_BLOCKS
        && let Some(oldest) = readers.iter().position(|slot| slot.block != read.block)
    {
        readers.remove(oldest);
    }
    readers.push(read);
}

/// Takes lanes of `read`'s warp out of slots where a later one has them too.
fn drop_older(readers: &mut [Slot], read: &Slot) {
    for at in 0..readers.len() {
        if !readers[at].same_warp(read) {
            continue;
        }
        let slot = readers[at];
        let newer = readers
            .iter()
            .enumerate()
            .filter(|(other, newer)| {
                newer.same_warp(read) && (newer.time, *other) > (slot.time, at)
            })
            .fold(0, |lanes, (_, newer)| lanes | newer.lanes);
        readers[at].lanes &= !newer;
    }
}
