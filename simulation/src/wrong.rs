//! Errors of launches.

use std::fmt::Display;

use cuda_sim::Failure;
use thiserror::Error;

/// The error of the launch that `C` describes.
#[derive(Debug, Error)]
pub enum Wrong<C: Display> {
    /// The simulator has findings.
    #[error("{case}:\n{failure}")]
    Findings {
        /// The launch.
        case: Box<C>,
        /// The findings.
        failure: Failure,
    },
    /// The simulator has no findings, but memory has wrong contents, or was accessed in another way than
    /// required.
    #[error("{case}: {what}")]
    Answer {
        /// The launch.
        case: Box<C>,
        /// The actual and the expected contents.
        what: String,
    },
    /// There is no checker for an operator and its types.
    #[error("there is no checker for {entry}")]
    NoOracle {
        /// The entry.
        entry: &'static str,
    },
}
