//! The browser in which tests open the bench's report: Chromium or Chrome.

use crate::process;
use anyhow::{Result, anyhow};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The environment variable with the browser's path, here and in the tests. If it is set, no other is tried.
pub const VARIABLE: &str = "WARPFOLD_CHROMIUM";

/// Names of the program in `PATH`. The headless one is first, because it starts faster.
const NAMES: [&str; 5] = [
    "chromium-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
];

/// A browser that runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Browser {
    /// The program's path.
    pub program: PathBuf,
    /// The output of `--version`: `Chromium 156.0.8078.79`.
    pub version: String,
    /// Where it was found: `PATH`, `cache`, ...
    pub origin: &'static str,
}

impl std::fmt::Display for Browser {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self {
            program,
            version,
            origin,
        } = self;
        write!(f, "{version}, {} ({origin})", program.display())
    }
}

/// The script that runs Debian's browser, in cuda_builder's cache; setup writes it.
pub fn cached() -> PathBuf {
    cuda_builder::toolchain::cache_dir()
        .join("browser")
        .join("chromium")
}

/// Finds a browser that runs; the error lists the candidates.
pub fn find() -> Result<Browser> {
    let chosen = std::env::var_os(VARIABLE).filter(|value| !value.is_empty());
    let path = std::env::var_os("PATH").unwrap_or_default();
    first_that_runs(candidates(chosen, path, cached()))
}

type Candidate = (PathBuf, &'static str);

fn candidates(chosen: Option<OsString>, path: OsString, cached: PathBuf) -> Vec<Candidate> {
    if let Some(program) = chosen {
        return vec![(program.into(), VARIABLE)];
    }
    let folders: Vec<_> = std::env::split_paths(&path).collect();
    let in_path = NAMES
        .iter()
        .flat_map(|name| folders.iter().map(move |folder| folder.join(name)))
        .filter(|program| program.is_file())
        .map(|program| (program, "PATH"));
    in_path.chain([(cached, "cache")]).collect()
}

/// Runs each candidate, because some distributions have a script there that only names a package to install.
fn first_that_runs(candidates: Vec<Candidate>) -> Result<Browser> {
    let mut failures = Vec::new();
    for (program, origin) in candidates {
        match version(&program) {
            Ok(version) => {
                return Ok(Browser {
                    program,
                    version,
                    origin,
                });
            }
            Err(error) => failures.push(format!("{origin}: {error:#}")),
        }
    }
    Err(anyhow!(
        "no working Chromium in PATH, {VARIABLE} or the cache: {}",
        failures.join("; ")
    ))
}

/// The output of `--version`, which loads all libraries but needs no display.
pub fn version(program: &Path) -> Result<String> {
    if !program.is_file() {
        return Err(anyhow!("there is no file {}", program.display()));
    }
    let text = process::stdout_of(Command::new(program).arg("--version"))?;
    Ok(text.trim().into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn program(folder: &Path, name: &str, script: &str) -> PathBuf {
        let program = folder.join(name);
        std::fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        program
    }

    #[test]
    fn a_script_that_fails_is_not_a_browser() {
        let folder = tempfile::tempdir().unwrap();
        program(
            folder.path(),
            "chromium-browser",
            "echo install it >&2; exit 1",
        );
        let cached = program(folder.path(), "cached", "echo 'Chromium 156.0 '");
        let all = candidates(None, folder.path().into(), cached.clone());
        let found = first_that_runs(all).unwrap();
        let expected = Browser {
            program: cached,
            version: "Chromium 156.0".into(),
            origin: "cache",
        };
        assert_eq!(found, expected);
    }

    #[test]
    fn the_variables_browser_is_the_only_candidate() {
        let folder = tempfile::tempdir().unwrap();
        let cached = program(folder.path(), "chromium", "echo Chromium 156.0");
        let all = candidates(Some("/no/browser".into()), folder.path().into(), cached);
        let error = first_that_runs(all).unwrap_err().to_string();
        assert!(
            error.contains("WARPFOLD_CHROMIUM: there is no file /no/browser"),
            "{error}"
        );
    }
}
