//! Checks results against plain loops.

use warpfold::Indexed;

use super::number::Number;

/// The smallest element, where -0.0 is less than 0.0; a NaN if there is one; `None` for empty input.
pub fn least<T: Number>(x: &[T]) -> Option<T> {
    nan_of(x).or_else(|| x.iter().copied().min_by_key(|x| x.order()))
}

/// The largest element, with the same rules.
pub fn greatest<T: Number>(x: &[T]) -> Option<T> {
    nan_of(x).or_else(|| x.iter().copied().max_by_key(|x| x.order()))
}

fn nan_of<T: Number>(x: &[T]) -> Option<T> {
    x.iter().copied().find(|x| x.is_nan())
}

/// Checks an extremum. If all elements are NaN, `expected` may be `None`; the result must then be NaN.
pub fn extremum<T: Number>(got: Option<T>, expected: Option<T>, x: &[T]) {
    match (got, expected) {
        (Some(got), Some(expected)) => assert!(got.is(expected), "{got:?} instead of {expected:?}"),
        (Some(got), None) => assert!(got.is_nan() && x.iter().all(|x| x.is_nan())),
        (None, _) => assert!(x.is_empty()),
    }
}

/// Checks the index of an extremum: that of the first NaN, otherwise of the first extremal element. Zeros are
/// equal.
pub fn index<T: Number>(got: Option<Indexed<T>>, x: &[T], comes_first: fn(&T, &T) -> bool) {
    let (Some(first), Some(got)) = (x.first(), got) else {
        return assert!(x.is_empty() && got.is_none());
    };
    let (mut value, mut index) = (*first, 0);
    for (i, x) in x.iter().enumerate() {
        if !value.is_nan() && (x.is_nan() || comes_first(x, &value)) {
            (value, index) = (*x, i);
        }
    }
    assert_eq!(got.index(), index as u64);
    assert!(
        got.value().is(value),
        "{:?} instead of {value:?}",
        got.value()
    );
}

/// Checks a sum of floats: the error of n rounded additions in any order is at most gamma(n) times the sum of
/// the magnitudes. If additions in some order may overflow, every result is accepted.
pub fn sum<T: Number>(got: T, x: &[T]) {
    if x.is_empty() {
        return assert!(got.is(T::nearest(0.0)), "{got:?} for empty input");
    }
    if nan_of(x).is_some() {
        return assert!(got.is_nan(), "{got:?} for input with a NaN");
    }
    let (largest, _) = T::RANGE;
    let (mut sum, mut lost, mut magnitude) = (0.0, 0.0, 0.0);
    for x in x.iter().map(|x| x.to_f64()) {
        magnitude += x.abs();
        // Neumaier's summation: adds the rounding errors separately.
        let next: f64 = sum + x;
        lost += match f64::abs(sum) >= x.abs() {
            true => (sum - next) + x,
            false => (x - next) + sum,
        };
        sum = next;
    }
    if !magnitude.is_finite() {
        let finite = x.iter().all(|x| x.to_f64().is_finite());
        return assert!(
            finite || !got.to_f64().is_finite(),
            "{got:?} for input with an infinity"
        );
    }
    if magnitude < largest / 2.0 {
        close(got, sum + lost, x.len(), magnitude);
    }
}

/// Checks a product of floats in the same way.
pub fn product<T: Number>(got: T, x: &[T]) {
    if nan_of(x).is_some() {
        return assert!(got.is_nan(), "{got:?} for input with a NaN");
    }
    let (largest, least) = T::RANGE;
    let (mut product, mut up, mut down) = (1.0, 1.0, 1.0);
    for x in x.iter().map(|x| x.to_f64()) {
        product *= x;
        match x.abs() < 1.0 {
            true => down *= x.abs(),
            false => up *= x.abs(),
        }
    }
    // The product of any subset is between `down` and `up`.
    if up < largest / 2.0 && down > least * 2.0 {
        close(got, product, 2 * x.len(), f64::abs(product));
    }
}

fn close<T: Number>(got: T, exact: f64, n: usize, magnitude: f64) {
    let nu = n as f64 * T::ROUNDOFF;
    let bound = nu / (1.0 - nu) * magnitude + f64::EPSILON * exact.abs();
    let (least, greatest) = (T::nearest(exact - bound), T::nearest(exact + bound));
    // A NaN fails. `MIN_POSITIVE` is added, because a subnormal `bound` is rounded itself.
    let (got, least, greatest) = (got.to_f64(), least.to_f64(), greatest.to_f64());
    assert!(
        least - f64::MIN_POSITIVE <= got && got <= greatest + f64::MIN_POSITIVE,
        "{got:e} instead of {exact:e}; the error bound is {bound:e}"
    );
}
