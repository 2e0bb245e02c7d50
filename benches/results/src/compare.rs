//! Comparison of two runs: which rows are faster, and which slower.

mod differences;
mod table;

use std::collections::{HashMap, VecDeque};

use crate::schema::{Backend, By, Results, Row, Time, Timing};

/// The default tolerance: two intervals that are further apart than this count as different.
pub const TOLERANCE: f64 = 0.03;

/// The smallest tolerance for times that include the host's work, which varies between runs more than within
/// one. Evidence: records/h200/2026-11-22/bench-again.txt, with up to 11 %.
pub const HOST_TOLERANCE: f64 = 0.12;

/// A comparison of two runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// The baseline.
    pub old: Run,
    /// The run that is compared with the baseline.
    pub new: Run,
    /// How much slower the whole interval must be to count: 0.03 is three per cent. At least
    /// [`HOST_TOLERANCE`] where the time includes the host's work.
    pub tolerance: f64,
    /// Other differences between the runs, which may explain different times.
    pub notes: Vec<String>,
    /// In the order of the old run; rows that only the new run has come last.
    pub entries: Vec<Entry>,
}

/// Identifies a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// When it began.
    pub date: String,
    /// The commit that the bench was built from.
    pub commit: String,
    /// The device, or the processor where no device was used.
    pub on: String,
}

/// A row of one of the runs, or of both.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The old run's row, or the new run's if the old run has none.
    pub row: Row,
    /// The old run's time.
    pub old: Option<Time>,
    /// The new run's time.
    pub new: Option<Time>,
    /// `None` unless both runs have a time.
    pub ratio: Option<Ratio>,
    /// The result of the comparison.
    pub verdict: Verdict,
    /// Whether our row is worse in the new run: [`Verdict::Slower`], or wrong where it was right. A slower
    /// peer or ceiling is not a regression, because then something else has changed; a note reports it.
    pub regression: bool,
}

/// The new time over the old one: above 1 is slower.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ratio {
    /// The ratio of the medians.
    pub median: f64,
    /// The new interval's low end over the old one's high end.
    pub low: f64,
    /// The new interval's high end over the old one's low end.
    pub high: f64,
}

/// The result of comparing one row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// The whole interval of the ratio lies below 1 - tolerance.
    Faster,
    /// Neither faster nor slower, or not timed in either run.
    Same,
    /// The whole interval of the ratio lies above 1 + tolerance.
    Slower,
    /// One of the two times is unstable.
    Unstable,
    /// The new run does not have this row, or did not time it.
    OnlyOld,
    /// The old run does not have this row, or did not time it.
    OnlyNew,
    /// One of the two runs gave wrong results.
    Wrong,
}

impl Verdict {
    /// All verdicts, in the order of [`Comparison::summary`].
    pub const ALL: [Verdict; 7] = [
        Verdict::Slower,
        Verdict::Wrong,
        Verdict::Faster,
        Verdict::Same,
        Verdict::Unstable,
        Verdict::OnlyOld,
        Verdict::OnlyNew,
    ];

    /// The printed form.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Faster => "faster",
            Verdict::Same => "same",
            Verdict::Slower => "slower",
            Verdict::Unstable => "unstable",
            Verdict::OnlyOld => "only old",
            Verdict::OnlyNew => "only new",
            Verdict::Wrong => "wrong",
        }
    }
}

impl Comparison {
    /// Joins rows by [`Row::key`]; of several rows with one key, the first matches the first, and so on.
    pub fn new(old: &Results, new: &Results, tolerance: f64) -> Comparison {
        let mut unmatched: HashMap<_, VecDeque<usize>> = HashMap::new();
        for (index, row) in new.rows.iter().enumerate() {
            unmatched.entry(row.key()).or_default().push_back(index);
        }
        let mut is_matched = vec![false; new.rows.len()];
        let mut entries = Vec::new();
        for row in &old.rows {
            let index = unmatched.get_mut(&row.key()).and_then(VecDeque::pop_front);
            let new_row = index.map(|index| {
                is_matched[index] = true;
                &new.rows[index]
            });
            entries.push(Entry::new(row, Some(row), new_row, tolerance));
        }
        let rest = new
            .rows
            .iter()
            .zip(is_matched)
            .filter(|(_, is_matched)| !is_matched);
        entries.extend(rest.map(|(row, _)| Entry::new(row, None, Some(row), tolerance)));
        let mut notes = differences::notes(old, new);
        notes.extend(slower_peers(&entries));
        Comparison {
            old: Run::of(old),
            new: Run::of(new),
            tolerance,
            notes,
            entries,
        }
    }

