//! Embeds the commit and the compiler's version in the binary, so that a record can be reproduced.

use std::process::Command;

fn main() {
    if std::env::var_os("CARGO_FEATURE_SWEEPS").is_some() {
        warpfold_build::embed("../examples/kernels");
    }
    // This log changes with every commit; the other paths are the sources of what is measured and simulated.
    if let Some(log) = git(&["rev-parse", "--git-path", "logs/HEAD"]) {
        println!("cargo::rerun-if-changed={log}");
    }
    for path in MEASURED {
        println!("cargo::rerun-if-changed={path}");
    }
    println!(
        "cargo::rustc-env=WARPFOLD_COMMIT={}",
        commit().unwrap_or("unknown".into())
    );
    println!(
        "cargo::rustc-env=WARPFOLD_COMPILER={}",
        compiler().unwrap_or("unknown".into())
    );
}

const MEASURED: [&str; 10] = [
    "Cargo.toml",
    "build.rs",
    "src",
    "peers",
    "../host",
    "../kernels-gpu",
    "../simulation",
    "../toolchain/cuda_std",
    "../toolchain/cuda_builder",
    "../toolchain/cuda_sim",
];

fn commit() -> Option<String> {
    let commit = git(&["rev-parse", "HEAD"])?;
    let changed = git(&[["status", "--porcelain", "--"].as_slice(), &MEASURED].concat())?;
    Some(if changed.is_empty() {
        commit
    } else {
        commit + " with uncommitted changes"
    })
}

/// The output of `rustc --version`.
fn compiler() -> Option<String> {
    let rustc = std::env::var_os("RUSTC")?;
    let output = Command::new(rustc).arg("--version").output().ok()?;
    Some(String::from_utf8(output.stdout).ok()?.trim().to_owned())
}

fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}
