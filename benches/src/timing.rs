//! Rounds of timed runs, and what a row of samples comes to.

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use warpfold::Device;

/// What one run of one row took and gave.
pub struct Run {
    pub ms: f64,
    pub answer: i32,
}

/// One row: does its work once and says how long that took. Whatever is needed to make the answer
/// trustworthy (poisoning the result beforehand) is part of the call, outside the time.
pub struct Timed<'a> {
    name: String,
    run: Box<dyn FnMut() -> Result<Run> + 'a>,
}

impl<'a> Timed<'a> {
    /// `name` is for errors.
    pub fn new(name: impl Into<String>, run: impl FnMut() -> Result<Run> + 'a) -> Timed<'a> {
        Timed {
            name: name.into(),
            run: Box::new(run),
        }
    }

    /// Once.
    pub fn run(&mut self) -> Result<Run> {
        (self.run)().with_context(|| self.name.clone())
    }
}

/// All runs of one row.
#[derive(Debug, Default, PartialEq)]
pub struct Samples {
    /// The timed runs in the order of the rounds; the warm-up is left out.
    pub ms: Vec<f64>,
    /// Present as soon as any run, warm-up included, gave another answer than the exact one.
    pub wrong: Option<Wrong>,
}

/// The wrong answers of one row.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Wrong {
    /// Wrong runs, warm-up included.
    pub runs: usize,
    /// All runs, warm-up included.
    pub of: usize,
    /// The first wrong answer.
    pub got: i32,
}

/// Median, fastest and slowest of a row, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    pub median_ms: f64,
    pub min_ms: f64,
    pub max_ms: f64,
}

/// The time between two events around what `enqueue` puts on the device's stream, in milliseconds.
pub fn between_events(gpu: &Device, enqueue: impl FnOnce() -> Result<()>) -> Result<f64> {
    let mut enqueued = Ok(());
    let ms = gpu.time(|| {
        enqueued = enqueue();
        Ok(())
    })?;
    enqueued?;
    Ok(ms)
}

/// Runs every row once a round, in turn, so that a drift of the machine hits all alike.
pub fn rounds(
    rows: &mut [Timed],
    answer: i32,
    warmup: usize,
    repeats: usize,
) -> Result<Vec<Samples>> {
    let mut samples: Vec<Samples> = rows.iter().map(|_| Samples::default()).collect();
    for round in 0..warmup + repeats {
        for (row, samples) in rows.iter_mut().zip(&mut samples) {
            let run = row.run()?;
            if run.answer != answer {
                let of = warmup + repeats;
                samples
                    .wrong
                    .get_or_insert(Wrong {
                        runs: 0,
                        of,
                        got: run.answer,
                    })
                    .runs += 1;
            }
            if round >= warmup {
                samples.ms.push(run.ms);
            }
        }
    }
    Ok(samples)
}

impl Samples {
    /// `None` for a row with a wrong answer (its times mean nothing) and for one without samples.
    pub fn summary(&self) -> Option<Summary> {
        if self.wrong.is_some() || self.ms.is_empty() {
            return None;
        }
        let mut sorted = self.ms.clone();
        sorted.sort_by(f64::total_cmp);
        let middle = sorted.len() / 2;
        let median_ms = match sorted.len() % 2 {
            0 => (sorted[middle - 1] + sorted[middle]) / 2.0,
            _ => sorted[middle],
        };
        Some(Summary {
            median_ms,
            min_ms: sorted[0],
            max_ms: sorted[sorted.len() - 1],
        })
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    fn samples(ms: &[f64]) -> Samples {
        Samples {
            ms: ms.to_vec(),
            wrong: None,
        }
    }

    #[test]
    fn median_min_max() {
        let odd = samples(&[5.0, 1.0, 9.0]).summary().unwrap();
        assert_eq!(
            odd,
            Summary {
                median_ms: 5.0,
                min_ms: 1.0,
                max_ms: 9.0
            }
        );
        let even = samples(&[4.0, 1.0, 2.0, 100.0]).summary().unwrap();
        assert_eq!(
            even,
            Summary {
                median_ms: 3.0,
                min_ms: 1.0,
                max_ms: 100.0
            }
        );
        assert_eq!(samples(&[2.5]).summary().unwrap().median_ms, 2.5);
        assert_eq!(samples(&[]).summary(), None);
    }

    #[test]
    fn rows_run_in_turn_and_the_warmup_is_left_out() {
        let log = RefCell::new(String::new());
        let row = |name: char, ms: f64| -> Timed {
            let log = &log;
            Timed::new("row", move || {
                log.borrow_mut().push(name);
                Ok(Run { ms, answer: 42 })
            })
        };
        let samples = rounds(&mut [row('a', 1.0), row('b', 2.0)], 42, 1, 2).unwrap();
        assert_eq!(*log.borrow(), "ababab");
        assert_eq!(
            samples[0],
            Samples {
                ms: vec![1.0; 2],
                wrong: None
            }
        );
        assert_eq!(
            samples[1],
            Samples {
                ms: vec![2.0; 2],
                wrong: None
            }
        );
    }

    #[test]
    fn one_wrong_run_takes_the_rows_time_away() {
        let mut calls = 0;
        let row = Timed::new("row", || {
            calls += 1;
            Ok(Run {
                ms: 1.0,
                answer: if calls == 3 { 41 } else { 42 },
            })
        });
        let samples = rounds(&mut [row], 42, 2, 4).unwrap().remove(0);
        assert_eq!(
            samples.wrong,
            Some(Wrong {
                runs: 1,
                of: 6,
                got: 41
            })
        );
        assert_eq!(samples.ms.len(), 4);
        assert_eq!(samples.summary(), None);
    }

    #[test]
    fn a_wrong_answer_in_the_warmup_counts() {
        let mut calls = 0;
        let row = Timed::new("row", || {
            calls += 1;
            Ok(Run {
                ms: 1.0,
                answer: if calls == 1 { 0 } else { 42 },
            })
        });
        assert!(rounds(&mut [row], 42, 1, 3).unwrap()[0].wrong.is_some());
    }

    #[test]
    fn a_run_that_fails_ends_the_rounds() {
        let row = Timed::new("reduce_2", || anyhow::bail!("launch failed"));
        assert_eq!(
            format!("{:#}", rounds(&mut [row], 0, 1, 3).unwrap_err()),
            "reduce_2: launch failed"
        );
    }
}
