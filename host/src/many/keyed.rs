//! Cells of all ranks: each rank fills its own, and they are combined in the order of the ranks.

use kernels_gpu::element::Element;
use kernels_gpu::entry::Keyed;
use kernels_gpu::op::{Op, Sum};

use super::distributed::{Distributed, number};
use crate::element::name_of;
use crate::error::Error;
use crate::host;
use crate::input::{self, Input};
use crate::keyed::{ByKey, Cells, Key, RejectedKey};

/// By key: each rank combines its values into cells of its own, which are gathered and combined in the order of the ranks.
///
/// | cells | bits |
/// |---|---|
/// | integers, extrema, counts | those of one device |
/// | float sums, on a device of the level [`Fast`](crate::Determinism::Fast) | as near to the exact sum as those of one device, but not the same: they depend on the number of ranks and on the split, and on GPUs they differ from run to run |
///
/// For float sums with the bits of one device, use [`group_by`](Self::group_by).
impl Distributed {
    /// Combines the values of each key from 0 to `cells - 1` by `op`, as [`Device::reduce_by_key`](crate::Device::reduce_by_key):
    /// value `i` of a rank belongs to its key `i`. All ranks have the result; indices count from the first key of rank 0.
    ///
    /// It gathers all cells of each rank.
    ///
    /// ```
    /// use warpfold::many::{Distributed, Threads};
    /// use warpfold::{Device, Sum};
    ///
    /// let sums = Threads::run(2, |ranks| {
    ///     let all = Distributed::new(Device::cpu(), ranks);
    ///     let (keys, values) = [([1u32, 0], [1, 2]), ([1, 9], [4, 8])][all.rank()];
    ///     let (keys, values) = (all.device().upload(&keys)?, all.device().upload(&values)?);
    ///     all.reduce_by_key(&keys, &values, 2, Sum)
    /// })?;
    /// assert_eq!(sums[0], sums[1]);
    /// assert_eq!((&sums[0].cells[..], sums[0].rejected), (&[2, 5][..], 1));
    /// assert_eq!(sums[0].first_rejected.map(|first| (first.index, first.key)), Some((3, 9)));
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Ranks`] as [`reduce`](Self::reduce), also if the ranks have other numbers of cells; on the rank that fails, the
    /// error of [`Device::reduce_by_key`](crate::Device::reduce_by_key).
    pub fn reduce_by_key<'a, K: Key, T: Element, O: Keyed<K, T>>(
        &self,
        keys: impl Input<'a, K>,
        values: impl Input<'a, T>,
        cells: usize,
        op: O,
    ) -> Result<ByKey<T>, Error> {
        let keys = keys.into_views();
        let own = self.device().reduce_by_key(keys, values, cells, op);
        let call = format!("{cells} cells: {}", O::ENTRIES[0].name);
        self.by_key(&call, op, input::len::<K>(keys), own)
    }

    /// Counts the elements of each key from 0 to `cells - 1`, as [`Device::count_by_key`](crate::Device::count_by_key), on all
    /// ranks.
    ///
    /// # Errors
    ///
    /// As [`reduce_by_key`](Self::reduce_by_key).
    pub fn count_by_key<'a, K: Key>(
        &self,
        keys: impl Input<'a, K>,
        cells: usize,
    ) -> Result<ByKey<u64>, Error> {
        let keys = keys.into_views();
        let own = self.device().count_by_key(keys, cells);
        let call = format!("{cells} counts");
        self.by_key(&call, Sum, input::len::<K>(keys), own)
    }

    /// The cells of all ranks, combined: for arrays that each rank combines into its [`Cells`] piece by piece. They stay as they
    /// are.
    ///
    /// ```
    /// use warpfold::many::{Distributed, Threads};
    /// use warpfold::{Device, Max};
    ///
    /// let greatest = Threads::run(3, |ranks| {
    ///     let all = Distributed::new(Device::cpu(), ranks);
    ///     let mut cells = all.device().cells(2, Max)?;
    ///     for piece in 0..all.rank() {
    ///         let (keys, values) = (all.device().upload(&[1u8])?, all.device().upload(&[piece as i32])?);
    ///         cells.combine(&keys, &values)?;
    ///     }
    ///     all.combine_cells(&cells)
    /// })?;
    /// assert_eq!(greatest[0], [i32::MIN, 1]);
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Ranks`] as [`reduce`](Self::reduce), also if the ranks have other numbers of cells; on the rank that fails, the
    /// error of [`Cells::download`].
    pub fn combine_cells<T: Element, O: Op<T, Acc = T>>(
        &self,
        cells: &Cells<T, O>,
    ) -> Result<Vec<T>, Error> {
        let call = format!("{} cells of {}", cells.of_all_arrays(), name_of::<T>());
        let all = self.gather_elements(&call, cells.download())?;
        Ok(combined(cells.op(), all))
    }

    /// What each rank has found in its `keys` keys.
    fn by_key<T: Element, O: Op<T, Acc = T>>(
        &self,
        call: &str,
        op: O,
        keys: usize,
        own: Result<ByKey<T>, Error>,
    ) -> Result<ByKey<T>, Error> {
        let own = own.map(|own| {
            let first = own
                .first_rejected
                .map_or((u64::MAX, 0), |f| (f.index, f.key));
            let mut message = vec![];
            for number in [keys as u64, own.rejected, first.0] {
                message.extend_from_slice(&number.to_le_bytes());
            }
            message.extend_from_slice(&first.1.to_le_bytes());
            message.extend_from_slice(host::bytes(&own.cells));
            message
        });
        let (mut start, mut rejected, mut first_rejected) = (0, 0, None);
        let mut all = vec![];
        for message in self.gather(call, own)? {
            let (keys, rest) = number(&message);
            let (some, rest) = number(rest);
            let (index, rest) = number(rest);
            let (key, cells) = rest
                .split_first_chunk()
                .expect("a rank of the same version");
            if some > 0 && first_rejected.is_none() {
                first_rejected = Some(RejectedKey {
                    index: start + index,
                    key: i128::from_le_bytes(*key),
                });
            }
            (start, rejected) = (start + keys, rejected + some);
            all.push(host::of_bytes(cells));
        }
        Ok(ByKey {
            cells: combined(op, all),
            rejected,
            first_rejected,
        })
    }
}

/// The cells of all ranks, which have as many.
fn combined<T: Element, O: Op<T, Acc = T>>(op: O, all: Vec<Vec<T>>) -> Vec<T> {
    let combine = |mut before: Vec<T>, cells: Vec<T>| {
        for (before, cell) in before.iter_mut().zip(cells) {
            *before = op.combine(*before, cell);
        }
        before
    };
    all.into_iter().reduce(combine).unwrap_or_default()
}
