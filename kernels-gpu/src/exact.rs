//! Exact sums of floats: the same bits in any order, rounded once.
//!
//! A float is an integer times a power of two. A fixed-point number that is wide enough holds every such number
//! and every sum of them. Adding integers is associative: any order of the items and any split among threads,
//! devices and machines gives the same words. Only the result is rounded.
//!
//! | name | is |
//! |---|---|
//! | `Accumulator` | an exact sum with its number of items; on the host only |
//! | [`Float`] | a type of floats that can be summed exactly |
//! | [`Flags`] | what a sum has to know beside its words: NaN, infinities and zeros among the items |

#[cfg(not(target_arch = "nvptx64"))]
mod accumulator;
#[cfg(not(target_arch = "nvptx64"))]
mod bytes;
#[cfg(not(target_arch = "nvptx64"))]
mod fixed;
mod flags;
mod float;
#[cfg(not(target_arch = "nvptx64"))]
mod leading;

#[cfg(not(target_arch = "nvptx64"))]
pub use accumulator::Accumulator;
#[cfg(not(target_arch = "nvptx64"))]
pub use bytes::{BYTES, BytesError};
pub use flags::Flags;
pub use float::Float;

/// The exponent of an exact sum's lowest bit: that of the product of the two smallest `f64`.
pub const LOWEST: i32 = 2 * <f64 as Float>::MIN_EXPONENT;

/// The number of 64-bit words of an exact sum.
///
/// The highest bit is the sign. So sums below 2^2139 fit: more than 2^64 products of the largest `f64`.
pub const WORDS: usize = 67;
