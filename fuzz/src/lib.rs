//! What must hold for any bytes: each target takes some and panics where it finds something wrong.
//!
//! `cargo xtask fuzz TARGET` searches for such bytes by libFuzzer, led by which branches they take.
//! What it needs to begin with is in `corpus/TARGET`, and what it ever found in `found/TARGET`;
//! `cargo test -p warpfold-fuzz` runs every file of both.

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

/// A target: its name, and what it does with some bytes.
pub type Target = (&'static str, fn(&[u8]));

/// All of them.
pub const TARGETS: [Target; 4] = [
    ("files", files),
    ("calls", calls),
    ("whole", whole),
    ("command", command),
];

/// Where files are made: in memory where that is to be had, since a disk takes a hundred times longer.
fn in_memory() -> PathBuf {
    let memory = PathBuf::from("/dev/shm");
    if memory.is_dir() {
        memory
    } else {
        env::temp_dir()
    }
}
