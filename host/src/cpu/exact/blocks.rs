//! Cuts an array into blocks, and adds each in the fastest exact way.

use std::marker::PhantomData;

use kernels_gpu::exact::Accumulator;

use super::buckets::Buckets;
use super::exponents::of_terms;
use super::levels::{LEAST, Levels};
use super::terms::{Items, Term};

/// The number of items of a block, so few that it is still in the first-level cache when it is added the second time.
const BLOCK: usize = 1024;

/// The fewest items for buckets: to make them and to add them up takes as long as to add 2000 to 3000 items one by one.
const MANY: usize = 3072;

/// An exact sum of the terms `O`, a part of which is not yet in `sum`.
pub(super) struct Blocks<O> {
    sum: Accumulator,
    /// The fewest levels that hold common values.
    levels: Levels,
    /// One more level.
    more: Levels,
    /// For all other blocks; large, so only if there are such.
    buckets: Option<Box<Buckets>>,
    term: PhantomData<O>,
}

impl<O> Blocks<O> {
    pub(super) fn new() -> Self {
        Self {
            sum: Accumulator::new(),
            levels: Levels::new(),
            more: Levels::new(),
            buckets: None,
            term: PhantomData,
        }
    }

    pub(super) fn finish(mut self) -> Accumulator {
        self.levels.flush(&mut self.sum);
        self.more.flush(&mut self.sum);
        if let Some(buckets) = &self.buckets {
            buckets.flush(&mut self.sum);
        }
        self.sum
    }

    /// Adds items.
    ///
    /// [`by_block`](Self::by_block) is compiled three times: for AVX-512, for AVX2 with fused multiply-add, and for the
    /// instructions that every processor of the target has.
    pub(super) fn add<I: Items>(&mut self, items: I)
    where
        O: Term<I::Item>,
    {
        #[cfg(target_arch = "x86_64")]
        if std::is_x86_feature_detected!("avx2") && std::is_x86_feature_detected!("fma") {
            if std::is_x86_feature_detected!("avx512f")
                && std::is_x86_feature_detected!("avx512bw")
                && std::is_x86_feature_detected!("avx512dq")
                && std::is_x86_feature_detected!("avx512vl")
            {
                // SAFETY: the conditions above check that the processor has these instructions.
                return unsafe { self.by_block_avx512(items) };
            }
            // SAFETY: the outer condition checks that the processor has these instructions.
            return unsafe { self.by_block_avx2(items) };
        }
        self.by_block::<I, false>(items);
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma,avx512f,avx512bw,avx512dq,avx512vl")]
    pub(super) fn by_block_avx512<I: Items>(&mut self, items: I)
    where
        O: Term<I::Item>,
    {
        self.by_block::<I, true>(items);
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma")]
    pub(super) fn by_block_avx2<I: Items>(&mut self, items: I)
    where
        O: Term<I::Item>,
    {
        self.by_block::<I, true>(items);
    }

    #[inline(always)]
    pub(super) fn by_block<I: Items, const FUSED: bool>(&mut self, items: I)
    where
        O: Term<I::Item>,
    {
        let len = items.len();
        for start in (0..len).step_by(BLOCK) {
            let items = items.part(start, len.min(start + BLOCK));
            if self.add_floats::<I, FUSED>(items, len) {
                self.sum.count_items(items.len() as u64);
            } else {
                items.iter().for_each(|item| O::add(&mut self.sum, item));
            }
        }
    }

    /// Adds a block of an array of `len` items, and returns true; or returns false, because not all terms are finite, an
    /// error is too small for a float, or buckets are not worth it.
    #[inline(always)]
    pub(super) fn add_floats<I: Items, const FUSED: bool>(&mut self, items: I, len: usize) -> bool
    where
        O: Term<I::Item>,
    {
        if O::HAS_ERROR {
            self.add_to::<I, 3, 4, FUSED>(items, len)
        } else if 2 * O::DIGITS > f64::MANTISSA_DIGITS {
            self.add_to::<I, 2, 3, FUSED>(items, len)
        } else {
            self.add_to::<I, 1, 2, FUSED>(items, len)
        }
    }

    /// Adds a block to `K` levels, or to `M`, or else to the buckets.
    #[inline(always)]
    fn add_to<I: Items, const K: usize, const M: usize, const FUSED: bool>(
        &mut self,
        items: I,
        len: usize,
    ) -> bool
    where
        O: Term<I::Item>,
    {
        let exponents = if I::ARE_NARROW {
            // By integers, which is faster than to try.
            items.exponents().map(O::exponents)
        } else if self.levels.try_add::<I, O, K, FUSED>(items)
            || self.more.try_add::<I, O, M, FUSED>(items)
        {
            return true;
        } else {
            of_terms::<I, O>(items)
        };
        let Some(exponents) = exponents.filter(|exponents| exponents.lowest >= LEAST) else {
            return false;
        };
        let sum = &mut self.sum;
        if self.levels.add::<I, O, K, FUSED>(items, exponents, sum)
            || self.more.add::<I, O, M, FUSED>(items, exponents, sum)
        {
            return true;
        }
        if len < MANY {
            return false;
        }
        let buckets = self.buckets.get_or_insert_with(|| Box::new(Buckets::new()));
        buckets.add::<I, O>(items, exponents);
        true
    }
}
