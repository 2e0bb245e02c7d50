//! The right answers.

use kernels_gpu::element::Indexed;
use kernels_gpu::op::{ArgMax, ArgMin, Min, NanMax, NanMin, Product, Sum};
use kernels_sim::oracle::{Oracle, close, same};

#[test]
fn a_product_may_round_in_any_order() {
    let values: Vec<f32> = (1..30).map(|i| 1.0 + 1.0 / i as f32).collect();
    let expected = Product::expected(&values);
    let backwards = values.iter().rev().product();
    close(backwards, &expected, 0.0).unwrap();
    close(backwards * 1.001, &expected, 0.0).unwrap_err();
}

#[test]
fn a_product_is_not_checked_where_the_order_decides() {
    let values = [f32::MAX, f32::MAX, 1e-38, 1e-38];
    let expected = Product::expected(&values);
    close(f32::INFINITY, &expected, 0.0).unwrap();
    // Equal in every order.
    let overflow = Product::expected(&values[..2]);
    assert_eq!(overflow.value, f32::INFINITY);
    close(f32::MAX, &overflow, 0.0).unwrap_err();
}

#[test]
fn integers_wrap() {
    assert_eq!(Product::expected(&[i32::MAX; 3]).value, i32::MAX);
    assert_eq!(Product::expected(&[u64::MAX; 4]).value, 1);
    assert_eq!(Sum::expected(&[u64::MAX; 4]).value, u64::MAX - 3);
}

#[test]
fn nan_wins_or_does_not_count() {
    let values = [1.0, f64::NAN, -0.0, 0.0];
    assert!(Min::expected(&values).value.is_nan());
    assert!(same(NanMin::expected(&values).value, -0.0));
    assert!(same(NanMax::expected(&values[1..]).value, 0.0));
    assert!(NanMax::expected(&[f64::NAN]).value.is_nan());
}

#[test]
fn the_first_of_equals_wins_whatever_the_order() {
    let at = |value: f32, index| Indexed::new(value, index);
    let values = [at(0.0, 7), at(-0.0, 3), at(1.0, 0)];
    assert_eq!(ArgMin::expected(&values).value.index(), 3);
    assert_eq!(ArgMax::expected(&values).value.index(), 0);
    let values = [at(f32::NAN, 7), at(-1.0, 3), at(f32::NAN, 5)];
    assert_eq!(ArgMin::expected(&values).value.index(), 5);
    assert_eq!(
        ArgMin::expected(&[] as &[Indexed<f32>]).value.index(),
        u64::MAX
    );
}

#[test]
fn what_does_not_round_must_be_the_same() {
    let expected = ArgMin::expected(&[Indexed::new(5, 3), Indexed::new(4, 7)]);
    close(Indexed::new(4, 7), &expected, 10.0).unwrap();
    close(Indexed::new(4, 6), &expected, 10.0).unwrap_err();
    close(0.0, &Min::expected(&[0.0, -0.0]), 10.0).unwrap_err();
}
