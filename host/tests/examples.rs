//! Tests that every numbered example runs, and reports a missing GPU once.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// The numbered examples, by cargo's names.
fn examples() -> Result<Vec<String>, Box<dyn Error>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let mut names = vec![];
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path
            .file_stem()
            .and_then(|name| name.to_str())
            .unwrap_or_default();
        if name.starts_with(|first: char| first.is_ascii_digit()) {
            names.push(name.to_string());
        }
    }
    names.sort();
    Ok(names)
}

/// The path of an example when cargo builds all targets: next to the folder of this program.
fn program(name: &str) -> Result<PathBuf, Box<dyn Error>> {
    let this = env::current_exe()?;
    let profile = this
        .ancestors()
        .nth(2)
        .ok_or("no folder above this program")?;
    let program = profile.join("examples").join(name);
    match program.is_file() {
        true => Ok(program),
        false => Err(format!("{name} has not been built: cargo build --examples").into()),
    }
}

#[test]
fn numbered_examples_run() -> Result<(), Box<dyn Error>> {
    let examples = examples()?;
    assert_eq!(examples.len(), 10, "{examples:?}");
    let absent = warpfold::Device::auto()?.fallback_reason().is_some();
    for name in examples {
        let output = Command::new(program(&name)?).output()?;
        let (stdout, stderr) = (
            String::from_utf8(output.stdout)?,
            String::from_utf8(output.stderr)?,
        );
        assert!(output.status.success(), "{name}: {stdout}{stderr}");
        assert!(
            stdout.lines().count() > usize::from(absent && name != "09-interop"),
            "{name}"
        );
        assert_eq!(
            stdout.matches("no GPU").count(),
            usize::from(absent),
            "{name}: {stdout}"
        );
        assert_eq!(stderr, "", "{name}");
    }
    Ok(())
}
