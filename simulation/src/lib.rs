//! Runs the kernels of `kernels-gpu` in the simulator.
//!
//! - [`case`]: a launch of an entry that reduces whole arrays, with its data, its memory and the right
//!   result. The tests launch every entry with it, at all edge cases.
//! - [`copying`]: the same for an entry that copies.
//! - [`counting`]: the same for an entry that counts keys.
//! - [`exact`]: the same for an entry that sums exactly.
//! - [`groups`]: the launches that find groups, and combine and sort their items.
//! - [`keyed`]: the same for an entry that reduces by key.
//! - [`lanes`]: the same for an entry that searches peers or filters.
//! - [`runs`]: the launch that finds runs of equal keys.
//! - [`segments`]: the launches of a segmented reduction.
//! - [`axes`]: the launches of a reduction along axes.
//! - [`launch`]: the common launch function.
//! - [`kernels`]: operators and kernels of a crate outside the library, such as this one.
//! - [`ladder`]: the counters of each rung, which `cargo xtask ladder --sim` prints.
//! - [`speed`]: the simulator's speed.
//! - [`share`], [`trials`]: which part of the launches a test runs, and what test programs have in common.
//! - [`oracle`], [`data`]: right results, and random data.

pub mod axes;
pub mod case;
mod checkers;
pub mod clock;
pub mod copying;
pub mod counting;
pub mod data;
pub mod exact;
pub mod groups;
pub mod kernels;
pub mod keyed;
pub mod ladder;
pub mod lanes;
pub mod launch;
pub mod oracle;
mod pairs;
pub mod runs;
pub mod segments;
pub mod share;
pub mod speed;
pub mod trials;
mod wrong;

pub use case::{Case, Wrong};
pub use data::Data;
pub use wrong::Wrong as WrongCase;
