//! `cargo xtask book`: builds the book's web site.

use crate::{process, setup, workspace};
use anyhow::{Result, bail};
use std::process::{Command, ExitCode};

/// Write the generated parts of the book's pages again, and build its web site
#[derive(clap::Args)]
pub struct Args {}

impl Args {
    /// Builds the site in `target/book` and prints its first page.
    pub fn run(self) -> Result<ExitCode> {
        let target = workspace::target_dir()?;
        let (pages, site) = (target.join("book-pages"), target.join("book"));
        let mut writer = process::cargo();
        writer.args([
            "run",
            "--quiet",
            "--package",
            "warpfold-book",
            "--",
            "--site",
        ]);
        if !process::succeeds(writer.arg(&pages))? {
            bail!("the pages cannot be written");
        }
        let mut mdbook = Command::new(setup::for_book()?);
        mdbook.arg("build").arg(&pages).arg("--dest-dir").arg(&site);
        if !process::succeeds(&mut mdbook)? {
            bail!("mdBook failed");
        }
        process::report(&format!("book: {}", site.join("index.html").display()));
        Ok(ExitCode::SUCCESS)
    }
}
