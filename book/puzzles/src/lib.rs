//! The checks of the puzzles: each launches a learner's kernel on the simulator, and says what is wrong.
//!
//! `cargo xtask learn` builds the learner's file against this crate and runs one function of [`checks`]. A check uses
//! random inputs of several lengths, outputs that hold nothing at first, all checks of the simulator, and three orders of
//! threads. Some puzzles have a budget too: of wavefronts, sectors, barriers, atomics or instructions, which the simulator
//! counts.

pub mod checks;
mod drawing;
mod refusal;
mod trial;

pub use refusal::{Refusal, Verdict};
pub use trial::{Trial, handle, trials};

use std::process::ExitCode;

/// The end of a program that checks one puzzle: prints why the answer was refused.
pub fn finish(verdict: Verdict) -> ExitCode {
    match verdict {
        Ok(()) => ExitCode::SUCCESS,
        Err(refusal) => {
            // The program of a puzzle names the learner's file by a path through its own folder.
            println!("{}", refusal.to_string().replace(".checks/../", "learn/"));
            ExitCode::from(REFUSED)
        }
    }
}

/// The exit code of a program whose puzzle's answer was refused.
pub const REFUSED: u8 = 3;
