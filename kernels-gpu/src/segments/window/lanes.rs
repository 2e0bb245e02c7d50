//! The lanes of a segment's tile that one thread combines.

use super::*;

impl<I: Items, O: Op<I>> Block<I, O> {
    /// Combines the lanes of a segment of a thread that has it alone.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub(super) fn all_lanes<const N: usize, const K: usize>(&self, segment: Segment<I>) -> O::Acc {
        let mut value = self.op.identity();
        unrolled!(|part < Self::PARTS| self.part::<N, K>(segment, 0, 1, part, &mut value));
        value
    }

    /// Combines a thread's lanes of a segment of a team, `step` apart from lane `first` on.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub(super) fn lanes<const N: usize, const K: usize>(
        &self,
        segment: Segment<I>,
        first: u32,
        step: u32,
    ) -> O::Acc {
        let mut value = self.op.identity();
        // Not unrolled: power laws, whose segments have teams, are up to a tenth slower with longer code.
        let mut part = 0;
        while part < Self::PARTS {
            self.part::<N, K>(segment, first, step, part, &mut value);
            part += 1;
        }
        value
    }

    /// Combines a value with one part of a thread's lanes, in the canonical order: by halves, or adjacent ones in pairs.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn part<const N: usize, const K: usize>(
        &self,
        segment: Segment<I>,
        first: u32,
        step: u32,
        part: u32,
        value: &mut O::Acc,
    ) {
        let (from, step) = match O::COMMUTATIVE {
            true => (first + part * step, Self::PARTS * step),
            false => (first + part * FEW as u32, step),
        };
        if from * Self::ADJACENT < segment.len {
            let few = self.few_lanes::<N, K>(segment, from, step);
            *value = self.op.combine(*value, few);
        }
    }

    /// Combines four lanes of a segment. A lane without items holds the identity.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    // Simulated code needs no copy for each caller.
    #[cfg_attr(not(target_arch = "nvptx64"), inline(never), track_caller)]
    fn few_lanes<const N: usize, const K: usize>(
        &self,
        segment: Segment<I>,
        first: u32,
        step: u32,
    ) -> O::Acc {
        let identity = self.op.identity();
        let (mut low, mut left) = (identity, identity);
        let mut take = |k: u32| {
            let place = match O::COMMUTATIVE {
                // 0, 2, 1, 3
                true => k % 2 * 2 + k / 2,
                false => k,
            };
            let lane = first + place * step;
            let value = match lane * Self::ADJACENT < segment.len {
                true => self.lane::<N, K>(segment, lane),
                false => identity,
            };
            if k.is_multiple_of(2) {
                left = value;
            } else if k == 1 {
                low = self.op.combine(left, value);
            } else {
                low = self.op.combine(low, self.op.combine(left, value));
            }
        };
        if Self::IS_SHORT {
            unrolled!(|k < FEW| take(k as u32));
        } else {
            let mut k = 0;
            while k < FEW as u32 {
                take(k);
                k += 1;
            }
        }
        low
    }

    /// Combines the items of a segment of up to two lanes. Threads with one and with two go the same way, as lengths are
    /// often mixed.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub(super) fn two_lanes<const N: usize, const K: usize>(&self, segment: Segment<I>) -> O::Acc {
        let mut value = self.lane::<N, K>(segment, 0);
        if segment.len > Self::ADJACENT {
            value = self.op.combine(value, self.lane::<N, K>(segment, 1));
        }
        value
    }

    /// Combines the items of a lane of a segment that has no second row.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub(super) fn lane<const N: usize, const K: usize>(
        &self,
        segment: Segment<I>,
        lane: u32,
    ) -> O::Acc {
        let mut acc = Lane::<I, O, N>::new(self.op);
        self.absorb_lane::<N, K>(segment, lane, &mut acc);
        acc.combined()
    }

    /// Combines the items of a segment by a warp, tile after tile. **Lane 0 holds the result.**
    ///
    /// # Safety
    ///
    /// All lanes of the warp arrive here, with the same segment.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub(super) unsafe fn tiles_of_warp<const N: usize, const K: usize>(
        &self,
        segment: Segment<I>,
    ) -> O::Acc {
        let tile = items_of_tile::<I>() as u32;
        // SAFETY: the caller guarantees that all lanes arrive, with the same segment.
        let mut value = unsafe { self.tile_of_warp::<N, K>(segment, 0) };
        if segment.len > tile {
            // SAFETY: as above.
            let second = unsafe { self.tile_of_warp::<N, K>(segment, tile) };
            value = self.op.combine(value, second);
        }
        value
    }

    /// Combines the items of the tile that begins at item `start` of a segment. **Lane 0 holds the result.**
    ///
    /// # Safety
    ///
    /// All lanes of the warp arrive here, with the same segment and tile.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    // Simulated code needs no copy for each caller.
    #[cfg_attr(not(target_arch = "nvptx64"), inline(never), track_caller)]
    unsafe fn tile_of_warp<const N: usize, const K: usize>(
        &self,
        segment: Segment<I>,
        start: u32,
    ) -> O::Acc {
        let lane = thread_idx_x() % WARP_SIZE;
        let mut acc = Lane::<I, O, N>::new(self.op);
        let own = I::behind(segment.staged, segment.start);
        match I::staged_skew::<N>(own) {
            Some(skew) if Self::IS_SHORT => {
                let end = segment.len.min(start + items_of_tile::<I>() as u32);
                self.absorb_granules::<N>(own, skew, start, end, &mut acc);
                // SAFETY: the caller guarantees that all lanes arrive, with the same segment.
                unsafe { acc.shift_slots(skew) };
            }
            _ => {
                let mut share = self.share::<N, K>(segment, lane);
                share.first += start as usize;
                share.combine_items(&mut acc);
            }
        }
        // SAFETY: as above.
        unsafe { reduce_to_first::<I, O>(self.op, acc.combined()) }
    }

    /// Combines the items from `start` to `end` of a segment that are in every 32nd granule; each slot takes those at its place
    /// of a granule. The segment begins with item `skew` of its first granule, and `start` is a multiple of the items of 32.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    // Simulated code needs no copy for each caller.
    #[cfg_attr(not(target_arch = "nvptx64"), inline(never), track_caller)]
    fn absorb_granules<const N: usize>(
        &self,
        own: I::Staged,
        skew: u32,
        start: u32,
        end: u32,
        acc: &mut Lane<I, O, N>,
    ) {
        // Places are counted from the first granule's first item.
        let mut place = start + thread_idx_x() % WARP_SIZE * N as u32;
        let end = end + skew;
        let some = |acc: &mut Lane<I, O, N>, place: u32| {
            let items = I::staged_granule::<N>(own, place / N as u32);
            unrolled!(|e < N| {
                let item = place + e as u32;
                if start + skew <= item && item < end {
                    acc.absorb_item(e, items[e], u64::from(item - skew));
                }
            });
        };
        if place == start && skew > 0 {
            some(acc, place);
            place += (LANES * N) as u32;
        }
        while place + N as u32 <= end {
            let items = I::staged_granule::<N>(own, place / N as u32);
            acc.absorb([items], [u64::from(place - skew)]);
            place += (LANES * N) as u32;
        }
        if place < end {
            some(acc, place);
        }
    }

    /// Combines an accumulator with those of the `N` items from `first` on that exist.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn absorb_items<const N: usize>(
        &self,
        segment: Segment<I>,
        first: u32,
        acc: &mut Lane<I, O, N>,
    ) {
        let mut items = [zero::<I>(); N];
        let own = I::behind(segment.staged, segment.start + first);
        unrolled!(|e < N| if first + (e as u32) < segment.len {
            items[e] = I::staged(own, e as u32);
        });
        unrolled!(|e < N| if first + (e as u32) < segment.len {
            acc.absorb_item(e, items[e], u64::from(first) + e as u64);
        });
    }

    /// Combines an accumulator with the items of a lane of a segment that has no second row.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn absorb_lane<const N: usize, const K: usize>(
        &self,
        segment: Segment<I>,
        lane: u32,
        acc: &mut Lane<I, O, N>,
    ) {
        if !Self::IS_SHORT {
            self.share::<N, K>(segment, lane).combine_items(acc);
            return;
        }
        self.absorb_items::<N>(segment, lane * Self::ADJACENT, acc);
    }

    /// The items of a lane of a segment.
    #[inline(always)]
    pub(super) fn share<const N: usize, const K: usize>(
        &self,
        source: Segment<I>,
        lane: u32,
    ) -> Share<I, O, Segment<I>, N, K> {
        Share {
            op: self.op,
            source,
            first: (lane * Self::ADJACENT) as usize,
            step: if O::COMMUTATIVE { LANES * N } else { N },
            items: PhantomData,
        }
    }
}
