//! Loads of a location that are not ordered with each other.

use super::clocks::Clocks;
use super::slot::Slot;

/// The maximum number of slots of other blocks in a list. A block whose warps load in step needs one for each
/// warp. Dropping the oldest can only hide a race.
const OTHER_BLOCKS: usize = 64;

/// Adds a load by `thread` to `readers`.
///
/// Drops loads that happen before it: accesses ordered after the new load are also ordered after them.
pub(super) fn add(readers: &mut Vec<Slot>, clocks: &Clocks, thread: u32, read: Slot) {
    if let Some(last) = readers.last_mut()
        && last.like(&read)
    {
        last.lanes |= read.lanes;
        return;
    }
    for slot in readers.iter_mut() {
        slot.lanes = clocks.unordered(thread, slot);
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

/// Removes lanes of `read`'s warp from slots if a later slot contains them.
fn drop_older(readers: &mut [Slot], read: &Slot) {
    for index in 0..readers.len() {
        if !readers[index].same_warp(read) {
            continue;
        }
        let slot = readers[index];
        let newer = readers
            .iter()
            .enumerate()
            .filter(|(other, newer)| {
                newer.same_warp(read) && (newer.time, *other) > (slot.time, index)
            })
            .fold(0, |lanes, (_, newer)| lanes | newer.lanes);
        readers[index].lanes &= !newer;
    }
}
