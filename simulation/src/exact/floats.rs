//! Kinds of floats.

use kernels_gpu::exact::Float;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

/// A kind of random floats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Floats {
    /// Of both signs, with exponents near each other; some are zeros.
    Near,
    /// Positive, with one of two exponents. Their distance is about the largest at which a lane's terms are added
    /// without error.
    TwoExponents,
    /// Positive, with one of three exponents: the greatest and the smallest are about as far from each other as those of
    /// terms that are cut in two and added without error may be; the cut goes through or above those between.
    ThreeExponents,
    /// Powers of two at most four apart, from the smallest to the greatest number: a sum of three floats cannot hold
    /// them all.
    Steps,
    /// In runs, each with an exponent of its own: a lane can add the terms of a group to each other, but not the sums of
    /// all groups.
    Runs,
    /// With any exponent.
    Any,
    /// Like [`Any`](Self::Any), but the second half cancels the first, whose numbers it has in reverse order with the
    /// opposite sign. In the second array of a pair with the same sign.
    Cancelling,
    /// Subnormal numbers.
    Subnormal,
    /// With products around the smallest number.
    Small,
    /// The greatest number once, and small ones.
    OneGreat,
    /// The greatest number; some elements are NaN, so that no warp adds floats to each other. All bits of the
    /// significand are set, so the digits grow as fast as possible.
    Greatest,
    /// Like [`Near`](Self::Near), with up to three NaN or infinities.
    Special,
    /// -0.0, with or without one 0.0; in the second array of a pair 0.0.
    Zeroes,
}

impl Floats {
    /// All kinds.
    pub const ALL: [Self; 13] = [
        Self::Near,
        Self::TwoExponents,
        Self::ThreeExponents,
        Self::Steps,
        Self::Runs,
        Self::Any,
        Self::Cancelling,
        Self::Subnormal,
        Self::Small,
        Self::OneGreat,
        Self::Greatest,
        Self::Special,
        Self::Zeroes,
    ];

    /// The number of elements of [`Greatest`](Self::Greatest) from one NaN to the next: the same lanes have them in every
    /// group.
    const FROM_NAN_TO_NAN: usize = 64;

    /// The number of elements of [`Runs`](Self::Runs) with the same exponent: about a group.
    const RUN: usize = 512;

