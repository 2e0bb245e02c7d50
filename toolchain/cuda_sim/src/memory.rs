//! Global and shared memory of the simulated device.

mod arena;
mod buffer;
mod poison;
mod registry;

pub(crate) use arena::Arena;
pub use buffer::{Buffer, Plain};
pub(crate) use poison::{is_poison, poison};
pub(crate) use registry::{Allocations, Found};
