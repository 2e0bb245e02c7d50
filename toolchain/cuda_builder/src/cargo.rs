//! The nested cargo, which compiles a crate of kernels to one bitcode module.
//!
//! The kernels' crate is an ordinary library. Everything specific to the device is passed on the command
//! line, so that the same crate also compiles, tests and lints for the host.
//!
//! While a build script runs, the outer cargo locks its target folder. So the nested one has its own folder,
//! `cuda-builder`, inside it. All builds share that folder, so `core` is compiled once. Flags that require
//! another `core` (line numbers, checks, panic messages) have a subfolder for each combination.

use crate::error::At;
use crate::toolchain::DeviceToolchain;
use crate::{CudaBuilderError, no_std};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::env;
use std::ffi::OsString;
use std::fs::{self, File};
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

const TARGET: &str = "nvptx64-nvidia-cuda";

/// The crate to compile.
#[derive(Clone)]
pub(crate) struct Package {
    pub(crate) name: String,
    /// The library's name: the package's with underscores, unless the manifest sets another.
    pub(crate) lib_name: String,
    pub(crate) root: PathBuf,
    target_dir: PathBuf,
    /// The crates that it consists of, including itself.
    pub(crate) crates: Vec<Krate>,
    /// The folders of its local crates, including its own.
    local_crates: BTreeSet<PathBuf>,
    /// The manifest and the lock file of its workspace.
    workspace_files: [PathBuf; 2],
}

/// One of the crates that the kernels consist of.
#[derive(Clone)]
pub(crate) struct Krate {
    pub(crate) name: String,
    pub(crate) version: String,
    /// The library's first file: `src/lib.rs`.
    pub(crate) root_file: PathBuf,
    /// Whether it is a local crate, not one from a registry.
    pub(crate) is_local: bool,
    /// A crate that depends on it; `None` for the kernels' crate.
    pub(crate) used_by: Option<String>,
}

impl Package {
    /// A crate of kernels that consists of these crates.
    #[cfg(test)]
    pub(crate) fn of_crates(name: &str, crates: Vec<Krate>) -> Self {
        Self {
            name: name.to_owned(),
            lib_name: name.to_owned(),
            root: PathBuf::new(),
            target_dir: PathBuf::new(),
            crates,
            local_crates: BTreeSet::new(),
            workspace_files: Default::default(),
        }
    }

