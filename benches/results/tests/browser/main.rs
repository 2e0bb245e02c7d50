//! The report in a real browser: it renders, has nothing to say on the console, asks the network
//! for nothing, sorts by mouse and keyboard, and shows the points that it lists. Pages that are
//! broken on purpose show that this is noticed. Without a browser, each test says that it was
//! ignored.

mod broken;
mod chromium;
mod faults;
mod page;
mod plots;
mod tables;

use std::process::ExitCode;

use libtest_mimic::{Arguments, Completion, Failed, Trial};
use warpfold_results::compare::{Comparison, compare};
use warpfold_results::schema::{Results, Suite};
use warpfold_results::{example, report};

use crate::broken::Breakage;
use crate::chromium::Chromium;

/// Browsers at a time.
const THREADS: usize = 6;

fn main() -> ExitCode {
    chromium::start_the_clock();
    let mut arguments = Arguments::from_args();
    // They wait for browsers more than they compute.
    arguments.test_threads.get_or_insert(THREADS);
    let mut trials = vec![
        trial("a report", || whole(None)),
        trial("a report with a comparison", || whole(Some(compared()))),
    ];
    for breakage in broken::ALL {
        let name = format!("broken: {}", breakage.name);
        trials.push(trial(&name, move || noticed(breakage)));
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// Ignored where there is no browser.
fn trial(name: &str, test: impl FnOnce() -> Result<(), Failed> + Send + 'static) -> Trial {
    Trial::ignorable_test(name, move || match chromium::program() {
        Some(_) => test().map(|()| Completion::Completed),
        None => Ok(Completion::ignored_with("no browser")),
    })
}

/// Every suite's rows. The page lists the points that the library says it drew.
fn whole(comparison: Option<Comparison>) -> Result<(), Failed> {
    let results = example::results();
    let html = report::html(&results, comparison.as_ref())?;
    let (listed, faults) = faults::of(&Chromium::start()?, &html)?;
    if !faults.is_empty() {
        return Err(faults.join("\n").into());
    }
    plots::are(&listed, &report::figures(&results)?)?;
    plots::come_from(&results, &listed)
}

/// The same run with every other time a tenth longer.
fn compared() -> Comparison {
    let new = example::results();
    let mut old = new.clone();
    for row in old.rows.iter_mut().step_by(2) {
        if let Some(time) = &mut row.time {
            time.median_us *= 1.1;
            time.interval_us = (time.interval_us.0 * 1.1, time.interval_us.1 * 1.1);
        }
    }
    compare(&old, &new)
}

/// The page of one suite is as good as the whole one, and quickly looked through.
fn small() -> Results {
    let mut results = example::results();
    results.rows.retain(|row| row.suite == Suite::Kepler);
    results
}

/// A broken page must have a fault that says so.
fn noticed(breakage: &Breakage) -> Result<(), Failed> {
    let good = report::html(&small(), None)?;
    let html = (breakage.of)(&good);
    if html == good {
        return Err("the page was not broken".into());
    }
    let (_, faults) = faults::of(&Chromium::start()?, &html)?;
    match faults.iter().any(|fault| fault.contains(breakage.fault)) {
        true => Ok(()),
        false => Err(format!("no {:?} in {faults:#?}", breakage.fault).into()),
    }
}
