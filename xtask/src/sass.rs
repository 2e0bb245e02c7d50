//! `cargo xtask sass`: shows the kernels' machine code, without a GPU.

pub mod in_flight;
pub mod listing;
pub mod loops;
pub mod name;
pub mod parse;
pub mod profile;
mod registers;
pub mod shuffles;
mod table;

use crate::tools::PtxTools;
use crate::{laws, process, ptx, setup};
use anyhow::{Context, Result, bail};
use cuda_builder::{NvvmArch, Ptx};
use name::{is_of, kernel_of};
use parse::Function;
use profile::{Counts, Profile, Resources};
use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZero;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;

/// Show the kernels' SASS: a table of resources and instructions, or one entry with its Rust lines
#[derive(clap::Args)]
pub struct Args {
    /// An entry (reduce_2_sum_i32), or a kernel (reduce_2) for all its entries; `triple` shows the warp steps
    /// of both triple kernels side by side
    #[arg(long, value_name = "NAME")]
    kernel: Option<String>,
    /// The architecture
    #[arg(long, value_parser = ptx::parse_arch, default_value = "sm_90")]
    arch: NvvmArch,
}

impl Args {
    /// Builds, assembles, disassembles and prints.
    pub fn run(self) -> Result<ExitCode> {
        setup::for_builds()?;
        let tools = setup::for_sass()?;
        let text = match &self.kernel {
            None => {
                let modules = ptx::build(&[self.arch], false)?;
                table::of(&assemble(&tools, &modules, false)?.profiles(self.arch)?)
            }
            Some(name) if name == TRIPLE => triples(&tools, self.arch)?,
            Some(name) => {
                let modules = with_entry(ptx::build(&[self.arch], true)?, name)?;
                let mut assembled = assemble(&tools, &modules, true)?;
                assembled
                    .functions
                    .retain(|function| is_of(&function.name, name));
                listing::of(&assembled)
            }
        };
        process::print(&text)?;
        Ok(ExitCode::SUCCESS)
    }
}

/// The name for both triple kernels.
const TRIPLE: &str = "triple";

/// The shuffles of `triple_in_turn` and `triple_interleaved` side by side, for each element.
fn triples(tools: &PtxTools, arch: NvvmArch) -> Result<String> {
    let modules = with_entry(ptx::build(&[arch], false)?, "triple_in_turn")?;
    let functions = assemble(tools, &modules, false)?.functions;
    let functions_of = |kernel: &'static str| {
        let mut found: Vec<_> = functions
            .iter()
            .filter(|f| is_of(&f.name, kernel))
            .collect();
        found.sort_by_key(|function| &function.name);
        found
    };
    let pairs = functions_of("triple_in_turn")
        .into_iter()
        .zip(functions_of("triple_interleaved"));
    let texts: Vec<_> = pairs
        .map(|(in_turn, interleaved)| shuffles::side_by_side(&[in_turn, interleaved]))
        .collect();
    Ok(texts.join("\n"))
}

/// The modules that have the entry `name`, or entries of the kernel `name`.
fn with_entry(modules: Vec<Ptx>, name: &str) -> Result<Vec<Ptx>> {
    let mut found = Vec::new();
    let mut entries = BTreeSet::new();
    for module in modules {
        let text = std::fs::read_to_string(&module.path)
            .with_context(|| format!("cannot read {}", module.path.display()))?;
        let names = laws::entries(&text);
        if names.iter().any(|entry| is_of(entry, name)) {
            found.push(module);
        }
        entries.extend(names.into_iter().map(str::to_owned));
    }
    if found.is_empty() {
        bail!("{}", unknown_name(name, &entries));
    }
    Ok(found)
}

fn unknown_name(name: &str, entries: &BTreeSet<String>) -> String {
    let kernels: BTreeSet<_> = entries.iter().map(|entry| kernel_of(entry)).collect();
    let kernels: Vec<_> = kernels.into_iter().collect();
    format!(
        "no kernel or entry has the name {name}; the kernels are {}; \
         an entry's name adds operator and element, and the key if there is one: \
         reduce_2_sum_i32, copy_vec4_b32, keyed_match_sum_f64_by_u32",
        kernels.join(", ")
    )
}

