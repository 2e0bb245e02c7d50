//! What the hardware would have had to do.
//!
//! Each lane logs its accesses and collectives by itself ([`log`]). Where the whole warp is
//! aligned, the logs of its lanes are merged into warp instructions, *requests*: lanes that are at
//! the same place together make one, and lanes that went apart come together again where every
//! path between them does ([`flow`], [`merge`]). A request is then priced: shared-memory wavefronts
//! ([`banks`]), 32-byte sectors of global memory and atomics on one address ([`coalescing`]), and
//! added up per line of source ([`tally`]), which gives [`Counters`].
//!
//! What cannot be seen: branches without an access or a collective on either side; that a compiler
//! keeps a value in a register or joins neighbouring loads; from where a helper was called, so that
//! two sides of a branch that call the same helper meet in it.

mod banks;
mod coalescing;
mod counters;
mod event;
mod flow;
mod log;
mod merge;
mod tally;

pub use counters::{Counters, Counts, Line};
pub(crate) use event::Event;
pub use event::What;
pub(crate) use log::WarpLog;
pub(crate) use tally::Tally;

#[cfg(test)]
mod tests;
