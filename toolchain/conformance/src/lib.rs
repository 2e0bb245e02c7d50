//! Executes `cuda_std` and checks the results of every lane.
//!
//! The suite has three independent parts:
//!
//! - the **kernels** (package `conformance-kernels`) use `cuda_std` and write the results of each lane;
//! - the **cases** ([`cases`]) contain the data. Their expected results come from a [`model`] of each
//!   instruction, written from the PTX ISA, and are exact. If results depend on the schedule, a case checks a
//!   property that holds for all schedules;
//! - a **backend** ([`Backend`]) runs a kernel with buffers: [`cuda`] on a device, with a [`module`] for each
//!   architecture, and [`simulator`] on the CPU.
//!
//! The test `simulator` runs every trial under every schedule, the test `gpu` every trial on
//! every module that the device executes:
//!
//! ```text
//! cargo test -p conformance --test gpu -- sm_90/shuffle
//! ```
//!
//! Each run uses new random data. The first line and every failure contain the seed;
//! `CONFORMANCE_SEED=<seed>` repeats the run.

pub mod backend;
pub mod case;
pub mod cases;
pub mod cuda;
pub mod element;
pub mod float;
pub mod model;
pub mod module;
pub mod simulator;

pub use backend::{Backend, BackendError};
pub use case::{Case, Expectation, Launch, Outcome, Word};
