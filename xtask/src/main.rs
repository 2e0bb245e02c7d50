//! The program `cargo xtask`; the library has its code.

use std::process::ExitCode;

fn main() -> ExitCode {
    xtask::main()
}
