//! Whole logs against what the hardware or a formula says.

mod ladder;
mod library;
mod logs;
mod program;
mod programs;
mod random;
mod sites;
