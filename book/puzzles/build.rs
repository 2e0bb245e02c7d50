//! Lists the puzzles, their solutions and the wrong answers for the tests, each as a module of its own.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let mut text = String::new();
    for folder in ["exercises", "solutions"] {
        let files = files(&root.join(folder));
        list(
            &mut text,
            folder,
            files.iter().map(|file| (name(file), file)),
        );
    }
    let mut wrong = Vec::new();
    for folder in files(&root.join("wrong")) {
        println!("cargo::rerun-if-changed={}", folder.display());
        for file in files(&folder) {
            wrong.push((name(&folder), file));
        }
    }
    list(
        &mut text,
        "wrong",
        wrong.iter().map(|(name, file)| (name.clone(), file)),
    );
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    fs::write(out.join("answers.rs"), text).expect("cannot write answers.rs");
}

/// The entries of a folder in order of their names.
fn files(folder: &Path) -> Vec<PathBuf> {
    println!("cargo::rerun-if-changed={}", folder.display());
    let entries =
        fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut files: Vec<_> = entries
        .map(|entry| entry.expect("an entry").path())
        .collect();
    files.sort();
    files
}

/// The puzzle's name: `01_map.rs` is `map`.
fn name(path: &Path) -> String {
    let stem = path
        .file_stem()
        .expect("a name")
        .to_string_lossy()
        .into_owned();
    stem.split_once('_')
        .expect("a number and a name")
        .1
        .to_owned()
}

/// Unsolved puzzles do not use their parameters, and wrong answers are wrong.
const ALLOWED: &str = "#[allow(unused, clippy::all, clippy::undocumented_unsafe_blocks)]";

fn list<'a>(text: &mut String, folder: &str, answers: impl Iterator<Item = (String, &'a PathBuf)>) {
    let mut rows = String::new();
    for (number, (name, file)) in answers.enumerate() {
        let module = format!("{folder}_{number}");
        let _ = writeln!(text, "#[path = {file:?}]\n{ALLOWED}\nmod {module};");
        let _ = writeln!(
            rows,
            "    Answer {{ file: {file:?}, check: || warpfold_puzzles::checks::{name}({module}::{name}) }},"
        );
    }
    let _ = writeln!(
        text,
        "const {}: &[Answer] = &[\n{rows}];",
        folder.to_uppercase()
    );
}
