//! Checks that `kernels-gpu`, without the feature `simulator`, compiles with Rust-CUDA's own `cuda_std`
//! instead of ours. Its sources are type-checked for host and device against a stub that has only upstream's
//! names (`kernels-gpu/tests/upstream`).

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use xtask::{process, workspace};

#[derive(Clone, Copy)]
enum Target {
    Host,
    Device,
}

/// The macros of `kernels-gpu`, which use only the name of `cuda_std`.
const MACROS: &str = "kernels-gpu-macros";

/// A workspace with the stub and a crate that uses it as its `cuda_std`.
struct Project {
    manifest: PathBuf,
}

impl Project {
    /// Writes the manifests for a crate with the source `library` into the folder `name`. The crate has the
    /// edition and the other dependencies of `kernels-gpu`.
    fn new(name: &str, library: &Path) -> Self {
        let root = workspace::root();
        let (stub, macros) = (
            root.join("kernels-gpu/tests/upstream"),
            root.join("kernels-gpu/macros"),
        );
        let workspace = read(&root.join("Cargo.toml"));
        let kernels = read(&root.join("kernels-gpu/Cargo.toml"));
        let edition = line(&workspace, "edition = ");
        let mut dependencies = String::new();
        let table = kernels.lines().skip_while(|line| *line != "[dependencies]");
        for dependency in table.skip(1).take_while(|line| !line.starts_with('[')) {
            let name = dependency.strip_suffix(".workspace = true");
            if let Some(name) = name.filter(|name| !["cuda_std", MACROS].contains(name)) {
                let _ = writeln!(dependencies, "{}", line(&workspace, &format!("{name} = ")));
            }
        }

        let folder = temporary().join(name);
        let write = |path: &str, text: &str| {
            let path = folder.join(path);
            fs::create_dir_all(path.parent().expect("every file is in a folder"))
                .expect("a new folder");
            fs::write(path, text).expect("a new file");
        };
        let package = |name: &str, library: &Path, rest: &str| {
            let text = format!(
                "[package]\nname = {name:?}\n{edition}\n\n[lib]\npath = {library:?}\n{rest}"
            );
            write(&format!("{name}/Cargo.toml"), &text);
        };
        write(
            "Cargo.toml",
            "[workspace]\nresolver = \"3\"\nmembers = [\"cuda_std_macros\", \"cuda_std\", \"kernels\"]\n",
        );
        // The workspace's pinned versions, which are already downloaded.
        write("Cargo.lock", &read(&root.join("Cargo.lock")));
        package(
            "cuda_std_macros",
            &stub.join("macros.rs"),
            "proc-macro = true\n",
        );
        package(
            "cuda_std",
            &stub.join("lib.rs"),
            &format!(
                "\n[dependencies]\n{dependencies}cuda_std_macros = {{ path = \"../cuda_std_macros\" }}\n"
            ),
        );
        package(
            "kernels",
            library,
            &format!(
                "\n[features]\nlibrary = []\nteaching = []\nsimulator = []\n\n[dependencies]\n{dependencies}\
                 cuda_std = {{ path = \"../cuda_std\" }}\n{MACROS} = {{ path = {macros:?} }}\n"
            ),
        );
        let manifest = folder.join("Cargo.toml");
        Self { manifest }
    }

    /// Type-checks the crate; returns the compiler's output, as an error if it fails.
    fn check(&self, target: Target) -> Result<String, String> {
        let mut cargo = process::cargo();
        cargo
            .args(["rustc", "--offline", "--package=kernels", "--lib"])
            .args([
                "--profile=check",
                "--color=never",
                "--features=library,teaching",
            ])
            .arg("--manifest-path")
            .arg(&self.manifest)
            .arg("--target-dir")
            .arg(temporary().join("target"));
        // Flags for the tests' own build may be wrong here.
        for flags in [
            "RUSTFLAGS",
            "CARGO_ENCODED_RUSTFLAGS",
            "CARGO_BUILD_RUSTFLAGS",
        ] {
            cargo.env_remove(flags);
        }
        if let Target::Device = target {
            let compiler = cuda_builder::toolchain::find().map_err(|error| error.to_string())?;
            cargo
                .env("RUSTC", compiler.rustc)
                .env("RUSTC_BOOTSTRAP", "1")
                .args(["--target", workspace::DEVICE_TARGET, "-Zbuild-std=core"])
                // What cuda_builder adds to the crate of kernels.
                .arg("--")
                .arg("-Zcrate-attr=feature(abi_ptx,asm_experimental_arch)");
        }
        let output = cargo.output().expect("cargo runs");
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        if output.status.success() {
            Ok(text)
        } else {
            Err(text)
        }
    }
}

fn temporary() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("upstream")
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The line of a manifest that begins with `start`.
fn line<'a>(manifest: &'a str, start: &str) -> &'a str {
    let mut lines = manifest.lines();
    let line = lines.find(|line| line.starts_with(start));
    line.unwrap_or_else(|| panic!("no line of the manifest begins with `{start}`"))
}

#[track_caller]
fn assert_compiles(project: &Project, target: Target) {
    if let Err(errors) = project.check(target) {
        let first: Vec<&str> = errors.lines().take(100).collect();
        let first = first.join("\n");
        panic!("the crate uses names that upstream's cuda_std lacks:\n{first}");
    }
}

fn kernels_gpu(name: &str) -> Project {
    Project::new(name, &workspace::root().join("kernels-gpu/src/lib.rs"))
}

#[test]
fn the_library_compiles() {
    assert_compiles(&kernels_gpu("host"), Target::Host);
}

#[test]
fn the_kernels_compile() {
    assert_compiles(&kernels_gpu("device"), Target::Device);
}

/// A crate with this text, in the folder `name`.
fn crate_with(name: &str, text: &str) -> Project {
    let library = temporary().join(format!("{name}.rs"));
    fs::create_dir_all(temporary()).expect("a new folder");
    fs::write(&library, format!("#![no_std]\n{text}")).expect("a new file");
    Project::new(name, &library)
}

#[test]
fn upstreams_names_are_accepted() {
    let project = crate_with(
        "accepted",
        "pub use cuda_std::atomic::mid::{atomic_fetch_add_f64_block, atomic_load_64_device};
         pub use cuda_std::warp::{WarpShuffleValue, warp_reduce};
         #[cuda_std::kernel]
         pub unsafe fn kernel(_: &[u32], _: *mut u32) {}",
    );
    assert_compiles(&project, Target::Host);
}

#[test]
fn other_names_are_refused() {
    let names = [
        "cfg",
        "float16",
        "launch_bounds",
        "shared_array",
        "thread::block_fence",
        "atomic::mid::atomic_fetch_inc_u32_device",
        "atomic::mid::atomic_fetch_min_f32_device",
        "atomic::AtomicU32",
    ];
    let mut text = String::new();
    for (index, name) in names.iter().enumerate() {
        let _ = writeln!(text, "pub mod m{index} {{ pub use cuda_std::{name}; }}");
    }
    text += "#[cuda_std::kernel(module = name)]\npub unsafe fn kernel() {}\n";
    let errors = crate_with("refused", &text)
        .check(Target::Host)
        .expect_err("upstream has none of this");
    for name in names {
        let refused = format!("unresolved import `cuda_std::{name}`");
        assert!(errors.contains(&refused), "{name} is accepted:\n{errors}");
    }
    let argument = "upstream's `#[kernel]` has no such argument";
    assert!(errors.contains(argument), "{errors}");
}
