//! What detected each mutant.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Mutex;

use kernels_mutants::Mutant;

use crate::{Attempt, Verdict};

/// A mutant's row.
struct Row {
    breaks: &'static str,
    known_miss: Option<&'static str>,
    /// What detected it, and in which launch; `None` if nothing did.
    found: Option<(String, String)>,
    /// Whether it was a finding, not a wrong result.
    finding: bool,
    /// Whether wrong results alone, without checks, show it.
    by_answer: bool,
}

static ROWS: Mutex<BTreeMap<&str, Row>> = Mutex::new(BTreeMap::new());

/// The mutants that were launched.
pub struct Tally(BTreeMap<&'static str, Row>);

impl Tally {
    /// Records the result for a mutant.
    pub fn add(mutant: &Mutant, attempt: &Attempt, answer: &Attempt) {
        let found = match attempt {
            Attempt::Fine => None,
            Attempt::Failed { verdict, text } => {
                let launch = text.lines().next().unwrap_or_default();
                Some((verdict.to_string(), launch.to_owned()))
            }
        };
        let row = Row {
            breaks: mutant.breaks,
            known_miss: mutant.known_miss,
            found,
            by_answer: matches!(answer, Attempt::Failed { .. }),
            finding: matches!(
                attempt,
                Attempt::Failed {
                    verdict: Verdict::Finding(_),
                    ..
                }
            ),
        };
        ROWS.lock().expect("no row panics").insert(mutant.id, row);
    }

    /// Removes and returns all records.
    pub fn take() -> Self {
        Self(std::mem::take(&mut *ROWS.lock().expect("no row panics")))
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return Ok(());
        }
        for (id, row) in &self.0 {
            let Row { breaks, .. } = row;
            match (&row.found, row.known_miss) {
                (Some((by, launch)), _) => {
                    let also = if row.by_answer {
                        ""
                    } else {
                        " (no wrong result)"
                    };
                    writeln!(f, "{id}: {breaks}\n    {by}{also}: {launch}")?;
                }
                (None, Some(reason)) => writeln!(f, "{id}: {breaks}\n    KNOWN MISS: {reason}")?,
                (None, None) => writeln!(f, "{id}: {breaks}\n    MISSED")?,
            }
        }
        let count = |which: fn(&Row) -> bool| self.0.values().filter(|row| which(row)).count();
        let (caught, total) = (count(|row| row.found.is_some()), self.0.len());
        write!(
            f,
            "\nmutants: {caught} of {total} detected ({:.1} %), {} by a finding and {} by a wrong result; \
             results alone, without checks and in one order, show {}\n",
            100.0 * caught as f64 / total as f64,
            count(|row| row.finding),
            count(|row| row.found.is_some() && !row.finding),
            count(|row| row.by_answer),
        )
    }
}
