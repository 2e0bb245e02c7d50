//! `kernels-sim`: prints counters of the kernels, and the simulator's speed.
//!
//! ```text
//! kernels-sim ladder --threads 128,256 --element f64 --lines
//! kernels-sim speed --markdown
//! ```
//!
//! Exit code 0: all results are right; 1: a result is wrong; 2: invalid arguments.

use std::io::{self, Write};
use std::process::ExitCode;

use clap::builder::{PossibleValuesParser, RangedU64ValueParser};
use clap::{Args, Parser, Subcommand};
use kernels_gpu::entry::Entry;
use kernels_sim::ladder::{Ladder, Style, entries};
use kernels_sim::speed::Speed;

#[derive(Debug, Parser)]
#[command(
    name = "kernels-sim",
    version,
    about = "Counters of the kernels in the simulator, and the simulator's speed"
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Counters of each rung of the ladder: requests, divergence, bank conflicts, barriers of one block
    Ladder(LadderOptions),

    /// The simulator's speed on one core, with and without checks and counters
    Speed(SpeedOptions),
}

#[derive(Args, Debug)]
struct LadderOptions {
    /// Threads per block; prints a table for each
    #[arg(
        long,
        value_name = "T,..",
        value_delimiter = ',',
        default_value = "256",
        value_parser = PossibleValuesParser::new(["32", "64", "128", "256", "512", "1024"])
    )]
    threads: Vec<String>,

    /// The element type
    #[arg(long, value_name = "E", default_value = "i32", value_parser = names(|entry| entry.items))]
    element: String,

    /// The operator
    #[arg(long, value_name = "O", default_value = "sum", value_parser = names(|entry| entry.op))]
    op: String,

    /// Also print the counters of every source line
    #[arg(long)]
    lines: bool,

    /// Print Markdown
    #[arg(long)]
    markdown: bool,
}

#[derive(Args, Debug)]
struct SpeedOptions {
    /// Number of elements in a launch; at most 2^22, because larger float sums may be inexact
    #[arg(
        long,
        value_name = "N",
        default_value_t = 1 << 20,
        value_parser = RangedU64ValueParser::<u32>::new().range(1..=1 << 22)
    )]
    n: u32,

    /// Number of launches, of which the median is printed
    #[arg(
        long,
        value_name = "R",
        default_value_t = 5,
        value_parser = RangedU64ValueParser::<u32>::new().range(1..)
    )]
    runs: u32,

    /// Print Markdown
    #[arg(long)]
    markdown: bool,
}

/// The output format.
fn style(markdown: bool) -> Style {
    if markdown {
        Style::Markdown
    } else {
        Style::Plain
    }
}

/// The element types of the rungs.
fn names(of: fn(&Entry) -> &'static str) -> PossibleValuesParser {
    let mut names: Vec<_> = entries().map(of).collect();
    names.sort_unstable();
    names.dedup();
    PossibleValuesParser::new(names)
}

fn main() -> ExitCode {
    let done = match Cli::parse().command {
        Command::Ladder(options) => ladder(&options),
        Command::Speed(options) => speed(&options),
    };
    match done {
        Ok(code) => code,
        // A closed pipe (`| head`) is not an error.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn ladder(options: &LadderOptions) -> io::Result<ExitCode> {
    let style = style(options.markdown);
    for threads in &options.threads {
        let threads = threads.parse().expect("clap accepts only numbers");
        let ladder = match Ladder::new(&options.op, &options.element, threads) {
            Ok(ladder) => ladder,
            Err(wrong) => {
                eprintln!("error: {wrong}");
                return Ok(ExitCode::FAILURE);
            }
        };
        if ladder.rungs().is_empty() {
            let LadderOptions { op, element, .. } = options;
            eprintln!("error: there are no kernels for the {op} of {element}");
            return Ok(ExitCode::from(2));
        }
        writeln!(io::stdout(), "{}", ladder.write(style))?;
        if options.lines {
            writeln!(io::stdout(), "{}", ladder.write_lines(style))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn speed(options: &SpeedOptions) -> io::Result<ExitCode> {
    match Speed::measure(options.n as usize, options.runs) {
        Ok(speed) => {
            write!(io::stdout(), "{}", speed.write(style(options.markdown)))?;
            Ok(ExitCode::SUCCESS)
        }
        Err(wrong) => {
            eprintln!("error: {wrong}");
            Ok(ExitCode::FAILURE)
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn only_what_there_is_can_be_asked_for() {
        let parse = |line: &str| Cli::try_parse_from(line.split(' '));
        assert!(parse("kernels-sim ladder --element f64 --threads 128,1024 --lines").is_ok());
        for bad in ["--element i16", "--threads 48", "--op product"] {
            assert!(
                parse(&format!("kernels-sim ladder {bad}")).is_err(),
                "{bad}"
            );
        }
        assert!(parse("kernels-sim speed --n 4194304 --runs 1").is_ok());
        for bad in ["--n 0", "--n 4194305", "--runs 0"] {
            assert!(parse(&format!("kernels-sim speed {bad}")).is_err(), "{bad}");
        }
    }
}
