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
use crate::plots::Listed;

/// Browsers at a time.
const THREADS: usize = 4;

fn main() -> ExitCode {
    chromium::start_the_clock();
    let mut arguments = Arguments::from_args();
    // They wait for browsers more than they compute.
    arguments.test_threads.get_or_insert(THREADS);
    let mut trials = vec![
        trial("a report of every suite, compared", whole),
        trial("a report of one suite, without a profile", one_suite),
        trial("a profile alone", profile_alone),
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

/// Every suite's rows and a profile. The page lists the points that the library says it drew.
fn whole() -> Result<(), Failed> {
    let results = example::results();
    let html = report::html(&results, Some(&compared()))?;
    let listed = faultless(&html)?;
    plots::are(&listed, &report::figures(&results)?)?;
    plots::come_from(&results, &listed)
}

/// What the broken pages are made of.
fn one_suite() -> Result<(), Failed> {
    faultless(&report::html(&small(), None)?).map(drop)
}

/// It has no figure, and no other fault.
fn profile_alone() -> Result<(), Failed> {
    let html = report::profile_html(&example::results().profiled, "An example.");
    let (_, faults) = faults::of(&Chromium::start()?, &html)?;
    match faults.as_slice() {
        [fault] if fault == "there is no figure" => Ok(()),
        faults => Err(faults.join("\n").into()),
    }
}

/// The points of a page that nothing is wrong with.
fn faultless(html: &str) -> Result<Listed, Failed> {
    let (listed, faults) = faults::of(&Chromium::start()?, html)?;
    match faults.is_empty() {
        true => Ok(listed),
        false => Err(faults.join("\n").into()),
    }
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
    results.profiled.clear();
    results
}

/// A broken page must have the faults that say so.
fn noticed(breakage: &Breakage) -> Result<(), Failed> {
    let good = report::html(&small(), None)?;
    let html = (breakage.of)(&good);
    if html == good {
        return Err("the page was not broken".into());
    }
    let (_, faults) = faults::of(&Chromium::start()?, &html)?;
    let is_said = |what: &&&str| faults.iter().any(|fault| fault.contains(**what));
    let unsaid: Vec<_> = breakage
        .faults
        .iter()
        .filter(|what| !is_said(what))
        .collect();
    match unsaid.is_empty() {
        true => Ok(()),
        false => Err(format!("no {unsaid:?} in {faults:#?}").into()),
    }
}
