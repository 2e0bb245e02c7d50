//! What blocks tell each other: the number of starts in each tile, and before it.

use crate::mem::Global;
use crate::op::Sum;
use crate::warp::{FULL_MASK, WARP_SIZE, reduce_down};
use cuda_std::thread::thread_idx_x;
use cuda_std::warp::{warp_vote_any, warp_vote_ballot};

/// What blocks leave for each other, and the number of runs.
///
/// The words are 0 before the launch: the number of runs, then a word for each tile. The counter is 0 before and after it.
#[derive(Clone, Copy, Debug)]
pub struct Work {
    /// The number of runs, then the state of each tile.
    pub words: Global<u64>,
    /// The arrival counter, which numbers the tiles.
    pub arrivals: Global<u32>,
}

impl Work {
    /// The word with the number of runs.
    pub const RUNS: usize = 0;

    /// The first word of the tiles.
    pub const TILES: usize = 1;

    /// A tile's word contains the number of starts in this tile.
    pub const COUNT: u64 = 1 << 62;

    /// A tile's word contains the number of starts in this tile and in all before it.
    pub const SUM: u64 = 1 << 63;

    /// The bits of the number.
    const NUMBER: u64 = Self::COUNT - 1;

    /// The number of words for this number of tiles.
    pub const fn words(tiles: usize) -> usize {
        Self::TILES + tiles
    }

    #[inline(always)]
    pub(super) fn tiles(self) -> usize {
        self.words.len() - Self::TILES
    }

    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn get(self, tile: usize) -> u64 {
        self.words.get_atomic(Self::TILES + tile)
    }

    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn set(self, tile: usize, state: u64, number: u64) {
        self.words.set_atomic(Self::TILES + tile, state | number);
    }

    /// Stores the tile's count, for the tiles behind it.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub(super) fn publish(self, tile: usize, count: u64) {
        let state = if tile == 0 { Self::SUM } else { Self::COUNT };
        self.set(tile, state, count);
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
                // SAFETY: all lanes arrive, because the condition of each loop is the same for all of them.
                if !unsafe { warp_vote_any(FULL_MASK, word == 0) } {
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
            self.set(tile, Self::SUM, before + count);
        }
        before
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_has_its_own_bits() {
        assert_eq!(Work::NUMBER & (Work::COUNT | Work::SUM), 0);
    }
}
