//! A value and its index.

use super::structure;
use core::fmt;

/// A value and its index in the array: the accumulator of [`ArgMin`](crate::op::ArgMin) and
/// [`ArgMax`](crate::op::ArgMax).
///
/// The index is stored in two halves, so that a 32-bit value has no padding behind it: 12 bytes with a 32-bit
/// value, 16 with a 64-bit value. The halves are two fields. LLVM would copy an array of two as one 64-bit
/// number, which straddles the loads of a vector, and would split those loads.
#[derive(Clone, Copy, PartialEq)]
#[repr(C)]
pub struct Indexed<V> {
    value: V,
    low: u32,
    high: u32,
}

impl<V: Copy> Indexed<V> {
    /// From `value` and its index.
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

    /// The index in the array; [`u64::MAX`] for the accumulator of empty input.
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

// The types in which numbers accumulate.
structure!(Indexed<i32>: value, low, high);
structure!(Indexed<u32>: value, low, high);
structure!(Indexed<i64>: value, low, high);
structure!(Indexed<u64>: value, low, high);
structure!(Indexed<f32>: value, low, high);
structure!(Indexed<f64>: value, low, high);
