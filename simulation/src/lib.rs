//! Runs the kernels of `kernels-gpu` under the simulator.
//!
//! - [`case`]: one launch of one entry, with the data, the memory and the right answer. The tests
//!   launch every entry of the table with it, at every edge they know.
//! - [`copying`]: the same of an entry that copies.
//! - [`keyed`]: the same of an entry that reduces by key.
//! - [`triples`]: the same of an entry that sums triples.
//! - [`single_pass`]: the same of an entry that reduces in a single pass.
//! - [`ladder`]: what the simulator counts of each rung, which `cargo xtask ladder --sim` prints.
//! - [`speed`]: how fast the simulator is.
//! - [`oracle`], [`data`]: right answers, and the data they are of.

pub mod case;
mod clock;
pub mod copying;
pub mod data;
pub mod keyed;
pub mod ladder;
pub mod oracle;
mod pairs;
pub mod single_pass;
pub mod speed;
pub mod triples;

pub use case::{Case, Wrong};
pub use data::Data;
