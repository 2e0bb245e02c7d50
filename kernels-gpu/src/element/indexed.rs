//! A value with its place.

use super::{Element, Number};
use core::fmt;
use cuda_std::warp::{WarpShuffleMode, WarpShuffleValue};

/// A value and its index in the array: what [`ArgMin`](crate::op::ArgMin) and
/// [`ArgMax`](crate::op::ArgMax) combine.
///
/// The index is kept in halves, so that there is no padding behind a value of 32 bits: 12 bytes
/// with such a value, 16 with one of 64.
#[derive(Clone, Copy, PartialEq)]
#[repr(C)]
pub struct Indexed<V> {
    value: V,
    index: [u32; 2],
}

impl<V: Copy> Indexed<V> {
    /// `value`, which is element `index`.
    #[inline(always)]
    pub const fn new(value: V, index: u64) -> Self {
        Self {
            value,
            index: [index as u32, (index >> 32) as u32],
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
        let [low, high] = self.index;
        (high as u64) << 32 | low as u64
    }
}

impl<V: Copy + fmt::Debug> fmt::Debug for Indexed<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} at {}", self.value, self.index())
    }
}

impl<V: Number> WarpShuffleValue for Indexed<V> {
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    unsafe fn shuffle(
        mode: WarpShuffleMode,
        mask: u32,
        value: Self,
        b: u32,
        width: u32,
    ) -> (Self, bool) {
        // SAFETY: the caller's contract, for both calls: all members make both.
        let ((shuffled, in_segment), (index, _)) = unsafe {
            (
                V::shuffle(mode, mask, value.value, b, width),
                u64::shuffle(mode, mask, value.index(), b, width),
            )
        };
        (Self::new(shuffled, index), in_segment)
    }
}

macro_rules! indexed {
    ($($name:ident of $value:ident;)*) => { $(
        #[doc = concat!("As a place is called in the names of entry points, of `", stringify!($value), "`.")]
        #[expect(non_camel_case_types, reason = "as numbers are called, beside which it stands")]
        pub type $name = Indexed<$value>;

        impl Element for Indexed<$value> {
            const NAME: &'static str = stringify!($name);
        }

        // SAFETY: numbers, and no padding between them or behind.
        #[cfg(all(feature = "simulator", not(target_arch = "nvptx64")))]
        unsafe impl cuda_sim::Plain for Indexed<$value> {}

        const _: () = assert!(size_of::<Indexed<$value>>() == size_of::<$value>() + 8);
    )* };
}

// What numbers are combined in.
indexed! {
    indexed_i32 of i32;
    indexed_u32 of u32;
    indexed_i64 of i64;
    indexed_u64 of u64;
    indexed_f32 of f32;
    indexed_f64 of f64;
}
