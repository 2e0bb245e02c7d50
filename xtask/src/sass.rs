//! `cargo xtask sass`: what the kernels become on the GPU, checked without one.

pub mod listing;
pub mod parse;
pub mod profile;
mod table;

use crate::tools::PtxTools;
use crate::{process, ptx, setup};
use anyhow::{Context, Result, bail};
use cuda_builder::NvvmArch;
use parse::Function;
use profile::{Counts, Profile, Resources};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::{Command, ExitCode};

/// Show the kernels' SASS: a table of what each entry costs, or one entry with its Rust lines
#[derive(clap::Args)]
pub struct Args {
    /// An entry (reduce_2_sum_i32), or a kernel (reduce_2) for all of its entries
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
            None => table::of(&profiles(&tools, &build(self.arch, false)?, self.arch)?),
            Some(name) => {
                let module = build(self.arch, true)?;
                let mut assembled = assemble(&tools, &module, self.arch, true)?;
                assembled.select(name)?;
                listing::of(&assembled)
            }
        };
        process::print(&text)?;
        Ok(ExitCode::SUCCESS)
    }
}

fn build(arch: NvvmArch, line_info: bool) -> Result<std::path::PathBuf> {
    let module = ptx::build(&[arch], line_info)?.into_iter().next();
    Ok(module.context("cuda_builder built no module")?.path)
}

/// A module as ptxas assembled it.
pub struct Assembled {
    /// The entries' resources.
    pub resources: BTreeMap<String, Resources>,
    /// The sections of code.
    pub functions: Vec<Function>,
}

impl Assembled {
    /// What each entry costs, by name; `arch` is what the module was assembled for.
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

    /// Keeps the entry `name`, or the entries of the kernel `name`.
    fn select(&mut self, name: &str) -> Result<()> {
        let exact = self.resources.contains_key(name);
        let wanted = |entry: &str| match exact {
            true => entry == name,
            false => kernel_of(entry) == name,
        };
        self.functions.retain(|function| wanted(&function.name));
        if self.functions.is_empty() {
            let kernels: BTreeSet<_> = self
                .resources
                .keys()
                .map(|entry| kernel_of(entry))
                .collect();
            let kernels: Vec<_> = kernels.into_iter().collect();
            bail!(
                "no kernel or entry is called {name}; the kernels are {}, \
                 their entries end in operator and element: reduce_2_sum_i32",
                kernels.join(", ")
            );
        }
        Ok(())
    }
}

/// Entries are `<kernel>_<operator>_<element>`.
fn kernel_of(entry: &str) -> &str {
    entry.rsplitn(3, '_').last().unwrap_or(entry)
}

/// Assembles a PTX file and reads the SASS; with the source lines where `line_info`.
pub fn assemble(
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

/// Assembles a PTX file and gives what each entry costs, by name.
pub fn profiles(tools: &PtxTools, ptx: &Path, arch: NvvmArch) -> Result<Vec<Profile>> {
    assemble(tools, ptx, arch, false)?.profiles(arch)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assembled() -> Assembled {
        let names = [
            "reduce_4_sum_i32",
            "reduce_4_min_f32",
            "reduce_4_redux_sum_i32",
        ];
        Assembled {
            resources: names.map(|n| (n.to_owned(), Resources::default())).into(),
            functions: names
                .map(|name| Function {
                    name: name.into(),
                    instructions: Vec::new(),
                })
                .into(),
        }
    }

    fn selected(name: &str) -> Result<Vec<String>> {
        let mut assembled = assembled();
        assembled.select(name)?;
        Ok(assembled.functions.into_iter().map(|f| f.name).collect())
    }

    #[test]
    fn entries_and_kernels_are_selected_by_name() {
        assert_eq!(selected("reduce_4_min_f32").unwrap(), ["reduce_4_min_f32"]);
        let kernel = ["reduce_4_sum_i32", "reduce_4_min_f32"];
        assert_eq!(selected("reduce_4").unwrap(), kernel);
        let error = selected("reduce_9").unwrap_err().to_string();
        assert!(error.contains("reduce_9") && error.contains("reduce_4, reduce_4_redux"));
    }
}
