//! What a sweep of the bench leaves behind, and what is made of it: no device, no kernel, no timing.
//!
//! | module | what it has |
//! |---|---|
//! | [`schema`] | `results.json`: every type in it, with units |
//! | [`statistics`] | medians and their intervals |
//! | [`read`] | a file read back, or the reason why it is none |
//! | [`relate`] | what a row is compared with: nvcc's kernel, its ceiling |
//! | [`words`] | names of things in words |
//! | `csv` | `results.csv`; feature `report` |
//! | [`table`] | our times for a terminal |
//! | [`compare`] | two runs side by side |
//! | `report` | a page with figures and tables; feature `report` |

pub mod compare;
#[cfg(feature = "report")]
pub mod csv;
#[cfg(any(test, feature = "example"))]
pub mod example;
pub mod machine;
pub mod read;
pub mod relate;
#[cfg(feature = "report")]
pub mod report;
pub mod schema;
pub mod statistics;
pub mod table;
pub mod words;
