//! The exact sum as an integer of any size.

use crate::format::Format;
use kernels_gpu::element::{bf16, f16};
use kernels_gpu::exact::Accumulator;
use num_bigint::{BigInt, BigUint, Sign};
use std::cmp::Ordering;
use std::fmt::Debug;

/// What an accumulator should hold.
#[derive(Clone)]
pub struct Oracle {
    /// The exact sum of the finite items, as a multiple of 2^-2148.
    pub sum: BigInt,
    /// The sum of the items that are zeros or not finite, as IEEE adds them. All other items are 0.0 here: the sum
    /// of a zero with any zero but -0.0 is 0.0.
    specials: f64,
    /// The number of items.
    pub count: u64,
}

/// A number: its value, if it is finite, and what kind it is.
struct Item {
    /// As a multiple of 2^-1074.
    units: BigInt,
    /// The same if it is a zero or not finite, otherwise 1.0 with its sign.
    kind: f64,
}

impl Item {
    fn of<T: Format>(x: T) -> Self {
        let magnitude = x.magnitude();
        let kind = match magnitude.cmp(&T::INFINITY) {
            Ordering::Less if magnitude == 0 => 0.0,
            Ordering::Less => 1.0,
            Ordering::Equal => f64::INFINITY,
            Ordering::Greater => f64::NAN,
        };
        let (sign, kind) = match x.is_negative() {
            true => (Sign::Minus, -kind),
            false => (Sign::Plus, kind),
        };
        let units = match kind.is_finite() {
            true => BigInt::from_biguint(sign, T::units(magnitude)),
            false => BigInt::ZERO,
        };
        Self { units, kind }
    }
}

impl Oracle {
    pub fn new() -> Self {
        Self {
            sum: BigInt::ZERO,
            specials: -0.0,
            count: 0,
        }
    }

    pub fn add<T: Format>(&mut self, x: T) {
        let item = Item::of(x);
        self.add_item(item.units << 1074u32, item.kind);
    }

    pub fn add_product<T: Format>(&mut self, a: T, b: T) {
        let (a, b) = (Item::of(a), Item::of(b));
        self.add_item(a.units * b.units, a.kind * b.kind);
    }

    /// Adds a number that is not zero: `value` times 2^`exponent`.
    pub fn add_integer(&mut self, value: i128, exponent: i32) {
        self.add_item(BigInt::from(value) << (exponent + 2148), 1.0);
    }

    fn add_item(&mut self, value: BigInt, kind: f64) {
        self.sum += value;
        self.specials += if kind.abs() == 1.0 { 0.0 } else { kind };
        self.count += 1;
    }

    /// Asserts that the accumulator's results are right, in every type. `case` is for the message.
    pub fn assert_results(&self, got: &Accumulator, case: &impl Debug) {
        assert_eq!(got.count(), self.count, "{case:?}");
        assert_eq!(got.is_empty(), self.count == 0, "{case:?}");
        self.assert_results_in::<f16>(got, case);
        self.assert_results_in::<bf16>(got, case);
        self.assert_results_in::<f32>(got, case);
        self.assert_results_in::<f64>(got, case);
    }

    fn assert_results_in<T: Format>(&self, got: &Accumulator, case: &impl Debug) {
        let sum = self.sum.magnitude();
        let negative = self.sum.sign() == Sign::Minus;
        let at_middle = |middle: BigUint| (middle << 1073u32).cmp(sum);
        self.assert_result(got.sum::<T>(), negative, at_middle, ("sum", case));
        let mean = got.mean::<T>();
        if self.count == 0 {
            assert_eq!(mean.bits(), T::NAN.bits(), "mean: {case:?}");
        } else {
            let at_middle = |middle: BigUint| ((middle << 1073u32) * self.count).cmp(sum);
            self.assert_result(mean, negative, at_middle, ("mean", case));
        }
        let root = got.sqrt::<T>();
        if negative || self.specials == f64::NEG_INFINITY {
            assert_eq!(root.bits(), T::NAN.bits(), "sqrt: {case:?}");
        } else if sum == &BigUint::ZERO && self.specials == 0.0 {
            assert_eq!(root.bits(), 0, "sqrt: {case:?}");
        } else {
            let four_sums = sum * 4u32;
            let at_middle = |middle: BigUint| (&middle * &middle).cmp(&four_sums);
            self.assert_result(root, negative, at_middle, ("sqrt", case));
        }
    }

    /// Asserts that a result is the special value or the nearest value. `at_middle` compares a multiple of 2^-1075,
    /// the middle between two values, with the exact result's magnitude.
    fn assert_result<T: Format>(
        &self,
        got: T,
        negative: bool,
        at_middle: impl Fn(BigUint) -> Ordering,
        case: impl Debug,
    ) {
        let wanted = if self.specials.is_nan() {
            T::NAN
        } else if self.specials.is_infinite() {
            T::signed(T::INFINITY, self.specials < 0.0)
        } else if self.sum == BigInt::ZERO {
            let negative = self.count > 0 && self.specials.is_sign_negative();
            T::signed(0, negative)
        } else {
            let magnitude = got.magnitude();
            assert!(magnitude <= T::INFINITY, "{case:?}: {got:?}");
            assert_eq!(got.is_negative(), negative, "{case:?}: {got:?}");
            // The sum of neighbours is twice their middle. Ties go to even.
            let middle = |below: u64| at_middle(T::units(below) + T::units(below + 1));
            let tie = match magnitude % 2 {
                0 => Some(Ordering::Equal),
                _ => None,
            };
            if magnitude > 0 {
                let order = middle(magnitude - 1);
                assert!(order.is_lt() || Some(order) == tie, "{case:?}: {got:?}");
            }
            if magnitude < T::INFINITY {
                let order = middle(magnitude);
                assert!(order.is_gt() || Some(order) == tie, "{case:?}: {got:?}");
            }
            return;
        };
        assert_eq!(got.bits(), wanted.bits(), "{case:?}: {got:?}");
    }
}
