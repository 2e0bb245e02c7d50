//! Times rows in turn, until their medians are precise.
//!
//! [`statistics::time`] marks a row as unstable if the 95 % interval of its median is wider than the limit.
//! An interval does not show a drift; therefore a row is also unstable if the medians of the first and the
//! second half of its samples differ by more than the limit.

use std::time::Instant;

use anyhow::{Context, Result};
use warpfold_results::schema::{Row, Timing, Wrong};
use warpfold_results::statistics;

/// The time and the verdict of one run of a row.
pub struct Run {
    pub us: f64,
    pub verdict: Verdict,
}

/// Whether an answer is right; the error is the answer and the expected one.
pub type Verdict = Result<(), (String, String)>;

/// A row, and the function that runs it once. Outside of the measured time, the function overwrites the
/// result first and checks the answer.
pub struct Timed<'a> {
    pub row: Row,
    pub run: Box<dyn FnMut() -> Result<Run> + 'a>,
}

impl<'a> Timed<'a> {
    pub fn new(row: Row, run: impl FnMut() -> Result<Run> + 'a) -> Self {
        Self {
            row,
            run: Box::new(run),
        }
    }
}

/// The limits of a group's rounds.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The minimum and maximum of warm-up rounds.
    pub warmup: (usize, usize),
    /// The minimum and maximum of timed rounds.
    pub rounds: (usize, usize),
    /// The widest interval of a stable row, relative to the median.
    pub spread: f64,
    /// After this time no round begins, once the minimum of rounds is done.
    pub until: Option<Instant>,
}

/// Runs every row once per round, in turn, so that a drift of the machine affects all rows, and stores times
/// and verdicts in the rows. Warm-up ends when a round is no faster than those before it; the timed rounds
/// end when all intervals are at most half as wide as the limit. `is_interrupted` ends both at once.
pub fn rounds(rows: &mut [Timed], limits: Limits, is_interrupted: &dyn Fn() -> bool) -> Result<()> {
    let mut runs = 0;
    let mut wrong: Vec<Option<Wrong>> = rows.iter().map(|_| None).collect();
    let mut round = |rows: &mut [Timed], keep: bool| -> Result<f64> {
        runs += 1;
        let mut total = 0.0;
        for (timed, wrong) in rows.iter_mut().zip(&mut wrong) {
            let run = (timed.run)().with_context(|| timed.row.kernel.clone())?;
            if let Err((got, expected)) = run.verdict {
                let first = Wrong {
                    runs: 0,
                    of: 0,
                    got,
                    expected,
                };
                wrong.get_or_insert(first).runs += 1;
            }
            total += run.us;
            if keep {
                timed.row.samples_us.push(run.us);
            }
        }
        Ok(total)
    };

    let mut fastest = f64::INFINITY;
    for warmup in 1..=limits.warmup.1 {
        let total = round(rows, false)?;
        let settled = total >= 0.98 * fastest;
        fastest = fastest.min(total);
        if is_interrupted() || (warmup >= limits.warmup.0 && settled) {
            break;
        }
    }
    for timed in 1..=limits.rounds.1 {
        if is_interrupted() {
            break;
        }
        round(rows, true)?;
        if timed < limits.rounds.0 {
            continue;
        }
        let is_late = limits.until.is_some_and(|until| Instant::now() >= until);
        // To sort all samples in every round would take too long.
        if is_late
            || (timed % 10 == 0
                && rows
                    .iter()
                    .all(|timed| is_precise(&timed.row, limits.spread)))
        {
            break;
        }
    }
    for (timed, wrong) in rows.iter_mut().zip(wrong) {
        let row = &mut timed.row;
        row.wrong = wrong.map(|wrong| Wrong { of: runs, ..wrong });
        if row.wrong.is_none() && row.timing != Timing::None {
            row.time = statistics::time(&row.samples_us, limits.spread);
        }
    }
    Ok(())
}

/// Whether the row's interval is at most half as wide as the limit.
fn is_precise(row: &Row, spread: f64) -> bool {
    statistics::time(&row.samples_us, spread / 2.0).is_some_and(|time| !time.unstable)
}

#[cfg(test)]
mod tests {
    use std::cell::{Cell, RefCell};

    use warpfold_results::schema::Suite;

    use super::*;

