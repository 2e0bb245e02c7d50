//! The project's commands, one file each: `cargo xtask <command>`.
//!
//! xtask never depends on `warpfold`, because it must build on a machine without a device compiler. [`setup`]
//! gets a compiler before other commands build kernels.
//!
//! Exit codes: 0 for success, 1 for an error, 2 for an invalid command line. A command that runs another
//! program returns that program's code.

use clap::{Parser, Subcommand};
use std::process::ExitCode;

pub mod accuracy;
pub mod arches;
mod bench;
pub mod book;
pub mod browser;
pub mod check;
pub mod dist;
pub mod doctor;
pub mod driver;
pub mod fuzz;
pub mod ladder;
pub mod laws;
pub mod learn;
pub mod lint;
pub mod new;
pub mod parts;
pub mod platforms;
pub mod process;
pub mod profile;
pub mod ptx;
pub mod sass;
pub mod setup;
pub mod test;
pub mod tidy;
pub mod time_to_first;
pub mod tools;
pub mod workspace;

#[derive(Parser)]
#[command(
    name = "xtask",
    bin_name = "cargo xtask",
    about = "The project's commands"
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Setup(setup::Args),
    Doctor(doctor::Args),
    New(new::Args),
    Ptx(ptx::Args),
    Sass(sass::Args),
    Ladder(ladder::Args),
    Learn(learn::Args),
    Bench(bench::Args),
    Book(book::Args),
    Accuracy(accuracy::Args),
    Parts(parts::Args),
    Profile(profile::Args),
    Fuzz(fuzz::Args),
    Test(test::Args),
    Lint(lint::Args),
    Check(check::Args),
    Dist(dist::Args),
    TimeToFirst(time_to_first::Args),
}

/// Runs the command that the process's arguments name.
pub fn main() -> ExitCode {
    let result = match Cli::parse().command {
        Command::Setup(args) => args.run(),
        Command::Doctor(args) => args.run(),
        Command::New(args) => args.run(),
        Command::Ptx(args) => args.run(),
        Command::Sass(args) => args.run(),
        Command::Ladder(args) => args.run(),
        Command::Learn(args) => args.run(),
        Command::Bench(args) => args.run(),
        Command::Book(args) => args.run(),
        Command::Accuracy(args) => args.run(),
        Command::Parts(args) => args.run(),
        Command::Profile(args) => args.run(),
        Command::Fuzz(args) => args.run(),
        Command::Test(args) => args.run(),
        Command::Lint(args) => args.run(),
        Command::Check(args) => args.run(),
        Command::Dist(args) => args.run(),
        Command::TimeToFirst(args) => args.run(),
    };
    result.unwrap_or_else(|error| {
        process::report(&format!("error: {error:#}"));
        ExitCode::FAILURE
    })
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        super::Cli::command().debug_assert();
    }
}
