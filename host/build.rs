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

/// Where it is set, the kernels name their lines of source, for profilers.
const LINE_INFO: &str = "WARPFOLD_LINE_INFO";

/// The vocabulary of the kernels: who looks for time looks for the lines that speak it.
const VOCABULARY: [&str; 6] = [
    "src/device",
    "src/device.rs",
    "src/mem",
    "src/mem.rs",
    "src/op",
    "src/op.rs",
];

fn main() {
    println!("cargo::rerun-if-env-changed={LINE_INFO}");
    println!("cargo::rustc-check-cfg=cfg(line_info)");
    let line_info = env::var_os(LINE_INFO).is_some_and(|value| !value.is_empty());
    if line_info {
        println!("cargo::rustc-cfg=line_info");
    }
    match CudaBuilder::new("../kernels-gpu")
        .arches(ARCHES)
        .split_modules(true)
        .generate_line_info(line_info)
        .credit_callers_of(VOCABULARY)
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

/// An expression of the modules of each architecture. What two architectures have in common, but for the
/// header, stands in the program once.
fn table(modules: &[Ptx], out: &Path) -> String {
    let mut bodies: Vec<String> = Vec::new();
    let mut statics = String::new();
    let mut rows = String::new();
    for modules in modules.chunk_by(|a, b| a.arch == b.arch) {
        let arch = modules[0].arch;
        let (name, capability) = (arch.sm(), arch.capability());
        let (header, _) = parts(&modules[0]);
        let probe = format!("{header}.visible .entry probe()\n{{\n\tret;\n}}\n");
        let _ = writeln!(
            rows,
            "Embedded {{ arch: {name:?}, capability: {capability:?}, header: {header:?}, \
             probe: c{probe:?}, modules: &["
        );
        for module in modules {
            let (own_header, body) = parts(module);
            assert_eq!(own_header, header, "the modules of {arch} have one header");
            let name = module.module.as_deref().unwrap_or_default();
            let len = body.len();
            let known = bodies.iter().position(|known| *known == body);
            let index = known.unwrap_or_else(|| {
                let (index, file) = (bodies.len(), out.join(format!("{name}.{arch}.deflate")));
                fs::write(&file, compressed(&body)).expect("OUT_DIR can be written to");
                let _ = writeln!(
                    statics,
                    "static BODY_{index}: &[u8] = include_bytes!({file:?});"
                );
                bodies.push(body);
                index
            });
            let _ = writeln!(
                rows,
                "    Compressed {{ name: {name:?}, len: {len}, bytes: BODY_{index} }},"
            );
        }
        rows.push_str("] },\n");
    }
    format!("{{\n{statics}&[\n{rows}]\n}}\n")
}

/// The directives at the start, version, target and address size; and the rest.
fn parts(module: &Ptx) -> (String, String) {
    let text = fs::read_to_string(&module.path).expect("the PTX has just been written");
    let directives = [".version ", ".target ", ".address_size "];
    let is_header = |line: &str| {
        directives
            .iter()
            .any(|directive| line.starts_with(directive))
    };
    let lines = |wanted: bool| {
        let lines = text.split_inclusive('\n');
        lines.filter(|line| is_header(line) == wanted).collect()
    };
    (lines(true), lines(false))
}

fn compressed(text: &str) -> Vec<u8> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
    let written = encoder.write_all(text.as_bytes());
    let finished = written.and_then(|()| encoder.finish());
    finished.expect("memory takes all that is written")
}
