//! Results of reductions by key.

use crate::error::Error;

/// The result of [`Device::reduce_by_key`](crate::Device::reduce_by_key) or
/// [`Device::count_by_key`](crate::Device::count_by_key).
#[derive(Clone, Debug, PartialEq)]
pub struct ByKey<T> {
    /// The combined value of each key. For a key without values, the operator's
    /// [`initial`](kernels_gpu::op::Op::initial) value: 0 for sums, infinity for minima of floats, the
    /// greatest integer for minima of integers.
    pub cells: Vec<T>,
    /// The number of elements whose key is out of range.
    pub rejected: u64,
    /// The first of them.
    pub first_rejected: Option<RejectedKey>,
}

/// An element whose key is out of range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RejectedKey {
    /// The index of the element.
    pub index: u64,
    /// Its key.
    pub key: i128,
}

impl<T> ByKey<T> {
    /// The cells, if every key has one.
    ///
    /// ```
    /// use warpfold::{Device, Error};
    ///
    /// let device = Device::auto()?;
    /// let keys = device.upload(&[0u8, 7, 1, 9])?;
    /// assert_eq!(device.count_by_key(&keys, 10)?.strict()?[7], 1);
    ///
    /// let error = device.count_by_key(&keys, 2)?.strict().unwrap_err();
    /// assert!(matches!(error, Error::KeyWithoutCell { index: 1, key: 7, rejected: 2, .. }));
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::KeyWithoutCell`] for the first element whose key is out of range.
    pub fn strict(self) -> Result<Vec<T>, Error> {
        match self.first_rejected {
            None => Ok(self.cells),
            Some(first) => Err(first.error(self.cells.len(), self.rejected)),
        }
    }
}

impl RejectedKey {
    pub(super) fn error(self, cells: usize, rejected: u64) -> Error {
        Error::KeyWithoutCell {
            index: self.index,
            key: self.key,
            cells,
            rejected,
        }
    }
}
