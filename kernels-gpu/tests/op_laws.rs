//! The laws of the operators, for every element type, on values that break careless code.

#![expect(
    clippy::neg_cmp_op_on_partial_ord,
    reason = "a comparison with NaN is false, and must not refute"
)]

use kernels_gpu::element::Element;
use kernels_gpu::op::{AtomicOp, Max, Min, Op, Sum};
use proptest::prelude::*;

/// Values compared by their bits, every NaN as one: which NaN is not promised.
trait Bits: Element {
    fn bits(self) -> u64;
}

macro_rules! integer_bits {
    ($($t:ident),*) => { $(impl Bits for $t {
        fn bits(self) -> u64 { self as u64 }
    })* };
}
integer_bits!(i32, u32, i64, u64);

macro_rules! float_bits {
    ($($t:ident),*) => { $(impl Bits for $t {
        fn bits(self) -> u64 {
            if self.is_nan() { <$t>::NAN.to_bits().into() } else { self.to_bits().into() }
        }
    })* };
}
float_bits!(f32, f64);

/// What holds for every operator, exactly.
fn identity_and_order<T: Bits, O: AtomicOp<T>>(a: T, b: T) -> Result<(), TestCaseError> {
    prop_assert_eq!(O::combine(O::IDENTITY, a).bits(), a.bits());
    prop_assert_eq!(O::combine(a, O::IDENTITY).bits(), a.bits());
    prop_assert_eq!(O::combine(a, b).bits(), O::combine(b, a).bits());

    let (mut device, mut block) = (O::IDENTITY, O::IDENTITY);
    for value in [a, b] {
        // SAFETY: two cells of this thread's own.
        unsafe {
            O::combine_atomic_device(&mut device, value);
            O::combine_atomic_block(&mut block, value);
        }
    }
    prop_assert_eq!(
        device.bits(),
        O::combine(a, b).bits(),
        "the atomic form, device"
    );
    prop_assert_eq!(
        block.bits(),
        O::combine(a, b).bits(),
        "the atomic form, block"
    );
    Ok(())
}

/// What holds for every operator but sums of floats.
fn grouping<T: Bits, O: AtomicOp<T>>(a: T, b: T, c: T) -> Result<(), TestCaseError> {
    identity_and_order::<T, O>(a, b)?;
    let left = O::combine(O::combine(a, b), c);
    let right = O::combine(a, O::combine(b, c));
    prop_assert_eq!(left.bits(), right.bits());
    Ok(())
}

macro_rules! laws {
    ($($t:ident: $values:expr, $sum:ident;)*) => { $(
        mod $t {
            use super::*;

            fn value() -> impl Strategy<Value = $t> {
                prop_oneof![any::<$t>(), proptest::sample::select(&$values[..])]
            }

            proptest! {
                #[test]
                fn sum(a in value(), b in value(), c in value()) {
                    laws!(@$sum $t, a, b, c);
                }

                #[test]
                fn min(a in value(), b in value(), c in value()) {
                    grouping::<$t, Min>(a, b, c)?;
                    let smallest = Min::combine(Min::combine(a, b), c);
                    prop_assert!([a, b, c].iter().all(|&v| !(v < smallest)));
                    prop_assert!([a, b, c].iter().any(|&v| v.bits() == smallest.bits()));
                }

                #[test]
                fn max(a in value(), b in value(), c in value()) {
                    grouping::<$t, Max>(a, b, c)?;
                    let largest = Max::combine(Max::combine(a, b), c);
                    prop_assert!([a, b, c].iter().all(|&v| !(v > largest)));
                    prop_assert!([a, b, c].iter().any(|&v| v.bits() == largest.bits()));
                }
            }
        }
    )* };

    (@exact $t:ident, $a:ident, $b:ident, $c:ident) => {
        grouping::<$t, Sum>($a, $b, $c)?;
        prop_assert_eq!(Sum::combine($a, $b), $a.wrapping_add($b));
    };

    // Each addition rounds once: three values in two orders differ by at most four roundings of
    // the largest partial.
    (@rounded $t:ident, $a:ident, $b:ident, $c:ident) => {
        identity_and_order::<$t, Sum>($a, $b)?;
        let left = Sum::combine(Sum::combine($a, $b), $c);
        let right = Sum::combine($a, Sum::combine($b, $c));
        let size = $a.abs() + $b.abs() + $c.abs();
        if size.is_finite() {
            prop_assert!((left - right).abs() <= 4.0 * $t::EPSILON * size, "{left} {right}");
        }
    };
}

laws! {
    i32: [0, 1, -1, i32::MIN, i32::MAX], exact;
    u32: [0, 1, u32::MAX, 1 << 31], exact;
    i64: [0, 1, -1, i64::MIN, i64::MAX], exact;
    u64: [0, 1, u64::MAX, 1 << 63], exact;
    f32: [0.0, -0.0, 1.0, f32::NAN, -f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MIN, f32::MAX,
        f32::MIN_POSITIVE, -1e-45], rounded;
    f64: [0.0, -0.0, 1.0, f64::NAN, -f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MIN, f64::MAX,
        f64::MIN_POSITIVE, -5e-324], rounded;
}

#[test]
fn nan_wins_and_negative_zero_is_the_smaller_zero() {
    for nan in [f32::NAN, -f32::NAN] {
        for other in [0.0, f32::INFINITY, f32::NEG_INFINITY, nan] {
            assert!(Min::combine(nan, other).is_nan() && Min::combine(other, nan).is_nan());
            assert!(Max::combine(nan, other).is_nan() && Max::combine(other, nan).is_nan());
        }
    }
    assert_eq!(Min::combine(0.0f32, -0.0).to_bits(), (-0.0f32).to_bits());
    assert_eq!(Max::combine(-0.0f32, 0.0).to_bits(), 0.0f32.to_bits());
}
