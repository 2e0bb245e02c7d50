//! Runs CUDA kernels written with `cuda_std` on the CPU, and finds their bugs.

mod access;
mod block;
mod check;
mod count;
#[doc(hidden)]
pub mod device;
mod finding;
mod grid;
mod lane;
mod launch;
mod memory;
mod overflow;
mod panics;
mod schedule;
mod simulator;
mod site;
mod stack;
mod trace;

pub use access::{Kind, Scope, Space};
pub use count::{Counters, Counts, Line, What};
pub use finding::{Bug, Failure, Finding, Thread, Touch};
pub use launch::Checks;
pub use memory::{Buffer, Plain};
pub use schedule::Schedule;
pub use simulator::{Dim, Report, Simulator};
pub use site::Site;
