//! The command line `warpfold`: reductions of arrays in files, on a GPU or on the CPU.
//!
//! | module | does |
//! |---|---|
//! | `options` | the command line's syntax and help |
//! | `command` | finds the files, opens the device, and prints the answers |
//! | `sources`, `source`, `archive` | an array in files, in one of them, in an `.npz` archive |
//! | `reduce`, `by_key` | the answers, chunk by chunk |
//! | `memory` | the length of a chunk |
//! | `reading` | the time that reading takes, and its progress bar |
//! | `answer`, `value` | what is printed |
//! | `devices`, `manual` | the list of devices; completions and manual pages |

mod answer;
mod archive;
mod by_key;
mod command;
mod devices;
mod failure;
mod manual;
mod memory;
mod options;
mod reading;
mod reduce;
mod source;
mod sources;
mod value;

use std::ffi::OsString;
use std::io::{self, Read, Write};

use clap::Parser;

use crate::options::Cli;

/// Runs a command line, whose first argument is the program's name. Returns the exit code: 0 success,
/// 1 failure, 2 wrong arguments.
///
/// The file `-` is `stdin`. Answers go to `stdout`, everything else to `stderr`. A reader that has closed
/// either is not a failure.
pub fn run(
    args: impl IntoIterator<Item = OsString>,
    stdin: &mut impl Read,
    stdout: &mut impl Write,
    stderr: &mut impl Write,
) -> u8 {
    let cli = match Cli::try_parse_from(args) {
        Ok(cli) => cli,
        Err(wrong) => {
            let text = wrong.render();
            let written = match wrong.use_stderr() {
                true => write!(stderr, "{text}"),
                false => write!(stdout, "{text}"),
            };
            // A reader that has closed its end (`| head`) is not a failure.
            return match written {
                Err(error) if error.kind() != io::ErrorKind::BrokenPipe => 1,
                _ => u8::try_from(wrong.exit_code()).unwrap_or(2),
            };
        }
    };
    match command::run(&cli, stdin, stdout, stderr) {
        Ok(()) => 0,
        Err(failure) => {
            // Nothing is left to report a failure of stderr to.
            let _ = writeln!(stderr, "warpfold: {failure}");
            failure.exit_code()
        }
    }
}