    /// The names on the path from the kernels' crate to a dependency.
    pub(crate) fn chain_to<'a>(&'a self, name: &'a str) -> Vec<&'a str> {
        let user = |&name: &&'a str| {
            let krate = self.crates.iter().find(|krate| krate.name == name)?;
            krate.used_by.as_deref()
        };
        let mut chain: Vec<_> = std::iter::successors(Some(name), user).collect();
        chain.reverse();
        chain
    }

    /// Reads the metadata of the crate in `root` from cargo.
    pub(crate) fn read(root: &Path) -> Result<Self, CudaBuilderError> {
        let root = root
            .canonicalize()
            .map_err(|e| CudaBuilderError::NotACrate {
                path: root.to_owned(),
                why: e.to_string(),
            })?;
        let manifest = root.join("Cargo.toml");
        let not_a_crate = |why: String| CudaBuilderError::NotACrate {
            path: root.clone(),
            why,
        };

        let mut command = cargo();
        command.current_dir(&root).args([
            "metadata",
            "--format-version",
            "1",
            "--filter-platform",
            TARGET,
            "--manifest-path",
        ]);
        let output = run(command.arg(&manifest))?;
        if !output.status.success() {
            return Err(not_a_crate(
                String::from_utf8_lossy(&output.stderr).trim().to_owned(),
            ));
        }
        let metadata: serde_json::Value =
            serde_json::from_slice(&output.stdout).map_err(|e| not_a_crate(e.to_string()))?;

        let packages = metadata["packages"]
            .as_array()
            .map(Vec::as_slice)
            .unwrap_or_default();
        let id = |p: &serde_json::Value| p["id"].as_str().unwrap_or_default().to_owned();
        let path =
            |p: &serde_json::Value| PathBuf::from(p["manifest_path"].as_str().unwrap_or_default());
        let this = packages
            .iter()
            .find(|p| path(p) == manifest)
            .ok_or_else(|| not_a_crate("it is a workspace without a root package".to_owned()))?;

        // All crates in the closure of cargo's dependency graph. Only local crates, those without a source,
        // can change.
        let nodes = metadata["resolve"]["nodes"]
            .as_array()
            .map(Vec::as_slice)
            .unwrap_or_default();
        // Each with the crate that it was reached from, nearest first, so that the path to each is short.
        let mut reached = BTreeMap::from([(id(this), None)]);
        let mut queue = VecDeque::from([id(this)]);
        while let Some(next) = queue.pop_front() {
            let node = nodes.iter().find(|n| n["id"].as_str() == Some(&next));
            let needs = node
                .and_then(|n| n["dependencies"].as_array())
                .map(Vec::as_slice)
                .unwrap_or_default();
            for dependency in needs.iter().filter_map(|d| d.as_str()) {
                if !reached.contains_key(dependency) {
                    reached.insert(dependency.to_owned(), Some(next.clone()));
                    queue.push_back(dependency.to_owned());
                }
            }
        }
        let name_of = |id_of: &String| {
            let package = packages.iter().find(|p| id(p) == *id_of)?;
            Some(package["name"].as_str()?.to_owned())
        };
        let crates = packages
            .iter()
            .filter_map(|p| {
                let used_by = reached.get(&id(p))?.as_ref();
                Some(Krate {
                    name: p["name"].as_str()?.to_owned(),
                    version: p["version"].as_str()?.to_owned(),
                    is_local: p["source"].is_null(),
                    root_file: library_of(p)?["src_path"].as_str()?.into(),
                    used_by: used_by.and_then(name_of),
                })
            })
            .collect();
        let local_crates = packages
            .iter()
            .filter(|p| p["source"].is_null() && reached.contains_key(&id(p)))
            .filter_map(|p| Some(path(p).parent()?.to_owned()))
            .collect();

        let workspace = PathBuf::from(metadata["workspace_root"].as_str().unwrap_or_default());
        let target = PathBuf::from(metadata["target_directory"].as_str().unwrap_or_default());
        let name = this["name"].as_str().unwrap_or_default().to_owned();
        let lib_name = library_of(this)
            .and_then(|lib| lib["name"].as_str())
            .ok_or_else(|| not_a_crate("it has no library (src/lib.rs)".to_owned()))?
            .replace('-', "_");
        Ok(Self {
            name,
            lib_name,
            target_dir: outer_target_dir().unwrap_or(target).join("cuda-builder"),
            workspace_files: ["Cargo.toml", "Cargo.lock"].map(|file| workspace.join(file)),
            crates,
            local_crates,
            root,
        })
    }

    /// In a build script: tells the outer cargo which files the PTX depends on.
    pub(crate) fn print_rerun_if(&self) {
        if env::var_os("OUT_DIR").is_none() {
            return;
        }
        for krate in &self.local_crates {
            for part in ["src", "Cargo.toml", "build.rs"] {
                let part = krate.join(part);
                if part.exists() {
                    println!("cargo:rerun-if-changed={}", part.display());
                }
            }
        }
        for file in &self.workspace_files {
            println!("cargo:rerun-if-changed={}", file.display());
        }
        for variable in [
            "CUDA_BUILDER_RUSTC",
            "CUDA_BUILDER_LIBLLVM",
            "CUDA_BUILDER_CACHE",
            "XDG_CACHE_HOME",
        ] {
            println!("cargo:rerun-if-env-changed={variable}");
        }
    }
}

