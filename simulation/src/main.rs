//! `kernels-sim`: what the simulator counts of the kernels.
//!
//! ```text
//! kernels-sim ladder --threads 128,256 --element f64 --lines
//! ```
//!
//! Exit code 0: every launch was right; 1: one was not; 2: bad arguments.

use std::io::{self, Write};
use std::process::ExitCode;

use clap::builder::PossibleValuesParser;
use clap::{Args, Parser, Subcommand};
use kernels_gpu::entry::{ENTRIES, Entry};
use kernels_sim::ladder::{Ladder, Style};

#[derive(Debug, Parser)]
#[command(
    name = "kernels-sim",
    version,
    about = "What the simulator counts of the kernels"
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Each rung of the ladder: requests, divergence, bank conflicts, barriers of one block
    Ladder(LadderOptions),
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
    #[arg(long, value_name = "E", default_value = "i32", value_parser = names(|entry| entry.element))]
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

/// What stands in a column of the table of entries.
fn names(of: fn(&Entry) -> &'static str) -> PossibleValuesParser {
    let mut names: Vec<_> = ENTRIES.iter().map(of).collect();
    names.sort_unstable();
    names.dedup();
    PossibleValuesParser::new(names)
}

fn main() -> ExitCode {
    let Command::Ladder(options) = Cli::parse().command;
    match ladder(&options) {
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
    let style = if options.markdown {
        Style::Markdown
    } else {
        Style::Plain
    };
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
    }
}
