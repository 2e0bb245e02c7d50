//! Tests of compiler messages: each file in `messages` is a program that must not compile. The comments at
//! its top are lines that the message must contain.
//!
//! The programs are compiled against the libraries that these tests link.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;
use std::{env, fs};

/// The latest build of a library next to this test.
fn library(folder: &Path, name: &str) -> PathBuf {
    let entries = fs::read_dir(folder).expect("the folder of this test");
    let files = entries.map(|entry| entry.expect("an entry").path());
    let libraries = files.filter(|file| {
        let file = file.file_name().and_then(|name| name.to_str());
        file.is_some_and(|file| file.starts_with(&format!("lib{name}-")) && file.ends_with(".rlib"))
    });
    let made = |file: &PathBuf| -> SystemTime {
        let metadata = fs::metadata(file).expect("the library's file");
        metadata.modified().expect("the time of a file")
    };
    libraries.max_by_key(made).expect("the library is built")
}

/// Compiles the program. Returns the compiler's message, or `None` if the program compiles.
fn errors(program: &Path) -> Option<String> {
    let test = env::current_exe().expect("this test is a file");
    let folder = test.parent().expect("it is in a folder");
    let out = tempfile::tempdir().expect("a folder for output");
    let rustc = env::var_os("RUSTC").unwrap_or("rustc".into());
    let libraries = ["warpfold", "kernels_gpu", "cuda_std"].map(|name| {
        let library = library(folder, name);
        format!("--extern={name}={}", library.display())
    });
    let output = Command::new(rustc)
        .args([
            "--edition=2024",
            "--crate-type=bin",
            "--emit=metadata",
            "--color=never",
        ])
        .args(libraries)
        .arg("-L")
        .arg(format!("dependency={}", folder.display()))
        .arg("--out-dir")
        .arg(out.path())
        .arg(program)
        .output()
        .expect("there is a compiler");
    let text = String::from_utf8(output.stderr).expect("the compiler writes text");
    (!output.status.success()).then_some(text)
}

#[test]
fn wrong_programs_are_explained() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/messages");
    let (mut programs, mut wrong) = (0, String::new());
    for entry in fs::read_dir(folder).expect("the programs") {
        let program = entry.expect("an entry").path();
        let source = fs::read_to_string(&program).expect("a program");
        let name = program.display();
        let text = errors(&program).unwrap_or_else(|| panic!("{name} compiles"));
        let wanted: Vec<&str> = source
            .lines()
            .map_while(|line| line.strip_prefix("// "))
            .collect();
        assert!(!wanted.is_empty(), "{name} has no expected message");
        for line in wanted.iter().filter(|line| !text.contains(**line)) {
            wrong += &format!("{name}: no `{line}` in\n{text}\n");
        }
        programs += 1;
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert_eq!(programs, 12, "programs");
}

/// Checks that the programs fail because of their mistakes.
#[test]
fn a_right_program_compiles() {
    let folder = tempfile::tempdir().expect("a folder");
    let program = folder.path().join("right.rs");
    let source = "fn main() { warpfold::Device::cpu().upload(&[1.5f32]).unwrap(); }";
    fs::write(&program, source).expect("a file in it");
    assert_eq!(errors(&program), None);
}
