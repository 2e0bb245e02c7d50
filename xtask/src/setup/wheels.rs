//! Extracts NVIDIA's PTX tools from its Python wheels.

use super::{Step, download};
use crate::process;
use crate::tools::{self, PtxTools, TOOLS, WHEEL_VERSION};
use anyhow::{Context, Result, bail};
use std::borrow::Cow;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

const PTX_TOOLS: &str = "PTX tools";

pub(super) fn provide() -> Result<(PtxTools, Step)> {
    let start = Instant::now();
    let cache = cuda_builder::toolchain::cache_dir();
    let name = format!("cuda-{WHEEL_VERSION}");
    let fetched = match tools::find() {
        Some(_) => None,
        None => {
            let present = || tools::find().is_some();
            download::into_cache(&cache, &name, present, fill).context(
                "ptxas, nvdisasm and cuobjdump are not in PATH, CUDA_PATH/bin or \
                 /usr/local/cuda/bin, and NVIDIA's wheels cannot be downloaded",
            )?
        }
    };
    let found = tools::find().context("the downloaded PTX tools are not found")?;
    let used = format!("{} ({})", found.folder().display(), found.origin);
    let step = match fetched {
        None => Step::present(PTX_TOOLS, used),
        Some(bytes) => Step::fetched(PTX_TOOLS, used, Some(bytes), start),
    };
    Ok((found, step))
}

fn fill(dir: &Path) -> Result<u64> {
    let wheels = dir.join("wheels");
    let mut pip = Command::new("python3");
    pip.args(["-m", "pip", "download", "--quiet", "--no-deps"])
        .args(["--only-binary", ":all:", "--disable-pip-version-check"])
        .arg("--dest")
        .arg(&wheels);
    for (_, wheel) in TOOLS {
        pip.arg(format!("{wheel}=={WHEEL_VERSION}"));
    }
    process::report("setup: downloading NVIDIA's wheels for ptxas, nvdisasm and cuobjdump");
    process::output_of(&mut pip).context("the download needs python3 with pip")?;

    let bin = dir.join("bin");
    std::fs::create_dir(&bin)?;
    for (tool, wheel) in TOOLS {
        unpack(&wheel_file(&wheels, wheel)?, tool, &bin)?;
    }
    let bytes = download::bytes_in(&wheels);
    std::fs::remove_dir_all(&wheels)?;
    Ok(bytes)
}

/// The file of the wheel `name`. File names have underscores instead of dashes.
fn wheel_file(wheels: &Path, name: &str) -> Result<PathBuf> {
    let prefix = format!("{}-", name.replace('-', "_"));
    let mut files = std::fs::read_dir(wheels)?.flatten();
    files
        .find(|file| file.file_name().to_string_lossy().starts_with(&prefix))
        .map(|file| file.path())
        .with_context(|| format!("pip downloaded no wheel {name}"))
}

/// Extracts the program `tool` from a wheel, as an executable file.
fn unpack(wheel: &Path, tool: &str, bin: &Path) -> Result<()> {
    let context = || format!("cannot read {}", wheel.display());
    let mut archive = zip::ZipArchive::new(File::open(wheel).with_context(context)?)?;
    let inside = format!("/bin/{tool}");
    let Some(name) = archive
        .file_names()
        .flatten()
        .find(|name| name.ends_with(&inside))
        .map(Cow::into_owned)
    else {
        bail!("{} contains no bin/{tool}", wheel.display());
    };
    let path = bin.join(tool);
    std::io::copy(
        &mut archive.by_name(&name).with_context(context)?,
        &mut File::create(&path)?,
    )?;
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn an_unpacked_program_is_executable() {
        let dir = tempfile::tempdir().unwrap();
        let wheel = dir.path().join("nvidia_cuda_nvcc-13.5.37-py3-none-any.whl");
        let mut archive = zip::ZipWriter::new(File::create(&wheel).unwrap());
        let options = zip::write::SimpleFileOptions::default();
        archive
            .start_file("nvidia/cu13/bin/ptxas", options)
            .unwrap();
        archive.write_all(b"#!/bin/sh\necho assembled\n").unwrap();
        archive.finish().unwrap();

        let found = wheel_file(dir.path(), "nvidia-cuda-nvcc").unwrap();
        unpack(&found, "ptxas", dir.path()).unwrap();
        let output = process::stdout_of(&mut Command::new(dir.path().join("ptxas"))).unwrap();
        assert_eq!(output, "assembled\n");

        let error = unpack(&found, "nvdisasm", dir.path()).unwrap_err();
        assert!(error.to_string().contains("contains no bin/nvdisasm"));
        let error = wheel_file(dir.path(), "nvidia-cuda-cuobjdump").unwrap_err();
        assert!(error.to_string().contains("nvidia-cuda-cuobjdump"));
    }
}
