//! `cargo xtask new`: writes a project with its own kernels outside this repository.

use crate::{process, workspace};
use anyhow::{Context, Result, bail};
use std::fs;
use std::path::{Component, Path, PathBuf, absolute};
use std::process::ExitCode;

/// Write a small project outside this repository, with its own operator, element and kernel
#[derive(clap::Args)]
pub struct Args {
    /// The folder to create, also its parents; its name is the default name of the project
    folder: PathBuf,
    /// The project's name [default: the folder's name]
    #[arg(long)]
    name: Option<String>,
}

/// The project's files: paths, and texts from `xtask/template`.
const FILES: [(&str, &str); 15] = {
    macro_rules! files {
        ($($path:literal $(from $file:literal)?),*) => {
            [$(($path, files!(@ $path $(from $file)?))),*]
        };
        (@ $path:literal) => { include_str!(concat!("../template/", $path)) };
        (@ $path:literal from $file:literal) => { include_str!($file) };
    }
    files![
        "Cargo.toml",
        // The tested versions of dependencies; cargo removes those that the project does not use.
        "Cargo.lock" from "../../examples/Cargo.lock",
        "rust-toolchain.toml",
        ".cargo/config.toml",
        ".gitignore" from "../template/gitignore",
        "README.md",
        "kernels/Cargo.toml",
        "kernels/src/lib.rs",
        "kernels/tests/laws.rs",
        "kernels/tests/simulator.rs",
        "app/Cargo.toml",
        "app/build.rs",
        "app/src/lib.rs",
        "app/src/main.rs",
        "app/tests/devices.rs"
    ]
};

/// Placeholders in the files: the package's name, the crate's name, and this repository's path.
const NAME: &str = "my-project";
const CRATE: &str = "my_project";
const ROOT: &str = "/path/to/warpfold";

/// Crate names that would conflict with the project's dependencies.
const RESERVED: [&str; 9] = [
    "alloc",
    "core",
    "cuda_sim",
    "cuda_std",
    "cust",
    "kernels_gpu",
    "std",
    "test",
    "warpfold",
];

impl Args {
    /// Writes the project and prints the next commands.
    pub fn run(self) -> Result<ExitCode> {
        write(&self.folder, self.name.as_deref(), &workspace::root())?;
        let folder = self.folder.display();
        process::report(&format!(
            "new: {folder} is ready\n  cd '{folder}'\n  cargo run\n  cargo test"
        ));
        Ok(ExitCode::SUCCESS)
    }
}

/// Creates `folder` with all files of a project; creates nothing on an error. The default of `name` is the
/// folder's name. The project depends on the repository at `root`.
pub fn write(folder: &Path, name: Option<&str>, root: &Path) -> Result<()> {
    let folder = absolute(folder).context("cannot make the folder's path absolute")?;
    let folder_name = folder.file_name().map(|name| name.to_string_lossy());
    let (Some(folder_name), Some(parent)) = (folder_name, folder.parent()) else {
        bail!("{} is not a path of a new folder", folder.display());
    };
    let name = name.unwrap_or(&folder_name);
    check_name(name)?;
    if folder.symlink_metadata().is_ok() {
        bail!("{} already exists; choose another folder", folder.display());
    }
    let Some(root) = root.to_str().filter(|root| !root.contains(['"', '\\'])) else {
        bail!(
            "a Cargo.toml cannot contain the path of this repository, {}: \
             it must be UTF-8 without `\"` and `\\`; move the repository",
            root.display()
        );
    };
    // Writes to a temporary folder in the nearest existing parent. The folder is deleted if something fails.
    let mut parents = folder.ancestors().skip(1);
    let existing = parents.find(|parent| parent.symlink_metadata().is_ok());
    let existing = existing.unwrap_or(parent);
    if !existing.is_dir() {
        bail!("{} is not a folder", existing.display());
    }
    let new_path = folder
        .strip_prefix(existing)
        .expect("the folder is below its parents");
    if new_path
        .components()
        .any(|part| part == Component::ParentDir)
    {
        bail!(
            "{} has `..` after a folder that does not exist",
            folder.display()
        );
    }
    // Without `..` and links.
    let real = |path: &Path| {
        let real = path.canonicalize();
        real.with_context(|| format!("cannot find {}", path.display()))
    };
    if real(existing)?.starts_with(real(Path::new(root))?) {
        bail!(
            "{} is in this repository, and cargo would treat it as a part of its workspace; \
             choose a folder outside",
            folder.display()
        );
    }
    let cannot = || format!("cannot write in {}", existing.display());
    let temporary = tempfile::Builder::new()
        .prefix(".new-")
        .tempdir_in(existing)
        .with_context(cannot)?;
    // The first folder to create; it contains the other new ones.
    let first = new_path.iter().next().expect("the folder does not exist");
    let project = temporary.path().join(new_path);
    for (file, text) in FILES {
        let path = project.join(file);
        let text = text
            .replace(NAME, name)
            .replace(CRATE, &name.replace('-', "_"))
            .replace(ROOT, root);
        let folder = path.parent().expect("every file is in a folder");
        fs::create_dir_all(folder).with_context(cannot)?;
        fs::write(&path, text).with_context(cannot)?;
    }
    fs::rename(temporary.path().join(first), existing.join(first)).with_context(cannot)
}

