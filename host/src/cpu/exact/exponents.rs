//! The exponents of the items of a block.

use kernels_gpu::exact::Float;
use std::ops::{Add, Not};

/// Bounds of the values that are not zeros.
#[derive(Clone, Copy, Debug)]
pub(super) struct Exponents {
    /// No significand, taken as long as that of a normal number, has a bit below 2 to the power of this.
    pub(super) lowest: i32,
    /// All magnitudes are below 2 to the power of this.
    pub(super) end: i32,
}

/// The exponents of products.
impl Add for Exponents {
    type Output = Self;

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self {
            lowest: self.lowest + other.lowest,
            end: self.end + other.end,
        }
    }
}

/// The exponents of all items; `None` if one is infinite or NaN.
///
/// Integers are compared: the leading 16 or 32 bits of each item, so that many fit into a vector.
#[inline(always)]
pub(super) fn exponents<T: Float>(x: &[T]) -> Option<Exponents> {
    // SAFETY: a float of this size may be read as an integer, and has the same alignment.
    let (least, greatest, cut) = unsafe {
        match size_of::<T>() {
            2 => {
                let (least, greatest) = extremes(x.align_to::<u16>().1, |x| x & 0x7fff);
                (least.into(), greatest.into(), 0)
            }
            4 => {
                let (least, greatest) = extremes(x.align_to::<u32>().1, |x| x & 0x7fff_ffff);
                (least, greatest, 0)
            }
            _ => {
                let leading = |x: u64| (x >> 32) as u32 & 0x7fff_ffff;
                let (least, greatest) = extremes(x.align_to::<u64>().1, leading);
                (least, greatest, 32)
            }
        }
    };
    let field = |leading: u32| (leading >> (T::SIGNIFICAND - 1 - cut)) as i32;
    let below_leading = T::SIGNIFICAND as i32 - 1;
    let end = field(greatest).max(1) + T::MIN_EXPONENT + below_leading;
    if end > T::MAX_EXPONENT {
        return None;
    }
    let lowest = match field(least) {
        0 => least_leading(x) - below_leading,
        field => field - 1 + T::MIN_EXPONENT,
    };
    Some(Exponents { lowest, end })
}

/// The least and the greatest key.
#[inline(always)]
fn extremes<B: Copy, K>(bits: &[B], key: impl Fn(B) -> K) -> (K, K)
where
    K: Copy + Default + Ord + Not<Output = K>,
{
    let keys = bits.iter().map(|bits| key(*bits));
    keys.fold((!K::default(), K::default()), |(least, greatest), key| {
        (least.min(key), greatest.max(key))
    })
}

/// A lower bound of the exponent of the leading bit of all items that are not zeros; high if all are zeros.
#[inline(always)]
fn least_leading<T: Float>(x: &[T]) -> i32 {
    // Zeros become the greatest integer.
    let before = |x: &T| x.exactly().abs().to_bits().wrapping_sub(1);
    match x.iter().map(before).fold(u64::MAX, u64::min) {
        u64::MAX => T::MAX_EXPONENT,
        before => match (before + 1) >> 52 {
            0 => <f64 as Float>::MIN_EXPONENT,
            field => field as i32 - 1023,
        },
    }
}
