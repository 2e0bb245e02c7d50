//! `cargo xtask doctor DIR`: checks a project outside this repository that has its own kernels.

use super::{Row, device_compiler};
use crate::{process, workspace};
use anyhow::{Context, Result};
use cuda_builder::toolchain;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// A crate of kernels depends on one of these.
const KERNEL_APIS: [&str; 2] = ["kernels-gpu", "cuda_std"];

/// The library, and its helper for build scripts.
const LIBRARY: &str = "warpfold";
const BUILD: &str = "warpfold-build";

/// Calls in build scripts whose argument is the folder of a crate of kernels.
const CALLS: [&str; 3] = ["embed(", "Embed::new(", "CudaBuilder::new("];

/// Folders in which `cust` looks for CUDA by default.
const INSTALLED: [&str; 2] = ["/opt/cuda/lib64", "/usr/local/cuda/lib64"];

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    manifest_path: PathBuf,
    dependencies: Vec<Dependency>,
    targets: Vec<Target>,
    features: BTreeMap<String, Vec<String>>,
}

#[derive(Deserialize)]
struct Dependency {
    name: String,
    /// `None` for normal dependencies.
    kind: Option<String>,
    features: Vec<String>,
}

#[derive(Deserialize)]
struct Target {
    kind: Vec<String>,
    src_path: PathBuf,
}

impl Package {
    fn depends_on(&self, name: &str, kind: Option<&str>) -> bool {
        let matches = |d: &Dependency| d.name == name && d.kind.as_deref() == kind;
        self.dependencies.iter().any(matches)
    }

    fn has_kernels(&self) -> bool {
        let mut apis = KERNEL_APIS.iter();
        apis.any(|name| self.depends_on(name, None)) && !self.depends_on(LIBRARY, None)
    }

    fn folder(&self) -> &Path {
        self.manifest_path.parent().unwrap_or(&self.manifest_path)
    }

    /// The root source file of its library (`lib`) or build script (`custom-build`).
    fn root_file(&self, kind: &str) -> Option<&Path> {
        let matches = |target: &&Target| target.kind.iter().any(|k| k.ends_with(kind));
        let target = self.targets.iter().find(matches)?;
        Some(&target.src_path)
    }
}

/// The table's rows for the project in `folder`.
pub(super) fn examine(folder: &Path) -> Vec<Row> {
    let packages = match packages(folder) {
        Ok(packages) => packages,
        Err(error) => {
            let fix = "pass the folder of the project's Cargo.toml";
            return vec![Row::missing("project", format!("{error:#}"), fix).fatal()];
        }
    };
    let mut rows = device_compiler(
        toolchain::find_in(folder),
        "in the project's rust-toolchain.toml:\n\
         [toolchain]\nchannel = \"1.95.0\"\ncomponents = [\"rust-src\"]\n\
         or, without rustup: cargo xtask setup",
    );
    rows.push(cuda_library_path(folder));
    let kernels: Vec<_> = packages.iter().filter(|p| p.has_kernels()).collect();
    let programs: Vec<_> = packages
        .iter()
        .filter(|p| p.depends_on(LIBRARY, None))
        .collect();
    if kernels.is_empty() {
        rows.push(Row::missing(
            "kernels",
            "no crate here depends on `kernels-gpu`",
            "for your own kernels: a library crate with `#![no_std]` and the dependency `kernels-gpu`",
        ));
    }
    rows.extend(kernels.iter().map(|krate| kernels_row(krate)));
    if programs.is_empty() {
        rows.push(
            Row::missing(
                "program",
                "no crate here depends on `warpfold`",
                "add the dependency `warpfold` to the crate that launches kernels",
            )
            .fatal(),
        );
    }
    if !kernels.is_empty() {
        rows.extend(
            programs
                .iter()
                .flat_map(|program| program_rows(program, &kernels)),
        );
    }
    rows
}

/// The packages of the workspace in `folder`.
fn packages(folder: &Path) -> Result<Vec<Package>> {
    let manifest = folder.join("Cargo.toml");
    let manifest = manifest
        .canonicalize()
        .with_context(|| format!("cannot read {}", manifest.display()))?;
    let mut command = process::cargo();
    command
        .current_dir(folder)
        .args(["metadata", "--no-deps", "--offline", "--format-version=1"])
        .arg("--manifest-path")
        .arg(manifest);
    let metadata: Metadata = serde_json::from_str(&process::stdout_of(&mut command)?)
        .context("cannot parse the output of `cargo metadata`")?;
    Ok(metadata.packages)
}

