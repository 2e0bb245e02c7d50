//! `warpfold-bench`: measures warpfold beside its peers and the hardware's limit.
//!
//! ```text
//! warpfold-bench bench --suite all --peers all --out results
//! warpfold-bench ladder --n 400000000 --threads 256,512,1024 --peers --json ladder.json
//! warpfold-bench keyed --peers --json keyed.json
//! warpfold-bench plot ladder.json --svg ladder.svg
//! warpfold-bench profile --ladder --out profile
//! ```
//!
//! One binary for every machine: without a CUDA device it says so and measures the CPU.
//! Exit code 0: every answer was right; 1: one was wrong, or the run failed; 2: bad arguments.

mod cpu;
mod data;
mod driver;
mod gain;
mod keyed;
mod ladder;
mod machine;
mod options;
mod peers;
mod plot;
mod profile;
mod record;
mod report;
mod rungs;
mod sweep;
mod table;
mod timing;
mod tool;

use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use std::{fs, io};

use anyhow::{Context, Result};
use clap::Parser;
use warpfold::Device;

use crate::options::{BadOption, Cli, Command, LadderOptions, PlotOptions, bad_option};
use crate::report::Started;

fn main() -> ExitCode {
    let done = match Cli::parse().command {
        Command::Bench(options) => sweep::run(&options).map(|()| true),
        Command::Ladder(options) => ladder(&options),
        Command::Keyed(options) => keyed::run(&options),
        Command::Plot(options) => plot(&options).map(|()| true),
        Command::Profile(options) => profile::run(&options).map(|()| true),
        Command::Launch(options) => profile::launch::run(&options),
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => {
            eprintln!("error: a wrong answer; its rows have no time");
            ExitCode::from(1)
        }
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(if error.is::<BadOption>() { 2 } else { 1 })
        }
    }
}

/// Whether every answer was right.
fn ladder(options: &LadderOptions) -> Result<bool> {
    let started = Started::now()?;
    let device = match options.device {
        Some(index) => Device::nth(index),
        None => Device::auto(),
    };
    let device = device.map_err(bad_option)?;
    ladder::check(&device, options)?;
    if let Some(file) = &options.json {
        check_writable(file)?;
    }
    let report = match device.info() {
        Some(info) => ladder::measure(&device, info, options, started)?,
        None => cpu::measure(&device, options, started)?,
    };
    say(&format!("{}\n", report.tables()))?;
    if let Some(file) = &options.json {
        let json = serde_json::to_string_pretty(&report)?;
        fs::write(file, json + "\n").with_context(|| format!("cannot write {}", file.display()))?;
    }
    Ok(report.is_right())
}

/// Draws a record.
fn plot(options: &PlotOptions) -> Result<()> {
    let report = record::read(&options.record)?;
    let svg = plot::svg(&report, options.threads)?;
    let written = fs::write(&options.svg, svg);
    written
        .with_context(|| format!("cannot write {}", options.svg.display()))
        .map_err(BadOption::new)?;
    Ok(())
}

/// Fails before the measuring, not after it.
fn check_writable(file: &Path) -> Result<()> {
    let opened = OpenOptions::new().create(true).append(true).open(file);
    opened
        .with_context(|| format!("cannot write {}", file.display()))
        .map_err(BadOption::new)?;
    Ok(())
}

/// Prints a line; a reader who has gone away (`| head`) is no error.
fn say(line: &str) -> io::Result<()> {
    match writeln!(io::stdout(), "{line}") {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        done => done,
    }
}
