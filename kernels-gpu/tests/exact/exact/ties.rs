//! Exact results in the middle between two floats, or next to it by the lowest bit of all.

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
    /// The magnitude of the neighbour below.
    below: u64,
    /// The middle is an odd integer times a power of two.
    middle: (i128, i32),
    negative: bool,
    /// A tiny number beside the middle, or none.
    nudge: Option<Step<T>>,
    /// The magnitude of the nearest value.
    nearest: u64,
}

impl<T: Format> Tie<T> {
    fn random(rng: &mut StdRng, negative: bool) -> Self {
        let below = Values::random::<T>(rng).value::<T>(rng).magnitude();
        let (significand, exponent) = T::parts(below);
        let middle = (2 * i128::from(significand) + 1, exponent - 1);
        let away: i128 = *[-1, 0, 1].choose(rng).expect("three");
        let lowest = match rng.random() {
            true => LOWEST,
            false => rng.random_range(LOWEST..=LOWEST + 8),
        };
        let sign = if negative { -1 } else { 1 };
        let up = away > 0 || (away == 0 && below % 2 == 1);
        Self {
            below,
            middle,
            negative,
            nudge: (away != 0).then_some(Step::AddInteger(away * sign, lowest)),
            nearest: below + u64::from(up),
        }
    }

    /// The steps of `value` times 2^`exponent` with the tie's sign, and the nudge.
    fn steps(&self, value: i128, exponent: i32) -> Vec<Step<T>> {
        let signed = if self.negative { -value } else { value };
        let mut steps = vec![Step::AddInteger(signed, exponent)];
        steps.extend(self.nudge);
        steps
    }
}

fn sums<T: Format>() {
    for case in 0..cases() {
        let tie = Tie::<T>::random(&mut StdRng::seed_from_u64(case), case % 2 == 1);
        let (middle, exponent) = tie.middle;
        let steps = tie.steps(middle, exponent);
        let (sum, oracle) = both(&steps);
        let wanted = T::signed(tie.nearest, tie.negative);
        assert_eq!(sum.sum::<T>().bits(), wanted.bits(), "{steps:?}");
        oracle.assert_results(&sum, &steps);
    }
}

fn means<T: Format>() {
    for case in 0..cases() {
        let rng = &mut StdRng::seed_from_u64(case);
        let tie = Tie::<T>::random(rng, case % 2 == 1);
        let (middle, exponent) = tie.middle;
        let count = values::count(rng).max(2);
        let steps = tie.steps(middle * i128::from(count), exponent);
        let (mut sum, mut oracle) = both(&steps);
        sum.count_items(count - oracle.count);
        oracle.count = count;
        let wanted = T::signed(tie.nearest, tie.negative);
        assert_eq!(
            sum.mean::<T>().bits(),
            wanted.bits(),
            "{count} items, {steps:?}"
        );
        oracle.assert_results(&sum, &steps);
    }
}

fn roots<T: Format>() {
    for case in 0..cases() {
        let tie = Tie::<T>::random(&mut StdRng::seed_from_u64(case), false);
        let (middle, exponent) = tie.middle;
        // The square of the middle between the smallest numbers has lower bits than a sum.
        if 2 * exponent < LOWEST {
            continue;
        }
        let steps = tie.steps(middle * middle, 2 * exponent);
        let (sum, oracle) = both(&steps);
        let wanted = T::signed(tie.nearest, false);
        assert_eq!(sum.sqrt::<T>().bits(), wanted.bits(), "{steps:?}");
        oracle.assert_results(&sum, &steps);
    }
}

/// Squares of floats, and what is next to them.
fn squares<T: Format>() {
    for case in 0..cases() {
        let tie = Tie::<T>::random(&mut StdRng::seed_from_u64(case), false);
        let mut steps = vec![Step::AddSquare(T::signed(tie.below, case % 2 == 1))];
        let (sum, _) = both(&steps);
        assert_eq!(sum.sqrt::<T>().bits(), tie.below, "{steps:?}");
        steps.extend(tie.nudge);
        let (sum, oracle) = both(&steps);
        oracle.assert_results(&sum, &steps);
    }
}
