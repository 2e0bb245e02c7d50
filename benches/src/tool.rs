//! Programs of the CUDA toolkit that may be on this machine.

use std::env;
use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, bail};

/// The path of a program: searches PATH, then `folders`.
pub fn find(name: &str, folders: impl IntoIterator<Item = PathBuf>) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let on_path: Vec<_> = env::split_paths(&path).collect();
    find_in(name, on_path.into_iter().chain(folders))
}

fn find_in(name: &str, folders: impl IntoIterator<Item = PathBuf>) -> Option<PathBuf> {
    let file = format!("{name}{}", env::consts::EXE_SUFFIX);
    folders
        .into_iter()
        .map(|folder| folder.join(&file))
        .find(|program| program.is_file())
}

/// Runs a program and returns its standard output. If the program fails, the error contains all its output.
pub fn run(command: &mut Command) -> Result<String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command
        .output()
        .with_context(|| format!("cannot start {name}"))?;
    if !output.status.success() {
        let arguments: Vec<_> = command.get_args().map(OsStr::to_string_lossy).collect();
        let text = [output.stdout, output.stderr].concat();
        bail!(
            "{name} {} ended with {}:\n{}",
            arguments.join(" "),
            output.status,
            String::from_utf8_lossy(&text).trim()
        );
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_folder_with_the_program_is_used() {
        let (empty, full) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let program = full.path().join(format!("ncu{}", env::consts::EXE_SUFFIX));
        std::fs::write(&program, "").unwrap();
        let folders = [empty.path().to_owned(), full.path().to_owned()];
        assert_eq!(find_in("ncu", folders), Some(program));
        assert_eq!(find_in("ncu", [empty.path().to_owned()]), None);
    }

    #[test]
    fn the_error_contains_the_programs_output() {
        let error = run(Command::new("sh").args(["-c", "echo no such arch >&2; exit 3"]));
        let error = error.unwrap_err().to_string();
        assert!(
            error.contains("no such arch") && error.contains("3"),
            "{error}"
        );
    }
}
