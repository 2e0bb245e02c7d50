//! Random floats.

use crate::format::Format;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{Rng, RngExt};

/// How the values of a list are chosen. The signs are always random.
#[derive(Clone, Copy)]
pub enum Values {
    /// Any exponents and fractions.
    All,
    /// Few exponents, from this field on.
    Window(u64),
    /// As before with few bits, so that many sums are zero.
    Coarse(u64),
    /// Subnormal numbers and those slightly above.
    Subnormal,
    /// The largest and smallest, powers of two and their neighbours.
    Extreme,
    /// Zeros.
    Zero,
}

impl Values {
    /// A random kind.
    pub fn random<T: Format>(rng: &mut StdRng) -> Self {
        let fields = T::INFINITY >> T::FRACTION;
        let first = rng.random_range(0..fields.saturating_sub(8));
        match rng.random_range(0..11) {
            0..3 => Self::All,
            3..5 => Self::Window(first),
            5..7 => Self::Coarse(first),
            7..8 => Self::Subnormal,
            8..10 => Self::Extreme,
            _ => Self::Zero,
        }
    }

    /// A finite value.
    pub fn value<T: Format>(self, rng: &mut StdRng) -> T {
        let magnitude = match self {
            Self::All => rng.random_range(0..T::INFINITY),
            Self::Window(first) => {
                let first = first << T::FRACTION;
                rng.random_range(first..first + (8 << T::FRACTION))
            }
            Self::Coarse(first) => rng.random_range(first * 4..first * 4 + 16) << (T::FRACTION - 2),
            Self::Subnormal => rng.random_range(0..3 << T::FRACTION),
            Self::Extreme => {
                let field = rng.random_range(0..=T::INFINITY >> T::FRACTION);
                let near = *[0, field << T::FRACTION, T::INFINITY]
                    .choose(rng)
                    .expect("three");
                let limit = T::INFINITY - 1;
                (near + rng.random_range(0..4)).saturating_sub(2).min(limit)
            }
            Self::Zero => 0,
        };
        T::signed(magnitude, rng.random())
    }
}

/// An infinity, a NaN or a zero, with a random sign.
pub fn special<T: Format>(rng: &mut StdRng) -> T {
    let magnitude = match rng.random_range(0..3) {
        0 => T::INFINITY,
        1 => T::INFINITY + rng.random_range(1..1 << T::FRACTION),
        _ => 0,
    };
    T::signed(magnitude, rng.random())
}

/// A number from 1 on with a random number of bits.
pub fn count(rng: &mut StdRng) -> u64 {
    (rng.next_u64() | 1 << 63) >> rng.random_range(0..64)
}
