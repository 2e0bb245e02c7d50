//! mdBook, which makes the book's web site: from crates.io, into the cache.

use super::Step;
use crate::process;
use anyhow::{Context, Result, bail};
use std::fs;
use std::path::PathBuf;
use std::time::Instant;

/// The tested version.
const VERSION: &str = "0.5.4";

/// The program, and what was done to get it.
pub fn provide() -> Result<(PathBuf, Step)> {
    let what = "mdBook";
    let cache = cuda_builder::toolchain::cache_dir();
    let folder = cache.join(format!("mdbook-{VERSION}"));
    let program = folder.join("bin").join("mdbook");
    let used = program.display().to_string();
    if program.is_file() {
        return Ok((program, Step::present(what, used)));
    }
    let since = Instant::now();
    process::report("setup: mdBook is compiled, which takes up to a minute");
    fs::create_dir_all(&cache).with_context(|| format!("cannot create {}", cache.display()))?;
    let temporary = tempfile::Builder::new()
        .prefix(".mdbook-")
        .tempdir_in(&cache)
        .with_context(|| format!("cannot write in {}", cache.display()))?;
    let installed = temporary.path().join("installed");
    let mut cargo = process::cargo();
    // Its own versions of dependencies; the build without optimisation is three times as fast, and fast enough.
    cargo.args([
        "install",
        "mdbook",
        "--version",
        &format!("={VERSION}"),
        "--locked",
        "--debug",
        "--quiet",
    ]);
    cargo.args(["--no-default-features", "--features", "search", "--root"]);
    cargo
        .arg(&installed)
        .arg("--target-dir")
        .arg(temporary.path().join("target"));
    if !process::succeeds(&mut cargo)? {
        bail!(
            "mdBook {VERSION} cannot be installed by `{}`",
            process::shown(&cargo)
        );
    }
    if let Err(error) = fs::rename(&installed, &folder)
        && !program.is_file()
    {
        return Err(error).with_context(|| format!("cannot create {}", folder.display()));
    }
    Ok((program, Step::fetched(what, used, None, since)))
}
