//! Finds a device compiler: a rustc, the source of its `core`, and its libLLVM.
//!
//! The three must belong together. Kernels need `core`, compiled for the GPU from the source of the same
//! rustc. The bitcode is read by the libLLVM that rustc itself uses, so the versions agree.
//!
//! The search order; the first complete compiler is used:
//!
//! 1. `$CUDA_BUILDER_RUSTC`, which must be complete if it is set;
//! 2. the rustc that cargo uses (`$RUSTC`, else `rustc`), that is, the pinned toolchain;
//! 3. `debian/rustc` in [`cache_dir`], where `cargo xtask setup` installs Debian's compiler.
//!
//! `$CUDA_BUILDER_LIBLLVM` overrides the library. Nothing is downloaded.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The oldest rustc whose device code has been tested.
pub const MIN_VERSION: (u32, u32) = (1, 95);

/// A compiler for the device.
#[derive(Clone, Debug)]
pub struct DeviceToolchain {
    /// The compiler: the real binary (or a script that starts it), not rustup's proxy.
    pub rustc: PathBuf,
    /// Its version: `"1.95.0"`.
    pub version: String,
    /// The version of its LLVM: `"22.1.2"`.
    pub llvm_version: String,
    /// Its LLVM, as a shared library.
    pub libllvm: PathBuf,
    /// The folder of `core`'s source.
    pub core_src: PathBuf,
    /// A description of how it was found.
    pub origin: String,
}

/// The error if there is no complete device compiler on this machine.
#[derive(Clone, Debug, thiserror::Error)]
#[error(
    "no compiler for GPU code was found; it needs rustc >= {}.{} with the source of `core` and its libLLVM. Tried:\n\
    {tried}\
    What to do: run `cargo xtask setup`. Or run `rustup component add rust-src` in this folder. Or set \
    CUDA_BUILDER_RUSTC to a rustc that has its source.",
    MIN_VERSION.0, MIN_VERSION.1
)]
pub struct ToolchainError {
    /// One line for each compiler tried, with what is missing.
    pub tried: String,
}

/// The folder that `cargo xtask setup` installs to: `$CUDA_BUILDER_CACHE`, else `cuda_builder` in the user's
/// cache folder.
pub fn cache_dir() -> PathBuf {
    if let Some(dir) = non_empty("CUDA_BUILDER_CACHE") {
        return PathBuf::from(dir);
    }
    let base = non_empty("XDG_CACHE_HOME").map(PathBuf::from);
    base.or_else(|| std::env::home_dir().map(|home| home.join(".cache")))
        .unwrap_or_else(std::env::temp_dir)
        .join("cuda_builder")
}

/// Finds a device compiler; the [module](self) has the search order.
///
/// # Errors
///
/// If no compiler is complete; the error lists each one tried and what it lacks.
pub fn find() -> Result<DeviceToolchain, ToolchainError> {
    find_for(None)
}

/// Finds the device compiler for builds in `folder`, where rustup may select another toolchain.
///
/// # Errors
///
/// The errors of [`find`].
pub fn find_in(folder: &Path) -> Result<DeviceToolchain, ToolchainError> {
    find_for(Some(folder))
}

fn find_for(folder: Option<&Path>) -> Result<DeviceToolchain, ToolchainError> {
    if let Some(rustc) = non_empty("CUDA_BUILDER_RUSTC") {
        return first_complete(&[("CUDA_BUILDER_RUSTC", rustc)], folder);
    }
    let cargos = non_empty("RUSTC").unwrap_or_else(|| "rustc".into());
    let debians = cache_dir().join("debian/rustc").into_os_string();
    let candidates = [
        ("the toolchain in use", cargos),
        ("Debian's compiler in the cache", debians),
    ];
    first_complete(&candidates, folder)
}

fn first_complete(
    candidates: &[(&str, OsString)],
    folder: Option<&Path>,
) -> Result<DeviceToolchain, ToolchainError> {
    let mut tried = String::new();
    for (origin, rustc) in candidates {
        match inspect(rustc, origin, folder) {
            Ok(found) => return Ok(found),
            Err(why) => {
                let place = Path::new(rustc).display();
                tried.push_str(&format!("  - {origin} ({place}): {why}\n"));
            }
        }
    }
    Err(ToolchainError { tried })
}

