//! The kernels of `cuda_std`'s conformance suite.
//!
//! Each kernel executes functions of `cuda_std` in every lane and writes the lanes' results. The package
//! `conformance` has the expected results. The kernels check no result, and do not depend on how they are
//! executed.
//!
//! A kernel is a generic function over [`io::Io`], in the module of its feature;
//! [`entry`] makes named entries with the same parameters of them. Their shape of
//! launch is under `# Safety`: the host's cases keep to it.

#![no_std]

#[cfg(test)]
extern crate std;

pub mod arm;
pub mod atomic;
pub mod barrier;
pub mod compare;
pub mod convergence;
pub mod entry;
pub mod float;
pub mod float16;
pub mod index;
pub mod io;
pub mod large;
pub mod litmus;
pub mod memory;
pub mod print;
pub mod shared;
pub mod shuffle;
pub mod trap;
pub mod value;
pub mod vote;
