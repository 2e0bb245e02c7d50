//! Warp instructions and memory transactions that a GPU would have needed.
//!
//! Each lane logs its accesses and collectives ([`log`]). When the whole warp is converged, the logs of its
//! lanes are merged into warp instructions, *requests*. Lanes at the same instruction form one request.
//! Diverged lanes reconverge where all paths between them do ([`flow`], [`merge`]). For each request, the
//! counters add shared-memory wavefronts ([`banks`]), 32-byte sectors of global memory, and atomics on the
//! same address ([`coalescing`]). They are summed for each source line ([`tally`]), as [`Counters`].
//!
//! The logs do not show some facts. Branches without an access or a collective are invisible. A compiler may
//! keep a value in a register, or combine adjacent loads. And two sides of a branch that call the same helper
//! seem to reconverge in it.

mod banks;
mod coalescing;
mod counters;
mod event;
mod flow;
mod log;
mod merge;
mod request;
mod tally;

pub use counters::{Counters, Counts, Line};
pub(crate) use event::Event;
pub use event::InstructionKind;
pub(crate) use log::WarpLog;
pub use request::Request;
pub(crate) use tally::Tally;

#[cfg(test)]
mod tests;
