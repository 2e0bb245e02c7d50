//! Builds the kernels and writes the table of modules that `src/module.rs` embeds.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs, process};

use cuda_builder::{CudaBuilder, NvvmArch, Ptx};

/// One module per architecture floor; PTX runs on its own architecture and all later ones.
const ARCHES: [NvvmArch; 3] = [
    NvvmArch::Compute75,
    NvvmArch::Compute80,
    NvvmArch::Compute90,
];

fn main() {
    match CudaBuilder::new("../kernels-gpu")
        .arches(ARCHES)
        .build_all()
    {
        Ok(modules) => {
            let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
            write_table(&out.join("modules.rs"), &modules);
        }
        Err(error) => {
            for line in error.to_string().lines() {
                println!("cargo::error={line}");
            }
            process::exit(1);
        }
    }
}

fn write_table(file: &Path, modules: &[Ptx]) {
    let mut table = String::from("&[\n");
    for module in modules {
        let (arch, capability) = (module.arch.sm(), module.arch.capability());
        let path = fs::canonicalize(&module.path).expect("the PTX has just been written");
        writeln!(
            table,
            "    Embedded {{ arch: {arch:?}, capability: {capability:?}, \
             text: concat!(include_str!({path:?}), \"\\0\") }},"
        )
        .expect("writing to a string does not fail");
    }
    table.push_str("]\n");
    fs::write(file, table).expect("OUT_DIR can be written to");
}
