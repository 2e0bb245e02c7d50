//! Segments, rows and axes of all ranks.

use kernels_gpu::entry::{Axes, Segments};

use super::distributed::Distributed;
use super::message::gather;
use crate::axes::Strided;
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
        let parts = Parts::Offsets(offsets.into_views(), None);
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

    /// Reduces an array of all ranks along `axes`: each rank has whole results, the items of some indices of the first axis that
    /// is kept. The results are those of rank 0, then those of rank 1, and so on, on all ranks: those of the whole array in
    /// C order.
    ///
    /// `shape` is that of this rank's items. The bits of each result are those of
    /// [`Device::reduce_axis`](crate::Device::reduce_axis).
    ///
    /// ```
    /// use warpfold::many::{Distributed, Threads};
    /// use warpfold::{Device, Strided, Sum};
    ///
    /// // [[1, 2, 3], [4, 5, 6]], of which rank 0 has the first column, and rank 1 the others.
    /// let sums = Threads::run(2, |ranks| {
    ///     let all = Distributed::new(Device::cpu(), ranks);
    ///     let (x, columns) = [(vec![1, 4], 1), (vec![2, 3, 5, 6], 2)][all.rank()].clone();
    ///     let x = all.device().upload(&x)?;
    ///     all.reduce_axis(&x, &[2, columns], &[0], Sum)
    /// })?;
    /// assert_eq!(sums, [[5, 7, 9], [5, 7, 9]]);
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Ranks`] as [`reduce`](Self::reduce); on the rank that fails, the error of
    /// [`Device::reduce_axis`](crate::Device::reduce_axis).
    pub fn reduce_axis<'a, 's, I: Items, O: Axes<I>>(
        &self,
        input: impl Input<'a, I>,
        shape: impl Into<Strided<'s>>,
        axes: &[usize],
        op: O,
    ) -> Result<Vec<O::Output>, Error> {
        let (views, device) = (input.into_views(), self.device());
        let own = device.axis_accumulators::<I, O>(views, shape.into(), axes, op);
        let own = own.map(|(accumulators, are_empty)| {
            let empty = vec![u8::from(are_empty); accumulators.len()];
            (accumulators, empty)
        });
        self.results::<I, O>(&format!("axes {axes:?}"), op, own)
    }

    /// The results of all ranks, of an accumulator for each part and a byte that says whether the part is empty.
    fn results<I: Items, O: Segments<I>>(
        &self,
        what: &str,
        op: O,
        own: Result<(Vec<O::Acc>, Vec<u8>), Error>,
    ) -> Result<Vec<O::Output>, Error> {
        let call = format!("{what}: {}", <O as Segments<I>>::ENTRIES[0].name);
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
