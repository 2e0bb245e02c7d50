//! The browser that opens the bench's report in tests: Chromium, or what is made of it.

use crate::process;
use anyhow::{Result, anyhow};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Chooses the browser, here and in the tests, and nothing else is looked at then.
pub const CHOSEN: &str = "WARPFOLD_CHROMIUM";

/// The names it goes by in `PATH`: the one without windows starts faster.
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
    /// What to start.
    pub program: PathBuf,
    /// In its own words: `Chromium 156.0.8078.79`.
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

/// The script with which setup runs Debian's browser: below cuda_builder's cache.
pub fn cached() -> PathBuf {
    cuda_builder::toolchain::cache_dir()
        .join("browser")
        .join("chromium")
}

/// The browser, if it is on this machine; the error says what was looked at.
pub fn find() -> Result<Browser> {
    let chosen = std::env::var_os(CHOSEN).filter(|value| !value.is_empty());
    let path = std::env::var_os("PATH").unwrap_or_default();
    first_that_runs(candidates(chosen, path, cached()))
}

type Candidate = (PathBuf, &'static str);

fn candidates(chosen: Option<OsString>, path: OsString, cached: PathBuf) -> Vec<Candidate> {
    if let Some(program) = chosen {
        return vec![(program.into(), CHOSEN)];
    }
    let folders: Vec<_> = std::env::split_paths(&path).collect();
    let in_path = NAMES
        .iter()
        .flat_map(|name| folders.iter().map(move |folder| folder.join(name)))
        .filter(|program| program.is_file())
        .map(|program| (program, "PATH"));
    in_path.chain([(cached, "cache")]).collect()
}

/// A file may be no browser: some distributions have a script there that asks for another package.
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
    Err(anyhow!("no chromium in PATH, and: {}", failures.join("; ")))
}

/// What `--version` says, which needs every library but no display.
pub fn version(program: &Path) -> Result<String> {
    if !program.is_file() {
        return Err(anyhow!("nothing is at {}", program.display()));
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
    fn a_script_that_asks_for_another_package_is_no_browser() {
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
    fn the_chosen_one_is_the_only_one() {
        let folder = tempfile::tempdir().unwrap();
        let cached = program(folder.path(), "chromium", "echo Chromium 156.0");
        let all = candidates(Some("/no/browser".into()), folder.path().into(), cached);
        let error = first_that_runs(all).unwrap_err().to_string();
        assert!(
            error.contains("WARPFOLD_CHROMIUM: nothing is at /no/browser"),
            "{error}"
        );
    }
}
