//! The feature `teaching`: the ladder and the Kepler families as algorithms of choice, triples, copies, and the
//! read ceiling.
//!
//! It is a feature because these kernels outnumber those of all other calls.

mod algorithm;
mod copy;
mod ladder;
mod triple;

pub use algorithm::Algorithm;
pub use copy::CopyWidth;
pub use ladder::LadderReduction;
pub use triple::TripleOrder;
