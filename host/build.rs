//! Builds the kernels and writes what `src/module.rs` embeds.

use std::env;

/// The basic functions of the kernels. Profilers attribute their time to the lines that call them.
const VOCABULARY: [&str; 6] = [
    "src/device",
    "src/device.rs",
    "src/mem",
    "src/mem.rs",
    "src/op",
    "src/op.rs",
];

fn main() {
    let mut features = vec!["library"];
    if env::var_os("CARGO_FEATURE_TEACHING").is_some() {
        features.push("teaching");
    }
    warpfold_build::Embed::new("../kernels-gpu")
        .features(features)
        .credit_callers_of(VOCABULARY)
        .write();
}