/// Checks a crate of kernels.
fn kernels_row(krate: &Package) -> Row {
    let what = |part: &str| format!("{}: {part}", krate.name);
    let Some(file) = krate.root_file("lib") else {
        let fix = "move the kernels to src/lib.rs: they are compiled as a library";
        return Row::missing(what("library"), "the package has no library", fix).fatal();
    };
    let text = fs::read_to_string(file).unwrap_or_default();
    let is_no_std = |line: &str| line.starts_with("#![") && line.contains("no_std");
    let path = file.display().to_string();
    match text.lines().map(str::trim).any(is_no_std) {
        true => Row::found(what("no_std"), path),
        false => {
            let fix = "add `#![no_std]` at the beginning: the GPU has no `std`";
            Row::missing(what("no_std"), path, fix).fatal()
        }
    }
}

/// Checks a program that launches kernels.
fn program_rows(program: &Package, kernels: &[&Package]) -> Vec<Row> {
    let what = |part: &str| format!("{}: {part}", program.name);
    let is_used = |krate: &&&Package| program.depends_on(&krate.name, None);
    let (used, fix) = (
        kernels.iter().find(is_used),
        format!("add the dependency `{}`", kernels[0].name),
    );
    let mut rows = vec![match used {
        Some(krate) => Row::found(what("kernels"), &krate.name),
        None => Row::missing(what("kernels"), "no dependency on a crate of kernels", fix).fatal(),
    }];
    rows.push(match program.depends_on(BUILD, Some("build")) {
        true => Row::found(what("build-dependency"), BUILD),
        false => {
            let fix = format!("add `{BUILD}` to [build-dependencies]");
            Row::missing(what("build-dependency"), format!("no `{BUILD}`"), fix).fatal()
        }
    });
    rows.push(build_script(program, kernels));
    let has_macro = |text: &str| text.contains("embedded!");
    rows.push(
        match any_source(&program.folder().join("src"), &has_macro) {
            true => Row::found(what("embedded!"), "in src"),
            false => {
                let name = kernels[0].name.replace('-', "_");
                let fix = format!("add `warpfold::embedded!(static KERNELS: {name}::KERNELS);`");
                Row::missing(what("embedded!"), "in no file of src", fix).fatal()
            }
        },
    );
    rows.push(simulator(program));
    rows
}

/// Checks that the build script compiles a crate of kernels.
fn build_script(program: &Package, kernels: &[&Package]) -> Row {
    let what = format!("{}: build script", program.name);
    let folder = |krate: &Package| krate.folder().canonicalize().ok();
    let fix = format!(
        "in `main` of build.rs: `warpfold_build::embed(\"<relative path of {}>\");`",
        kernels[0].name
    );
    let Some(file) = program.root_file("custom-build") else {
        return Row::missing(what, "there is no build script", fix).fatal();
    };
    let text = fs::read_to_string(file).unwrap_or_default();
    let Some(argument) = CALLS.iter().find_map(|call| Some(text.split_once(call)?.1)) else {
        let found = format!("{} compiles no kernels", file.display());
        return Row::missing(what, found, fix).fatal();
    };
    let path = argument
        .trim_start()
        .strip_prefix('"')
        .and_then(|rest| rest.split('"').next());
    let Some(path) = path else {
        return Row::found(what, "compiles a folder whose path is computed");
    };
    let compiled = program.folder().join(path).canonicalize().ok();
    match kernels
        .iter()
        .any(|krate| compiled.is_some() && folder(krate) == compiled)
    {
        true => Row::found(what, format!("compiles {path}")),
        false => Row::missing(what, format!("{path} is not a crate of kernels"), fix).fatal(),
    }
}

/// Checks for the library's feature `simulator`, on a dependency or enabled by a feature of the program.
fn simulator(program: &Package) -> Row {
    const FEATURE: &str = "simulator";
    let what = format!("{}: Device::simulated", program.name);
    let enables = |d: &Dependency| d.name == LIBRARY && d.features.iter().any(|f| f == FEATURE);
    let enabling = program
        .features
        .iter()
        .find(|(_, needs)| needs.contains(&format!("{LIBRARY}/{FEATURE}")));
    if program.dependencies.iter().any(enables) {
        return Row::found(what, "a dependency has the feature");
    }
    match enabling {
        Some((name, _)) => Row::found(what, format!("the feature `{name}`")),
        None => Row::missing(
            what,
            "needed for tests on a simulated GPU, not for builds",
            format!("in [dev-dependencies]: `{LIBRARY}` with `features = [\"{FEATURE}\"]`"),
        ),
    }
}

