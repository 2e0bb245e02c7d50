//! Loads of a location that are not ordered with each other.

use super::clocks::Clocks;
use super::slot::Slot;
use super::vector_clock::ones;

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
    if readers.len() < 2 {
        return;
    }
    // The time and the index of each lane's last slot.
    let mut newest = [(0, 0); 32];
    let of_warp = |slot: &Slot| slot.same_warp(read);
    for (index, slot) in readers.iter().enumerate().filter(|(_, slot)| of_warp(slot)) {
        for lane in ones(slot.lanes) {
            let newest = &mut newest[lane as usize];
            *newest = (slot.time, index).max(*newest);
        }
    }
    for (index, slot) in readers.iter_mut().enumerate() {
        if of_warp(slot) {
            for lane in ones(slot.lanes) {
                if newest[lane as usize] != (slot.time, index) {
                    slot.lanes &= !(1 << lane);
                }
            }
        }
    }
}
