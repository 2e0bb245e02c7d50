//! Builds the kernels and writes the table of modules that `src/module.rs` embeds.
//!
//! PTX is text, and much alike: compressed it is a ninth, in the library and in every program.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, process};

use cuda_builder::{CudaBuilder, NvvmArch, Ptx};
use flate2::Compression;
use flate2::write::DeflateEncoder;

/// One set of modules per architecture floor; PTX runs on its own architecture and all later
/// ones.
const ARCHES: [NvvmArch; 3] = [
    NvvmArch::Compute75,
    NvvmArch::Compute80,
    NvvmArch::Compute90,
];

fn main() {
    match CudaBuilder::new("../kernels-gpu")
        .arches(ARCHES)
        .split_modules(true)
        .build_all()
    {
        Ok(modules) => {
            let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
            let table = table(&modules, &out);
            fs::write(out.join("modules.rs"), table).expect("OUT_DIR can be written to");
        }
        Err(error) => {
            for line in error.to_string().lines() {
                println!("cargo::error={line}");
            }
            process::exit(1);
        }
    }
}

fn table(modules: &[Ptx], out: &Path) -> String {
    let mut table = String::from("&[\n");
    for modules in modules.chunk_by(|a, b| a.arch == b.arch) {
        let arch = modules[0].arch;
        let (name, capability) = (arch.sm(), arch.capability());
        let probe = probe(&text(&modules[0]));
        let _ = writeln!(
            table,
            "Embedded {{ arch: {name:?}, capability: {capability:?}, probe: c{probe:?}, modules: &["
        );
        for module in modules {
            let text = text(module);
            let name = module.module.as_deref().unwrap_or_default();
            let file = out.join(format!("{name}.{arch}.deflate"));
            fs::write(&file, compressed(&text)).expect("OUT_DIR can be written to");
            let _ = writeln!(
                table,
                "    Compressed {{ name: {name:?}, len: {}, bytes: include_bytes!({file:?}) }},",
                text.len()
            );
        }
        table.push_str("] },\n");
    }
    table + "]\n"
}

fn text(module: &Ptx) -> String {
    fs::read_to_string(&module.path).expect("the PTX has just been written")
}

/// A module with nothing in it, of the version and for the target of `ptx`.
fn probe(ptx: &str) -> String {
    let directives = [".version ", ".target ", ".address_size "];
    ptx.lines()
        .filter(|line| directives.iter().any(|d| line.starts_with(d)))
        .flat_map(|line| [line, "\n"])
        .chain([".visible .entry probe()\n{\n\tret;\n}\n"])
        .collect()
}

fn compressed(text: &str) -> Vec<u8> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
    let written = encoder.write_all(text.as_bytes());
    let finished = written.and_then(|()| encoder.finish());
    finished.expect("memory takes all that is written")
}
