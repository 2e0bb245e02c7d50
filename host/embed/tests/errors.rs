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
unsafe extern "C" { fn undefined_function(x: u32) -> u32; }
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn k(p: *mut u32) {
    unsafe { *p = undefined_function(*p) }
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
fn cargo_shows_each_line_of_an_error_once_and_the_build_fails() {
    let folder = tempfile::tempdir().unwrap();
    let package = |name: &str, file: &str, code: &str| {
        let package = folder.path().join(name);
        fs::create_dir_all(package.join("src")).unwrap();
        fs::write(package.join(file), code).unwrap();
        let manifest = format!("[package]\nname = \"{name}\"\nedition = \"2024\"\n[workspace]\n");
        fs::write(package.join("Cargo.toml"), manifest).unwrap();
        package
    };
    let kernels = package("mine", "src/lib.rs", CODE);
    // Its build script is the test above, in this program.
    let script = format!(
        "fn main() {{
            let mut script = std::process::Command::new({:?});
            script.args([\"build_script\", \"--exact\", \"--nocapture\"]);
            std::process::exit(script.status().unwrap().code().unwrap());
        }}\n",
        env::current_exe().unwrap()
    );
    let app = package("app", "build.rs", &script);
    fs::write(app.join("src/main.rs"), "fn main() {}\n").unwrap();

    // The folder of the tests of `cuda_builder`, where `core` is compiled for them too.
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("fixtures");
    let output = Command::new(env!("CARGO"))
        .args(["build", "--color=never", "--target-dir"])
        .arg(target)
        .current_dir(&app)
        .env(KERNELS, &kernels)
        .output()
        .unwrap();
    assert!(!output.status.success());
    let text = String::from_utf8_lossy(&output.stderr);
    let errors: Vec<_> = text
        .lines()
        .filter_map(|line| line.strip_prefix("error: app@0.0.0: "))
        .collect();
    let file: PathBuf = kernels.canonicalize().unwrap().join("src/lib.rs");
    let lines = [
        "the kernels of `mine` use symbols that no crate defines:",
        "  `undefined_function`",
        &format!("    at {}:8, in `k`", file.display()),
        "What to do: ",
    ];
    assert_eq!(errors[..3], lines[..3], "{text}");
    assert!(errors[3].starts_with(lines[3]), "{text}");
    for line in lines {
        assert_eq!(text.matches(line).count(), 1, "{line}: {text}");
    }
}
