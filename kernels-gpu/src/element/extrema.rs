//! The smallest and the largest value together.

use super::structure;

/// The smallest and the largest of some values: what [`MinMax`](crate::op::MinMax) combines.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub struct Extrema<V> {
    min: V,
    max: V,
}

impl<V: Copy> Extrema<V> {
    /// These two.
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

// What numbers are combined in.
structure!(Extrema<i32>: min, max);
structure!(Extrema<u32>: min, max);
structure!(Extrema<i64>: min, max);
structure!(Extrema<u64>: min, max);
structure!(Extrema<f32>: min, max);
structure!(Extrema<f64>: min, max);
