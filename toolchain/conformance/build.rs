//! Compiles the kernels and writes the table that `src/module.rs` embeds.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, process};

use cuda_builder::{CudaBuilder, CudaBuilderError, NvvmArch, Ptx};
use lzma_rust2::{LzmaOptions, LzmaWriter};

/// The level of LZMA's compression, from 0 to 9: as text, the modules are most of the test program.
const COMPRESSION: u32 = 1;

/// sm_75 has its own code paths, because it lacks `redux` and some conversions; newer devices can execute
/// that module too.
const ARCHES: [NvvmArch; 3] = [
    NvvmArch::Compute75,
    NvvmArch::Compute80,
    NvvmArch::Compute90,
];

/// Selects some of them by name, as in `warpfold_build`: `sm_80`. If it names none of them, all are built.
const ARCHES_VARIABLE: &str = "WARPFOLD_ARCHES";

fn main() {
    println!("cargo::rerun-if-env-changed={ARCHES_VARIABLE}");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let asked = env::var(ARCHES_VARIABLE).unwrap_or_default();
    let named = |arch: &NvvmArch| asked.split(',').any(|name| name.trim() == arch.sm());
    let mut arches = ARCHES.to_vec();
    if arches.iter().any(named) {
        arches.retain(named);
    }
    let modules = CudaBuilder::new("kernels").arches(arches).build_all();
    write(&out.join("modules.rs"), modules);
    // The text of a panic does not depend on the architecture, so newer devices execute this module.
    let panics = CudaBuilder::new("kernels")
        .arch(ARCHES[0])
        .panic_messages(true)
        .build_args(&["--features", "panics"])
        .final_module_path(out.join("panics.ptx"))
        .build_all();
    write(&out.join("panics.rs"), panics);
}

fn write(file: &Path, modules: Result<Vec<Ptx>, CudaBuilderError>) {
    match modules {
        Ok(modules) => fs::write(file, table(&modules)).expect("OUT_DIR is writable"),
        Err(error) => {
            for line in error.to_string().lines() {
                println!("cargo::error={line}");
            }
            // Cargo fails the build, and prints the lines once.
            process::exit(0);
        }
    }
}

fn table(modules: &[Ptx]) -> String {
    let mut table = String::from("&[\n");
    for module in modules {
        let path = fs::canonicalize(&module.path).expect("the PTX was just written");
        let ptx = fs::read(&path).expect("the PTX was just written");
        let file = path.with_extension("lzma");
        fs::write(&file, compressed(&ptx)).expect("OUT_DIR is writable");
        writeln!(
            table,
            "Module {{ name: {:?}, capability: {:?}, compressed: include_bytes!({file:?}) }},",
            module.arch.sm(),
            module.arch.capability(),
        )
        .expect("writing to a string does not fail");
    }
    table + "]\n"
}

fn compressed(bytes: &[u8]) -> Vec<u8> {
    let (options, len) = (LzmaOptions::with_preset(COMPRESSION), bytes.len() as u64);
    let write = || {
        let mut writer = LzmaWriter::new_use_header(Vec::new(), &options, Some(len))?;
        writer.write_all(bytes)?;
        writer.finish()
    };
    write().expect("the options are valid, and memory accepts all bytes")
}