/// The library among a package's targets.
fn library_of(package: &serde_json::Value) -> Option<&serde_json::Value> {
    let is_lib = |target: &&serde_json::Value| {
        let kinds = target["kind"].as_array().map(Vec::as_slice);
        let library =
            |kind: &serde_json::Value| kind.as_str().is_some_and(|kind| kind.ends_with("lib"));
        kinds.unwrap_or_default().iter().any(library)
    };
    package["targets"].as_array()?.iter().find(is_lib)
}

/// A module of unoptimised bitcode.
pub(crate) struct Bitcode {
    /// The file that cargo wrote.
    pub(crate) path: PathBuf,
    pub(crate) bytes: Vec<u8>,
    /// Held until this build has compiled the bitcode. Other builds of this crate in the same target folder
    /// then find the results.
    _lock: File,
}

/// One run of the nested cargo.
pub(crate) struct DeviceBuild<'a> {
    pub(crate) package: &'a Package,
    pub(crate) toolchain: &'a DeviceToolchain,
    /// Whether to include overflow checks and debug assertions.
    pub(crate) checks: bool,
    pub(crate) line_info: bool,
    /// Whether a panic calls the crate's handler; otherwise it is a trap.
    pub(crate) panic_messages: bool,
    /// Whether to keep the names of values, for readers of LLVM's text.
    pub(crate) names: bool,
    /// Whether to print rustc's warnings.
    pub(crate) show_warnings: bool,
    pub(crate) args: &'a [String],
}

