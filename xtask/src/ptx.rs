//! `cargo xtask ptx`: builds the kernels' PTX modules.

use crate::{process, setup, workspace};
use anyhow::{Context, Result};
use cuda_builder::{CudaBuilder, NvvmArch, Ptx};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

/// The architectures that the library embeds, oldest first.
pub const ARCHES: [NvvmArch; 2] = [NvvmArch::Compute75, NvvmArch::Compute80];

/// Build the kernels' PTX modules, such as DIR/kernels.ladder_i32.sm_90.ptx
#[derive(clap::Args)]
pub struct Args {
    /// The architecture, such as sm_90 [default: sm_75 and sm_80, which the library embeds]
    #[arg(long, value_parser = parse_arch)]
    arch: Option<NvvmArch>,
    /// The folder to write to [default: `ptx` in cargo's target directory]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

impl Args {
    /// Builds the modules, writes them and prints their paths.
    pub fn run(self) -> Result<ExitCode> {
        setup::for_builds()?;
        let arches = self.arch.map_or(ARCHES.to_vec(), |arch| vec![arch]);
        let out = match self.out {
            Some(out) => out,
            None => workspace::target_dir()?.join("ptx"),
        };
        let start = Instant::now();
        let modules = build(&arches, false)?;
        for path in write(&modules, &out)? {
            process::print(&format!("{}\n", path.display()))?;
        }
        let seconds = start.elapsed().as_secs_f64();
        process::report(&format!("ptx: {} built in {seconds:.1} s", modules.len()));
        Ok(ExitCode::SUCCESS)
    }
}

/// An architecture by its usual name, for clap.
pub fn parse_arch(name: &str) -> Result<NvvmArch, String> {
    NvvmArch::parse(name).ok_or_else(|| {
        let known: Vec<_> = NvvmArch::ALL.iter().map(|arch| arch.sm()).collect();
        format!("known architectures are {}", known.join(", "))
    })
}

/// Builds the kernels for `arches`, in the modules that the library embeds; with line numbers if `line_info`.
pub fn build(arches: &[NvvmArch], line_info: bool) -> Result<Vec<Ptx>> {
    let mut builder = kernels().arches(arches.iter().copied());
    if line_info {
        builder = builder.generate_line_info(true);
    }
    Ok(builder.build_all()?)
}

/// Builds one of these modules.
pub fn build_module(arch: NvvmArch, name: &str) -> Result<Vec<Ptx>> {
    Ok(kernels().arches([arch]).only_module(name).build_all()?)
}

/// The kernels, compiled as the library's build script does it. What both compile is compiled once.
fn kernels() -> CudaBuilder {
    CudaBuilder::new(workspace::root().join("kernels-gpu"))
        .build_args(&["--features", "library,teaching"])
        .fma_contraction(false)
        .split_modules(true)
        .share_arches(true)
}

/// Builds `kernels-handles` for `arches`: memory accesses by handles and by raw pointers; one module each.
pub fn build_handles(arches: &[NvvmArch]) -> Result<Vec<Ptx>> {
    let kernels = workspace::root().join("kernels-gpu/tests/handles");
    let builder = CudaBuilder::new(kernels).arches(arches.iter().copied());
    Ok(builder.build_all()?)
}

/// Copies modules to `out` as `kernels.<module>.<arch>.ptx`; does not touch equal files.
pub fn write(modules: &[Ptx], out: &Path) -> Result<Vec<PathBuf>> {
    std::fs::create_dir_all(out).with_context(|| format!("cannot create {}", out.display()))?;
    let mut written = Vec::new();
    for module in modules {
        let name = module.module.iter().map(|name| format!(".{name}"));
        let name: String = name.collect();
        let path = out.join(format!("kernels{name}.{}.ptx", module.arch.sm()));
        let text = std::fs::read(&module.path)
            .with_context(|| format!("cannot read {}", module.path.display()))?;
        if std::fs::read(&path).ok().as_ref() != Some(&text) {
            std::fs::write(&path, text)
                .with_context(|| format!("cannot write {}", path.display()))?;
        }
        written.push(path);
    }
    Ok(written)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_architecture_names_the_known_ones() {
        assert_eq!(parse_arch("sm_90"), Ok(NvvmArch::Compute90));
        let error = parse_arch("sm_91").unwrap_err();
        assert!(
            error.contains("sm_75, ") && error.contains("sm_90"),
            "{error}"
        );
    }
}
