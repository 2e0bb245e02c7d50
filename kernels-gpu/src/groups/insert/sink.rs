//! What becomes of the values whose keys are put into the table: nothing, or they are combined.

use crate::element::Element;
use crate::mem::{Global, Shared};
use crate::op::AtomicOp;
use crate::warp::reduce_down;

/// What becomes of the values.
pub trait Sink: Copy {
    /// A value.
    type Value: Copy;

    /// The bytes of a value; 0 if there are none.
    const BYTES: usize;

    /// A value that changes nothing.
    fn identity(self) -> Self::Value;

    /// The value of an item.
    fn load(self, index: usize) -> Self::Value;

    /// Combines the values of a warp. Lane 0 holds the result.
    ///
    /// # Safety
    ///
    /// All lanes of the warp arrive here.
    unsafe fn of_warp(self, value: Self::Value) -> Self::Value;

    /// Makes a place in the bins empty.
    fn clear(self, place: u32);

    /// Combines a value into a place in the bins.
    fn into_bin(self, place: u32, value: Self::Value);

    /// Combines a value into the cell of a slot.
    fn into_cell(self, slot: usize, value: Self::Value);

    /// Combines the values of so many places into the cell of a slot.
    fn flush(self, first: u32, copies: u32, slot: usize);
}

/// No values: only the keys are put into the table.
#[derive(Clone, Copy, Debug)]
pub struct Only;

impl Sink for Only {
    type Value = ();

    const BYTES: usize = 0;

    #[inline(always)]
    fn identity(self) {}

    #[inline(always)]
    fn load(self, _: usize) {}

    #[inline(always)]
    unsafe fn of_warp(self, (): ()) {}

    #[inline(always)]
    fn clear(self, _: u32) {}

    #[inline(always)]
    fn into_bin(self, _: u32, (): ()) {}

    #[inline(always)]
    fn into_cell(self, _: usize, (): ()) {}

    #[inline(always)]
    fn flush(self, _: u32, _: u32, _: usize) {}
}

/// Combines the values of each key into the cell of its slot.
#[derive(Clone, Copy, Debug)]
pub struct Combine<T, O> {
    /// The operator.
    pub op: O,
    /// A value for each key.
    pub values: Global<T>,
    /// A cell for each slot, and one more; at first they hold the operator's initial value.
    pub cells: Global<T>,
    /// The values of the block's [bins](super::Bins).
    pub bins: Shared<T>,
}

impl<T: Element, O: AtomicOp<T, Acc = T>> Sink for Combine<T, O> {
    type Value = T;

    const BYTES: usize = size_of::<T>();

    #[inline(always)]
    fn identity(self) -> T {
        self.op.identity()
    }

    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn load(self, index: usize) -> T {
        self.op.lift(self.values.get(index), index as u64)
    }

    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    unsafe fn of_warp(self, value: T) -> T {
        // SAFETY: the caller's contract.
        unsafe { reduce_down::<T, O>(self.op, value) }
    }

    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn clear(self, place: u32) {
        self.bins.set(place, self.op.identity());
    }

    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn into_bin(self, place: u32, value: T) {
        self.bins.combine_atomic::<T, O>(self.op, place, value);
    }

    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn into_cell(self, slot: usize, value: T) {
        self.cells.combine_atomic::<T, O>(self.op, slot, value);
    }

    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn flush(self, first: u32, copies: u32, slot: usize) {
        let mut value = self.bins.get(first);
        let mut copy = 1;
        while copy < copies {
            value = self.op.combine(value, self.bins.get(first + copy));
            copy += 1;
        }
        self.into_cell(slot, value);
    }
}
