//! Exact results in the middle between two floats, or near it.

use crate::cases;
use crate::format::Format;
use crate::step::{Step, both};
use crate::values::{self, Values};
use kernels_gpu::exact::LOWEST;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};

crate::for_each_float!(sums means roots squares);

/// A gap between neighbours, and an exact result in it.
struct Tie<T> {
    /// The middle is an odd integer times a power of two.
    middle: (i128, i32),
    negative: bool,
    /// The result's magnitude is the middle, or slightly more (1) or less (-1).
    away: i128,
    /// The nearest value to the result.
    nearest: T,
}

impl<T: Format> Tie<T> {
    fn random(rng: &mut StdRng, negative: bool) -> Self {
        let below = Values::random::<T>(rng).value::<T>(rng).magnitude();
        let (significand, exponent) = T::parts(below);
        let away = *[-1, 0, 1].choose(rng).expect("three");
        let up = away > 0 || (away == 0 && below % 2 == 1);
        Self {
            middle: (2 * i128::from(significand) + 1, exponent - 1),
            negative,
            away,
            nearest: T::signed(below + u64::from(up), negative),
        }
    }

    /// The steps of `value` times 2^`exponent` with the tie's sign; if the result is not the middle, also of a power
    /// of two beside it: the lowest bit of all, or one of the 130 below the exponent.
    fn steps(&self, value: i128, exponent: i32, rng: &mut StdRng) -> Vec<Step<T>> {
        let sign = if self.negative { -1 } else { 1 };
        let mut steps = vec![Step::AddInteger(sign * value, exponent)];
        if self.away != 0 {
            let bit = match rng.random() {
                true => LOWEST,
                false => LOWEST.max(exponent - rng.random_range(1..=130)),
            };
            steps.push(Step::AddInteger(sign * self.away, bit));
        }
        steps
    }
}

fn sums<T: Format>() {
    for case in 0..cases() {
        let rng = &mut StdRng::seed_from_u64(case);
        let tie = Tie::<T>::random(rng, case % 2 == 1);
        let (middle, exponent) = tie.middle;
        let steps = tie.steps(middle, exponent, rng);
        let (sum, oracle) = both(&steps);
        assert_eq!(sum.sum::<T>().bits(), tie.nearest.bits(), "{steps:?}");
        oracle.assert_results(&sum, &steps);
    }
}

fn means<T: Format>() {
    for case in 0..cases() {
        let rng = &mut StdRng::seed_from_u64(case);
        let tie = Tie::<T>::random(rng, case % 2 == 1);
        let (middle, exponent) = tie.middle;
        let count = values::count(rng).max(2);
        let steps = tie.steps(middle * i128::from(count), exponent, rng);
        let (mut sum, mut oracle) = both(&steps);
        sum.count_items(count - oracle.count);
        oracle.count = count;
        let case = (count, steps);
        assert_eq!(sum.mean::<T>().bits(), tie.nearest.bits(), "{case:?}");
        oracle.assert_results(&sum, &case);
    }
}

fn roots<T: Format>() {
    for case in 0..cases() {
        let rng = &mut StdRng::seed_from_u64(case);
        let tie = Tie::<T>::random(rng, false);
        let (middle, exponent) = tie.middle;
        // The square of the middle between the smallest numbers has lower bits than a sum.
        if 2 * exponent < LOWEST {
            continue;
        }
        let steps = tie.steps(middle * middle, 2 * exponent, rng);
        let (sum, oracle) = both(&steps);
        assert_eq!(sum.sqrt::<T>().bits(), tie.nearest.bits(), "{steps:?}");
        oracle.assert_results(&sum, &steps);
    }
}

/// Squares of floats, and what is next to them.
fn squares<T: Format>() {
    for case in 0..cases() {
        let rng = &mut StdRng::seed_from_u64(case);
        let x: T = Values::random::<T>(rng).value(rng);
        let mut steps = vec![Step::AddSquare(x)];
        let (sum, _) = both(&steps);
        assert_eq!(sum.sqrt::<T>().bits(), x.magnitude(), "{steps:?}");
        let nudge = *[-1, 1].choose(rng).expect("two");
        steps.push(Step::AddInteger(nudge, LOWEST));
        let (sum, oracle) = both(&steps);
        oracle.assert_results(&sum, &steps);
    }
}
