//! `kernels-sim`: what the simulator counts of the kernels, and how fast it is.
//!
//! ```text
//! kernels-sim ladder --threads 128,256 --element f64 --lines
//! kernels-sim speed --markdown
//! ```
//!
//! Exit code 0: every launch was right; 1: one was not; 2: bad arguments.

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
    about = "What the simulator counts of the kernels, and how fast it is"
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Each rung of the ladder: requests, divergence, bank conflicts, barriers of one block
    Ladder(LadderOptions),

    /// The simulator's own speed on one core, without and with checks and counters
    Speed(SpeedOptions),
}

#[derive(Args, Debug)]
struct LadderOptions {
    /// Threads per block, a table for each
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

    /// Also what was counted of every line of source
    #[arg(long)]
    lines: bool,

    /// Write Markdown
    #[arg(long)]
    markdown: bool,
}

#[derive(Args, Debug)]
struct SpeedOptions {
    /// How many elements a launch sums; more than 2^22 floats need not sum up exactly
    #[arg(
        long,
        value_name = "N",
        default_value_t = 1 << 20,
        value_parser = RangedU64ValueParser::<u32>::new().range(1..=1 << 22)
    )]
    n: u32,

    /// Launches to take the median of
    #[arg(
        long,
        value_name = "R",
        default_value_t = 5,
        value_parser = RangedU64ValueParser::<u32>::new().range(1..)
    )]
    runs: u32,

    /// Write Markdown
    #[arg(long)]
    markdown: bool,
}

/// How to write.
fn style(markdown: bool) -> Style {
    if markdown {
        Style::Markdown
    } else {
        Style::Plain
    }
}

/// What the rungs have.
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
        // A reader who has gone away (`| head`) is no error.
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
        let threads = threads.parse().expect("clap knows these numbers");
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
