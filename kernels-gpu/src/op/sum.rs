//! The sum.

use cuda_std::atomic::mid;

/// `a + b`. Integers wrap in their own type; floats round to nearest, once per addition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sum;

operator_of_numbers!(Sum: T, |acc| T::wrap(acc), exact |sum| T::of_exact(sum));

// -0.0 is the identity of float addition: (-0.0) + (-0.0) is -0.0, but 0.0 + (-0.0) is 0.0.
combine! { Sum:
    i32, 0, |a, b| a.wrapping_add(b);
    u32, 0, |a, b| a.wrapping_add(b);
    i64, 0, |a, b| a.wrapping_add(b);
    u64, 0, |a, b| a.wrapping_add(b);
    f32, -0.0, initial 0.0, rounds to_nearest, |a, b| a + b;
    f64, -0.0, initial 0.0, rounds to_nearest, |a, b| a + b;
}

atomic_instruction!(Sum is add: i32 u32 i64 u64 f32 f64);
warp_instruction!(Sum is Add);
