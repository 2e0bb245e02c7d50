//! A value with its place.

use super::structure;
use core::fmt;

/// A value and its index in the array: what [`ArgMin`](crate::op::ArgMin) and
/// [`ArgMax`](crate::op::ArgMax) combine.
///
/// The index is kept in halves, so that there is no padding behind a value of 32 bits: 12 bytes
/// with such a value, 16 with one of 64. They are two fields: an array of them LLVM copies as a number of 64
/// bits, and a vector's loads, which such numbers straddle, come in pieces.
#[derive(Clone, Copy, PartialEq)]
#[repr(C)]
pub struct Indexed<V> {
    value: V,
    low: u32,
    high: u32,
}

impl<V: Copy> Indexed<V> {
    /// `value`, which is element `index`.
    #[inline(always)]
    pub const fn new(value: V, index: u64) -> Self {
        Self {
            value,
            low: index as u32,
            high: (index >> 32) as u32,
        }
    }

    /// The value.
    #[inline(always)]
    pub const fn value(self) -> V {
        self.value
    }

    /// Its index in the array; [`u64::MAX`] where there was no element.
    #[inline(always)]
    pub const fn index(self) -> u64 {
        (self.high as u64) << 32 | self.low as u64
    }
}

impl<V: Copy + fmt::Debug> fmt::Debug for Indexed<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} at {}", self.value, self.index())
    }
}

// What numbers are combined in.
structure!(Indexed<i32>: value, low, high);
structure!(Indexed<u32>: value, low, high);
structure!(Indexed<i64>: value, low, high);
structure!(Indexed<u64>: value, low, high);
structure!(Indexed<f32>: value, low, high);
structure!(Indexed<f64>: value, low, high);
