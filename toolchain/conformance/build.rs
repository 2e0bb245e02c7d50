//! Compiles the kernels and writes the table that `src/module.rs` embeds.

use std::fmt::Write;
use std::path::PathBuf;
use std::{env, fs, process};

use cuda_builder::{CudaBuilder, NvvmArch, Ptx};

/// sm_75 has code paths of its own, for lack of `redux` and of some conversions; a newer
/// card executes them when it is given that module.
const ARCHES: [NvvmArch; 3] = [
    NvvmArch::Compute75,
    NvvmArch::Compute80,
    NvvmArch::Compute90,
];

fn main() {
    let modules = CudaBuilder::new("kernels").arches(ARCHES).build_all();
    match modules {
        Ok(modules) => {
            let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
            fs::write(out.join("modules.rs"), table(&modules)).expect("OUT_DIR can be written to");
        }
        Err(error) => {
            for line in error.to_string().lines() {
                println!("cargo::error={line}");
            }
            process::exit(1);
        }
    }
}

fn table(modules: &[Ptx]) -> String {
    let mut table = String::from("&[\n");
    for module in modules {
        let path = fs::canonicalize(&module.path).expect("the PTX has just been written");
        writeln!(
            table,
            "Module {{ name: {:?}, capability: {:?}, ptx: include_str!({path:?}) }},",
            module.arch.sm(),
            module.arch.capability(),
        )
        .expect("writing to a string does not fail");
    }
    table + "]\n"
}
