//! What a sweep of the bench leaves behind, and what is made of it: no device, no kernel, no timing.
//!
//! | module | what it has |
//! |---|---|
//! | [`schema`] | `results.json`: every type in it, with units |
//! | [`statistics`] | medians and their intervals |
//! | [`read`] | a file read back, or the reason why it is none |

pub mod machine;
pub mod read;
pub mod schema;
pub mod statistics;
