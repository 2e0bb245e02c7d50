//! The result of launching a mutant.

use std::fmt;

use cuda_sim::{Checks, Failure, Schedule, Simulator};

/// How bugs are detected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// By all checks and the results, under every schedule.
    Checks,
    /// By the results of launches that end, like a test on a device: without checks, with one schedule.
    AnswersAlone,
}

impl Mode {
    /// The schedules, most effective first.
    pub fn schedules(self) -> &'static [Schedule] {
        match self {
            Self::Checks => &[
                Schedule::Forward,
                Schedule::Reverse,
                Schedule::Random(1),
                Schedule::Random(2),
            ],
            Self::AnswersAlone => &[Schedule::Forward],
        }
    }

    /// A simulator for the mode.
    pub fn simulator(self, schedule: Schedule) -> Simulator {
        let checks = match self {
            Self::Checks => Checks::ALL,
            Self::AnswersAlone => Checks::NONE,
        };
        Simulator::new().schedule(schedule).check(checks)
    }

    /// The result of a launch with findings. Without checks, a launch with a deadlock or an access outside an
    /// array has no result.
    pub fn failed(self, launch: &str, failure: &Failure) -> Attempt {
        match self {
            Self::Checks => Attempt::Failed {
                verdict: Verdict::Finding(kind(failure)),
                text: format!("{launch}\n{failure}"),
            },
            Self::AnswersAlone => Attempt::Fine,
        }
    }
}

/// The kind of the first finding, such as `Race`.
fn kind(failure: &Failure) -> String {
    let bug = format!("{:?}", failure.findings[0].bug);
    let end = bug.find(|c: char| !c.is_alphanumeric());
    bug[..end.unwrap_or(bug.len())].to_owned()
}

/// The result of one launch, or of all.
pub enum Attempt {
    /// No bug was detected.
    Fine,
    /// A launch failed.
    Failed {
        /// The kind of failure.
        verdict: Verdict,
        /// The launch and the details.
        text: String,
    },
}

impl Attempt {
    /// A launch without findings but with a wrong result.
    pub fn wrong(text: String) -> Self {
        Self::Failed {
            verdict: Verdict::Answer,
            text,
        }
    }
}

/// What detected the bug.
pub enum Verdict {
    /// A finding of the simulator, of this kind.
    Finding(String),
    /// A wrong result, without findings.
    Answer,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Finding(kind) => f.pad(kind),
            Self::Answer => f.pad("wrong answer"),
        }
    }
}
