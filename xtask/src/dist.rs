//! `cargo xtask dist`: programs for a GPU machine that has no Rust, as a folder and as an archive.

use crate::{new, process, setup, workspace};
use anyhow::{Context, Result, bail};
use serde::Deserialize;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

/// The limit of the archive's size in bytes.
const LIMIT: u64 = 48 << 20;

/// The test programs: package, and file name in the folder.
const TESTS: [(&str, &str); 2] = [("warpfold", "gpu-tests"), ("conformance", "conformance")];

/// The test target of those packages that needs a GPU.
const GPU_TEST: &str = "gpu";

const BENCH: &str = "warpfold-bench";

/// The command-line program, and its package.
const CLI: &str = "warpfold";
const CLI_PACKAGE: &str = "warpfold-cli";

/// Write stand-alone programs for a GPU machine that has no Rust: a folder, and an archive of it beside it
#[derive(clap::Args)]
pub struct Args {
    /// The folder to write
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
}

impl Args {
    /// Builds the programs, copies them and prints their sizes.
    pub fn run(self) -> Result<ExitCode> {
        setup::for_builds()?;
        let mut programs = vec![
            (program(BENCH, BENCH)?, BENCH),
            (program(CLI_PACKAGE, CLI)?, CLI),
        ];
        programs.extend(gpu_tests()?);
        programs.extend(examples()?);
        programs.push(new_project()?);
        std::fs::create_dir_all(&self.out)
            .with_context(|| format!("cannot create {}", self.out.display()))?;
        let mut files = Vec::new();
        for (program, name) in programs {
            let file = self.out.join(name);
            copy(&program, &file)?;
            files.push(file);
        }

        let mut total = 0;
        for file in files {
            let bytes = std::fs::metadata(&file)?.len();
            process::print(&format!("{:>10}  {}\n", mebibytes(bytes), file.display()))?;
            total += bytes;
        }
        process::print(&format!("{:>10}  total\n", mebibytes(total)))?;
        let archive = archive(&self.out)?;
        let bytes = std::fs::metadata(&archive)?.len();
        process::print(&format!(
            "{:>10}  {}\n",
            mebibytes(bytes),
            archive.display()
        ))?;
        if bytes > LIMIT {
            bail!(
                "the archive has {}; the limit is {}",
                mebibytes(bytes),
                mebibytes(LIMIT)
            );
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Writes `DIR.tar.gz` beside the folder `DIR`.
fn archive(folder: &Path) -> Result<PathBuf> {
    let folder = std::fs::canonicalize(folder)?;
    let (Some(parent), Some(name)) = (folder.parent(), folder.file_name()) else {
        bail!("{} cannot be archived", folder.display());
    };
    let mut file = name.to_owned();
    file.push(".tar.gz");
    let archive = parent.join(file);
    let mut tar = Command::new("tar");
    tar.arg("--create")
        .arg("--gzip")
        .arg("--file")
        .arg(&archive);
    tar.arg("--directory").arg(parent).arg(name);
    if !process::succeeds(&mut tar)? {
        bail!("`{}` failed", process::shown(&tar));
    }
    Ok(archive)
}

fn mebibytes(bytes: u64) -> String {
    format!("{:.1} MiB", bytes as f64 / f64::from(1 << 20))
}

/// Copies to `target`, which may be an old copy that is running.
fn copy(program: &Path, target: &Path) -> Result<()> {
    let context = || format!("cannot copy {} to {}", program.display(), target.display());
    if target.exists() {
        std::fs::remove_file(target).with_context(context)?;
    }
    std::fs::copy(program, target).with_context(context)?;
    Ok(())
}

/// Builds one program.
fn program(package: &str, name: &str) -> Result<PathBuf> {
    let mut cargo = process::cargo();
    cargo.args(["build", "--package", package, "--bin", name]);
    let programs = build(cargo)?;
    let [program] = programs.as_slice() else {
        bail!(
            "cargo built {} programs for {name} instead of 1",
            programs.len()
        );
    };
    Ok(program.executable.clone())
}

fn gpu_tests() -> Result<Vec<(PathBuf, &'static str)>> {
    let mut cargo = process::cargo();
    cargo.args(["test", "--no-run", "--test", GPU_TEST]);
    cargo.args(["--features", "warpfold/teaching"]);
    // Nothing is timed.
    cargo.args(["--config", "profile.dist.package.warpfold.opt-level = 's'"]);
    for (package, _) in TESTS {
        cargo.args(["--package", package]);
    }
    let built = build(cargo)?;
    let program_of = |(package, name)| {
        let found = built.iter().find(|program| program.is_of(package));
        let found = found.with_context(|| format!("{package} has no test target `{GPU_TEST}`"))?;
        Ok((found.executable.clone(), name))
    };
    TESTS.into_iter().map(program_of).collect()
}

/// Builds the programs of `examples`, which check their own results.
fn examples() -> Result<Vec<(PathBuf, &'static str)>> {
    let mut cargo = outside(&workspace::root().join("examples"))?;
    cargo.args(["build", "--locked", "--bins"]);
    let built = build(cargo)?;
    let program_of = |name| {
        let found = built.iter().find(|program| program.is_of(name));
        let found =
            found.with_context(|| format!("cargo built no program of the package {name}"))?;
        Ok((found.executable.clone(), name))
    };
    ["outside", "heat"].into_iter().map(program_of).collect()
}

/// Builds the program of a project that `cargo xtask new` writes.
fn new_project() -> Result<(PathBuf, &'static str)> {
    const NAME: &str = "new-project";
    let parent = tempfile::tempdir()?;
    let folder = parent.path().join(NAME);
    new::write(&folder, None, &workspace::root())?;
    let mut cargo = outside(&folder)?;
    cargo.args(["build", "--bin", NAME]);
    // A user's project has no profile `dist`. This one is small, because the program is not timed.
    for option in [
        "inherits = 'release'",
        "strip = 'symbols'",
        "opt-level = 's'",
    ] {
        cargo.args(["--config", &format!("profile.dist.{option}")]);
    }
    let built = build(cargo)?;
    let program = built.into_iter().next();
    let program = program.with_context(|| format!("cargo built no program {NAME}"))?;
    Ok((program.executable, NAME))
}

/// cargo in another workspace, with another target folder.
fn outside(folder: &Path) -> Result<Command> {
    let mut cargo = process::cargo();
    cargo
        .current_dir(folder)
        .env("CARGO_TARGET_DIR", workspace::target_dir()?.join("outside"));
    Ok(cargo)
}

/// A program that cargo built.
struct Program {
    package_id: String,
    executable: PathBuf,
}

impl Program {
    /// Package ids are `path+file:///.../host#warpfold@0.1.0`, or `.../benches#0.1.0` if the folder has the
    /// package's name.
    fn is_of(&self, package: &str) -> bool {
        let (path, fragment) = self.package_id.split_once('#').unwrap_or_default();
        let name = fragment
            .split_once('@')
            .map_or_else(|| path.rsplit('/').next().unwrap_or(path), |(name, _)| name);
        name == package
    }
}

/// Runs a cargo command in the profile `dist` and returns the programs that it built.
fn build(mut cargo: Command) -> Result<Vec<Program>> {
    cargo
        .args(["--profile", "dist"])
        .arg("--message-format=json-render-diagnostics")
        .stderr(Stdio::inherit());
    let output = cargo.output().context("cannot start cargo")?;
    if !output.status.success() {
        bail!("`{}` failed", process::shown(&cargo));
    }
    Ok(programs_in(&String::from_utf8_lossy(&output.stdout)))
}

fn programs_in(messages: &str) -> Vec<Program> {
    #[derive(Deserialize)]
    struct Message {
        package_id: Option<String>,
        executable: Option<PathBuf>,
    }
    messages
        .lines()
        .filter_map(|line| serde_json::from_str::<Message>(line).ok())
        .filter_map(|message| {
            Some(Program {
                package_id: message.package_id?,
                executable: message.executable?,
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MESSAGES: &str = r#"
{"reason":"compiler-artifact","package_id":"path+file:///a/host#warpfold@0.1.0","executable":null}
{"reason":"compiler-artifact","package_id":"path+file:///a/host#warpfold@0.1.0","executable":"/t/gpu-1"}
{"reason":"build-script-executed","package_id":"path+file:///a/host#warpfold@0.1.0"}
{"reason":"compiler-artifact","package_id":"path+file:///a/conformance#0.1.0","executable":"/t/gpu-2"}
{"reason":"build-finished","success":true}
"#;

    #[test]
    fn programs_are_found_by_package() {
        let programs = programs_in(MESSAGES);
        let found = |package| -> Vec<_> {
            let found = programs.iter().filter(|program| program.is_of(package));
            found.map(|program| program.executable.as_path()).collect()
        };
        assert_eq!(found("warpfold"), [Path::new("/t/gpu-1")]);
        assert_eq!(found("conformance"), [Path::new("/t/gpu-2")]);
        assert!(found("host").is_empty());
    }
}
