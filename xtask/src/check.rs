//! `cargo xtask check`: lint, then test.

use crate::{lint, process, test};
use anyhow::Result;
use std::process::ExitCode;

/// Run lint, then test
#[derive(clap::Args)]
// The default is the struct's name, which `test::Args` has too.
#[group(id = "check")]
pub struct Args {
    #[command(flatten)]
    test: test::Args,
}

impl Args {
    /// Runs both, even if lint fails.
    pub fn run(self) -> Result<ExitCode> {
        let clean = lint::lint()?;
        let passed = test::test(&self.test)?;
        for (name, good) in [("lint", clean), ("test", passed)] {
            let word = if good { "ok" } else { "FAILED" };
            process::report(&format!("check: {name} {word}"));
        }
        Ok(if clean && passed {
            ExitCode::SUCCESS
        } else {
            ExitCode::FAILURE
        })
    }
}
