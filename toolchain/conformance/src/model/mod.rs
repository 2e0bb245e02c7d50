//! Models of the instructions on plain integers, written from the PTX ISA.
//!
//! The models do not use `cuda_std`, because shared code would share its mistakes.

pub mod arithmetic;
pub mod chain;
pub mod real;
pub mod shuffle;
pub mod warp;