impl DeviceBuild<'_> {
    /// Compiles the crate, and returns the bitcode.
    ///
    /// A lock is held from cargo's start on: another build of this crate in the same target folder could
    /// overwrite the file.
    pub(crate) fn run(&self) -> Result<Bitcode, CudaBuilderError> {
        let target_dir = self.target_dir();
        fs::create_dir_all(&target_dir).at(&target_dir)?;
        let lock_path = target_dir.join(format!("{}.lock", self.package.lib_name));
        let lock = File::create(&lock_path).at(&lock_path)?;
        lock.lock().at(&lock_path)?;

        let deps = target_dir.join(TARGET).join("release/deps");
        let path = deps.join(format!("{}.bc", self.package.lib_name));
        // The same crate in another folder or with other arguments may be up to date for cargo, but its
        // bitcode has the same name.
        let root = self.package.root.display().to_string();
        let names = self.names.to_string();
        let made_of = [&[root, names], self.args].concat().join("\n");
        let note = path.with_extension("made_of");
        if fs::read_to_string(&note).ok().as_ref() != Some(&made_of) {
            let _ = fs::remove_file(&path);
        }
        // Before the bitcode is built, so that an interrupted build does not leave another build's marker.
        fs::create_dir_all(&deps).at(&deps)?;
        fs::write(&note, made_of).at(&note)?;
        self.cargo(&target_dir)?;
        if !path.is_file() {
            self.forget(&target_dir)?;
            self.cargo(&target_dir)?;
        }
        let Ok(bytes) = fs::read(&path) else {
            return Err(CudaBuilderError::NoBitcode {
                bitcode: path,
                target_dir,
            });
        };
        // Creates the linked library that cargo expects. Without it, cargo would compile the crate again next
        // time.
        let library = path.with_extension("ptx");
        if !library.exists() {
            fs::write(&library, "").at(&library)?;
        }
        Ok(Bitcode {
            path,
            bytes,
            _lock: lock,
        })
    }

    /// Makes cargo compile the crate again. Cargo does not track the bitcode, and considers the crate up to
    /// date if only the bitcode is missing.
    fn forget(&self, target_dir: &Path) -> Result<(), CudaBuilderError> {
        let prints = target_dir.join(TARGET).join("release/.fingerprint");
        let of_this = format!("{}-", self.package.name);
        for entry in fs::read_dir(&prints).at(&prints)?.flatten() {
            if entry.file_name().to_string_lossy().starts_with(&of_this) {
                fs::remove_dir_all(entry.path()).at(&entry.path())?;
            }
        }
        Ok(())
    }

    fn target_dir(&self) -> PathBuf {
        let flags = [
            (self.line_info, "lines"),
            (self.checks, "checks"),
            (self.panic_messages, "panics"),
        ];
        let names = flags.iter().filter_map(|&(set, name)| set.then_some(name));
        let name = names.collect::<Vec<_>>().join("-");
        match name.is_empty() {
            true => self.package.target_dir.clone(),
            false => self.package.target_dir.join(name),
        }
    }

    fn cargo(&self, target_dir: &Path) -> Result<(), CudaBuilderError> {
        // Panics trap at their site, without a handler or a message, unless messages are enabled.
        let panic = match self.panic_messages {
            true => "-Cpanic=abort",
            false => "-Cpanic=immediate-abort",
        };
        // JumpThreading may duplicate barriers (fixed in rustc 1.97), so it is disabled for all crates.
        let mut flags = vec![
            "-Zunstable-options",
            panic,
            "-Zmir-enable-passes=-JumpThreading",
            "-Ctarget-cpu=sm_75",
            // LLVM optimises once, after `passes` has added what rustc cannot express; crates are not
            // optimised separately.
            "-Cno-prepopulate-passes",
        ];
        if self.line_info {
            flags.push("-Cdebuginfo=line-tables-only");
        }

        let mut command = cargo();
        command
            .current_dir(&self.package.root)
            .env("RUSTC", &self.toolchain.rustc)
            // Only the device needs unstable options; the host stays on stable.
            .env("RUSTC_BOOTSTRAP", "1")
            .env("CARGO_ENCODED_RUSTFLAGS", flags.join("\x1f"))
            .args([
                "rustc",
                "--quiet",
                "--lib",
                "--crate-type",
                "cdylib",
                "--release",
            ])
            .args(["--target", TARGET, "-Zbuild-std=core", "--target-dir"])
            .arg(target_dir)
            .arg(format!("--jobs={}", jobs()));
        // Cargo ignores [profile] in a member's manifest, hence --config.
        for setting in [
            "lto=\"fat\"",
            "codegen-units=1",
            "opt-level=3",
            "incremental=false",
            "debug=0",
            "strip=false",
            &format!("overflow-checks={}", self.checks),
            &format!("debug-assertions={}", self.checks),
        ] {
            command
                .arg("--config")
                .arg(format!("profile.release.{setting}"));
        }
        let names = match self.names {
            true => "-Zfewer-names=no",
            false => "-Zfewer-names=yes",
        };
        command.args(self.args).arg("--").args([
            // Nothing is linked: the bitcode is the product.
            "-Clinker=true",
            "-Clinker-flavor=llbc",
            "--emit=llvm-bc",
            names,
            "-Zcrate-attr=feature(abi_ptx,asm_experimental_arch)",
        ]);

        let output = run(&mut command)?;
        let text = String::from_utf8_lossy(&output.stderr);
        if !output.status.success() {
            let other = || CudaBuilderError::BuildFailed {
                krate: self.package.name.clone(),
                code: output.status.code().unwrap_or(-1),
                output: format!("{text}{}{}", help(&text), no_std::instead(&text)),
            };
            return Err(no_std::explain(self.package, &text).unwrap_or_else(other));
        }
        // Warnings. In a build script, cargo shows them with -vv.
        if self.show_warnings {
            eprint!("{text}");
        }
        Ok(())
    }
}

/// Advice for errors of the compiler that give none.
fn help(output: &str) -> &'static str {
    match output.contains("`#[panic_handler]` function required") {
        true => {
            "What to do: depend on `cuda_std`, which has a panic handler, and name it in src/lib.rs: \
             `use cuda_std as _;`.\n"
        }
        false => "",
    }
}

