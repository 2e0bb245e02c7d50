//! What comes of launching a mutant.

use std::fmt;

use cuda_sim::{Checks, Failure, Schedule, Simulator};

/// What looks for the bug.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// All checks and the answers, under every schedule.
    Checks,
    /// The answers of launches that end, as a test on a device would see them: no checks, one
    /// schedule.
    AnswersAlone,
}

impl Mode {
    /// The schedules, the likeliest to show something first.
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

    /// A launch with what the mode looks for.
    pub fn simulator(self, schedule: Schedule) -> Simulator {
        let checks = match self {
            Self::Checks => Checks::ALL,
            Self::AnswersAlone => Checks::NONE,
        };
        Simulator::new().schedule(schedule).check(checks)
    }

    /// What a launch with findings says. One that goes on without checks to a deadlock or beyond an
    /// array has no answer.
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

/// The first finding's kind: `Race`.
fn kind(failure: &Failure) -> String {
    let bug = format!("{:?}", failure.findings[0].bug);
    let end = bug.find(|c: char| !c.is_alphanumeric());
    bug[..end.unwrap_or(bug.len())].to_owned()
}

/// One launch, or all that were tried.
pub enum Attempt {
    /// Nothing showed.
    Fine,
    /// A launch failed.
    Failed {
        /// By what.
        verdict: Verdict,
        /// Which launch, and what exactly.
        text: String,
    },
}

impl Attempt {
    /// A launch without findings whose answer is wrong.
    pub fn wrong(text: String) -> Self {
        Self::Failed {
            verdict: Verdict::Answer,
            text,
        }
    }
}

/// What showed the bug.
pub enum Verdict {
    /// A finding of the simulator, of this kind.
    Finding(String),
    /// The launch had no findings and a wrong answer.
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
