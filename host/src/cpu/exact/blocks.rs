//! Cuts an array into blocks, and adds each in the fastest exact way.

use std::marker::PhantomData;

use kernels_gpu::exact::Accumulator;

use super::bins::Bins;
use super::terms::{Items, Term};

/// An exact sum of the terms `O`, a part of which is still in bins.
pub(super) struct Blocks<O> {
    sum: Accumulator,
    /// For terms that are `f32`: twice as many in a vector.
    narrow: Bins<f32>,
    wide: Bins<f64>,
    term: PhantomData<O>,
}

impl<O> Blocks<O> {
    pub(super) fn new() -> Self {
        Self {
            sum: Accumulator::new(),
            narrow: Bins::new(),
            wide: Bins::new(),
            term: PhantomData,
        }
    }

    pub(super) fn finish(mut self) -> Accumulator {
        self.narrow.flush(&mut self.sum);
        self.wide.flush(&mut self.sum);
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
        let block = match O::IS_NARROW {
            true => Bins::<f32>::BLOCK,
            false => Bins::<f64>::BLOCK,
        };
        for start in (0..items.len()).step_by(block) {
            let items = items.part(start, items.len().min(start + block));
            if self.add_to_bins::<I, FUSED>(items) {
                self.sum.count_items(items.len() as u64);
            } else {
                items.iter().for_each(|item| O::add(&mut self.sum, item));
            }
        }
    }

    /// Adds a block and returns true; or returns false, because the bins cannot hold it.
    #[inline(always)]
    pub(super) fn add_to_bins<I: Items, const FUSED: bool>(&mut self, items: I) -> bool
    where
        O: Term<I::Item>,
    {
        let (sum, terms) = (&mut self.sum, || items.iter().map(O::parts));
        if !O::IS_PRODUCT && !O::IS_NARROW && self.wide.try_add::<FUSED>(terms()) {
            return true;
        }
        let Some([a, b]) = items.exponents() else {
            return false;
        };
        let exponents = if O::IS_PRODUCT { a + b } else { a };
        if O::HAS_ERROR {
            return self.wide.add::<true, FUSED>(terms(), exponents, sum);
        }
        O::IS_NARROW && self.narrow.add::<false, FUSED>(terms(), exponents, sum)
            || self.wide.add::<false, FUSED>(terms(), exponents, sum)
    }
}
