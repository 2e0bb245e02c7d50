//! The command line `warpfold`: reductions of arrays in files, on a GPU or on the CPU.
//!
//! | module | does |
//! |---|---|
//! | `options` | what can be asked for |
//! | `command` | opens the file and the device, and answers |
//! | `reduce`, `by_key` | the answers, chunk by chunk |
//! | `memory` | how long a chunk is |
//! | `reading` | the time that reading takes, and a bar of it |
//! | `answer`, `value` | what is printed |

mod answer;
mod by_key;
mod command;
mod failure;
mod memory;
mod options;
mod reading;
mod reduce;
mod value;

use std::ffi::OsString;
use std::io::{self, BufWriter, Write};

use clap::Parser;

use crate::failure::Failure;
use crate::options::Cli;

/// Does what the arguments, the first of which is the program's name, ask for. The exit code: 0 it is done,
/// 1 something failed, 2 the arguments are wrong.
///
/// Answers go to `stdout`, all else to `stderr`. A reader of either who has gone away is no failure.
pub fn run(
    args: impl IntoIterator<Item = OsString>,
    stdout: &mut impl Write,
    stderr: &mut impl Write,
) -> u8 {
    let cli = match Cli::try_parse_from(args) {
        Ok(cli) => cli,
        Err(wrong) => {
            let text = wrong.render();
            let said = match wrong.use_stderr() {
                true => write!(stderr, "{text}"),
                false => write!(stdout, "{text}"),
            };
            return match read_or_unread(said) {
                Ok(()) => u8::try_from(wrong.exit_code()).unwrap_or(2),
                Err(_) => 1,
            };
        }
    };
    let done = command::run(&cli, stderr).and_then(|report| {
        let mut stdout = BufWriter::new(stdout);
        let said = report.write(cli.command.input().json, &mut stdout);
        read_or_unread(said.and_then(|()| stdout.flush())).map_err(Failure::Output)
    });
    match done {
        Ok(()) => 0,
        Err(failure) => {
            // There is nobody left to tell.
            let _ = writeln!(stderr, "warpfold: {failure}");
            failure.exit_code()
        }
    }
}

/// What nobody reads any more (`| head`) has been said.
fn read_or_unread(said: io::Result<()>) -> io::Result<()> {
    match said {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        said => said,
    }
}