    /// Whether a row is slower than before.
    pub fn has_regression(&self) -> bool {
        self.entries.iter().any(|entry| entry.regression)
    }

    /// The number of entries with this verdict.
    pub fn count(&self, verdict: Verdict) -> usize {
        let entries = self.entries.iter();
        entries.filter(|entry| entry.verdict == verdict).count()
    }
}

/// A note if peers or ceilings are slower: their code has not changed, so the device or the machine may have.
fn slower_peers(entries: &[Entry]) -> Option<String> {
    let peers = entries.iter().filter(|entry| entry.row.by != By::Warpfold);
    let slower = peers
        .filter(|entry| entry.verdict == Verdict::Slower)
        .count();
    (slower > 0).then(|| {
        format!("peers and ceilings are slower in {slower} rows: the device or the machine may be the reason")
    })
}

/// Whether the time of a row on a device includes work of the host.
fn includes_host(row: &Row) -> bool {
    let timings = [Timing::Launch, Timing::Stream, Timing::Call];
    row.backend == Backend::Cuda && timings.contains(&row.timing)
}

/// A comparison with the default tolerance, [`TOLERANCE`].
pub fn compare(old: &Results, new: &Results) -> Comparison {
    Comparison::new(old, new, TOLERANCE)
}

impl Run {
    fn of(results: &Results) -> Run {
        Run {
            date: results.date.clone(),
            commit: results.commit.clone(),
            on: match &results.device {
                Some(device) => device.name.clone(),
                None => results.machine.cpu.clone(),
            },
        }
    }
}

impl Entry {
    fn new(row: &Row, old: Option<&Row>, new: Option<&Row>, tolerance: f64) -> Entry {
        let is_wrong = |row: Option<&Row>| row.is_some_and(|row| row.wrong.is_some());
        let (old_time, new_time) = (old.and_then(|row| row.time), new.and_then(|row| row.time));
        let ratio = old_time.zip(new_time).map(|(old, new)| Ratio::of(old, new));
        let verdict = if is_wrong(old) || is_wrong(new) {
            Verdict::Wrong
        } else if let (Some(old), Some(new), Some(ratio)) = (old_time, new_time, ratio) {
            let tolerance = match includes_host(row) {
                true => tolerance.max(HOST_TOLERANCE),
                false => tolerance,
            };
            ratio.verdict(tolerance, old.unstable || new.unstable)
        } else {
            // Rows of the simulator have no time in either run.
            let timed = (old_time.is_some(), new_time.is_some());
            match (timed, old.is_some(), new.is_some()) {
                ((true, _), ..) | (_, true, false) => Verdict::OnlyOld,
                ((_, true), ..) | (_, false, true) => Verdict::OnlyNew,
                _ => Verdict::Same,
            }
        };
        let worse =
            verdict == Verdict::Slower || (old.is_some() && !is_wrong(old) && is_wrong(new));
        Entry {
            regression: row.by == By::Warpfold && worse,
            row: row.clone(),
            old: old_time,
            new: new_time,
            ratio,
            verdict,
        }
    }
}

impl Ratio {
    fn of(old: Time, new: Time) -> Ratio {
        Ratio {
            median: new.median_us / old.median_us,
            low: new.interval_us.0 / old.interval_us.1,
            high: new.interval_us.1 / old.interval_us.0,
        }
    }

    fn verdict(self, tolerance: f64, unstable: bool) -> Verdict {
        // A time of zero makes an end infinite or NaN.
        let finite = [self.median, self.low, self.high].map(f64::is_finite);
        if unstable || finite.contains(&false) {
            Verdict::Unstable
        } else if self.low > 1.0 + tolerance {
            Verdict::Slower
        } else if self.high < 1.0 - tolerance {
            Verdict::Faster
        } else {
            Verdict::Same
        }
    }
}

#[cfg(test)]
mod tests;
