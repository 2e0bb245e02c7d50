//! `warpfold-bench`: measures warpfold, its peers and the hardware's limit.
//!
//! ```text
//! warpfold-bench bench --suite all --peers all --out results
//! warpfold-bench ladder --n 400000000 --threads 256,512,1024 --peers --json ladder.json
//! warpfold-bench profile --ladder --out profile
//! warpfold-bench accuracy --most 2^25 --out accuracy
//! warpfold-bench segments --peers --json segments.json
//! torchrun --nproc-per-node 2 --no-python sh -c "warpfold-bench many --n 2^28,2^33 --json many.json"
//! ```
//!
//! One binary for every machine: without a CUDA device it prints a note and measures the CPU.
//! Without the feature `sweeps` it has only the command `ladder`, and with the feature `many` that one.
//!
//! Exit code 0: all answers are right; 1: a wrong answer or a failed run; 2: bad arguments.

// Without `sweeps`, some functions have no caller.
#![cfg_attr(not(feature = "sweeps"), allow(dead_code))]

#[cfg(feature = "sweeps")]
mod accuracy;
mod driver;
#[cfg(feature = "sweeps")]
mod exact;
mod machine;
#[cfg(feature = "many")]
mod many;
mod options;
#[cfg(feature = "sweeps")]
mod parts;
mod peers;
#[cfg(feature = "sweeps")]
mod profile;
#[cfg(feature = "sweeps")]
mod python;
mod rungs;
mod sweep;
mod tool;

use std::io;
use std::io::Write;
use std::process::ExitCode;

use clap::Parser;

use crate::options::{BadOption, Cli, Command};

#[cfg(feature = "sweeps")]
warpfold::embedded!(
    /// The kernels of `examples/kernels`, as PTX.
    static KERNELS: outside_kernels::KERNELS
);

fn main() -> ExitCode {
    let done = match Cli::parse().command {
        Command::Ladder(options) => sweep::ladder(&options),
        #[cfg(feature = "sweeps")]
        Command::Bench(options) => sweep::run(&options),
        #[cfg(feature = "sweeps")]
        Command::Accuracy(options) => accuracy::run(&options),
        #[cfg(feature = "sweeps")]
        Command::Profile(options) => profile::run(&options),
        #[cfg(feature = "sweeps")]
        Command::Exact(options) => exact::run(&options),
        #[cfg(feature = "many")]
        Command::Many(options) => many::run(&options),
        #[cfg(feature = "sweeps")]
        Command::Segments(options) if options.growth => parts::growth::run(&options.parts),
        #[cfg(feature = "sweeps")]
        Command::Segments(options) => parts::segments::run(&options.parts),
        #[cfg(feature = "sweeps")]
        Command::Axes(options) => parts::axes::run(&options),
        #[cfg(feature = "sweeps")]
        Command::Runs(options) => parts::runs::run(&options),
        #[cfg(feature = "sweeps")]
        Command::Groups(options) => parts::groups::run(&options),
        #[cfg(feature = "sweeps")]
        Command::Parts(options) => parts::pages::run(&options),
        #[cfg(feature = "sweeps")]
        Command::Launch(options) => profile::launch::run(&options),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(if error.is::<BadOption>() { 2 } else { 1 })
        }
    }
}

/// Prints a line; a closed pipe (`| head`) is not an error.
fn print_line(line: &str) -> io::Result<()> {
    match writeln!(io::stdout(), "{line}") {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        done => done,
    }
}
