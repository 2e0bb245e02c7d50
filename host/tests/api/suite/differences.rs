//! Intended differences to NumPy, with the reasons.

use super::compare;
use super::number::Number;

/// -0.0 is smaller than 0.0. For NumPy they are equal, and its result depends on the order and the processor.
pub fn extremum<T: Number>(got: T, numpy: T, elements: &[T], smallest: bool) -> Result<(), String> {
    if numpy.to_f64() != 0.0 {
        return compare::same(got, numpy);
    }
    let zeros = || elements.iter().filter(|element| element.to_f64() == 0.0);
    let negative = match smallest {
        true => zeros().any(|zero| zero.is_negative_zero()),
        false => zeros().all(|zero| zero.is_negative_zero()),
    };
    let zero = if negative {
        T::from_f64(-0.0)
    } else {
        T::from_f64(0.0)
    };
    compare::same(got, zero)
}

/// For empty input a result that does not exist is `None`; NumPy raises an error, and the answers have null.
pub fn none_for_empty_input<T>(got: Option<T>) -> Result<(), String> {
    match got {
        None => Ok(()),
        Some(_) => Err("a result for empty input".into()),
    }
}

/// The absolute value of an integer in 64 bits, as the 1-norm adds it; NumPy's norm is a float.
pub fn size<T: Number>(value: T) -> u64 {
    match value.to_f64() < 0.0 {
        // The bits of a negative number of fewer than 64 bits, sign-extended.
        true => (value.bits() as i64)
            .wrapping_shl(64 - 8 * size_of::<T>() as u32)
            .wrapping_shr(64 - 8 * size_of::<T>() as u32)
            .unsigned_abs(),
        false => value.bits(),
    }
}

/// If an element is infinite or NaN, or a square overflows f64, mean and variance are both NaN. NumPy's mean
/// may then be an infinity or a number.
pub fn has_no_moments(sum_of_squares: f64) -> bool {
    !sum_of_squares.is_finite()
}
