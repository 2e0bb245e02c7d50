//! What was wrong with a launch.

use std::fmt::Display;

use cuda_sim::Failure;
use thiserror::Error;

/// What was wrong with the launch that `C` describes.
#[derive(Debug, Error)]
pub enum Wrong<C: Display> {
    /// The simulator found something.
    #[error("{case}:\n{failure}")]
    Findings {
        /// The launch.
        case: Box<C>,
        /// What was found.
        failure: Failure,
    },
    /// The simulator found nothing, and the memory holds something else afterwards than it should, or was
    /// not accessed as it should have been.
    #[error("{case}: {what}")]
    Answer {
        /// The launch.
        case: Box<C>,
        /// What it holds, and should.
        what: String,
    },
    /// An operator and types for which there are no right answers.
    #[error("there is no oracle for {entry}")]
    NoOracle {
        /// The entry.
        entry: &'static str,
    },
}
