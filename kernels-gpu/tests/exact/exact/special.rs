//! NaN, infinities and zeros, in a table. The random lists have them too.

use crate::format::Format;
use crate::step::{Step, both};
use kernels_gpu::exact::{Accumulator, Flags};

crate::for_each_float!(tables);

/// The bits of a result do not depend on the payloads and signs of the NaNs.
fn tables<T: Format>() {
    let zero = T::signed(0, false);
    let negative_zero = T::signed(0, true);
    let tiny = T::signed(1, false);
    let negative_tiny = T::signed(1, true);
    let inf = T::signed(T::INFINITY, false);
    let negative_inf = T::signed(T::INFINITY, true);
    let nan = T::signed(T::INFINITY + 1, true);
    let sums = [
        (&[][..], zero),
        (&[zero], zero),
        (&[negative_zero], negative_zero),
        (&[negative_zero, negative_zero], negative_zero),
        (&[negative_zero, zero], zero),
        (&[tiny, negative_tiny], zero),
        (&[tiny, negative_tiny, negative_zero], zero),
        (&[negative_tiny, negative_zero], negative_tiny),
        (&[inf, negative_tiny, inf], inf),
        (&[tiny, negative_inf, negative_zero], negative_inf),
        (&[inf, negative_inf], T::NAN),
        (&[nan], T::NAN),
        (&[nan, inf], T::NAN),
        (&[negative_inf, nan], T::NAN),
    ];
    for (items, wanted) in sums {
        let steps: Vec<_> = items.iter().map(|x| Step::Add(*x)).collect();
        check(&steps, wanted);
    }
    let products = [
        (zero, negative_tiny, negative_zero),
        (negative_tiny, negative_zero, zero),
        (negative_zero, negative_zero, zero),
        (zero, zero, zero),
        (inf, negative_tiny, negative_inf),
        (negative_inf, negative_inf, inf),
        (inf, zero, T::NAN),
        (negative_zero, negative_inf, T::NAN),
        (nan, tiny, T::NAN),
        (zero, nan, T::NAN),
    ];
    for (a, b, wanted) in products {
        check(&[Step::AddProduct(a, b)], wanted);
    }
    check(&[Step::AddAbs(negative_zero)], zero);
    check(&[Step::AddSquare(negative_zero)], zero);
    check(&[Step::AddAbs(negative_inf)], inf);
    check(&[Step::AddSquare(negative_inf)], inf);
    check(&[Step::AddAbs(nan)], T::NAN);
    check(&[Step::AddSquare(nan)], T::NAN);
}

/// The sum has these bits; the oracle agrees, also on mean and root.
fn check<T: Format>(steps: &[Step<T>], wanted: T) {
    let (sum, oracle) = both(steps);
    assert_eq!(sum.sum::<T>().bits(), wanted.bits(), "{steps:?}");
    oracle.assert_results(&sum, &steps);
}

/// A product that `f64` rounds to zero is added exactly. As a sum it rounds to a zero with its sign.
#[test]
fn products_below_all_floats() {
    let tiny = f64::from_bits(1);
    let mut sum = Accumulator::new();
    sum.add_product(-tiny, tiny);
    assert_eq!(sum.sum::<f64>().to_bits(), (-0.0f64).to_bits());
    assert_eq!(sum.mean::<f32>().to_bits(), (-0.0f32).to_bits());
    assert!(sum.sqrt::<f64>().is_nan());
    sum.add_square(tiny);
    assert_eq!(sum.sum::<f64>().to_bits(), 0);
    sum.add_square(tiny);
    assert_eq!(sum.sqrt::<f64>(), tiny);
}

#[test]
fn flags_of_items() {
    let other = Flags::NOT_NEGATIVE_ZERO;
    assert_eq!(Flags::of(-0.0), Flags::NONE);
    for x in [0.0, 1.0, -f64::MAX, f64::from_bits(1)] {
        assert_eq!(Flags::of(x), other);
    }
    assert_eq!(Flags::of(f64::INFINITY), Flags::INFINITY | other);
    let negative = Flags::NEGATIVE_INFINITY;
    assert_eq!(Flags::of(f64::NEG_INFINITY), negative | other);
    for nan in [
        f64::NAN,
        -f64::NAN,
        f64::from_bits(f64::INFINITY.to_bits() + 1),
    ] {
        assert_eq!(Flags::of(nan), Flags::NAN | other);
    }
}

#[test]
fn flags_as_bits() {
    for bits in 0..16 {
        let flags = Flags::from_bits(bits).expect("known flags");
        assert_eq!(flags.bits(), bits);
        for other in (0..16).filter_map(Flags::from_bits) {
            assert_eq!(flags.contains(other), flags | other == flags);
        }
    }
    for bit in 4..32 {
        assert_eq!(Flags::from_bits(1 << bit | 1), None);
    }
}

#[test]
fn debug_is_short() {
    let mut sum = Accumulator::default();
    sum.add_all(&[1.5f32, -2.0]);
    let text = format!("{sum:?}");
    assert_eq!(text, "Accumulator { sum: -0.5, count: 2, flags: Flags(8) }");
}
