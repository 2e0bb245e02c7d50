//! Runs CUDA kernels written with `cuda_std` on the CPU, and finds their bugs.

mod access;
mod check;
mod count;
mod site;

pub use access::{Kind, Scope, Space};
pub use site::Site;
