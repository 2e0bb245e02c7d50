//! For build scripts: compiles a crate of kernels to PTX and writes the files that `warpfold::embedded!`
//! includes.
//!
//! ```no_run
//! // In `main` of `build.rs`:
//! warpfold_build::embed("../kernels");
//! ```
//!
//! It needs neither nvcc nor a CUDA SDK, because `cuda_builder` uses the installed rustc. The program contains
//! the PTX compressed to about a ninth of its size.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, process};

pub use cuda_builder::NvvmArch;
use cuda_builder::{CudaBuilder, Ptx};
use lzma_rust2::{LzmaOptions, LzmaWriter};

/// The architectures whose PTX is embedded by default; PTX runs on its own architecture and all later ones.
///
/// 8.0 is the latest, because the driver makes the same machine code for 9.0 from it as from PTX for 9.0,
/// unless a kernel asks for the architecture.
pub const ARCHES: [NvvmArch; 2] = [NvvmArch::Compute75, NvvmArch::Compute80];

/// The level of LZMA's compression, from 0 to 9. A build script is not optimised: level 3 takes half as long again to make the
/// output 3 % smaller, and level 4 takes six times as long.
const COMPRESSION: u32 = 1;

/// Overrides the architectures of the build script: `sm_80`, `sm_75,sm_80`, or `none`.
const ARCHES_VARIABLE: &str = "WARPFOLD_ARCHES";

/// If set, the PTX has line information, for profilers.
const LINE_INFO: &str = "WARPFOLD_LINE_INFO";

/// If set, a kernel that panics prints the location and the message.
const PANIC_MESSAGES: &str = "WARPFOLD_PANIC_MESSAGES";

/// Compiles a crate of kernels for [`ARCHES`] and writes the files that `embedded!` includes. `path` is
/// relative to the package that is built. If the kernels do not compile, it prints the reason and ends the
/// build.
///
/// The environment variable `WARPFOLD_ARCHES=sm_90` compiles all crates of kernels only for that architecture;
/// `WARPFOLD_ARCHES=none` compiles no PTX, for programs that run only on the CPU.
pub fn embed(path: impl AsRef<Path>) {
    Embed::new(path).write();
}

/// Options of [`embed`].
#[derive(Clone, Debug)]
#[must_use = "nothing is compiled before `write`"]
pub struct Embed {
    builder: CudaBuilder,
    arches: Vec<NvvmArch>,
    features: Vec<String>,
    panic_messages: bool,
}

impl Embed {
    /// Embeds the crate of kernels in this folder, for [`ARCHES`].
    pub fn new(path: impl AsRef<Path>) -> Self {
        Self {
            // A sum of products has the same bits on the CPU.
            builder: CudaBuilder::new(&path)
                .fma_contraction(false)
                .split_modules(true)
                .share_arches(true),
            arches: ARCHES.to_vec(),
            features: Vec::new(),
            panic_messages: false,
        }
    }

    /// Sets the architectures. Each takes as long to compile, and as many bytes in the program.
    pub fn arches(mut self, arches: impl IntoIterator<Item = NvvmArch>) -> Self {
        self.arches = arches.into_iter().collect();
        self
    }

    /// Enables features of the crate.
    pub fn features(mut self, features: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.features.extend(features.into_iter().map(Into::into));
        self
    }

    /// For profilers: attributes the instructions of these files to the lines that call them.
    pub fn credit_callers_of(mut self, files: impl IntoIterator<Item = impl AsRef<Path>>) -> Self {
        self.builder = self.builder.credit_callers_of(files);
        self
    }

    /// Whether a kernel that panics prints file, line, block, thread and message to standard error.
    ///
    /// Its launch then fails with `CUDA_ERROR_ASSERT`. By default a panic is a `trap` without a message.
    /// Kernels that can panic, for example at an index, become larger and slower. Only an index out of bounds
    /// prints its values. The environment variable `WARPFOLD_PANIC_MESSAGES=1` enables messages for all
    /// kernels, also those of `warpfold`.
    pub fn panic_messages(mut self, messages: bool) -> Self {
        self.panic_messages = messages;
        self
    }

    /// Whether functions of kernels may be recursive; an error by default. See
    /// [`CudaBuilder::allow_recursion`].
    pub fn allow_recursion(mut self, allow: bool) -> Self {
        self.builder = self.builder.allow_recursion(allow);
        self
    }

