//! The exponents of the terms of a block.

use kernels_gpu::exact::Float;
use std::ops::{Add, Not};

use super::levels::LEAST;
use super::rows::Rows;
use super::terms::{Items, Term};

/// Bounds of the terms that are not zeros.
#[derive(Clone, Copy, Debug)]
pub(super) struct Exponents {
    /// The terms are multiples of 2 to the power of this.
    pub(super) lowest: i32,
    /// All magnitudes are below 2 to the power of this.
    pub(super) end: i32,
}

impl Exponents {
    /// Whether all terms with exponents `other` are within these bounds.
    #[inline(always)]
    pub(super) fn hold(self, other: Self) -> bool {
        other.lowest >= self.lowest && other.end <= self.end
    }
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

/// Bounds of the magnitudes of terms. Magnitudes of floats are ordered as their bits; NaN is the greatest.
#[derive(Clone, Copy)]
pub(super) struct Magnitudes {
    /// The least [key](least_key).
    least: i64,
    greatest: i64,
}

impl Magnitudes {
    /// The bounds of no terms.
    pub(super) const NONE: Self = Self {
        least: i64::MAX,
        greatest: 0,
    };

    /// Extends the bounds by the value of a term. That of a term with an error may not be zero.
    #[inline(always)]
    pub(super) fn add<O: Term<T>, T>(&mut self, value: f64) {
        let bits = value.abs().to_bits() as i64;
        self.extend(Self {
            least: least_key::<O, T>(bits),
            greatest: bits,
        });
    }

    /// Extends the bounds by those of other terms.
    #[inline(always)]
    pub(super) fn extend(&mut self, other: Self) {
        self.least = self.least.min(other.least);
        self.greatest = self.greatest.max(other.greatest);
    }

    /// The exponents of all terms; `None` if one is infinite or NaN.
    #[inline(always)]
    pub(super) fn exponents<O: Term<T>, T>(self) -> Option<Exponents> {
        let least = match self.least {
            i64::MAX => f64::MAX.to_bits() as i64,
            key => key.wrapping_sub(least_key::<O, T>(0)),
        };
        // The exponent of the leading bit; of a subnormal number, one that is too low.
        let leading = |bits: i64| (bits >> (f64::MANTISSA_DIGITS - 1)) as i32 - (f64::MAX_EXP - 1);
        // A value with an error may be rounded up to the next power of two.
        let below_leading = O::DIGITS as i32 - i32::from(!O::HAS_ERROR);
        let lowest = leading(least) - below_leading;
        (leading(self.greatest) < f64::MAX_EXP).then(|| Exponents {
            // All floats are multiples of the least one; errors may not be floats.
            lowest: if O::HAS_ERROR {
                lowest
            } else {
                lowest.max(LEAST)
            },
            end: leading(self.greatest) + 1,
        })
    }
}

/// Bits of a magnitude in the order of magnitudes; of terms without errors, zeros are the greatest.
#[inline(always)]
fn least_key<O: Term<T>, T>(bits: i64) -> i64 {
    match O::HAS_ERROR {
        true => bits,
        false => bits.wrapping_add(i64::MAX),
    }
}

/// The exponents of all terms; `None` if one is infinite or NaN.
#[inline(always)]
pub(super) fn of_terms<I: Items, O: Term<I::Item>>(items: I) -> Option<Exponents> {
    let mut magnitudes = Magnitudes::NONE;
    for item in items.iter() {
        let (a, b) = O::factors(item);
        let bits = (a * b).abs().to_bits() as i64;
        // The product of other numbers may be a zero too, of which the error is not known.
        let is_zero = O::HAS_ERROR && (a == 0.0 || b == 0.0);
        magnitudes.extend(Magnitudes {
            least: if is_zero {
                i64::MAX
            } else {
                least_key::<O, I::Item>(bits)
            },
            greatest: bits,
        });
    }
    magnitudes.exponents::<O, I::Item>()
}

/// The exponents of floats of at most 32 bits; `None` if one is infinite or NaN.
///
/// Integers are compared, of which more fit into a vector.
#[inline(always)]
pub(super) fn of_narrow<T: Float>(x: &[T]) -> Option<Exponents> {
    let (least, greatest) = match size_of::<T>() {
        2 => {
            let magnitude = |x| x & 0x7fff;
            let (least, greatest) = extremes::<u16, 64>(bits(x), magnitude);
            (least.into(), greatest.into())
        }
        _ => extremes::<u32, 32>(bits(x), |x| x & 0x7fff_ffff),
    };
    let field = |bits: u32| (bits >> (T::SIGNIFICAND - 1)) as i32;
    let end = field(greatest).max(1) + T::MIN_EXPONENT + T::SIGNIFICAND as i32 - 1;
    (end <= T::MAX_EXPONENT).then(|| Exponents {
        lowest: match field(least) {
            0 => lowest(x),
            field => field - 1 + T::MIN_EXPONENT,
        },
        end,
    })
}

/// The floats as integers.
#[inline(always)]
fn bits<T: Float, B>(x: &[T]) -> &[B] {
    assert_eq!(
        size_of::<T>(),
        size_of::<B>(),
        "the types have the same size"
    );
    // SAFETY: a float may be read as an integer of the same size and alignment.
    unsafe { x.align_to().1 }
}

/// The least and the greatest key, by rows of `W` lanes, which LLVM vectorises.
#[inline(always)]
fn extremes<K, const W: usize>(x: &[K], key: impl Fn(K) -> K) -> (K, K)
where
    K: Copy + Default + Ord + Not<Output = K>,
{
    let mut least = [!K::default(); W];
    let mut greatest = [K::default(); W];
    let (rows, rest) = x.as_chunks::<W>();
    for row in rows {
        row.prefetch();
        for i in 0..W {
            least[i] = least[i].min(key(row[i]));
            greatest[i] = greatest[i].max(key(row[i]));
        }
    }
    if let Some(first) = rest.first() {
        let row: [K; W] = std::array::from_fn(|i| *rest.get(i).unwrap_or(first));
        for i in 0..W {
            least[i] = least[i].min(key(row[i]));
            greatest[i] = greatest[i].max(key(row[i]));
        }
    }
    let least = least.iter().fold(least[0], |a, b| a.min(*b));
    let greatest = greatest.iter().fold(greatest[0], |a, b| a.max(*b));
    (least, greatest)
}

/// The exponent of a power of two of which all items are multiples; high if all are zeros.
#[inline(always)]
fn lowest<T: Float>(x: &[T]) -> i32 {
    // Zeros become the greatest integer.
    let before = |x: &T| x.exactly().abs().to_bits().wrapping_sub(1);
    match x.iter().map(before).fold(u64::MAX, u64::min) {
        u64::MAX => T::MAX_EXPONENT,
        before => {
            let leading = ((before + 1) >> 52) as i32 - 1023;
            (leading - T::SIGNIFICAND as i32 + 1).max(T::MIN_EXPONENT)
        }
    }
}
