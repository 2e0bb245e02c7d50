//! Debian's Open MPI for the tests of several processes, unpacked into the cache with the libraries that the system lacks.

use super::apt::Apt;
use super::unpacked::Unpacked;
use super::{MPI, Step, download};
use crate::mpi::{self, Launcher};
use anyhow::{Context, Result};
use std::path::Path;
use std::time::Instant;

/// The launcher, its texts, and the library that programs open.
const PACKAGES: [&str; 3] = ["openmpi-bin", "openmpi-common", "libopenmpi3"];

/// The library's name since Debian 13.
const NEWER: [&str; 3] = ["openmpi-bin", "openmpi-common", "libopenmpi40"];

pub(super) fn provide() -> Result<(Launcher, Step)> {
    let start = Instant::now();
    let script = mpi::cached();
    let folder = script.parent().context("the launcher has no folder")?;
    let cache = folder.parent().context("the launcher has no cache")?;
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    let present = || mpi::version(&script).is_ok();
    let fetched = download::into_cache(cache, &name, present, fill)?;
    let found = mpi::find()?;
    let used = found.to_string();
    let step = match fetched {
        None => Step::present(MPI, used),
        Some(bytes) => Step::fetched(MPI, used, Some(bytes), start),
    };
    Ok((found, step))
}

fn fill(dir: &Path) -> Result<u64> {
    let apt = Apt::updated(dir.join("apt"), &PACKAGES)?;
    let is_newer = apt.first_of(&[NEWER[2]])?.is_some();
    let packages = if is_newer { NEWER } else { PACKAGES };
    let unpacked = Unpacked::fill(dir, apt, &packages)?;
    let usr = unpacked.usr();
    let program = usr.join("bin").join("mpirun.openmpi");
    let script = dir.join(mpi::cached().file_name().unwrap_or_default());
    unpacked.write_script(&script, &program, &[("OPAL_PREFIX", &usr)])?;
    mpi::version(&script).context("the unpacked launcher does not run here")?;
    Ok(unpacked.downloaded)
}
