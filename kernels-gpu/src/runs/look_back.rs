//! What blocks tell each other: the number of starts in each tile, and before it.

use crate::mem::Global;
use crate::op::Sum;
use crate::warp::{FULL_MASK, WARP_SIZE, reduce_down};
use cuda_std::thread::thread_idx_x;
use cuda_std::warp::{warp_vote_any, warp_vote_ballot};

/// What blocks leave for each other, and the number of runs for the host.
///
/// A word has a number, and the *epoch* of the launch that stored it: words of other epochs count as not stored. So nothing
/// has to be cleared between launches. The counter is 0 before and after a launch.
#[derive(Clone, Copy, Debug)]
pub struct Work {
    /// A word for each tile.
    pub tiles: Global<u64>,
    /// The arrival counter, which numbers the tiles.
    pub arrivals: Global<u32>,
    /// One word: the number of runs, and the epoch. It may be the host's memory, which reads it during the launch.
    pub runs: Global<u64>,
    /// The epoch of this launch, at least 1 and below [`EPOCHS`](Self::EPOCHS), which no word has before the launch.
    pub epoch: u64,
}

impl Work {
    /// The number of starts in this tile and in all before it; otherwise, of those in this tile.
    pub const SUM: u64 = 1 << 63;

    /// The lowest bit of the epoch.
    pub const EPOCH_BIT: u32 = 48;

    /// The number of epochs.
    pub const EPOCHS: u64 = Self::SUM >> Self::EPOCH_BIT;

    /// The bits of the number.
    pub const NUMBER: u64 = (1 << Self::EPOCH_BIT) - 1;

    /// Loads a tile's word, without the epoch if it is that of this launch, and otherwise with some of its bits.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn get(self, tile: usize) -> u64 {
        self.tiles.get_atomic(tile) ^ (self.epoch << Self::EPOCH_BIT)
    }

    /// The word of a number.
    #[inline(always)]
    fn word(self, number: u64) -> u64 {
        self.epoch << Self::EPOCH_BIT | number
    }

    /// Stores the tile's count, for the tiles behind it.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub(super) fn publish(self, tile: usize, count: u64) {
        let state = if tile == 0 { Self::SUM } else { 0 };
        self.tiles.set_atomic(tile, state | self.word(count));
    }

    /// Stores the number of runs.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub(super) fn tell(self, runs: u64) {
        self.runs.set_for_host(0, self.word(runs));
    }

    /// Returns the number of starts before the tile, whose own `count` has been [published](Self::publish). **Lane 0 holds
    /// it.**
    ///
    /// # Safety
    ///
    /// All lanes of one warp arrive here, and no other warp for this tile.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub(super) unsafe fn look_back(self, tile: usize, count: u64) -> u64 {
        let lane = thread_idx_x() % WARP_SIZE;
        if tile == 0 {
            return 0;
        }
        let mut before = 0;
        // The tiles from here on have been added.
        let mut end = tile;
        loop {
            let has = (lane as usize) < end;
            let mut word = Self::SUM;
            loop {
                if has {
                    word = self.get(end - 1 - lane as usize);
                }
                let is_missing = word & !(Self::SUM | Self::NUMBER) != 0;
                // SAFETY: all lanes arrive, because the condition of each loop is the same for all of them.
                if !unsafe { warp_vote_any(FULL_MASK, is_missing) } {
                    break;
                }
            }
            // SAFETY: as above.
            let sums = unsafe { warp_vote_ballot(FULL_MASK, word & Self::SUM != 0) };
            // The nearest tile with a sum, and the tiles between it and this one.
            let needed = lane <= sums.trailing_zeros();
            let number = if needed { word & Self::NUMBER } else { 0 };
            // SAFETY: as above.
            before += unsafe { reduce_down::<u64, Sum>(Sum, number) };
            if sums != 0 {
                break;
            }
            end -= WARP_SIZE as usize;
        }
        if lane == 0 {
            let sum = Self::SUM | self.word(before + count);
            self.tiles.set_atomic(tile, sum);
        }
        before
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn state_epoch_and_number_have_their_own_bits() {
        let epochs = (Work::EPOCHS - 1) << Work::EPOCH_BIT;
        assert_eq!(Work::SUM ^ epochs ^ Work::NUMBER, u64::MAX);
        assert_eq!(Work::SUM + epochs + Work::NUMBER, u64::MAX);
    }
}
