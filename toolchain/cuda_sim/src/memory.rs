//! The memories of the simulated device.

mod arena;
mod buffer;
mod registry;

pub(crate) use arena::Arena;
pub use buffer::{Buffer, Plain};
pub(crate) use registry::{Allocations, Found};

/// What memory holds that nobody has written: NaN as a float, -1 as an integer.
const POISON: u8 = 0xFF;