    /// `n` elements of an array, the first or the second of a pair; the same for the same seed.
    pub fn draw<T: Float>(self, n: usize, array: usize, seed: u64) -> Vec<T> {
        let is_second = array == 1;
        let rng = &mut StdRng::seed_from_u64(seed ^ if is_second { 0x5555 } else { 0 });
        let bits = T::SIGNIFICAND as i32;
        // The exponent of the lowest bit of 1.
        let (highest, of_one) = (highest::<T>(), 1 - bits);
        let mut floats: Vec<T> = match self {
            Self::Near | Self::Special => draw(n, || match rng.random_range(0..8) {
                0 => zero(rng.random()),
                _ => float(rng, of_one - 2, of_one),
            }),
            Self::TwoExponents => {
                let distance = f64::MANTISSA_DIGITS as i32 - bits - rng.random_range(2..=5);
                draw(n, || {
                    let exponent = match rng.random_range(0..8) {
                        0 => of_one,
                        _ => (of_one + distance).min(highest),
                    };
                    T::from_parts(false, ones::<T>(), exponent)
                })
            }
            Self::ThreeExponents => {
                // The bits by which a lane's sum of a group may be longer than its terms.
                let growth = (64 / size_of::<T>()).ilog2() as i32;
                let precision = f64::MANTISSA_DIGITS as i32;
                let distance = 2 * (precision - growth) - bits + rng.random_range(0..=1);
                let great = (of_one + distance).min(highest);
                let middle = great + growth - precision + rng.random_range(0..=1);
                let middle = middle.max(T::MIN_EXPONENT);
                draw(n, || {
                    let exponent = match rng.random_range(0..16) {
                        0 => of_one,
                        1..=8 => middle,
                        _ => great,
                    };
                    T::from_parts(false, ones::<T>(), exponent)
                })
            }
            Self::Steps => {
                let step = (highest - T::MIN_EXPONENT) / 3;
                draw(n, || {
                    let exponent = T::MIN_EXPONENT + step * rng.random_range(0..=3);
                    // The lowest exponent is that of subnormal numbers, too.
                    let significand = match exponent {
                        exponent if exponent == T::MIN_EXPONENT => 1,
                        _ => 1 << (T::SIGNIFICAND - 1),
                    };
                    T::from_parts(rng.random(), significand, exponent)
                })
            }
            Self::Runs => {
                let run = |_| {
                    let exponent = rng.random_range(T::MIN_EXPONENT..=highest);
                    draw(Self::RUN, || float(rng, exponent, exponent))
                };
                (0..n.div_ceil(Self::RUN)).flat_map(run).take(n).collect()
            }
            Self::Any => draw(n, || float(rng, T::MIN_EXPONENT, highest)),
            Self::Cancelling => {
                let half = draw(n.div_ceil(2), || parts::<T>(rng, T::MIN_EXPONENT, highest));
                let mirrored = |i: usize| {
                    let (significand, exponent) = half[i.min(n - 1 - i)];
                    T::from_parts(i < n / 2 && !is_second, significand, exponent)
                };
                (0..n).map(mirrored).collect()
            }
            Self::Subnormal => draw(n, || {
                let significand = rng.random_range(0..1 << (T::SIGNIFICAND - 1));
                T::from_parts(rng.random(), significand, T::MIN_EXPONENT)
            }),
            Self::Small => {
                let middle = T::MIN_EXPONENT / 2 - bits;
                draw(n, || float(rng, middle - 8, middle + 40))
            }
            Self::OneGreat => draw(n, || float(rng, T::MIN_EXPONENT, T::MIN_EXPONENT + 3)),
            Self::Greatest => draw(n, || T::from_parts(false, ones::<T>(), highest)),
            Self::Zeroes => draw(n, || zero(!is_second)),
        };
        match self {
            Self::OneGreat if n > 0 => {
                floats[rng.random_range(0..n)] = T::from_parts(false, ones::<T>(), highest);
            }
            Self::Greatest => {
                let nans = floats.iter_mut().step_by(Self::FROM_NAN_TO_NAN);
                nans.for_each(|x| *x = T::NAN);
            }
            Self::Special if n > 0 => {
                for _ in 0..rng.random_range(1..=3) {
                    floats[rng.random_range(0..n)] = match rng.random_range(0..3) {
                        0 => T::NAN,
                        sign => T::from_parts(sign == 1, 0, T::MAX_EXPONENT),
                    };
                }
            }
            Self::Zeroes if n > 0 && rng.random() => floats[rng.random_range(0..n)] = zero(false),
            _ => {}
        }
        floats
    }
}

fn draw<T>(n: usize, mut element: impl FnMut() -> T) -> Vec<T> {
    (0..n).map(|_| element()).collect()
}

/// The significand with all bits set.
fn ones<T: Float>() -> u64 {
    (1 << T::SIGNIFICAND) - 1
}

fn zero<T: Float>(negative: bool) -> T {
    T::from_parts(negative, 0, T::MIN_EXPONENT)
}

/// Of any sign, normal, and with a lowest bit whose exponent is from `low` to `high`.
fn float<T: Float>(rng: &mut StdRng, low: i32, high: i32) -> T {
    let (significand, exponent) = parts::<T>(rng, low, high);
    T::from_parts(rng.random(), significand, exponent)
}

/// The significand of a normal number, and the exponent of its lowest bit, from `low` to `high`.
fn parts<T: Float>(rng: &mut StdRng, low: i32, high: i32) -> (u64, i32) {
    let leading = 1 << (T::SIGNIFICAND - 1);
    let exponents = low.max(T::MIN_EXPONENT)..=high.min(highest::<T>());
    (
        leading + rng.random_range(0..leading),
        rng.random_range(exponents),
    )
}

/// The exponent of the greatest number's lowest bit.
fn highest<T: Float>() -> i32 {
    T::MAX_EXPONENT - T::SIGNIFICAND as i32
}
