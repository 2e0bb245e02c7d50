//! Executes `cuda_std` and checks what every lane gets.
//!
//! Three parts that do not know each other's inside:
//!
//! - the **kernels** (package `conformance-kernels`) use `cuda_std` and write down what
//!   each lane observes;
//! - the **cases** ([`cases`]) have the data, and with the [`model`] of each
//!   instruction, written from the PTX ISA, what must be observed, bit for bit; where
//!   that depends on the schedule, the property that all schedules have;
//! - a **backend** ([`Backend`]) runs a kernel on buffers. [`cuda`] does it on a device,
//!   with a [`module`] per architecture, [`simulator`] on the CPU.
//!
//! The test `simulator` runs every trial under every schedule, the test `gpu` every trial on
//! every module that the device executes:
//!
//! ```text
//! cargo test -p conformance --test gpu -- sm_90/shuffle
//! ```
//!
//! Data are fresh in each run. The seed stands in the first line and in every failure;
//! `CONFORMANCE_SEED=<seed>` repeats it.

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
