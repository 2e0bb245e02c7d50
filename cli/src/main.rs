//! `warpfold`: reductions of arrays in files, on a GPU or on the CPU.

use std::env;
use std::io;
use std::process::ExitCode;

fn main() -> ExitCode {
    let code = warpfold_cli::run(
        env::args_os(),
        &mut io::stdin(),
        &mut io::stdout(),
        &mut io::stderr(),
    );
    ExitCode::from(code)
}
