//! How much of a result is promised.

use std::fmt;

use kernels_gpu::entry::{Entry, SinglePass, exact_of};
use kernels_gpu::op::Op;

use crate::device::Device;
use crate::error::Error;
use crate::input::Items;

/// What a device's calls promise about the bits of a float result; see [`Device::determinism`].
///
/// | level | promise | whole arrays and chunks | parts: segments, rows, axes, runs, groups | reductions by key |
/// |---|---|---|---|---|
/// | `Fast` | the usual bounds on the error; the bits may differ from run to run | as `Reproducible` | `group_by` by atomics, others as `Reproducible` | by atomics |
/// | `Reproducible`, the default | the same bits everywhere: on every GPU, on the CPU and under the simulator | all operators, in the [canonical order](crate::ORDER_VERSION) | as whole arrays | integers and extrema |
/// | `Exact` | the exact result, rounded once to the nearest value | sums, means, dot products and norms of floats | integers and extrema | integers and extrema |
///
/// A call that cannot keep the promise returns [`Error::Determinism`]. Results of integers, extrema, indices and counts
/// are the same in any order, so every call keeps every promise for them. The exception at all levels is the bits of a
/// NaN: a NaN is a NaN everywhere, but its sign and payload may differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Determinism {
    /// Any order of the items.
    Fast,
    /// The canonical order of the items.
    #[default]
    Reproducible,
    /// No rounding but that of the result.
    Exact,
}

/// `Determinism::Exact`
impl fmt::Display for Determinism {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Determinism::{self:?}")
    }
}

impl Device {
    /// The same device, whose calls promise as much as `level` says.
    ///
    /// Buffers belong to the device, whatever its level.
    ///
    /// ```
    /// use warpfold::{Determinism, Device};
    ///
    /// let device = Device::auto()?;
    /// let x = device.upload(&[1e16, 1.0, -1e16])?;
    /// let exact = device.determinism(Determinism::Exact);
    /// assert_eq!((device.sum(&x)?, exact.sum(&x)?), (0.0, 1.0));
    /// assert!(exact.product(&x).is_err()); // no kernel multiplies without rounding
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    pub fn determinism(&self, level: Determinism) -> Self {
        let mut device = self.clone();
        device.level = level;
        device
    }

    /// What the calls of this device promise.
    pub fn level(&self) -> Determinism {
        self.level
    }

    /// The row of the exact sum by which this device has to reduce; `None` for the usual single-pass kernel.
    pub(crate) fn exact_entry<I: Items, O: SinglePass<I>>(
        &self,
    ) -> Result<Option<&'static Entry>, Error> {
        match self.level == Determinism::Exact && !O::ANY_ORDER {
            true => self.exact_sum_entry::<I, O>().map(Some),
            false => Ok(None),
        }
    }

    /// The row of the exact sum by this operator.
    pub(crate) fn exact_sum_entry<I: Items, O: SinglePass<I>>(
        &self,
    ) -> Result<&'static Entry, Error> {
        let none = "no kernel reduces these items without rounding";
        exact_of(O::ENTRY).ok_or_else(|| self.broken(O::ENTRY, none))
    }

    /// An error if this call needs an exact sum: what it prepares or stores is an accumulator of the operator.
    pub(crate) fn refuse_exact<I: Items, O: SinglePass<I>>(
        &self,
        call: &'static str,
    ) -> Result<(), Error> {
        match self.level == Determinism::Exact && !O::ANY_ORDER {
            true => Err(self.broken(O::ENTRY, call)),
            false => Ok(()),
        }
    }

    /// An error unless a reduction in any order keeps the promise.
    pub(crate) fn allow_any_order<I: Items, O: Op<I>>(
        &self,
        entry: &'static Entry,
    ) -> Result<(), Error> {
        match self.level == Determinism::Fast || O::ANY_ORDER {
            true => Ok(()),
            false => Err(self.broken(
                entry,
                "atomics combine the values in any order; use Determinism::Fast",
            )),
        }
    }

    pub(crate) fn broken(&self, entry: &'static Entry, reason: &'static str) -> Error {
        Error::Determinism {
            entry: entry.name,
            level: self.level,
            reason,
        }
    }
}