/// A cargo command without the environment variables of the outer build.
fn cargo() -> Command {
    let program = env::var_os("CARGO")
        .filter(|c| !c.is_empty())
        .unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(program);
    for (name, _) in env::vars_os() {
        if belongs_to_outer_build(&name) {
            command.env_remove(name);
        }
    }
    command
}

fn belongs_to_outer_build(name: &OsString) -> bool {
    let Some(name) = name.to_str() else {
        return false;
    };
    // Variables for folders and for access to the registry are kept.
    const KEEP: [&str; 3] = ["CARGO_HOME", "CARGO_TERM_COLOR", "CARGO_INCREMENTAL"];
    const KEEP_PREFIXES: [&str; 4] = [
        "CARGO_NET_",
        "CARGO_HTTP_",
        "CARGO_REGISTR",
        "CARGO_SOURCE_",
    ];
    const DROP: [&str; 12] = [
        "RUSTFLAGS",
        "RUSTDOCFLAGS",
        "RUSTUP_TOOLCHAIN",
        "TARGET",
        "HOST",
        "OUT_DIR",
        "PROFILE",
        "OPT_LEVEL",
        "DEBUG",
        "NUM_JOBS",
        "LD_LIBRARY_PATH",
        "CLIPPY_ARGS",
    ];
    const DROP_PREFIXES: [&str; 5] = ["CARGO", "__CARGO", "DEP_", "RUSTC", "RUSTDOC"];

    let kept = KEEP.contains(&name) || KEEP_PREFIXES.iter().any(|p| name.starts_with(p));
    !kept && (DROP.contains(&name) || DROP_PREFIXES.iter().any(|p| name.starts_with(p)))
}

/// The target folder of the running cargo. In a build script: the folder above `OUT_DIR` with cargo's tag
/// file; else the folder from the environment.
fn outer_target_dir() -> Option<PathBuf> {
    let Some(out) = env::var_os("OUT_DIR") else {
        let dir = env::var_os("CARGO_TARGET_DIR")?;
        // The nested cargo runs in another folder.
        return std::path::absolute(dir).ok();
    };
    let out = PathBuf::from(out);
    out.ancestors()
        .find(|dir| dir.join("CACHEDIR.TAG").is_file())
        .map(Path::to_owned)
}

/// The number of parallel jobs: the outer cargo's setting, else the number of cores.
///
/// Not a share of the outer cargo's jobs: build scripts that wait for this one would hold some of them.
pub(crate) fn jobs() -> usize {
    let told = env::var("NUM_JOBS").ok().and_then(|jobs| jobs.parse().ok());
    told.unwrap_or_else(|| thread::available_parallelism().map_or(1, NonZero::get))
}

fn run(command: &mut Command) -> Result<std::process::Output, CudaBuilderError> {
    command.output().map_err(|source| CudaBuilderError::Spawn {
        program: command.get_program().to_string_lossy().into_owned(),
        source,
    })
}

#[cfg(test)]
mod tests {
    use super::belongs_to_outer_build;

    #[test]
    fn the_registry_survives_and_the_outer_build_does_not() {
        for name in [
            "CARGO_HOME",
            "CARGO_NET_OFFLINE",
            "CARGO_REGISTRIES_X_INDEX",
            "PATH",
            "HOME",
        ] {
            assert!(!belongs_to_outer_build(&name.into()), "{name} must be kept");
        }
        for name in [
            "CARGO",
            "CARGO_MANIFEST_DIR",
            "CARGO_ENCODED_RUSTFLAGS",
            "CARGO_BUILD_TARGET",
            "CARGO_TARGET_DIR",
            "CARGO_MAKEFLAGS",
            "RUSTC",
            "RUSTC_WORKSPACE_WRAPPER",
            "RUSTUP_TOOLCHAIN",
            "RUSTFLAGS",
            "DEP_X_Y",
            "OUT_DIR",
        ] {
            assert!(
                belongs_to_outer_build(&name.into()),
                "{name} must be removed"
            );
        }
    }
}
