//! A device compiler from Debian's packages, unpacked into the cache. Nothing is installed.

use super::apt::{Apt, COMPILERS};
use super::unpacked::Unpacked;
use super::{DEVICE_COMPILER, Provided, Step, download};
use crate::process;
use crate::workspace::{self, Version};
use anyhow::{Context, Result, bail};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

/// The script that runs the unpacked rustc. cuda_builder searches this path.
fn wrapper() -> PathBuf {
    cuda_builder::toolchain::cache_dir()
        .join("debian")
        .join("rustc")
}

pub(super) fn provide() -> Result<Provided> {
    let start = Instant::now();
    let pinned = workspace::pinned_version()?;
    let cache = cuda_builder::toolchain::cache_dir();
    let present = || checked(&wrapper(), pinned).is_ok();
    let fetched = download::into_cache(&cache, "debian", present, |dir| fill(dir, pinned))?;
    let version = checked(&wrapper(), pinned)?;
    let used = format!("Debian's rustc {version}, {}", wrapper().display());
    let step = match fetched {
        None => Step::present(DEVICE_COMPILER, used),
        Some(bytes) => Step::fetched(DEVICE_COMPILER, used, Some(bytes), start),
    };
    Ok((wrapper(), step))
}

fn fill(dir: &Path, pinned: Version) -> Result<u64> {
    let compilers = COMPILERS.map(|(compiler, _)| compiler);
    let apt = Apt::updated(dir.join("apt"), &compilers)?;
    let (compiler, sources) = apt.compiler(pinned)?;
    let unpacked = Unpacked::fill(dir, apt, &[compiler, sources])?;
    keep_only_the_library(&unpacked.usr().join("src"))?;
    let rustc = rustc_below(&unpacked.usr()).context("Debian's packages contain no rustc")?;
    let script = dir.join("rustc");
    unpacked.write_script(&script, &rustc, &[])?;
    checked(&script, pinned).context("the unpacked rustc does not run here")?;
    Ok(unpacked.downloaded)
}

/// The version of the rustc that `wrapper` runs; an error if it is too old or lacks the source of `core`.
fn checked(wrapper: &Path, pinned: Version) -> Result<Version> {
    let text = process::stdout_of(Command::new(wrapper).arg("-vV"))?;
    let version = text
        .lines()
        .find_map(|line| Version::parse(line.strip_prefix("release: ")?))
        .with_context(|| format!("{} -vV prints no release", wrapper.display()))?;
    if version < pinned {
        bail!("rustc {version} is older than the pinned {pinned}");
    }
    let sysroot = process::stdout_of(Command::new(wrapper).args(["--print", "sysroot"]))?;
    let core = Path::new(sysroot.trim()).join("lib/rustlib/src/rust/library/core/src/lib.rs");
    if !core.is_file() {
        bail!(
            "rustc {version} has no source of core at {}",
            core.display()
        );
    }
    Ok(version)
}

/// Deletes the compiler's own source, because builds need only the library.
fn keep_only_the_library(src: &Path) -> Result<()> {
    for tree in fs::read_dir(src)? {
        for entry in fs::read_dir(tree?.path())? {
            let entry = entry?;
            if !entry.file_type()?.is_dir() {
                fs::remove_file(entry.path())?;
            } else if entry.file_name() != "library" {
                fs::remove_dir_all(entry.path())?;
            }
        }
    }
    Ok(())
}

/// `usr/bin/rustc`, or `usr/lib/rust-<version>/bin/rustc` if several versions can be installed.
fn rustc_below(usr: &Path) -> Option<PathBuf> {
    let mut folders = vec![usr.join("bin")];
    for entry in fs::read_dir(usr.join("lib"))
        .into_iter()
        .flatten()
        .flatten()
    {
        folders.push(entry.path().join("bin"));
    }
    let rustcs = folders.into_iter().map(|folder| folder.join("rustc"));
    rustcs.filter(|rustc| rustc.is_file()).min()
}
