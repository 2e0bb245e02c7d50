//! The lanes of a segment's tile that one thread combines.

use super::*;

impl<I: Items, O: Op<I>> Block<I, O> {
    /// Combines a thread's lanes of a segment, `step` apart from lane `first` on, in the canonical order: by halves, or
    /// adjacent ones in pairs.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub(super) fn lanes<const N: usize, const K: usize>(
        &self,
        segment: Segment<I>,
        first: u32,
        step: u32,
    ) -> O::Acc {
        let parts = Self::OF_THREAD / FEW as u32;
        let mut value = self.op.identity();
        let mut part = 0;
        while part < parts {
            let (from, step) = match O::COMMUTATIVE {
                true => (first + part * step, parts * step),
                false => (first + part * FEW as u32, step),
            };
            if from * Self::ADJACENT < segment.len {
                let few = self.few_lanes::<N, K>(segment, from, step);
                value = self.op.combine(value, few);
            }
            part += 1;
        }
        value
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
        let (first, mut items) = (lane * Self::ADJACENT, [zero::<I>(); N]);
        let own = I::behind(segment.staged, segment.start + first);
        unrolled!(|e < N| if first + (e as u32) < segment.len {
            items[e] = I::staged(own, e as u32);
        });
        unrolled!(|e < N| if first + (e as u32) < segment.len {
            acc.absorb_item(e, items[e], u64::from(first) + e as u64);
        });
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
