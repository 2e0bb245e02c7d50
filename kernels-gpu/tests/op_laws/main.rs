//! The laws of the operators, for every element type, on values that break careless code.

mod floats;
mod integers;
mod laws;
mod numpy;
mod values;
