//! Integers, terms and digits, by which kernels add what they have summed themselves.

use crate::cases;
use crate::format::Format;
use crate::oracle::Oracle;
use crate::values::Values;
use kernels_gpu::exact::{Accumulator, Flags, LOWEST, WORDS};
use rand::rngs::StdRng;
use rand::{Rng, RngExt, SeedableRng};

/// All values are below 2 to the power of this, so that eight of them fit.
const LIMIT: i32 = LOWEST + 64 * WORDS as i32 - 5;

/// An accumulator, which does not count by itself here, and its oracle.
struct Both {
    sum: Accumulator,
    oracle: Oracle,
}

impl Both {
    fn new() -> Self {
        Self {
            sum: Accumulator::new(),
            oracle: Oracle::new(),
        }
    }

    /// Adds to the oracle a number whose lowest bits, which are zero, may be below those of a sum.
    fn expect(&mut self, value: i128, exponent: i32) {
        let zeros = value.trailing_zeros() % 128;
        self.oracle
            .add_integer(value >> zeros, exponent + zeros as i32);
    }

    fn assert_results(mut self, case: u64) {
        self.sum.count_items(self.oracle.count);
        self.sum.add_flags(Flags::NOT_NEGATIVE_ZERO);
        self.oracle
            .assert_results(&self.sum, &format!("case {case}"));
    }
}

/// An exponent at which the number fits, often the lowest or the highest.
fn exponent(value: i128, rng: &mut StdRng) -> i32 {
    let lowest = LOWEST - value.trailing_zeros() as i32;
    let highest = LIMIT - 128 + value.unsigned_abs().leading_zeros() as i32;
    match rng.random_range(0..4) {
        0 => lowest,
        1 => highest,
        _ => rng.random_range(lowest..=highest),
    }
}

#[test]
fn integers() {
    for case in 0..cases() {
        let rng = &mut StdRng::seed_from_u64(case);
        let mut both = Both::new();
        for _ in 0..rng.random_range(0..8) {
            let bits = u128::from(rng.next_u64()) << 64 | u128::from(rng.next_u64());
            let value = bits as i128 >> rng.random_range(0..128) << rng.random_range(0..8) | 1;
            let value = value << rng.random_range(0..4);
            let exponent = exponent(value, rng);
            both.sum.add_integer(value, exponent);
            both.expect(value, exponent);
        }
        both.assert_results(case);
    }
}

#[test]
fn terms() {
    for case in 0..cases() {
        let rng = &mut StdRng::seed_from_u64(case);
        let mut both = Both::new();
        for _ in 0..rng.random_range(0..8) {
            let value = Values::random::<f64>(rng).value::<f64>(rng);
            let (significand, own) = f64::parts(value.magnitude());
            let signed = match value.is_sign_negative() {
                true => -i128::from(significand),
                false => i128::from(significand),
            };
            if value == 0.0 {
                both.sum.add_term(value, rng.random());
                continue;
            }
            let exponent = exponent(signed, rng);
            both.sum.add_term(value, exponent - own);
            both.expect(signed, exponent);
        }
        both.assert_results(case);
    }
}

#[test]
fn digits() {
    for case in 0..cases() {
        let rng = &mut StdRng::seed_from_u64(case);
        let mut both = Both::new();
        for _ in 0..rng.random_range(0..4) {
            let lowest = rng.random_range(LOWEST..LIMIT - 66);
            let longest = (LIMIT - 66 - lowest) / 16;
            let digits: Vec<i64> = (0..rng.random_range(0..=longest.min(300)))
                .map(|_| match rng.random_range(0..4) {
                    0 => i64::MIN,
                    1 => i64::MAX,
                    2 => 0,
                    _ => rng.random::<i64>() >> rng.random_range(0..64),
                })
                .collect();
            both.sum.add_digits(&digits, lowest);
            for (digit, exponent) in digits.iter().zip((lowest..).step_by(16)) {
                both.expect((*digit).into(), exponent);
            }
        }
        both.assert_results(case);
    }
}

#[test]
#[should_panic = "bits from 2^-2149 to below 2^-2148; must be from 2^-2148 to below 2^2139"]
fn bits_below_the_lowest() {
    Accumulator::new().add_integer(2, LOWEST - 2);
}

#[test]
#[should_panic = "bits from 2^2138 to below 2^2140; must be from 2^-2148 to below 2^2139"]
fn bits_above_the_highest() {
    Accumulator::new().add_integer(-3, 2138);
}

#[test]
#[should_panic = "below 2^2147483700; must be from 2^-2148 to below 2^2139"]
fn a_scale_beyond_all_exponents() {
    Accumulator::new().add_term(1e300, i32::MAX);
}

#[test]
#[should_panic = "the term inf; must be finite"]
fn a_term_that_is_not_finite() {
    Accumulator::new().add_term(f64::INFINITY, 0);
}
