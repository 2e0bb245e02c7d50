//! Type-checks the crates for kernels on platforms without CI.
//!
//! Only rustup could download each platform's `std`. So the device's compiler checks `std` from source, which
//! needs no linker, no C compiler and no files of the platform.

use crate::{process, workspace};
use anyhow::Result;
use std::process::Command;

/// Platforms on which kernels can be written and simulated, besides that of the tests.
const TARGETS: [&str; 4] = [
    "aarch64-unknown-linux-gnu",
    "x86_64-apple-darwin",
    "aarch64-apple-darwin",
    "x86_64-pc-windows-msvc",
];

/// The crates that kernels depend on. `cuda_std_macros` runs in the compiler, so it is built for the host.
const PACKAGES: [&str; 3] = ["cuda_sim", "cuda_std", "kernels-gpu"];

/// Features for kernels on the CPU.
const FEATURES: &str = "cuda_std/simulator,kernels-gpu/simulator";

/// The command that checks every package for every platform. Requires a preceding call of
/// [`for_builds`](crate::setup::for_builds).
///
/// It has its own target folder. In the shared one, its options would make cargo compile everything again.
pub fn check() -> Result<Command> {
    let compiler = cuda_builder::toolchain::find()?;
    let mut cargo = process::cargo();
    cargo
        .args(["check", "--keep-going", "-Zbuild-std=std,panic_unwind"])
        .args(PACKAGES.map(|package| format!("--package={package}")))
        .arg(format!("--features={FEATURES}"))
        .args(TARGETS.map(|target| format!("--target={target}")))
        .arg("--target-dir")
        .arg(workspace::target_dir()?.join("platforms"))
        .env("RUSTC", compiler.rustc)
        .env("RUSTC_BOOTSTRAP", "1");
    // Flags for this machine's processor or linker may be wrong for other platforms.
    for flags in [
        "RUSTFLAGS",
        "CARGO_ENCODED_RUSTFLAGS",
        "CARGO_BUILD_RUSTFLAGS",
    ] {
        cargo.env_remove(flags);
    }
    Ok(cargo)
}
