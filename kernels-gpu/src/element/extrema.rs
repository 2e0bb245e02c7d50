//! The smallest and the largest value as one element.

use super::structure;

/// The smallest and the largest of some values: the accumulator of [`MinMax`](crate::op::MinMax).
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub struct Extrema<V> {
    min: V,
    max: V,
}

impl<V: Copy> Extrema<V> {
    /// From the smallest and the largest value.
    #[inline(always)]
    pub const fn new(min: V, max: V) -> Self {
        Self { min, max }
    }

    /// The smallest value.
    #[inline(always)]
    pub const fn min(self) -> V {
        self.min
    }

    /// The largest value.
    #[inline(always)]
    pub const fn max(self) -> V {
        self.max
    }
}

// The types in which numbers accumulate.
structure!(Extrema<i32>: min, max);
structure!(Extrema<u32>: min, max);
structure!(Extrema<i64>: min, max);
structure!(Extrema<u64>: min, max);
structure!(Extrema<f32>: min, max);
structure!(Extrema<f64>: min, max);
