//! The feature `teaching`: the ladder and the Kepler families as selectable algorithms, triples, copies, filters, the
//! search for peers, and the read ceiling.
//!
//! It is a feature because these kernels are more numerous than those of all other calls.

mod algorithm;
mod copy;
mod ladder;
mod lanes;
mod triple;

pub use algorithm::Algorithm;
pub use copy::CopyWidth;
pub use ladder::LadderReduction;
pub use lanes::{Counter, PeerSearch};
pub use triple::TripleOrder;
