//! The learner's folder: a package with a program for each puzzle.

use super::Puzzle;
use crate::process;
use anyhow::{Context, Result, bail};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// The folder of the programs, each of which checks a puzzle.
const CHECKS: &str = ".checks";

/// The exit code of a program whose puzzle's answer is refused: `warpfold_puzzles::REFUSED`.
const REFUSED: i32 = 3;

/// How long a check may take by default; the slowest takes a tenth of a second.
const LIMIT: Duration = Duration::from_secs(20);

/// What a check says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The answer is right.
    Solved,
    /// The answer is refused; the program has printed why.
    Refused,
    /// The file does not compile; the compiler has printed why.
    DoesNotCompile,
    /// The check did not end.
    Endless,
    /// The program crashed.
    Crashed,
}

impl Outcome {
    /// What the learner has not read yet.
    pub(super) fn remark(self) -> &'static str {
        match self {
            Self::Solved | Self::Refused => "",
            Self::DoesNotCompile => " does not compile",
            Self::Endless => " did not end in time; has it a loop without an end?",
            Self::Crashed => " ended the program; see the message above",
        }
    }
}

/// The learner's folder.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    /// How long a check may take.
    pub limit: Duration,
}

impl Folder {
    /// Opens the folder, and creates what is missing. The learner's files are not changed.
    pub fn open(root: &Path, path: &Path, puzzles: &[Puzzle]) -> Result<Self> {
        let folder = Self {
            path: path.to_path_buf(),
            limit: LIMIT,
        };
        fs::create_dir_all(path.join(CHECKS))
            .with_context(|| format!("cannot create {}", path.display()))?;
        write_if_changed(&path.join("Cargo.toml"), &manifest(root, puzzles)?)?;
        let lock = path.join("Cargo.lock");
        if !lock.exists() {
            // The tested versions of dependencies; cargo removes those that the package does not use.
            fs::copy(root.join("Cargo.lock"), &lock)
                .with_context(|| format!("cannot create {}", lock.display()))?;
        }
        for puzzle in puzzles {
            write_if_changed(&path.join(CHECKS).join(puzzle.file()), &program(puzzle))?;
            if !folder.file(puzzle).exists() {
                folder.reset(puzzle)?;
            }
        }
        Ok(folder)
    }

    /// The folder's path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The learner's file.
    pub fn file(&self, puzzle: &Puzzle) -> PathBuf {
        self.path.join(puzzle.file())
    }

    /// The learner's file as a user types it in the repository.
    pub fn shown(&self, puzzle: &Puzzle) -> String {
        let folder = self.path.file_name().unwrap_or_default().to_string_lossy();
        format!("{folder}/{}", puzzle.file())
    }

    /// Whether the learner has not changed the file.
    pub fn is_untouched(&self, puzzle: &Puzzle) -> bool {
        fs::read_to_string(self.file(puzzle)).is_ok_and(|text| text == puzzle.source())
    }

    /// Writes the unsolved puzzle.
    pub fn reset(&self, puzzle: &Puzzle) -> Result<()> {
        let file = self.file(puzzle);
        fs::write(&file, puzzle.source())
            .with_context(|| format!("cannot write {}", file.display()))
    }

    /// Builds and runs the check of a puzzle. Compiler and check print their messages.
    pub fn check(&self, puzzle: &Puzzle) -> Result<Outcome> {
        let target = self.path.join("target");
        let mut cargo = process::cargo();
        cargo.current_dir(&self.path);
        cargo.args(["build", "--quiet", "--bin", puzzle.name(), "--target-dir"]);
        cargo.arg(&target);
        if !target.exists() {
            process::report(
                "learn: the first check compiles the simulator, which takes up to a minute",
            );
        }
        // The program's path depends on the user's configuration of cargo, so cargo prints it.
        cargo.arg("--message-format=json-render-diagnostics");
        let built = cargo.stderr(Stdio::inherit()).output();
        let built = built.with_context(|| format!("cannot start `{}`", process::shown(&cargo)))?;
        let messages = String::from_utf8_lossy(&built.stdout);
        let Some(program) = messages
            .lines()
            .find_map(executable)
            .filter(|_| built.status.success())
        else {
            return Ok(Outcome::DoesNotCompile);
        };
        let mut program = Command::new(program);
        program.current_dir(&self.path).env("RUST_BACKTRACE", "0");
        let Some(status) = limited(&mut program, self.limit)? else {
            return Ok(Outcome::Endless);
        };
        Ok(match status.code() {
            Some(0) => Outcome::Solved,
            Some(REFUSED) => Outcome::Refused,
            _ => Outcome::Crashed,
        })
    }
}

/// The program in a message of cargo.
fn executable(message: &str) -> Option<String> {
    #[derive(serde::Deserialize)]
    struct Artifact {
        executable: Option<String>,
    }
    let artifact: Artifact = serde_json::from_str(message).ok()?;
    artifact.executable
}

/// Runs a program, and kills it after `limit`; `None` if it was killed.
fn limited(program: &mut Command, limit: Duration) -> Result<Option<ExitStatus>> {
    let shown = process::shown(program);
    let context = || format!("cannot run `{shown}`");
    let mut child = program.spawn().with_context(context)?;
    let deadline = Instant::now() + limit;
    loop {
        if let Some(status) = child.try_wait().with_context(context)? {
            return Ok(Some(status));
        }
        if Instant::now() >= deadline {
            child.kill().with_context(context)?;
            child.wait().with_context(context)?;
            return Ok(None);
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// A file is written only if it changes, because cargo builds again what is newer.
fn write_if_changed(path: &Path, text: &str) -> Result<()> {
    if fs::read_to_string(path).is_ok_and(|old| old == text) {
        return Ok(());
    }
    fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}

/// The program of a puzzle: the learner's file as a module, and its check.
fn program(puzzle: &Puzzle) -> String {
    let (file, name) = (puzzle.file(), puzzle.name());
    format!(
        "#[path = \"../{file}\"]\n#[allow(unused)]\nmod puzzle;\n\nfn main() -> std::process::ExitCode {{\n    \
         warpfold_puzzles::finish(warpfold_puzzles::checks::{name}(puzzle::{name}))\n}}\n"
    )
}

fn manifest(root: &Path, puzzles: &[Puzzle]) -> Result<String> {
    let Some(root) = root.to_str().filter(|root| !root.contains(['"', '\\'])) else {
        bail!(
            "a Cargo.toml cannot contain the path of this repository, {}: it must be UTF-8 without `\"` and `\\`; \
             move the repository",
            root.display()
        );
    };
    let mut text = format!(
        "# Written by `cargo xtask learn`, which also overwrites it.\n\
         [workspace]\n\n\
         [package]\nname = \"learn\"\nedition = \"2024\"\npublish = false\n\n\
         [dependencies]\n\
         cuda_std = {{ path = \"{root}/toolchain/cuda_std\", features = [\"simulator\"] }}\n\
         kernels-gpu = {{ path = \"{root}/kernels-gpu\", features = [\"simulator\"] }}\n\
         warpfold-puzzles = {{ path = \"{root}/book/puzzles\" }}\n\n\
         [profile.dev]\ndebug = false\n\n\
         # The crates that run simulated kernels; without optimisation they are many times slower.\n\
         [profile.dev.package]\n\
         corosensei.opt-level = 3\ncuda_sim.opt-level = 3\ncuda_std.opt-level = 3\n"
    );
    for puzzle in puzzles {
        text += &format!(
            "\n[[bin]]\nname = \"{}\"\npath = \"{CHECKS}/{}\"\n",
            puzzle.name(),
            puzzle.file()
        );
    }
    Ok(text)
}
