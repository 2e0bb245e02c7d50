//! The results of the bench: their file formats, tables, comparisons and the report. Nothing here measures.
//!
//! | module | contents |
//! |---|---|
//! | [`accuracy`] | `accuracy.json`: the errors of sums |
//! | [`parts`] | `segments.json`, `axes.json`, `runs.json`: the times of parts of an array |
//! | [`schema`] | `results.json`: every type in it, with units |
//! | [`statistics`] | medians and their intervals |
//! | [`read`] | reading and checking a `results.json` |
//! | [`relate`] | the rows that a row is compared with: nvcc's kernel, its ceiling |
//! | [`words`] | printed names and numbers |
//! | `csv` | `results.csv`; feature `report` |
//! | [`table`] | our times for a terminal |
//! | [`compare`] | comparison of two runs |
//! | `report` | a page with figures and tables; feature `report` |

pub mod accuracy;
pub mod compare;
#[cfg(feature = "report")]
pub mod csv;
#[cfg(any(test, feature = "example"))]
pub mod example;
pub mod machine;
pub mod parts;
pub mod read;
pub mod relate;
#[cfg(feature = "report")]
pub mod report;
pub mod schema;
pub mod statistics;
pub mod table;
pub mod words;
