//! The launcher of MPI with which tests start several processes: Open MPI's `mpirun`.

use crate::process;
use anyhow::{Result, anyhow};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The environment variable with the launcher's path, here and in the tests. If it is set, no other is tried.
pub const VARIABLE: &str = "WARPFOLD_MPIRUN";

/// A launcher that runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launcher {
    /// The program's path.
    pub program: PathBuf,
    /// The first line of `--version`: `mpirun (Open MPI) 4.1.4`.
    pub version: String,
}

impl std::fmt::Display for Launcher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}, {}", self.version, self.program.display())
    }
}

/// The script that runs Debian's launcher, in cuda_builder's cache; setup writes it.
pub fn cached() -> PathBuf {
    cuda_builder::toolchain::cache_dir()
        .join("mpi")
        .join("mpirun")
}

/// Finds a launcher that runs; the error lists the candidates.
pub fn find() -> Result<Launcher> {
    let chosen = std::env::var_os(VARIABLE).filter(|value| !value.is_empty());
    let candidates = match chosen {
        Some(program) => vec![PathBuf::from(program)],
        None => {
            let path = std::env::var_os("PATH").unwrap_or_default();
            let in_path = std::env::split_paths(&path).map(|folder| folder.join("mpirun"));
            in_path
                .filter(|program| program.is_file())
                .chain([cached()])
                .collect()
        }
    };
    let mut failures = Vec::new();
    for program in candidates {
        match version(&program) {
            Ok(version) => return Ok(Launcher { program, version }),
            Err(error) => failures.push(format!("{}: {error:#}", program.display())),
        }
    }
    Err(anyhow!(
        "no mpirun of Open MPI in PATH, {VARIABLE} or the cache: {}",
        failures.join("; ")
    ))
}

/// The first line of `--version`, which must be that of Open MPI: the tests use its options.
pub fn version(program: &Path) -> Result<String> {
    if !program.is_file() {
        return Err(anyhow!("there is no file {}", program.display()));
    }
    let text = process::stdout_of(Command::new(program).arg("--version"))?;
    match text.lines().next() {
        // The name of its run-time part, if the program has another name.
        Some(line) if line.contains("Open MPI") || line.contains("OpenRTE") => {
            Ok(line.trim().into())
        }
        line => Err(anyhow!("{} is not Open MPI's", line.unwrap_or("it"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn only_open_mpi_is_accepted() {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("mpirun");
        for (prints, accepted) in [
            ("mpirun (Open MPI) 4.1.4", true),
            ("mpirun.openmpi (OpenRTE) 4.1.4", true),
            ("HYDRA build details:", false),
        ] {
            std::fs::write(&program, format!("#!/bin/sh\necho '{prints}'\n")).unwrap();
            std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
            assert_eq!(version(&program).is_ok(), accepted, "{prints}");
        }
        assert!(version(&folder.path().join("none")).is_err());
    }
}
