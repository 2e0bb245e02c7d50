use crate::arch;

/// The lanes of `mask` with the same `value` as the caller, including itself: `match.any.sync`.
///
/// Values are compared by their bits: a NaN equals the same NaN, `0.0` differs from `-0.0`.
///
/// # Safety
///
/// The member mask contract of [`warp`](crate::warp).
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub unsafe fn warp_match_any<T: WarpMatchValue>(mask: u32, value: T) -> u32 {
    // SAFETY: the caller's contract.
    unsafe { T::match_any(mask, value) }
}

/// `Some(mask)` if all lanes of `mask` have the same `value`, bit for bit; else `None`. All lanes get the
/// same result: `match.all.sync`.
///
/// # Safety
///
/// The member mask contract of [`warp`](crate::warp).
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub unsafe fn warp_match_all<T: WarpMatchValue>(mask: u32, value: T) -> Option<u32> {
    // SAFETY: the caller's contract.
    unsafe { T::match_all(mask, value) }
}

/// A type whose values a warp can match.
pub trait WarpMatchValue: Sized {
    /// Implements [`warp_match_any`].
    ///
    /// # Safety
    ///
    /// The member mask contract of [`warp`](crate::warp).
    unsafe fn match_any(mask: u32, value: Self) -> u32;

    /// Implements [`warp_match_all`].
    ///
    /// # Safety
    ///
    /// The member mask contract of [`warp`](crate::warp).
    unsafe fn match_all(mask: u32, value: Self) -> Option<u32>;
}

macro_rules! match_value {
    ($($ty:ty, $any:ident, $all:ident, |$value:ident| $bits:expr;)*) => { $(
        impl WarpMatchValue for $ty {
            #[inline(always)]
            #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
            unsafe fn match_any(mask: u32, $value: Self) -> u32 {
                // SAFETY: the caller's contract.
                unsafe { arch::$any(mask, $bits) }
            }

            #[inline(always)]
            #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
            unsafe fn match_all(mask: u32, $value: Self) -> Option<u32> {
                // SAFETY: the caller's contract.
                let (members, all) = unsafe { arch::$all(mask, $bits) };
                all.then_some(members)
            }
        }
    )* };
}

match_value! {
    i32, match_any_32, match_all_32, |value| value as u32;
    u32, match_any_32, match_all_32, |value| value;
    f32, match_any_32, match_all_32, |value| value.to_bits();
    i64, match_any_64, match_all_64, |value| value as u64;
    u64, match_any_64, match_all_64, |value| value;
    f64, match_any_64, match_all_64, |value| value.to_bits();
}