    const LIMITS: Limits = Limits {
        warmup: (1, 5),
        rounds: (20, 200),
        spread: 0.03,
        until: None,
    };

    fn timed<'a>(mut us: impl FnMut() -> f64 + 'a) -> Timed<'a> {
        Timed::new(Row::new(Suite::Whole, "a", "i32", 1), move || {
            Ok(Run {
                us: us(),
                verdict: Ok(()),
            })
        })
    }

    #[test]
    fn rows_run_in_turn_and_have_no_samples_of_the_warm_up() {
        let log = RefCell::new(String::new());
        let named = |name: char| {
            let log = &log;
            timed(move || {
                log.borrow_mut().push(name);
                1.0
            })
        };
        let mut rows = [named('a'), named('b')];
        rounds(&mut rows, LIMITS, &|| false).unwrap();
        let [a, b] = rows.map(|timed| timed.row);
        assert_eq!((a.samples_us.len(), b.samples_us.len()), (20, 20));
        assert_eq!(
            *log.borrow(),
            "ab".repeat(22),
            "the warm-up ends after two equal rounds"
        );
    }

    #[test]
    fn warm_up_lasts_until_the_times_no_longer_fall() {
        let mut falling = vec![1.0, 1.0, 1.0, 2.0, 4.0];
        let mut rows = [timed(move || falling.pop().unwrap_or(1.0))];
        rounds(&mut rows, LIMITS, &|| false).unwrap();
        assert_eq!(rows[0].row.samples_us, [1.0; 20]);
    }

    #[test]
    fn a_row_with_a_wide_interval_gets_more_rounds_and_is_unstable() {
        let mut i = 0;
        let mut rows = [timed(move || {
            i += 1;
            [1.0, 2.0][i % 2]
        })];
        rounds(&mut rows, LIMITS, &|| false).unwrap();
        assert_eq!(rows[0].row.samples_us.len(), 200);
        assert!(rows[0].row.time.unwrap().unstable);
    }

    /// Each half is constant, so that the interval of the median is narrow.
    #[test]
    fn a_row_that_drifts_is_unstable() {
        let unstable = |second_half: f64| {
            let mut runs = 0;
            let mut rows = [timed(move || {
                runs += 1;
                match runs {
                    1..=112 => 100.0,
                    _ => second_half,
                }
            })];
            let limits = Limits {
                rounds: (220, 220),
                ..LIMITS
            };
            rounds(&mut rows, limits, &|| false).unwrap();
            rows[0].row.time.unwrap().unstable
        };
        assert!(!unstable(102.0));
        assert!(unstable(104.0));
    }

    #[test]
    fn a_row_with_one_wrong_answer_has_no_time() {
        let mut calls = 0;
        let mut rows = [Timed::new(
            Row::new(Suite::Whole, "a", "i32", 1),
            move || {
                calls += 1;
                let verdict = match calls {
                    1 => Err(("41".into(), "42".into())),
                    _ => Ok(()),
                };
                Ok(Run { us: 1.0, verdict })
            },
        )];
        rounds(&mut rows, LIMITS, &|| false).unwrap();
        let row = &rows[0].row;
        let wrong = row.wrong.as_ref().unwrap();
        assert_eq!(
            (wrong.runs, wrong.got.as_str(), wrong.expected.as_str()),
            (1, "41", "42")
        );
        assert_eq!((wrong.of, row.time), (22, None), "in the warm-up too");
    }

    #[test]
    fn interrupted_rounds_keep_their_samples() {
        let calls = Cell::new(0);
        let mut rows = [timed(|| {
            calls.set(calls.get() + 1);
            1.0
        })];
        rounds(&mut rows, LIMITS, &|| calls.get() >= 9).unwrap();
        assert_eq!(rows[0].row.samples_us.len(), 7);
        assert!(rows[0].row.time.is_some());
    }

    #[test]
    fn a_run_that_fails_ends_the_rounds_and_is_named() {
        let mut rows = [Timed::new(
            Row::new(Suite::Whole, "reduce_2", "i32", 1),
            || anyhow::bail!("launch failed"),
        )];
        let error = rounds(&mut rows, LIMITS, &|| false).unwrap_err();
        assert_eq!(format!("{error:#}"), "reduce_2: launch failed");
    }
}
