//! What blocks tell each other: the number of starts in each tile, and before it.

use crate::mem::Global;
use crate::op::Sum;
use crate::warp::{FULL_MASK, WARP_SIZE, reduce_down};
use cuda_std::thread::thread_idx_x;
use cuda_std::warp::{warp_vote_any, warp_vote_ballot};

/// A number of starts, and whether a whole group of their keys has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Count(u64);

impl Count {
    /// The bits of the number.
    const NUMBER: u64 = Self::IS_SPARSE - 1;

    /// A whole group has no start.
    pub const IS_SPARSE: u64 = 1 << 47;

    /// That of a tile.
    #[inline(always)]
    pub(super) fn of_tile(number: u32, is_sparse: bool) -> Self {
        Self(u64::from(number) | if is_sparse { Self::IS_SPARSE } else { 0 })
    }

    /// The count in a word of [`Work`].
    #[inline(always)]
    pub fn of_word(word: u64) -> Self {
        Self(word & Work::COUNT)
    }

    /// The number of starts.
    #[inline(always)]
    pub fn number(self) -> u64 {
        self.0 & Self::NUMBER
    }

    /// Whether a whole group has no start.
    #[inline(always)]
    pub fn is_sparse(self) -> bool {
        self.0 & Self::IS_SPARSE != 0
    }

    /// The count of the keys of both.
    #[inline(always)]
    pub(super) fn and(self, other: Self) -> Self {
        let number = self.number() + other.number();
        Self(number | ((self.0 | other.0) & Self::IS_SPARSE))
    }
}

/// What blocks leave for each other, and the number of runs for the host.
///
/// A word has a [`Count`], and the *epoch* of the launch that stored it: words of other epochs count as not stored. So nothing
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
    /// The word has the count of this tile and all before it; otherwise, that of this tile.
    pub const SUM: u64 = 1 << 63;

    /// The lowest bit of the epoch.
    pub const EPOCH_BIT: u32 = 48;

    /// The number of epochs.
    pub const EPOCHS: u64 = Self::SUM >> Self::EPOCH_BIT;

    /// The bits of the count.
    const COUNT: u64 = (1 << Self::EPOCH_BIT) - 1;

    /// Loads a tile's word, without the epoch if it is that of this launch, and otherwise with some of its bits.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn get(self, tile: usize) -> u64 {
        self.tiles.get_atomic(tile) ^ (self.epoch << Self::EPOCH_BIT)
    }

    /// The word of a count.
    #[inline(always)]
    fn word(self, count: Count) -> u64 {
        self.epoch << Self::EPOCH_BIT | count.0
    }

    /// Stores the tile's count, for the tiles behind it.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub(super) fn publish(self, tile: usize, count: Count) {
        let state = if tile == 0 { Self::SUM } else { 0 };
        self.tiles.set_atomic(tile, state | self.word(count));
    }

    /// Stores the count of all tiles, whose number is that of the runs.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub(super) fn tell(self, all: Count) {
        self.runs.set_for_host(0, self.word(all));
    }

    /// Returns the count of all tiles before this one, whose own `count` has been [published](Self::publish). **Lane 0 holds
    /// it.**
    ///
    /// # Safety
    ///
    /// All lanes of one warp arrive here, and no other warp for this tile.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub(super) unsafe fn look_back(self, tile: usize, count: Count) -> Count {
        let lane = thread_idx_x() % WARP_SIZE;
        if tile == 0 {
            return Count(0);
        }
        let mut before = Count(0);
        // The tiles from here on have been added.
        let mut end = tile;
        loop {
            let has = (lane as usize) < end;
            let mut word = Self::SUM;
            loop {
                if has {
                    word = self.get(end - 1 - lane as usize);
                }
                let is_missing = word & !(Self::SUM | Self::COUNT) != 0;
                // SAFETY: all lanes arrive, because the condition of each loop is the same for all of them.
                if !unsafe { warp_vote_any(FULL_MASK, is_missing) } {
                    break;
                }
            }
            // SAFETY: as above.
            let sums = unsafe { warp_vote_ballot(FULL_MASK, word & Self::SUM != 0) };
            // The nearest tile with a sum, and the tiles between it and this one.
            let needed = lane <= sums.trailing_zeros();
            let own = Count::of_word(if needed { word } else { 0 });
            // SAFETY: as above.
            let number = unsafe { reduce_down::<u64, Sum>(Sum, own.number()) };
            // SAFETY: as above.
            let is_sparse = unsafe { warp_vote_any(FULL_MASK, own.is_sparse()) };
            let sparse = if is_sparse { Count::IS_SPARSE } else { 0 };
            before = before.and(Count(number | sparse));
            if sums != 0 {
                break;
            }
            end -= WARP_SIZE as usize;
        }
        if lane == 0 {
            let sum = Self::SUM | self.word(before.and(count));
            self.tiles.set_atomic(tile, sum);
        }
        before
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn state_epoch_and_count_have_their_own_bits() {
        let epochs = (Work::EPOCHS - 1) << Work::EPOCH_BIT;
        assert_eq!(Work::SUM ^ epochs ^ Work::COUNT, u64::MAX);
        assert_eq!(Work::SUM + epochs + Work::COUNT, u64::MAX);
        assert_eq!(Count::IS_SPARSE + Count::NUMBER, Work::COUNT);
    }
}
