//! `cargo xtask setup`: gets what is missing for device builds into a cache of its own.
//!
//! Idempotent, and fast where nothing is missing, so the other commands call it. Whatever is
//! downloaded is unpacked beside its place and renamed into it, so that an interrupted setup
//! leaves nothing half. Nothing outside the cache, cargo's home and rustup's toolchain changes.

mod apt;
mod chromium;
mod debian;
mod download;
mod index;
mod rustup;
mod unpacked;
mod wheels;

use crate::browser::{self, Browser};
use crate::process;
use crate::tools::{self, PtxTools};
use anyhow::{Context, Result, bail};
use clap::ValueEnum;
use cuda_builder::toolchain::{self, DeviceToolchain};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

/// Get what is missing for device builds into a cache of its own
#[derive(clap::Args)]
pub struct Args {
    /// Where a device compiler may come from
    #[arg(long, value_enum, default_value_t = Source::Any)]
    device_compiler: Source,
    /// Also get the browser in which tests open the bench's report
    #[arg(long)]
    browser: bool,
}

/// Where a device compiler may come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Source {
    /// What is there already, else rustup, else Debian
    Any,
    /// rustup's component rust-src, added to the pinned toolchain
    Rustup,
    /// Debian's packages, unpacked into the cache
    Debian,
}

impl Args {
    /// Runs every step and says what it used.
    pub fn run(self) -> Result<ExitCode> {
        let (rustc, step) = device_compiler(self.device_compiler)?;
        step.say();
        if self.device_compiler == Source::Debian {
            process::say(&format!(
                "setup: builds prefer the pinned toolchain; {CHOSEN}={} selects this one",
                rustc.display()
            ));
        }
        index::provide(&rustc)?.say();
        match wheels::provide() {
            Ok((_, step)) => step.say(),
            Err(error) => process::say(&format!(
                "setup: no PTX tools, which builds do not need: {error:#}"
            )),
        }
        if self.browser {
            browser()?.1.say();
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// What builds need: a device compiler, and the crates that its `core` names. Says only what it
/// had to get.
pub fn for_builds() -> Result<()> {
    let (rustc, step) = device_compiler(Source::Any)?;
    step.say_if_fetched();
    index::provide(&rustc)?.say_if_fetched();
    Ok(())
}

/// The PTX tools, downloaded where they are missing. Says only what it had to get.
pub fn for_sass() -> Result<PtxTools> {
    if let Some(tools) = tools::find() {
        return Ok(tools);
    }
    let (tools, step) = wheels::provide()?;
    step.say_if_fetched();
    Ok(tools)
}

/// The browser that opens the bench's report, Debian's where there is none. Says only what it had
/// to get.
pub fn for_browser() -> Result<Browser> {
    let (found, step) = browser()?;
    step.say_if_fetched();
    Ok(found)
}

/// One thing setup looked after.
struct Step {
    what: &'static str,
    used: String,
    /// Bytes (where known) and seconds of what had to be fetched.
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

    fn say(&self) {
        let cost = match self.fetched {
            None => String::new(),
            Some((None, seconds)) => format!(" [{seconds:.1} s]"),
            Some((Some(bytes), seconds)) => {
                format!(" [{} in {seconds:.1} s]", process::megabytes(bytes))
            }
        };
        process::say(&format!("setup: {}: {}{cost}", self.what, self.used));
    }

    fn say_if_fetched(&self) {
        if self.fetched.is_some() {
            self.say();
        }
    }
}

fn browser() -> Result<(Browser, Step)> {
    let missing = match browser::find() {
        Ok(found) => {
            let step = Step::present(BROWSER, found.to_string());
            return Ok((found, step));
        }
        Err(error) if is_set(browser::CHOSEN) => return Err(error),
        Err(error) => error,
    };
    chromium::provide().context(missing)
}

/// A device compiler's rustc, and what it took.
type Provided = (PathBuf, Step);

/// Chooses the device compiler; see [`toolchain`].
const CHOSEN: &str = "CUDA_BUILDER_RUSTC";

const DEVICE_COMPILER: &str = "device compiler";
const BROWSER: &str = "browser";

fn device_compiler(source: Source) -> Result<Provided> {
    if source == Source::Any {
        match toolchain::find() {
            Ok(found) => {
                let step = Step::present(DEVICE_COMPILER, described(&found));
                return Ok((found.rustc, step));
            }
            // Nothing that setup provides would be looked at.
            Err(error) if is_set(CHOSEN) => {
                return Err(error).context(format!("{CHOSEN} is set, so nothing else is used"));
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
        "no device compiler, that is a rustc with the source of its `core`. One of these gets it:\n  \
         1. rustup component add rust-src      (for the toolchain of rust-toolchain.toml)\n  \
         2. cargo xtask setup --device-compiler debian      (unpacks Debian's packages, needs apt-get)\n  \
         3. {CHOSEN}=/path/to/rustc      (any rustc >= the pinned one with its sources)\n\
         What was tried:\n  {}",
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
