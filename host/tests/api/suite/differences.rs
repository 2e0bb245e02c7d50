//! Where we mean something else than NumPy, and why.

use super::compare;
use super::number::Number;

/// -0.0 is smaller than 0.0; to NumPy they are equal, and which of them it gives depends on the order
/// and on the processor. So the result does not depend on either.
pub fn extremum<T: Number>(
    got: T,
    numpys: T,
    elements: &[T],
    smallest: bool,
) -> Result<(), String> {
    if numpys.to_f64() != 0.0 {
        return compare::same(got, numpys);
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

/// What only some elements have is `None` of nothing, where NumPy raises an error, and the
/// answers have null.
pub fn of_nothing<T>(got: Option<T>) -> Result<(), String> {
    match got {
        None => Ok(()),
        Some(_) => Err("something of no elements".into()),
    }
}

/// The absolute value of an integer, as the 1-norm adds it: in 64 bits, where NumPy's norm is a float.
pub fn size<T: Number>(value: T) -> u64 {
    match value.to_f64() < 0.0 {
        // The bits of a negative number of fewer than 64 bits stand in its own.
        true => (value.bits() as i64)
            .wrapping_shl(64 - 8 * size_of::<T>() as u32)
            .wrapping_shr(64 - 8 * size_of::<T>() as u32)
            .unsigned_abs(),
        false => value.bits(),
    }
}

/// With an infinity or a NaN among the elements, or squares that no f64 has, mean and variance are NaN
/// together; NumPy's mean by itself may be an infinity, or a number.
pub fn has_no_moments(sum_of_squares: f64) -> bool {
    !sum_of_squares.is_finite()
}