/// Checks that the name is valid for a package and for a crate.
fn check_name(name: &str) -> Result<()> {
    let starts = name.starts_with(|c: char| c.is_ascii_alphabetic());
    let has_only = name
        .chars()
        .all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
    if !starts || !has_only {
        bail!(
            "`{name}` is not a valid crate name, which has ASCII letters, digits, `-` and `_`, \
             and begins with a letter; choose one by --name"
        );
    }
    if is_keyword(name) || RESERVED.contains(&name.replace('-', "_").as_str()) {
        bail!("`{name}` is reserved: Rust or warpfold uses it; choose another name by --name");
    }
    Ok(())
}

fn is_keyword(name: &str) -> bool {
    const KEYWORDS: &str = "abstract as async await become box break const continue crate do dyn else enum \
        extern false final fn for gen if impl in let loop macro match mod move mut override priv pub ref \
        return self Self static struct super trait true try type typeof unsafe unsized use virtual where \
        while yield";
    KEYWORDS.split_whitespace().any(|keyword| keyword == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(folder: &Path, name: Option<&str>, why: &str) {
        let error = format!("{:#}", write(folder, name, &workspace::root()).unwrap_err());
        assert!(error.contains(why), "{error}");
    }

    #[test]
    fn all_files_of_the_template_are_written() {
        let template = workspace::root().join("xtask/template");
        let mut folders = vec![template.clone()];
        let mut count = 1; // Cargo.lock
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                match path.is_dir() {
                    true => folders.push(path),
                    false => count += 1,
                }
            }
        }
        assert_eq!(count, FILES.len());
    }

    #[test]
    fn placeholders_are_replaced() {
        let parent = tempfile::tempdir().unwrap();
        let folder = parent.path().join("two-words");
        write(&folder, None, &workspace::root()).unwrap();
        for (file, _) in FILES {
            let text = fs::read_to_string(folder.join(file)).unwrap();
            for placeholder in [NAME, CRATE, ROOT] {
                assert!(!text.contains(placeholder), "{file} has {placeholder}");
            }
        }
        let laws = fs::read_to_string(folder.join("kernels/tests/laws.rs")).unwrap();
        assert!(laws.contains("two_words_kernels"), "{laws}");
        let folders: Vec<_> = fs::read_dir(&parent).unwrap().collect();
        assert_eq!(folders.len(), 1, "{folders:?}");
    }

    #[test]
    fn missing_parents_are_created() {
        let parent = tempfile::tempdir().unwrap();
        let folder = parent.path().join("a/b/fine");
        write(&folder, None, &workspace::root()).unwrap();
        assert!(folder.join("kernels/src/lib.rs").is_file());
        for folder in ["", "a", "a/b"] {
            let folders: Vec<_> = fs::read_dir(parent.path().join(folder)).unwrap().collect();
            assert_eq!(folders.len(), 1, "{folders:?}");
        }
    }

    #[test]
    fn a_folder_beside_the_repository_is_outside() {
        let (parent, root) = (tempfile::tempdir().unwrap(), workspace::root());
        // From the repository up to the top, and down again.
        let up: std::path::PathBuf = root.ancestors().skip(1).map(|_| "..").collect();
        let down = parent.path().canonicalize().unwrap();
        let folder = root.join(up).join(down.strip_prefix("/").unwrap());
        write(&folder.join("beside"), None, &root).unwrap();
        assert!(parent.path().join("beside/Cargo.toml").is_file());
        refused(&folder.join("beside/.."), None, "not a path");
    }

    #[test]
    fn an_invalid_project_is_refused_and_nothing_is_created() {
        let parent = tempfile::tempdir().unwrap();
        let at = |name: &str| parent.path().join(name);
        refused(
            &at("my project"),
            None,
            "`my project` is not a valid crate name",
        );
        refused(&at("1st"), None, "begins with a letter");
        refused(&at("größe"), None, "ASCII letters");
        refused(&at("fine"), Some("fn"), "Rust or warpfold uses it");
        refused(&at("cuda-std"), None, "Rust or warpfold uses it");
        refused(&workspace::root().join("fine"), None, "outside");
        refused(Path::new("/"), None, "not a path of a new folder");
        assert_eq!(fs::read_dir(&parent).unwrap().count(), 0);

        fs::write(at("taken"), "").unwrap();
        refused(&at("taken"), None, "already exists");
        refused(&at("taken/fine"), None, "taken is not a folder");
        refused(&at("taken/more/fine"), None, "taken is not a folder");
        refused(&at("missing/../fine"), None, "`..`");
        refused(&at("missing/1st"), None, "begins with a letter");
        assert_eq!(fs::read_dir(&parent).unwrap().count(), 1);
    }

    #[test]
    fn a_folder_that_cannot_be_written_is_refused() {
        // Not even root can write there.
        refused(Path::new("/proc/fine"), None, "cannot write in /proc");
        refused(Path::new("/proc/more/fine"), None, "cannot write in /proc");
    }
}