/// Checks `CUDA_LIBRARY_PATH`: `cust` compiles only if it finds a CUDA installation or our imitation of one.
fn cuda_library_path(folder: &Path) -> Row {
    const WHAT: &str = "CUDA_LIBRARY_PATH";
    let ours = workspace::root().join("toolchain/libcuda/sdk");
    let fix = format!(
        "in the project's .cargo/config.toml:\n[env]\n{WHAT} = {:?}",
        ours.display().to_string()
    );
    let environment = std::env::var_os(WHAT).map(PathBuf::from);
    // This repository's configuration of cargo sets it for this process.
    let environment = environment.filter(|path| *path != ours);
    match configured(folder, WHAT).or(environment) {
        Some(path) if path.is_absolute() && path.join("lib64").is_dir() => {
            Row::found(WHAT, path.display().to_string())
        }
        Some(path) if path.is_absolute() => {
            let why = format!("{} has no folder lib64", path.display());
            Row::missing(WHAT, why, fix).fatal()
        }
        Some(path) => {
            let why = format!(
                "{} is a relative path, which depends on a build script's folder",
                path.display()
            );
            Row::missing(WHAT, why, format!("{fix}\nor add `relative = true`")).fatal()
        }
        None => match INSTALLED.iter().find(|lib| Path::new(lib).is_dir()) {
            Some(lib) => Row::found(WHAT, format!("not set; {lib} exists")),
            None => Row::missing(WHAT, "not set, and CUDA is not installed", fix).fatal(),
        },
    }
}

/// The value of an environment variable in cargo's configuration for `folder`.
fn configured(folder: &Path, variable: &str) -> Option<PathBuf> {
    let key = format!("env.{variable}");
    let mut command = process::cargo();
    command
        .current_dir(folder)
        // `config get` is unstable.
        .env("RUSTC_BOOTSTRAP", "1")
        .args(["-Zunstable-options", "config", "get", "--show-origin", &key]);
    value_of(&process::stdout_of(&mut command).ok()?, &key)
}

/// The value in the output of `cargo config get --show-origin`: `key.value = "sdk" # /a/.cargo/config.toml`.
fn value_of(output: &str, key: &str) -> Option<PathBuf> {
    let field = |name: &str| {
        output.lines().find_map(|line| {
            let (value, origin) = line.strip_prefix(name)?.rsplit_once(" # ")?;
            Some((value.trim_start().strip_prefix("= ")?, origin))
        })
    };
    let (value, origin) = field(key).or_else(|| field(&format!("{key}.value")))?;
    let value = Path::new(value.trim().trim_matches('"'));
    let relative = field(&format!("{key}.relative")).is_some_and(|(is, _)| is == "true");
    let origin = Path::new(origin.trim()).parent().and_then(Path::parent);
    Some(match origin {
        Some(folder) if relative => folder.join(value),
        _ => value.to_owned(),
    })
}

