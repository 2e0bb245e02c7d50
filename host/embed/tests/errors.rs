//! What a build script prints when kernels do not compile.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// Where it is set, this program is a build script, for the crate in that folder.
const KERNELS: &str = "WARPFOLD_TEST_KERNELS";

const CODE: &str = r#"#![no_std]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! { loop {} }
core::arch::global_asm!("//!cuda k module=all");
unsafe extern "C" { fn nobody_defines_this(x: u32) -> u32; }
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn k(p: *mut u32) {
    unsafe { *p = nobody_defines_this(*p) }
}
"#;

/// The test below runs it.
#[test]
fn build_script() {
    if let Some(folder) = env::var_os(KERNELS) {
        warpfold_build::embed(folder);
    }
}

#[test]
fn each_line_of_an_error_reaches_cargo_and_the_build_ends() {
    let kernels = tempfile::tempdir().unwrap();
    fs::create_dir(kernels.path().join("src")).unwrap();
    fs::write(kernels.path().join("src/lib.rs"), CODE).unwrap();
    let manifest = "[package]\nname = \"mine\"\nedition = \"2024\"\n[workspace]\n";
    fs::write(kernels.path().join("Cargo.toml"), manifest).unwrap();
    // The folder of the tests of `cuda_builder`, where `core` is compiled for them too.
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("fixtures");
    let out = target.join("embed-errors/out");
    fs::create_dir_all(&out).unwrap();
    fs::write(target.join("CACHEDIR.TAG"), "").unwrap();

    let output = Command::new(env::current_exe().unwrap())
        .args(["build_script", "--exact", "--nocapture"])
        .env(KERNELS, kernels.path())
        .env("OUT_DIR", &out)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8_lossy(&output.stdout);
    let errors: Vec<_> = text
        .lines()
        .filter_map(|line| line.strip_prefix("cargo::error="))
        .collect();
    let file: PathBuf = kernels.path().canonicalize().unwrap().join("src/lib.rs");
    let place = format!("    at {}:8, in `k`", file.display());
    assert_eq!(
        errors[..3],
        [
            "the kernels of `mine` need symbols that no crate defines:",
            "  `nobody_defines_this`",
            &place,
        ],
        "{text}"
    );
    assert!(errors[3].starts_with("What to do: "), "{text}");
}