/// Finds the other parts for `rustc`, started in `folder`, or says what is missing.
fn inspect(rustc: &OsStr, origin: &str, folder: Option<&Path>) -> Result<DeviceToolchain, String> {
    let command = || {
        let mut command = Command::new(rustc);
        if let Some(folder) = folder {
            // rustup's proxy then uses the folder's settings, not those of the running cargo.
            command.current_dir(folder).env_remove("RUSTUP_TOOLCHAIN");
        }
        command
    };
    let about = output(command().arg("-vV"))?;
    let field = |key: &str| {
        about
            .lines()
            .find_map(|l| l.strip_prefix(key))
            .map(|v| v.trim().to_owned())
            .ok_or_else(|| format!("`rustc -vV` prints no `{key}`"))
    };
    let version = field("release:")?;
    let llvm_version = field("LLVM version:")?;
    if !is_recent(&version) {
        return Err(format!(
            "rustc {version} is too old; {}.{} or newer is required",
            MIN_VERSION.0, MIN_VERSION.1
        ));
    }

    let sysroot = PathBuf::from(output(command().args(["--print", "sysroot"]))?.trim());
    let core_src = sysroot.join("lib/rustlib/src/rust/library/core");
    if !core_src.join("src/lib.rs").is_file() {
        return Err(format!(
            "rustc {version} has no source of `core` at {}",
            core_src.display()
        ));
    }
    let libllvm = find_libllvm(&sysroot, &llvm_version).ok_or_else(|| {
        format!(
            "rustc {version} has no libLLVM {llvm_version}; set CUDA_BUILDER_LIBLLVM to its path"
        )
    })?;

    // Bypasses rustup's proxy, which would select its own toolchain. A script is kept: it sets up what the
    // real compiler needs.
    let real = sysroot.join("bin/rustc");
    let is_proxy = Path::new(rustc).components().count() == 1
        || Path::new(rustc).ends_with(".cargo/bin/rustc");
    let rustc = if is_proxy && real.is_file() {
        real
    } else {
        PathBuf::from(rustc)
    };
    Ok(DeviceToolchain {
        rustc,
        version,
        llvm_version,
        libllvm,
        core_src,
        origin: origin.to_owned(),
    })
}

/// The shared library of LLVM `version`: from the environment, next to the compiler, or wherever the system's
/// loader finds it.
fn find_libllvm(sysroot: &Path, version: &str) -> Option<PathBuf> {
    if let Some(path) = non_empty("CUDA_BUILDER_LIBLLVM") {
        return Some(PathBuf::from(path));
    }
    let multiarch = format!("lib/{}-linux-gnu", std::env::consts::ARCH);
    let beside = ["lib", multiarch.as_str(), "lib64"]
        .iter()
        .find_map(|dir| library_in(&sysroot.join(dir), version));
    beside.or_else(|| {
        let name = PathBuf::from(soname(version));
        // SAFETY: LLVM's initialisers access nothing outside the library.
        unsafe { libloading::Library::new(&name) }.ok()?;
        Some(name)
    })
}

/// The file name of LLVM's shared library: `libLLVM.so.22.1` for version `22.1.2`.
fn soname(version: &str) -> String {
    let mut numbers = version.split('.');
    let (major, minor) = (numbers.next().unwrap_or(""), numbers.next().unwrap_or("0"));
    format!("libLLVM.so.{major}.{minor}")
}

/// The library of this version in `dir`: the file name, possibly with rustup's suffix. (rustup's
/// `libLLVM-<version>.so` in the same folder is a linker script.) Another version in the folder could not
/// read the bitcode.
fn library_in(dir: &Path, version: &str) -> Option<PathBuf> {
    let name = soname(version);
    let is_it = |file: &str| {
        let rest = file.strip_prefix(&name);
        rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_digit()))
    };
    let mut found: Vec<PathBuf> = std::fs::read_dir(dir)
        .ok()?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.file_name().and_then(OsStr::to_str).is_some_and(is_it))
        .collect();
    found.sort();
    found.into_iter().next()
}

