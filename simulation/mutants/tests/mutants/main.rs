//! Every seeded bug is found, or is listed as a known miss with the reason.
//!
//! Prints what found each bug. It is also an error if a known miss is found, or if unchanged kernels have a
//! finding.

mod attempt;
mod axes;
mod entries;
mod exact;
mod far;
mod groups;
mod runs;
mod segments;
mod tally;
mod textbook;

use std::process::ExitCode;

use kernels_mutants::{CONTROLS, MUTANTS, Mutant, Programs};
use libtest_mimic::{Arguments, Failed, Trial};

use attempt::{Attempt, Mode, Verdict};
use tally::Tally;

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let controls = CONTROLS
        .iter()
        .map(|(file, programs)| Trial::test(format!("control: {file}"), || right(*programs)));
    let mutants = MUTANTS
        .iter()
        .map(|mutant| Trial::test(mutant.id, || found(mutant)));
    let trials = controls.chain(mutants).collect();
    let conclusion = libtest_mimic::run(&arguments, trials);
    print!("{}", Tally::take());
    conclusion.exit_code()
}

/// Unchanged kernels have no findings.
fn right(programs: Programs) -> Result<(), Failed> {
    match search(programs, Mode::Checks) {
        Attempt::Fine => Ok(()),
        Attempt::Failed { verdict, text } => Err(format!("{verdict}: {text}").into()),
    }
}

/// The bug is detected; a known miss is not detected.
fn found(mutant: &Mutant) -> Result<(), Failed> {
    let attempt = search(mutant.programs, Mode::Checks);
    let answer = search(mutant.programs, Mode::AnswersAlone);
    Tally::add(mutant, &attempt, &answer);
    match (attempt, mutant.known_miss) {
        (Attempt::Failed { .. }, None) | (Attempt::Fine, Some(_)) => Ok(()),
        (Attempt::Fine, None) => Err(format!("not detected: {}", mutant.breaks).into()),
        (Attempt::Failed { verdict, text }, Some(reason)) => Err(format!(
            "detected ({verdict}: {text}), but listed as a known miss: {reason}"
        )
        .into()),
    }
}

/// Launches the programs until one fails.
fn search(programs: Programs, mode: Mode) -> Attempt {
    match programs {
        Programs::Entries(entries) => entries::search(entries, mode),
        Programs::Textbook(name, kernel) => textbook::search(name, kernel, mode),
    }
}
