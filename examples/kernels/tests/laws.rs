//! Tests that the operators of this crate obey the laws.

use kernels_gpu::laws::{self, Strategy};
use kernels_gpu::prelude::*;
use outside_kernels::*;

#[test]
fn sum_of_complex_numbers() {
    let numbers = (-1e3f32..1e3, -1e3f32..1e3).prop_map(|(re, im)| Complex { re, im });
    laws::of(&Sum, numbers).tolerance(1e-5).check();
}

#[test]
fn squares_about() {
    laws::of(&SquaresAbout { centre: 2.5 }, -1e3f32..1e3)
        .tolerance(1e-5)
        .check();
}

#[test]
fn bounding_box() {
    // Finite points. `f32::min` may return either zero, so they count as equal.
    let points = laws::any::<Point>().prop_filter("finite", |point| {
        [point.x, point.y, point.z].iter().all(|x| x.is_finite())
    });
    laws::of(&BoundingBox, points).zeros_equal().check();
}

#[test]
fn best() {
    let pairs = laws::any::<Scored>();
    laws::of(&Best, pairs).zeros_equal().check();
}

#[test]
fn mat_product() {
    // Quarter turns and reflections, whose products are exact.
    let matrices = (0..4usize, 0..2u8);
    let matrices = matrices.prop_map(|(turns, reflected)| {
        let quarter = Mat2 {
            rows: [[0.0, -1.0], [1.0, 0.0]],
        };
        let start = Mat2 {
            rows: [[if reflected == 1 { -1.0 } else { 1.0 }, 0.0], [0.0, 1.0]],
        };
        (0..turns).fold(start, |matrix, _| MatProduct.combine(matrix, quarter))
    });
    laws::of(&MatProduct, matrices).zeros_equal().check();
}

#[test]
fn dot3() {
    let items = || -100f32..100.0;
    laws::of(&Dot3, (items(), items(), items()))
        .tolerance(1e-13)
        .check();
}

#[test]
fn histogram() {
    laws::check(&Histogram, laws::any::<u8>());
}

#[test]
fn last_valid() {
    laws::check(&LastValid, (laws::any::<i64>(), 0..2u8));
}

#[test]
fn log_sum_exp() {
    // All floats, with infinities and NaN, and numbers so close that every term matters.
    let close = |a: ScaledSum, b: ScaledSum| {
        a.base == b.base && (a.sum - b.sum).abs() <= 1e-5 * a.sum.max(b.sum)
    };
    let all = laws::any::<f32>();
    laws::of(&LogSumExp, all).close(close).zeros_equal().check();
    let near = -20f32..20.0;
    laws::of(&LogSumExp, near)
        .close(close)
        .zeros_equal()
        .check();
}
