//! `cargo xtask setup`: downloads into a cache what device builds need and the machine lacks.
//!
//! Other commands call it, because it is idempotent, and fast if nothing is missing. A download is unpacked
//! into a temporary folder, which is then renamed, so an interrupted setup leaves nothing incomplete. Only
//! the cache, cargo's home and rustup's toolchain change.

mod apt;
mod chromium;
mod debian;
mod download;
mod index;
mod mdbook;
mod openmpi;
mod rustup;
mod unpacked;
mod wheels;

use crate::browser::{self, Browser};
use crate::mpi::{self, Launcher};
use crate::process;
use crate::tools::{self, PtxTools};
use anyhow::{Context, Result, bail};
use clap::ValueEnum;
use cuda_builder::toolchain::{self, DeviceToolchain};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

/// Download into a cache what device builds need and the machine lacks
#[derive(clap::Args)]
pub struct Args {
    /// The source of the device compiler
    #[arg(long, value_enum, default_value_t = Source::Any)]
    device_compiler: Source,
    /// Also download the browser in which tests open the bench's report
    #[arg(long)]
    browser: bool,
    /// Also download the Open MPI with which tests start several processes
    #[arg(long)]
    mpi: bool,
}

/// The source of a device compiler.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Source {
    /// An installed compiler, else rustup, else Debian
    Any,
    /// rustup's component rust-src, added to the pinned toolchain
    Rustup,
    /// Debian's packages, unpacked into the cache
    Debian,
}

impl Args {
    /// Runs every step and reports what is used.
    pub fn run(self) -> Result<ExitCode> {
        let (rustc, step) = device_compiler(self.device_compiler)?;
        step.report();
        if self.device_compiler == Source::Debian {
            process::report(&format!(
                "setup: builds prefer the pinned toolchain; {RUSTC_VARIABLE}={} selects this one",
                rustc.display()
            ));
        }
        index::provide(&rustc)?.report();
        match wheels::provide() {
            Ok((_, step)) => step.report(),
            Err(error) => process::report(&format!(
                "setup: no PTX tools, which builds do not need: {error:#}"
            )),
        }
        if self.browser {
            browser()?.1.report();
        }
        if self.mpi {
            mpi()?.1.report();
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Provides what builds need: a device compiler and crates. Reports only downloads.
pub fn for_builds() -> Result<()> {
    let (rustc, step) = device_compiler(Source::Any)?;
    step.report_if_fetched();
    index::provide(&rustc)?.report_if_fetched();
    Ok(())
}

/// Provides the PTX tools. Reports only downloads.
pub fn for_sass() -> Result<PtxTools> {
    if let Some(tools) = tools::find() {
        return Ok(tools);
    }
    let (tools, step) = wheels::provide()?;
    step.report_if_fetched();
    Ok(tools)
}

/// Provides mdBook, for the book's web site. Reports only downloads.
pub fn for_book() -> Result<PathBuf> {
    let (program, step) = mdbook::provide()?;
    step.report_if_fetched();
    Ok(program)
}

/// Provides the browser for the bench's report, Debian's if there is none. Reports only downloads.
pub fn for_browser() -> Result<Browser> {
    let (found, step) = browser()?;
    step.report_if_fetched();
    Ok(found)
}

/// Provides the launcher of several processes, Debian's if there is none. Reports only downloads.
pub fn for_mpi() -> Result<Launcher> {
    let (found, step) = mpi()?;
    step.report_if_fetched();
    Ok(found)
}

/// The result of one step of setup.
struct Step {
    what: &'static str,
    used: String,
    /// Bytes (if known) and seconds of the download; `None` if nothing was missing.
    fetched: Option<(Option<u64>, f64)>,
}

impl Step {
    fn present(what: &'static str, used: String) -> Self {
        let fetched = None;
        Self {
            what,
            used,
            fetched,
        }
    }

    fn fetched(what: &'static str, used: String, bytes: Option<u64>, since: Instant) -> Self {
        let fetched = Some((bytes, since.elapsed().as_secs_f64()));
        Self {
            what,
            used,
            fetched,
        }
    }

    fn report(&self) {
        let cost = match self.fetched {
            None => String::new(),
            Some((None, seconds)) => format!(" [{seconds:.1} s]"),
            Some((Some(bytes), seconds)) => {
                format!(" [{} in {seconds:.1} s]", process::megabytes(bytes))
            }
        };
        process::report(&format!("setup: {}: {}{cost}", self.what, self.used));
    }

    fn report_if_fetched(&self) {
        if self.fetched.is_some() {
            self.report();
        }
    }
}

fn browser() -> Result<(Browser, Step)> {
    let missing = match browser::find() {
        Ok(found) => {
            let step = Step::present(BROWSER, found.to_string());
            return Ok((found, step));
        }
        Err(error) if is_set(browser::VARIABLE) => return Err(error),
        Err(error) => error,
    };
    chromium::provide().context(missing)
}

fn mpi() -> Result<(Launcher, Step)> {
    let missing = match mpi::find() {
        Ok(found) => {
            let step = Step::present(MPI, found.to_string());
            return Ok((found, step));
        }
        Err(error) if is_set(mpi::VARIABLE) => return Err(error),
        Err(error) => error,
    };
    openmpi::provide().context(missing)
}

/// The path of a device compiler's rustc, and the step that provided it.
type Provided = (PathBuf, Step);

/// The environment variable with the device compiler's path; see [`toolchain`].
const RUSTC_VARIABLE: &str = "CUDA_BUILDER_RUSTC";

const DEVICE_COMPILER: &str = "device compiler";
const BROWSER: &str = "browser";
const MPI: &str = "MPI";

fn device_compiler(source: Source) -> Result<Provided> {
    if source == Source::Any {
        match toolchain::find() {
            Ok(found) => {
                let step = Step::present(DEVICE_COMPILER, described(&found));
                return Ok((found.rustc, step));
            }
            // Builds would ignore what setup provides.
            Err(error) if is_set(RUSTC_VARIABLE) => {
                return Err(error).context(format!(
                    "{RUSTC_VARIABLE} is set, so no other compiler is used"
                ));
            }
            Err(_) => {}
        }
    }
    let mut failures = Vec::new();
    if source != Source::Debian {
        match rustup::provide() {
            Ok(provided) => return Ok(provided),
            Err(error) => failures.push(format!("rustup: {error:#}")),
        }
    }
    if source != Source::Rustup {
        match debian::provide() {
            Ok(provided) => return Ok(provided),
            Err(error) => failures.push(format!("Debian: {error:#}")),
        }
    }
    bail!(
        "no device compiler, which is a rustc with the source of `core`. Do one of the following:\n  \
         1. rustup component add rust-src      (for the toolchain of rust-toolchain.toml)\n  \
         2. cargo xtask setup --device-compiler debian      (unpacks Debian's packages, needs apt-get)\n  \
         3. {RUSTC_VARIABLE}=/path/to/rustc      (not older than the pinned rustc, with sources)\n\
         Failed attempts:\n  {}",
        failures.join("\n").replace('\n', "\n  ")
    )
}

fn is_set(variable: &str) -> bool {
    std::env::var_os(variable).is_some_and(|value| !value.is_empty())
}

fn described(found: &DeviceToolchain) -> String {
    format!(
        "rustc {}, {} ({})",
        found.version,
        found.rustc.display(),
        found.origin
    )
}
