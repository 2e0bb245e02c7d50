//! Tests of this crate's parts, outside the library so that it is compiled once.

mod case;
mod checkers;
mod clock;
mod data;
mod differences;
mod keys;
mod oracle;
mod share;
mod shares;
mod speed;
