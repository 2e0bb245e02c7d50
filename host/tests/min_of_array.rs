//! Runs the example `min_of_array` as a program on the CPU.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Runs the example with these arguments, with all devices hidden.
fn min_of_array(arguments: &[&Path]) -> Output {
    let test = env::current_exe().unwrap();
    let profile = test.ancestors().nth(2).unwrap();
    let program = profile.join("examples").join("min_of_array");
    Command::new(&program)
        .args(arguments)
        .env("CUDA_VISIBLE_DEVICES", "")
        .output()
        .unwrap_or_else(|error| {
            let program = program.display();
            panic!("{program}: {error}; `cargo test` builds it, `cargo test --test` does not")
        })
}

/// A temporary file, deleted on drop.
struct Npy(PathBuf);

impl Npy {
    fn new(name: &str, bytes: &[u8]) -> Self {
        let file = env::temp_dir().join(format!("warpfold-{}-{name}", std::process::id()));
        std::fs::write(&file, bytes).unwrap();
        Self(file)
    }

    /// NumPy's format, version 1.0: magic, length of the header, header, data.
    fn of(name: &str, descr: &str, fortran: &str, shape: &str, data: &[u8]) -> Self {
        let header =
            format!("{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {shape}, }}\n");
        let len = u16::try_from(header.len()).unwrap();
        let head = [b"\x93NUMPY\x01\x00", &len.to_le_bytes()[..]].concat();
        Self::new(name, &[&head, header.as_bytes(), data].concat())
    }

    fn floats(name: &str, values: &[f32]) -> Self {
        let data: Vec<u8> = values
            .iter()
            .flat_map(|value| value.to_le_bytes())
            .collect();
        Self::of(name, "<f4", "False", &format!("({},)", values.len()), &data)
    }

    fn run(&self) -> Output {
        min_of_array(&[&self.0])
    }
}

impl Drop for Npy {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

#[track_caller]
fn finds(output: &Output, minimum: &str) {
    let text = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{text}{errors}");
    let lines: Vec<&str> = text.lines().collect();
    let line_of = |way: &str| lines.iter().find(|line| line.starts_with(way));
    for way in ["CPU, one core", "CPU, all cores"] {
        let line = line_of(way).unwrap_or_else(|| panic!("no {way}: {text}"));
        assert!(line.ends_with(&format!(" {minimum}")), "{text}");
    }
    assert_eq!(
        lines.last(),
        Some(&&*format!("minimum {minimum}: all agree"))
    );
    assert_eq!(text.matches("no GPU: ").count(), 1, "{text}");
    assert!(line_of("GPU").is_none(), "{text}");
}

#[track_caller]
fn refuses(output: &Output, why: &str) {
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{errors}");
    assert!(
        errors.starts_with("error: ") && errors.contains(why),
        "{errors}"
    );
    assert!(output.stdout.is_empty());
}

#[test]
fn the_minimum_of_a_file() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/floats.npy");
    let output = min_of_array(&[&file]);
    finds(&output, "-100.0");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("floats.npy: 105 f32"), "{text}");
}

#[test]
fn signed_zeroes_infinities_and_nan() {
    finds(&Npy::floats("zero", &[0.0, -0.0, 0.0, 1.0]).run(), "-0.0");
    finds(&Npy::floats("inf", &[f32::INFINITY; 3]).run(), "inf");
    finds(
        &Npy::floats("least", &[1.0, f32::NEG_INFINITY]).run(),
        "-inf",
    );
    let mut values = vec![-1.0; 10_000];
    values[7777] = f32::NAN;
    finds(&Npy::floats("nan", &values).run(), "NaN");
}

#[test]
fn big_endian_elements() {
    let data: Vec<u8> = [3.5f32, -7.25]
        .iter()
        .flat_map(|v| v.to_be_bytes())
        .collect();
    finds(
        &Npy::of("big", ">f4", "False", "(2,)", &data).run(),
        "-7.25",
    );
}

#[test]
fn unusable_files_are_errors() {
    refuses(&Npy::new("text", b"not a number\n").run(), "text: ");
    refuses(&Npy::floats("none", &[]).run(), "no minimum");
    refuses(
        &Npy::of("f8", "<f8", "False", "(1,)", &[0; 8]).run(),
        "not f32",
    );
    refuses(
        &Npy::of("i4", "<i4", "False", "(1,)", &[0; 4]).run(),
        "not f32",
    );
    refuses(
        &Npy::of("order", "<f4", "True", "(2, 2)", &[0; 16]).run(),
        "Fortran",
    );
    refuses(
        &Npy::of("short", "<f4", "False", "(5,)", &[0; 19]).run(),
        "5 elements",
    );
    refuses(
        &min_of_array(&[Path::new("no-such-file.npy")]),
        "no-such-file",
    );
    refuses(&min_of_array(&[Path::new("a"), Path::new("b")]), "usage");
}
