//! The command line `warpfold`: reductions of arrays in files, on a GPU or on the CPU.
//!
//! | module | contents |
//! |---|---|
//! | `options` | the command line's syntax and help |
//! | `command` | finds the files, opens the device, and prints the results |
//! | `sources`, `source`, `archive` | an array in several files, in one file, in an `.npz` archive |
//! | `reduce`, `dot`, `by_key`, `count_by_key` | whole-array reductions, and reductions and counts by key, chunk by chunk |
//! | `parts` | reductions along axes, of segments and of rows |
//! | `group_by` | reductions by keys of any value, of whole arrays |
//! | `keys` | keys of any type, and the cells of each key |
//! | `memory` | the length of a chunk |
//! | `reading` | the time of reading, and the progress bar |
//! | `answer`, `value` | the results as text and as JSON |
//! | `devices`, `manual` | the list of devices; completions and manual pages |

mod answer;
mod archive;
mod by_key;
mod command;
mod count_by_key;
mod devices;
mod dot;
mod failure;
mod group_by;
mod keys;
mod manual;
mod memory;
mod options;
mod parts;
mod ranks;
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
/// The file `-` is `stdin`. Results are written to `stdout`, messages to `stderr`. It is not a failure if the
/// reader of either has closed the pipe (`| head`).
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
            return match written {
                Err(error) if error.kind() != io::ErrorKind::BrokenPipe => 1,
                _ => u8::try_from(wrong.exit_code()).unwrap_or(2),
            };
        }
    };
    match command::run(&cli, stdin, stdout, stderr) {
        Ok(()) => 0,
        Err(failure) => {
            if !ranks::is_told(&failure) {
                print_message(stderr, &failure.to_string());
            }
            failure.exit_code()
        }
    }
}

/// Prints a message in one piece: pieces of several ranks, whose launcher prints them, would mix within a line.
fn print_message(stderr: &mut (impl Write + ?Sized), text: &str) {
    // A failure of stderr cannot be reported anywhere.
    let _ = stderr.write_all(format!("warpfold: {text}\n").as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Keeps each piece that is written to it.
    struct Pieces(Vec<String>);

    impl Write for Pieces {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.push(String::from_utf8_lossy(bytes).into_owned());
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_failure_is_printed_in_one_piece() {
        let words = ["warpfold", "sum", "no such file.npy", "--device", "cpu"];
        let (mut stdout, mut stderr) = (vec![], Pieces(vec![]));
        let code = run(
            words.map(OsString::from),
            &mut io::empty(),
            &mut stdout,
            &mut stderr,
        );
        let [line] = &stderr.0[..] else {
            panic!("{:?}", stderr.0);
        };
        let start = "warpfold: no such file.npy: No such file";
        assert!(line.starts_with(start) && line.ends_with('\n'), "{line:?}");
        assert_eq!((code, &stdout[..]), (1, &[][..]));
    }
}
