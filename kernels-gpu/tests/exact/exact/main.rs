//! Tests that exact sums are exact, and that their results are the nearest floats.
//!
//! The oracle has the exact sum as an integer of any size. It does not round: a result is right if the exact value
//! is between the middles of the gaps below and above it.
//!
//! With `WARPFOLD_TESTS=all` there are 100,000 random cases of each kind and type, otherwise 3,000.

mod bytes;
mod format;
mod lists;
mod oracle;
mod special;
mod step;
mod terms;
mod ties;
mod values;

/// The number of random cases of each test.
fn cases() -> u64 {
    match std::env::var_os("WARPFOLD_TESTS") {
        Some(tests) if tests == "all" => 100_000,
        _ => 3_000,
    }
}

/// A test for each type of floats: the function of this name, for the type.
macro_rules! for_each_float {
    ($($function:ident)*) => { $(
        mod $function {
            use kernels_gpu::element::{bf16, f16};

            #[test]
            fn of_f16() {
                super::$function::<f16>();
            }

            #[test]
            fn of_bf16() {
                super::$function::<bf16>();
            }

            #[test]
            fn of_f32() {
                super::$function::<f32>();
            }

            #[test]
            fn of_f64() {
                super::$function::<f64>();
            }
        }
    )* };
}

use for_each_float;
