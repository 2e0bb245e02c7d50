//! What the right answer is: plain loops.

use warpfold::Indexed;

use super::number::Number;

/// The smallest element with its sign, or a NaN; `None` for empty input.
pub fn least<T: Number>(x: &[T]) -> Option<T> {
    nan_of(x).or_else(|| x.iter().copied().min_by_key(|x| x.order()))
}

/// The largest one.
pub fn greatest<T: Number>(x: &[T]) -> Option<T> {
    nan_of(x).or_else(|| x.iter().copied().max_by_key(|x| x.order()))
}

fn nan_of<T: Number>(x: &[T]) -> Option<T> {
    x.iter().copied().find(|x| x.is_nan())
}

/// Checks an extremum; what it is of no numbers is the operator's affair.
pub fn is<T: Number>(got: Option<T>, expected: Option<T>, x: &[T]) {
    match (got, expected) {
        (Some(got), Some(expected)) => assert!(got.is(expected), "{got:?} instead of {expected:?}"),
        // The extremum of NaNs, where they do not count.
        (Some(got), None) => assert!(got.is_nan() && x.iter().all(|x| x.is_nan())),
        (None, _) => assert!(x.is_empty()),
    }
}

/// Checks a place: the first NaN's, or the first of those before which no other one comes. The zeros
/// are equal.
pub fn place<T: Number>(got: Option<Indexed<T>>, x: &[T], comes_first: fn(&T, &T) -> bool) {
    let (Some(first), Some(got)) = (x.first(), got) else {
        return assert!(x.is_empty() && got.is_none());
    };
    let (mut value, mut at) = (*first, 0);
    for (i, x) in x.iter().enumerate() {
        if !value.is_nan() && (x.is_nan() || comes_first(x, &value)) {
            (value, at) = (*x, i);
        }
    }
    assert_eq!(got.index(), at as u64);
    assert!(
        got.value().is(value),
        "{:?} instead of {value:?}",
        got.value()
    );
}

/// Checks a sum of floats: n additions in any order, each rounded, are off by no more than gamma(n)
/// times the sum of the magnitudes. Where some order overflows, anything may come out.
pub fn sum<T: Number>(got: T, x: &[T]) {
    if x.is_empty() {
        return assert!(got.is(T::nearest(0.0)), "{got:?} for empty input");
    }
    if nan_of(x).is_some() {
        return assert!(got.is_nan(), "{got:?} of a NaN");
    }
    let (largest, _) = T::RANGE;
    let (mut sum, mut lost, mut magnitude) = (0.0, 0.0, 0.0);
    for x in x.iter().map(|x| x.to_f64()) {
        magnitude += x.abs();
        // Neumaier's: what each addition loses is added up by itself.
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
            "{got:?} of an infinity"
        );
    }
    if magnitude < largest / 2.0 {
        close(got, sum + lost, x.len(), magnitude);
    }
}

/// Checks a product of floats in the same way.
pub fn product<T: Number>(got: T, x: &[T]) {
    if nan_of(x).is_some() {
        return assert!(got.is_nan(), "{got:?} of a NaN");
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
    // Every product of some of them lies between these.
    if up < largest / 2.0 && down > least * 2.0 {
        close(got, product, 2 * x.len(), f64::abs(product));
    }
}

fn close<T: Number>(got: T, exact: f64, n: usize, magnitude: f64) {
    let nu = n as f64 * T::ACCUMULATED;
    let off = nu / (1.0 - nu) * magnitude + f64::EPSILON * exact.abs();
    let (least, greatest) = (T::nearest(exact - off), T::nearest(exact + off));
    // Written so that a NaN fails. Below the smallest normal numbers `off` itself is rounded.
    let (got, least, greatest) = (got.to_f64(), least.to_f64(), greatest.to_f64());
    assert!(
        least - f64::MIN_POSITIVE <= got && got <= greatest + f64::MIN_POSITIVE,
        "{got:e} instead of {exact:e}, off by no more than {off:e}"
    );
}
