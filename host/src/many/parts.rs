//! Segments and rows of all ranks.

use kernels_gpu::entry::Segments;

use super::distributed::Distributed;
use super::message::gather;
use crate::error::Error;
use crate::host;
use crate::input::{Input, Items};
use crate::segments::{Offset, Parts};

impl Distributed {
    /// Reduces the segments of all ranks: each rank has whole segments, with offsets in its own items; the results are those of
    /// rank 0, then those of rank 1, and so on, on all ranks.
    ///
    /// The bits of each result are those of [`Device::reduce_segments`](crate::Device::reduce_segments).
    ///
    /// ```
    /// use warpfold::many::{Distributed, Threads};
    /// use warpfold::{Device, Max, Sum};
    ///
    /// let results = Threads::run(2, |ranks| {
    ///     let all = Distributed::new(Device::cpu(), ranks);
    ///     let (x, offsets) = [(vec![1, 2, 3], vec![0u32, 1, 3]), (vec![4, 5], vec![0, 0, 2])][all.rank()].clone();
    ///     let (x, offsets) = (all.device().upload(&x)?, all.device().upload(&offsets)?);
    ///     assert_eq!(all.reduce_segments(&x, &offsets, Max)?, [Some(1), Some(3), None, Some(5)]);
    ///     all.reduce_segments(&x, &offsets, Sum)
    /// })?;
    /// assert_eq!(results, [[1, 5, 0, 9], [1, 5, 0, 9]]);
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Ranks`] as [`reduce`](Self::reduce); on the rank that fails, the error of
    /// [`Device::reduce_segments`](crate::Device::reduce_segments).
    pub fn reduce_segments<'a, 'b, I: Items, T: Offset, O: Segments<I>>(
        &self,
        input: impl Input<'a, I>,
        offsets: impl Input<'b, T>,
        op: O,
    ) -> Result<Vec<O::Output>, Error> {
        let parts = Parts::Offsets(offsets.into_views());
        let own = self
            .device()
            .part_accumulators::<I, T, O>(input.into_views(), parts, op);
        let own = own.map(|(accumulators, offsets)| {
            let offsets = offsets.unwrap_or_default();
            let empty = offsets.windows(2).map(|pair| u8::from(pair[0] == pair[1]));
            (accumulators, empty.collect())
        });
        self.results::<I, O>("segments", op, own)
    }

    /// Reduces the rows of all ranks, as [`reduce_segments`](Self::reduce_segments): each rank has whole rows of `len` items.
    ///
    /// # Errors
    ///
    /// [`Error::Ranks`] as [`reduce`](Self::reduce); on the rank that fails, the error of
    /// [`Device::reduce_rows`](crate::Device::reduce_rows).
    pub fn reduce_rows<'a, I: Items, O: Segments<I>>(
        &self,
        input: impl Input<'a, I>,
        len: usize,
        op: O,
    ) -> Result<Vec<O::Output>, Error> {
        let parts = Parts::<u64>::Rows(len);
        let own = self
            .device()
            .part_accumulators::<I, u64, O>(input.into_views(), parts, op);
        let own = own.map(|(accumulators, _)| {
            let empty = vec![0; accumulators.len()];
            (accumulators, empty)
        });
        self.results::<I, O>(&format!("rows of {len}"), op, own)
    }

    /// The results of all ranks, of an accumulator for each part and a byte that says whether the part is empty.
    fn results<I: Items, O: Segments<I>>(
        &self,
        what: &str,
        op: O,
        own: Result<(Vec<O::Acc>, Vec<u8>), Error>,
    ) -> Result<Vec<O::Output>, Error> {
        let call = format!("{what}: {}", O::ENTRIES[0].name);
        let own = own.map(|(accumulators, empty)| [host::bytes(&accumulators), &empty].concat());
        let all = self.call(|ranks, _| gather(ranks, &call, own))?;
        let mut results = vec![];
        for bytes in all {
            // Each part has the bytes of an accumulator, and one more.
            let parts = bytes.len() / (size_of::<O::Acc>() + 1);
            let (accumulators, empty) = bytes.split_at(parts * size_of::<O::Acc>());
            let accumulators = host::of_bytes::<O::Acc>(accumulators);
            results.extend(accumulators.into_iter().zip(empty).map(
                |(acc, is_empty)| match is_empty {
                    0 => op.finish(acc),
                    _ => op.empty(),
                },
            ));
        }
        Ok(results)
    }
}
