//! Type-checks what a kernel's author needs on the platforms that CI does not run on.
//!
//! rustup would have to fetch each platform's `std` first, and no other compiler offers them. So
//! `std` is checked from source, like `core` for the device, by the same compiler: no linker, no
//! C compiler and nothing of the platform's own is needed for that.

use crate::{process, workspace};
use anyhow::Result;
use std::process::Command;

/// Where kernels can be written and simulated, besides the machines that run the tests.
const TARGETS: [&str; 4] = [
    "aarch64-unknown-linux-gnu",
    "x86_64-apple-darwin",
    "aarch64-apple-darwin",
    "x86_64-pc-windows-msvc",
];

/// What a kernel's author needs. `cuda_std_macros` runs inside the compiler, so that it belongs
/// to the machine that compiles; it is built on the way.
const PACKAGES: [&str; 3] = ["cuda_sim", "cuda_std", "kernels-gpu"];

/// What they need to run kernels on the CPU.
const FEATURES: &str = "cuda_std/simulator,kernels-gpu/simulator";

/// The command that checks every package for every platform. It needs
/// [`for_builds`](crate::setup::for_builds).
///
/// In a target folder of its own: `std` from source, and a compiler that allows it, would make
/// cargo compile everything again where other builds are kept.
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
    // Flags that suit this machine's processor or linker suit no other.
    for flags in [
        "RUSTFLAGS",
        "CARGO_ENCODED_RUSTFLAGS",
        "CARGO_BUILD_RUSTFLAGS",
    ] {
        cargo.env_remove(flags);
    }
    Ok(cargo)
}
