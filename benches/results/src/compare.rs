//! Two runs side by side: what has become faster, and what slower.

mod differences;
mod table;

use std::collections::{HashMap, VecDeque};

use crate::schema::{Backend, By, Results, Row, Time, Timing};

/// What two intervals may lie apart before it counts, by default.
pub const TOLERANCE: f64 = 0.03;

/// What two intervals may lie apart at least where the host is in the time, which changes from run to run: no interval of
/// one run shows that. Evidence: records/h200/2026-11-22/bench-again.txt, with up to 11 %.
pub const HOST_TOLERANCE: f64 = 0.12;

/// Two runs side by side.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// The run that is compared with.
    pub old: Run,
    /// The run in question.
    pub new: Run,
    /// How much slower an interval as a whole must be to count: 0.03 is three per cent. At least [`HOST_TOLERANCE`] where
    /// the host is in the time.
    pub tolerance: f64,
    /// What else differs between the runs, and so may be the reason of a difference.
    pub notes: Vec<String>,
    /// In the order of the old run; what only the new one has comes last.
    pub entries: Vec<Entry>,
}

/// Which run.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// When it began.
    pub date: String,
    /// Of the bench.
    pub commit: String,
    /// What it was measured on.
    pub on: String,
}

/// A row of either run, or of both.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// What was measured: the old run's row, or the new one's where the old run has none.
    pub row: Row,
    /// Of the old run; null where it has none.
    pub old: Option<Time>,
    /// Of the new run; null where it has none.
    pub new: Option<Time>,
    /// Null unless both have a time.
    pub ratio: Option<Ratio>,
    /// What it comes to.
    pub verdict: Verdict,
    /// Whether ours is worse in the new run: surely slower, or wrong where it was right. A peer or a
    /// ceiling that is slower is no regression: then something else has changed, which a note says.
    pub regression: bool,
}

/// The new time over the old one: above 1 is slower.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ratio {
    /// Of the medians.
    pub median: f64,
    /// The new interval's low end over the old one's high end.
    pub low: f64,
    /// The new interval's high end over the old one's low end.
    pub high: f64,
}

/// What a comparison comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// The whole interval of the ratio lies below 1 - tolerance.
    Faster,
    /// Neither faster nor slower; or not timed in either.
    Same,
    /// The whole interval of the ratio lies above 1 + tolerance.
    Slower,
    /// One of the two is not to be relied on.
    Unstable,
    /// The new run has no such row, or no time of it.
    OnlyOld,
    /// The old run has no such row, or no time of it.
    OnlyNew,
    /// One of the two gave wrong answers.
    Wrong,
}

impl Verdict {
    /// All of them.
    pub const ALL: [Verdict; 7] = [
        Verdict::Slower,
        Verdict::Wrong,
        Verdict::Faster,
        Verdict::Same,
        Verdict::Unstable,
        Verdict::OnlyOld,
        Verdict::OnlyNew,
    ];

    /// In words.
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
    /// Joins rows by [`Row::key`]; the second row of a key in one run meets the second in the other.
    pub fn new(old: &Results, new: &Results, tolerance: f64) -> Comparison {
        let mut unmet: HashMap<_, VecDeque<usize>> = HashMap::new();
        for (place, row) in new.rows.iter().enumerate() {
            unmet.entry(row.key()).or_default().push_back(place);
        }
        let mut is_met = vec![false; new.rows.len()];
        let mut entries = Vec::new();
        for row in &old.rows {
            let place = unmet.get_mut(&row.key()).and_then(VecDeque::pop_front);
            let other = place.map(|place| {
                is_met[place] = true;
                &new.rows[place]
            });
            entries.push(Entry::new(row, Some(row), other, tolerance));
        }
        let rest = new.rows.iter().zip(is_met).filter(|(_, is_met)| !is_met);
        entries.extend(rest.map(|(row, _)| Entry::new(row, None, Some(row), tolerance)));
        let mut notes = differences::notes(old, new);
        notes.extend(others_slower(&entries));
        Comparison {
            old: Run::of(old),
            new: Run::of(new),
            tolerance,
            notes,
            entries,
        }
    }

    /// Whether any row is a regression.
    pub fn has_regression(&self) -> bool {
        self.entries.iter().any(|entry| entry.regression)
    }

    /// How many entries have this verdict.
    pub fn count(&self, verdict: Verdict) -> usize {
        let entries = self.entries.iter();
        entries.filter(|entry| entry.verdict == verdict).count()
    }
}

/// What is not ours has not changed: if it is slower, the device or the machine is.
fn others_slower(entries: &[Entry]) -> Option<String> {
    let others = entries.iter().filter(|entry| entry.row.by != By::Warpfold);
    let slower = others
        .filter(|entry| entry.verdict == Verdict::Slower)
        .count();
    (slower > 0).then(|| {
        format!("peers and ceilings are slower in {slower} rows: the device or the machine may be the reason")
    })
}

/// Whether the host's speed is in the time of a device's row.
fn has_host(row: &Row) -> bool {
    let timings = [Timing::Launch, Timing::Stream, Timing::Call];
    row.backend == Backend::Cuda && timings.contains(&row.timing)
}

/// With [`TOLERANCE`].
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
            let tolerance = match has_host(row) {
                true => tolerance.max(HOST_TOLERANCE),
                false => tolerance,
            };
            ratio.verdict(tolerance, old.unstable || new.unstable)
        } else {
            // Rows of the simulator have no time in either.
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
        // A time of zero makes an end infinite or no number.
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