    /// Compiles the crate and writes the files. If the kernels do not compile, it prints the reason and ends
    /// the build.
    pub fn write(self) {
        println!("cargo::rerun-if-env-changed={LINE_INFO}");
        println!("cargo::rustc-check-cfg=cfg(line_info)");
        println!("cargo::rerun-if-env-changed={PANIC_MESSAGES}");
        let is_set = |name| env::var_os(name).is_some_and(|value| !value.is_empty());
        let line_info = is_set(LINE_INFO);
        if line_info {
            println!("cargo::rustc-cfg=line_info");
        }
        println!("cargo::rerun-if-env-changed={ARCHES_VARIABLE}");
        let panic_messages = self.panic_messages || is_set(PANIC_MESSAGES);
        let modules = self.asked_arches().and_then(|arches| {
            let mut builder = self
                .builder
                .arches(arches.iter().copied())
                .generate_line_info(line_info)
                .panic_messages(panic_messages);
            if !self.features.is_empty() {
                builder = builder.build_args(&["--features".to_owned(), self.features.join(",")]);
            }
            let krate = builder.lib_name().map_err(|error| error.to_string())?;
            let modules = match arches.is_empty() {
                true => Vec::new(),
                false => builder.build_all().map_err(|error| error.to_string())?,
            };
            Ok((krate, modules))
        });
        match modules {
            Ok((krate, modules)) => {
                let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
                let table = table(&modules, &krate, &out);
                let file = out.join(format!("{krate}.rs"));
                fs::write(file, table).expect("OUT_DIR can be written to");
            }
            Err(error) => {
                for line in error.lines() {
                    println!("cargo::error={line}");
                }
                // cargo fails the build because of these lines. If the script failed too, cargo would print them a
                // second time, as the script's output.
                process::exit(0);
            }
        }
    }

    /// The architectures of the environment variable, or else of the build script.
    fn asked_arches(&self) -> Result<Vec<NvvmArch>, String> {
        match env::var(ARCHES_VARIABLE) {
            Err(_) => Ok(self.arches.clone()),
            Ok(asked) => arches(&asked),
        }
    }
}

/// Parses `sm_75,sm_80` or `none`.
fn arches(asked: &str) -> Result<Vec<NvvmArch>, String> {
    if asked == "none" {
        return Ok(Vec::new());
    }
    let arch = |name: &str| {
        NvvmArch::parse(name.trim()).ok_or_else(|| {
            let known = NvvmArch::ALL.map(NvvmArch::sm).join(", ");
            format!("{ARCHES_VARIABLE}={asked}: `{name}` is neither `none` nor one of {known}")
        })
    };
    asked.split(',').map(arch).collect()
}

/// A Rust expression for the modules of each architecture. A text that two architectures share, apart from the
/// header, is in the program once.
fn table(modules: &[Ptx], krate: &str, out: &Path) -> String {
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
            "embedded::Arch {{ arch: {name:?}, capability: {capability:?}, header: {header:?}, \
             probe: c{probe:?}, modules: &["
        );
        for module in modules {
            let (own_header, body) = parts(module);
            assert_eq!(own_header, header, "the modules of {arch} have one header");
            let name = module.module.as_deref().unwrap_or_default();
            let len = body.len();
            let known = bodies.iter().position(|known| *known == body);
            let index = known.unwrap_or_else(|| {
                let (index, file) = (
                    bodies.len(),
                    out.join(format!("{krate}.{name}.{arch}.lzma")),
                );
                fs::write(&file, compressed(body.as_bytes())).expect("OUT_DIR can be written to");
                let _ = writeln!(
                    statics,
                    "static BODY_{index}: &[u8] = include_bytes!({file:?});"
                );
                bodies.push(body);
                index
            });
            let _ = writeln!(
                rows,
                "    embedded::Compressed {{ name: {name:?}, len: {len}, bytes: BODY_{index} }},"
            );
        }
        rows.push_str("] },\n");
    }
    format!("{{\n{statics}&[\n{rows}]\n}}\n")
}

/// The bytes in the format of `.lzma` files.
fn compressed(bytes: &[u8]) -> Vec<u8> {
    let (options, len) = (LzmaOptions::with_preset(COMPRESSION), bytes.len() as u64);
    let write = || {
        let mut writer = LzmaWriter::new_use_header(Vec::new(), &options, Some(len))?;
        writer.write_all(bytes)?;
        writer.finish()
    };
    write().expect("the options are valid, and memory accepts all bytes")
}

/// Splits a module into its first directives (version, target and address size) and the rest.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn architectures_are_read() {
        assert_eq!(arches("none"), Ok(Vec::new()));
        let both = [NvvmArch::Compute75, NvvmArch::Compute90];
        assert_eq!(arches("sm_75, sm_90"), Ok(both.to_vec()));
        for bad in ["", "sm_91", "sm_75,none", "all"] {
            assert!(arches(bad).unwrap_err().contains(bad), "{bad}");
        }
    }
}
