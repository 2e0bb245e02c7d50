//! `cargo xtask sass`: what the kernels become on the GPU, checked without one.

pub mod in_flight;
pub mod listing;
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

/// Show the kernels' SASS: a table of what each entry costs, or one entry with its Rust lines
#[derive(clap::Args)]
pub struct Args {
    /// An entry (reduce_2_sum_i32), or a kernel (reduce_2) for all of its entries; `triple` for the
    /// warp's steps of both kernels of triples, side by side
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

/// The name for both kernels of triples.
const TRIPLE: &str = "triple";

/// The shuffles of a triple one field after the other and interleaved, of each element.
fn triples(tools: &PtxTools, arch: NvvmArch) -> Result<String> {
    let modules = with_entry(ptx::build(&[arch], false)?, "triple_in_turn")?;
    let functions = assemble(tools, &modules, false)?.functions;
    let of = |kernel: &'static str| {
        let mut of: Vec<_> = functions
            .iter()
            .filter(|f| is_of(&f.name, kernel))
            .collect();
        of.sort_by_key(|function| &function.name);
        of
    };
    let pairs = of("triple_in_turn")
        .into_iter()
        .zip(of("triple_interleaved"));
    let texts: Vec<_> = pairs
        .map(|(in_turn, interleaved)| shuffles::side_by_side(&[in_turn, interleaved]))
        .collect();
    Ok(texts.join("\n"))
}

/// The modules that have the entry `name`, or entries of the kernel `name`.
fn with_entry(modules: Vec<Ptx>, name: &str) -> Result<Vec<Ptx>> {
    let mut wanted = Vec::new();
    let mut entries = BTreeSet::new();
    for module in modules {
        let text = std::fs::read_to_string(&module.path)
            .with_context(|| format!("cannot read {}", module.path.display()))?;
        let of_module = laws::entries(&text);
        if of_module.iter().any(|entry| is_of(entry, name)) {
            wanted.push(module);
        }
        entries.extend(of_module.into_iter().map(str::to_owned));
    }
    if wanted.is_empty() {
        bail!("{}", nothing_called(name, &entries));
    }
    Ok(wanted)
}

fn nothing_called(name: &str, entries: &BTreeSet<String>) -> String {
    let kernels: BTreeSet<_> = entries.iter().map(|entry| kernel_of(entry)).collect();
    let kernels: Vec<_> = kernels.into_iter().collect();
    format!(
        "no kernel or entry is called {name}; the kernels are {}, \
         their entries end in operator and element, and in the key where there is one: \
         reduce_2_sum_i32, copy_vec4_b32, keyed_match_sum_f64_by_u32",
        kernels.join(", ")
    )
}

/// Modules as ptxas assembled them.
#[derive(Default)]
pub struct Assembled {
    /// The entries' resources.
    pub resources: BTreeMap<String, Resources>,
    /// The sections of code.
    pub functions: Vec<Function>,
}

impl Assembled {
    /// What each entry costs, by name; `arch` is what the modules were assembled for.
    pub fn profiles(&self, arch: NvvmArch) -> Result<Vec<Profile>> {
        let functions: BTreeMap<_, _> = self
            .functions
            .iter()
            .map(|function| (function.name.as_str(), function))
            .collect();
        let profile = |(name, resources): (&String, &Resources)| {
            let function = functions
                .get(name.as_str())
                .with_context(|| format!("nvdisasm shows no code of {name}"))?;
            Ok(Profile {
                name: name.clone(),
                resources: *resources,
                counts: Counts::of(function, arch),
            })
        };
        self.resources.iter().map(profile).collect()
    }
}

/// Assembles modules, as many at once as there are cores, and reads the SASS; with the source
/// lines where `line_info`.
pub fn assemble(tools: &PtxTools, modules: &[Ptx], line_info: bool) -> Result<Assembled> {
    let cores = thread::available_parallelism().map_or(1, NonZero::get);
    // Modules take from milliseconds to seconds: whoever is done takes the next.
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
    let folder = tempfile::tempdir().context("cannot make a temporary folder")?;
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
    fn an_unknown_name_shows_the_names_there_are() {
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
