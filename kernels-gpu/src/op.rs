//! How elements are reduced: the operators.
//!
//! # Laws
//!
//! For every operator `O` and all values `a`, `b`, `c`:
//!
//! - `combine(IDENTITY, a) == a == combine(a, IDENTITY)`, bit for bit (NaN stays NaN);
//! - `combine(a, b) == combine(b, a)`;
//! - `combine(combine(a, b), c) == combine(a, combine(b, c))`, exactly for integers and for
//!   [`Min`] and [`Max`]; for sums of floats up to the rounding of each addition.
//!
//! A reduction may therefore group and order the elements as the hardware likes. Integers
//! wrap in their own type. [`Min`] and [`Max`] of floats are IEEE 754-2019 `minimum` and
//! `maximum`: a NaN anywhere gives NaN, and `-0.0` is smaller than `+0.0`, so that the result
//! depends on the set of values alone and never on their order.

mod extremum;
mod sum;

pub use extremum::{Max, Min};
pub use sum::Sum;

use crate::element::Element;
use cuda_std::warp::WarpReductionOp;

/// An associative, commutative operator with an identity. The laws stand in the [module's
/// documentation](self) and are tested for every operator and element type.
pub trait Op<T: Element>: Copy + Send + Sync + 'static {
    /// The operator's name as it stands in the names of entry points: `"sum"`.
    const NAME: &'static str;

    /// The value that changes nothing: what an empty array reduces to, and what a thread with
    /// nothing to load contributes.
    const IDENTITY: T;

    /// The two values as one.
    fn combine(a: T, b: T) -> T;
}

/// An operator that the memory system applies by itself: `*cell = combine(*cell, value)` in one
/// indivisible step.
///
/// Relaxed ordering: the update is indivisible, but says nothing about other memory.
pub trait AtomicOp<T: Element>: Op<T> {
    /// Combines `value` into a cell of global memory, indivisibly for all threads of the device.
    ///
    /// # Safety
    ///
    /// - `cell` is valid for reads and writes and aligned.
    /// - While the kernel runs, no thread touches the cell other than atomically.
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    unsafe fn combine_atomic_device(cell: *mut T, value: T);

    /// Combines `value` into a cell of shared memory, indivisibly for all threads of the block.
    ///
    /// # Safety
    ///
    /// - `cell` is valid for reads and writes and aligned.
    /// - Between two barriers, no thread of the block touches the cell other than atomically.
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    unsafe fn combine_atomic_block(cell: *mut T, value: T);
}

/// An operator that the warp applies by itself in one instruction, `redux.sync` (sm_80 and above;
/// below that, `cuda_std` builds it from shuffles).
pub trait ReduxOp<T: Element>: Op<T> {
    /// The instruction's name for this operator.
    const REDUX: WarpReductionOp;
}
