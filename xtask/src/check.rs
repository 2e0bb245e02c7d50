//! `cargo xtask check`: lint and test at once.

use crate::{lint, process, test};
use anyhow::Result;
use std::process::ExitCode;

/// lint, then test
#[derive(clap::Args)]
// The default, the struct's name, is that of `test::Args` too.
#[group(id = "check")]
pub struct Args {
    #[command(flatten)]
    test: test::Args,
}

impl Args {
    /// Runs both, also where the first finds something.
    pub fn run(self) -> Result<ExitCode> {
        let clean = lint::lint()?;
        let passed = test::test(&self.test)?;
        for (name, good) in [("lint", clean), ("test", passed)] {
            let word = if good { "ok" } else { "FAILED" };
            process::say(&format!("check: {name} {word}"));
        }
        Ok(if clean && passed {
            ExitCode::SUCCESS
        } else {
            ExitCode::FAILURE
        })
    }
}
