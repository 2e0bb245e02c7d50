//! Fuzz targets: each decodes a test case from any bytes, and panics if a check fails.
//!
//! `cargo xtask fuzz TARGET` searches for such bytes with libFuzzer, guided by branch coverage.
//! `corpus/TARGET` has the initial inputs, `found/TARGET` the inputs that once failed. `cargo test -p
//! warpfold-fuzz` runs both.

mod calls;
mod command;
mod files;
mod whole;

use std::env;
use std::path::PathBuf;

pub use calls::calls;
pub use command::command;
pub use files::files;
pub use whole::whole;

/// A target's name and function.
pub type Target = (&'static str, fn(&[u8]));

/// All targets.
pub const TARGETS: [Target; 4] = [
    ("files", files),
    ("calls", calls),
    ("whole", whole),
    ("command", command),
];

/// The folder for temporary files: in memory if possible, because a disk takes a hundred times longer.
fn in_memory() -> PathBuf {
    let memory = PathBuf::from("/dev/shm");
    if memory.is_dir() {
        memory
    } else {
        env::temp_dir()
    }
}
