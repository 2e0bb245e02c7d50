//! What each instruction does, as the PTX ISA states it, on plain integers.
//!
//! Nothing here knows `cuda_std`: a model that shared its code would share its
//! mistakes.

pub mod arithmetic;
pub mod chain;
pub mod real;
pub mod shuffle;
pub mod warp;
