//! The product.

use super::{Combine, CombineAtomic, Replace};

/// `a * b`. Integers wrap in their own type; floats round to nearest, once per multiplication.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Product;

operator_of_numbers!(Product: T, |acc| T::wrap(acc));

combine! { Product:
    i32, 1, |a, b| a.wrapping_mul(b);
    u32, 1, |a, b| a.wrapping_mul(b);
    i64, 1, |a, b| a.wrapping_mul(b);
    u64, 1, |a, b| a.wrapping_mul(b);
    f32, 1.0, rounds to_nearest, |a, b| a * b;
    f64, 1.0, rounds to_nearest, |a, b| a * b;
}

atomic_loop!(Product);
