//! Runs the kernels of `kernels-gpu` under the simulator.
//!
//! - [`case`]: one launch of one entry that reduces whole arrays, with the data, the memory and the right
//!   answer. The tests launch every entry with it, at every edge they know.
//! - [`copying`]: the same of an entry that copies.
//! - [`keyed`]: the same of an entry that reduces by key.
//! - [`launch`]: the launch that all of these make.
//! - [`kernels`]: operators and kernels of an outside crate, which this one is.
//! - [`ladder`]: what the simulator counts of each rung, which `cargo xtask ladder --sim` prints.
//! - [`speed`]: how fast the simulator is.
//! - [`share`]: how many of the launches a test makes.
//! - [`oracle`], [`data`]: right answers, and the data they are of.

pub mod case;
mod clock;
pub mod copying;
pub mod data;
mod judges;
pub mod kernels;
pub mod keyed;
pub mod ladder;
pub mod launch;
pub mod oracle;
mod pairs;
pub mod share;
pub mod speed;
mod wrong;

pub use case::{Case, Wrong};
pub use data::Data;
pub use wrong::Wrong as WrongCase;