fn is_recent(version: &str) -> bool {
    let mut numbers = version.split(['.', '-']).map(|n| n.parse().unwrap_or(0));
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0)) >= MIN_VERSION
}

/// The output of `command`, or why there is none.
fn output(command: &mut Command) -> Result<String, String> {
    // Removes cargo's variables for the outer build, which would affect this compiler.
    let out = command.env_remove("RUSTC_WRAPPER").output().map_err(|e| {
        if e.kind() == std::io::ErrorKind::NotFound {
            "not there".to_owned()
        } else {
            e.to_string()
        }
    })?;
    if !out.status.success() {
        return Err(String::from_utf8_lossy(&out.stderr).trim().to_owned());
    }
    Ok(String::from_utf8_lossy(&out.stdout).into_owned())
}

fn non_empty(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|v| !v.is_empty())
}

#[cfg(test)]
mod tests {
    use super::{first_complete, is_recent, library_in};
    use std::fs;

    #[test]
    fn versions_compare_by_number() {
        assert!(is_recent("1.95.0"));
        assert!(is_recent("1.100.0-nightly"));
        assert!(is_recent("2.0.0"));
        assert!(!is_recent("1.94.1"));
        assert!(!is_recent("1.9.5"));
        assert!(!is_recent("nonsense"));
    }

    #[test]
    fn only_the_compilers_own_llvm_is_taken() {
        let dir = tempfile::tempdir().unwrap();
        let library = |version| {
            let found = library_in(dir.path(), version)?;
            Some(found.file_name()?.to_str()?.to_owned())
        };
        assert_eq!(library("22.1.2"), None);
        for name in [
            "libLLVM.so.21.1",
            "libLLVM.so.22.10",
            "libLLVM.so.22.1-rust",
            "libLLVM-22.so",
        ] {
            fs::write(dir.path().join(name), "").unwrap();
        }
        assert_eq!(library("22.1.2").as_deref(), Some("libLLVM.so.22.1-rust"));
        assert_eq!(library("21.1.0").as_deref(), Some("libLLVM.so.21.1"));
        assert_eq!(library("23.1.0"), None);
    }

    /// rustup's proxy uses the current folder.
    #[cfg(unix)]
    #[test]
    fn the_compiler_is_started_in_the_folder_that_it_is_for() {
        let dir = tempfile::tempdir().unwrap();
        let (rustc, project) = (dir.path().join("rustc"), dir.path().join("project"));
        // Written by another process. If a thread of this process, or a child that another test starts, has
        // the file open, it cannot be executed.
        let script = r#"printf '#!/bin/sh\ncat version\n' > rustc && chmod +x rustc"#;
        let mut shell = std::process::Command::new("sh");
        let written = shell.args(["-c", script]).current_dir(dir.path()).status();
        assert!(written.unwrap().success());
        fs::create_dir(&project).unwrap();
        fs::write(
            project.join("version"),
            "release: 1.2.3\nLLVM version: 4.5.6\n",
        )
        .unwrap();
        let candidates = [("it", rustc.into_os_string())];
        let error = first_complete(&candidates, Some(&project)).unwrap_err();
        assert!(
            error
                .tried
                .contains("rustc 1.2.3 is too old; 1.95 or newer is required"),
            "{error}"
        );
    }

    #[test]
    fn without_a_compiler_the_error_names_every_place_and_the_remedy() {
        let directory = env!("CARGO_MANIFEST_DIR").into();
        let error = first_complete(
            &[
                ("here", "/nowhere/rustc".into()),
                ("there", "true".into()),
                ("elsewhere", directory),
            ],
            None,
        )
        .unwrap_err();
        let text = error.to_string();
        for part in [
            "here (/nowhere/rustc): not there",
            "there (true): `rustc -vV` prints no `release:`",
            "elsewhere (",
            "cargo xtask setup",
            "CUDA_BUILDER_RUSTC",
        ] {
            assert!(text.contains(part), "{text}");
        }
    }
}