/// Whether `has` is true for the text of a Rust file below `folder`.
fn any_source(folder: &Path, has: &impl Fn(&str) -> bool) -> bool {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).any(|path| {
        if path.is_dir() {
            return any_source(&path, has);
        }
        let is_rust = path.extension().is_some_and(|extension| extension == "rs");
        is_rust && fs::read_to_string(&path).is_ok_and(|text| has(&text))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use tempfile::TempDir;

    const KERNELS: &str = "[package]\nname = \"my-kernels\"\nedition = \"2024\"\n\
        [dependencies]\nkernels-gpu = \"0.1\"\n";
    const APP: &str = "[package]\nname = \"app\"\nedition = \"2024\"\n\
        [dependencies]\nmy-kernels = { path = \"../kernels\" }\nwarpfold = \"0.1\"\n\
        [dev-dependencies]\nwarpfold = { version = \"0.1\", features = [\"simulator\"] }\n\
        [build-dependencies]\nwarpfold-build = \"0.1\"\n";
    const BUILD_SCRIPT: &str = "fn main() {\n    warpfold_build::embed(\"../kernels\");\n}\n";
    const MAIN: &str = "warpfold::embedded!(static KERNELS: my_kernels::KERNELS);\nfn main() {}\n";

    /// A complete project.
    fn project() -> TempDir {
        let project = tempfile::tempdir().unwrap();
        fs::create_dir_all(project.path().join("sdk/lib64")).unwrap();
        for (path, text) in [
            (
                "Cargo.toml",
                "[workspace]\nresolver = \"3\"\nmembers = [\"kernels\", \"app\"]\n",
            ),
            (
                ".cargo/config.toml",
                "[env]\nCUDA_LIBRARY_PATH = { value = \"sdk\", relative = true }\n",
            ),
            ("kernels/Cargo.toml", KERNELS),
            ("kernels/src/lib.rs", "//! Mine.\n#![no_std]\n"),
            ("app/Cargo.toml", APP),
            ("app/build.rs", BUILD_SCRIPT),
            ("app/src/main.rs", MAIN),
        ] {
            write(&project, path, text);
        }
        project
    }

    fn write(project: &TempDir, path: &str, text: &str) {
        let path = project.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// The rows of missing parts: what, what to do, and whether a build fails.
    fn missing(folder: &Path) -> Vec<(String, String, bool)> {
        let rows = examine(folder).into_iter();
        rows.filter(|row| !row.fix.is_empty())
            .map(|row| (row.what, row.fix, row.fatal))
            .collect()
    }

    #[test]
    fn a_complete_project_and_the_examples_miss_nothing() {
        assert_eq!(missing(project().path()), []);
        assert_eq!(missing(&workspace::root().join("examples")), []);
    }

    #[test]
    fn each_missing_part_is_listed_with_what_to_do() {
        // File, text in it, replacement; then the expected row: what, what to do, whether a build fails.
        let cases = [
            (
                "kernels/src/lib.rs",
                "#![no_std]",
                "",
                "my-kernels: no_std",
                "#![no_std]",
                true,
            ),
            (
                "app/Cargo.toml",
                "[\"simulator\"]",
                "[]",
                "app: Device::simulated",
                "[dev-dependencies]",
                false,
            ),
            (
                "kernels/Cargo.toml",
                "kernels-gpu",
                "other",
                "kernels",
                "`kernels-gpu`",
                false,
            ),
            (
                "app/Cargo.toml",
                "warpfold = ",
                "other = ",
                "program",
                "dependency `warpfold`",
                true,
            ),
            (
                "app/Cargo.toml",
                "warpfold-build = ",
                "other = ",
                "app: build-dependency",
                "[build-dependencies]",
                true,
            ),
            (
                "app/Cargo.toml",
                "my-kernels",
                "other",
                "app: kernels",
                "add the dependency `my-kernels`",
                true,
            ),
            (
                "app/build.rs",
                "../kernels",
                "../kernel",
                "app: build script",
                "warpfold_build::embed(",
                true,
            ),
            (
                "app/build.rs",
                "embed(",
                "other(",
                "app: build script",
                "embed(",
                true,
            ),
            (
                "app/src/main.rs",
                "embedded!",
                "other!",
                "app: embedded!",
                "embedded!(static KERNELS: my_kernels::KERNELS)",
                true,
            ),
            (
                ".cargo/config.toml",
                "\"sdk\"",
                "\"no-such-folder\"",
                "CUDA_LIBRARY_PATH",
                ".cargo/config.toml",
                true,
            ),
            (
                ".cargo/config.toml",
                ", relative = true",
                "",
                "CUDA_LIBRARY_PATH",
                "`relative = true`",
                true,
            ),
        ];
        for (file, old, new, what, fix, fatal) in cases {
            let project = project();
            let text = fs::read_to_string(project.path().join(file)).unwrap();
            assert!(text.contains(old), "{file}: {old}");
            write(&project, file, &text.replace(old, new));
            let missing = missing(project.path());
            let row = missing.iter().find(|row| row.0 == what);
            let row = row.unwrap_or_else(|| panic!("{file}: {old}: {missing:?}"));
            assert!(row.1.contains(fix) && row.2 == fatal, "{row:?}");
        }
    }

    #[test]
    fn a_folder_without_a_project_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(missing(folder.path())[0].0, "project");
    }

    #[test]
    fn values_of_cargos_configuration_are_read() {
        let key = "env.X";
        let read = |text: &str| value_of(text, key);
        let plain = "env.X = \"/a/b\" # /u/.cargo/config.toml\n";
        assert_eq!(read(plain), Some("/a/b".into()));
        let table = "env.X.force = true # /p/.cargo/config.toml\n\
                     env.X.relative = true # /p/.cargo/config.toml\n\
                     env.X.value = \"../b\" # /p/.cargo/config.toml\n";
        assert_eq!(read(table), Some("/p/../b".into()));
        assert_eq!(read(""), None);
    }
}