/// The output of ptxas and nvdisasm for modules.
#[derive(Default)]
pub struct Assembled {
    /// The entries' resources.
    pub resources: BTreeMap<String, Resources>,
    /// The sections of code.
    pub functions: Vec<Function>,
}

impl Assembled {
    /// The profile of each entry, sorted by name; `arch` is the architecture of the modules.
    pub fn profiles(&self, arch: NvvmArch) -> Result<Vec<Profile>> {
        let functions: BTreeMap<_, _> = self
            .functions
            .iter()
            .map(|function| (function.name.as_str(), function))
            .collect();
        let profile = |(name, resources): (&String, &Resources)| {
            let function = functions
                .get(name.as_str())
                .with_context(|| format!("nvdisasm printed no code for {name}"))?;
            Ok(Profile {
                name: name.clone(),
                resources: *resources,
                counts: Counts::of(function, arch),
            })
        };
        self.resources.iter().map(profile).collect()
    }
}

/// Assembles and disassembles modules on all cores; with line numbers if `line_info`.
pub fn assemble(tools: &PtxTools, modules: &[Ptx], line_info: bool) -> Result<Assembled> {
    let cores = thread::available_parallelism().map_or(1, NonZero::get);
    // Modules take from milliseconds to seconds, so each thread takes the next one when it is done.
    let next = AtomicUsize::new(0);
    let assemble = || -> Result<Vec<Assembled>> {
        let mut done = Vec::new();
        while let Some(module) = modules.get(next.fetch_add(1, Relaxed)) {
            done.push(assemble_one(tools, &module.path, module.arch, line_info)?);
        }
        Ok(done)
    };
    let parts: Vec<Result<Vec<_>>> = thread::scope(|scope| {
        let threads: Vec<_> = (0..cores).map(|_| scope.spawn(assemble)).collect();
        let parts = threads.into_iter();
        parts
            .map(|t| t.join().expect("assembly does not panic"))
            .collect()
    });
    let mut all = Assembled::default();
    for module in parts
        .into_iter()
        .collect::<Result<Vec<_>>>()?
        .into_iter()
        .flatten()
    {
        all.resources.extend(module.resources);
        all.functions.extend(module.functions);
    }
    Ok(all)
}

fn assemble_one(
    tools: &PtxTools,
    ptx: &Path,
    arch: NvvmArch,
    line_info: bool,
) -> Result<Assembled> {
    let folder = tempfile::tempdir().context("cannot create a temporary folder")?;
    let cubin = folder.path().join("kernels.cubin");
    let mut ptxas = Command::new(tools.ptxas());
    ptxas.arg("-v").arg(format!("-arch={}", arch.sm()));
    if line_info {
        ptxas.arg("-lineinfo");
    }
    let (_, verbose) = process::output_of(ptxas.arg("-o").arg(&cubin).arg(ptx))?;

    let mut nvdisasm = Command::new(tools.nvdisasm());
    nvdisasm.arg("-c");
    if line_info {
        nvdisasm.arg("-gi");
    }
    let disassembly = process::stdout_of(nvdisasm.arg(&cubin))?;
    Ok(Assembled {
        resources: profile::resources(&verbose),
        functions: parse::parse(&disassembly),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_name_lists_the_known_ones() {
        let folder = tempfile::tempdir().unwrap();
        let module = |name: &str, entries: &[&str]| {
            let path = folder.path().join(name);
            let entry = |entry: &&str| format!(".visible .entry {entry}(\n)\n");
            let text: String = entries.iter().map(entry).collect();
            std::fs::write(&path, text).unwrap();
            Ptx {
                arch: NvvmArch::Compute90,
                module: Some(name.to_owned()),
                path,
            }
        };
        let modules = || {
            vec![
                module("i32", &["reduce_4_sum_i32", "reduce_4_redux_sum_i32"]),
                module("f32", &["reduce_4_min_f32"]),
            ]
        };
        let names = |name: &str| -> Vec<_> {
            let modules = with_entry(modules(), name).unwrap().into_iter();
            modules.filter_map(|module| module.module).collect()
        };
        assert_eq!(names("reduce_4"), ["i32", "f32"]);
        assert_eq!(names("reduce_4_redux_sum_i32"), ["i32"]);
        let error = with_entry(modules(), "reduce_9").unwrap_err().to_string();
        assert!(error.contains("reduce_9") && error.contains("reduce_4, reduce_4_redux"));
    }
}
