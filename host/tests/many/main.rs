//! Arrays that are spread over ranks: the bits of one device, and errors on all ranks.

#[path = "../common/embedded.rs"]
mod embedded;

mod failures;
mod keyed;
mod operators;
mod parts;
mod ranks;
