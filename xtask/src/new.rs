//! `cargo xtask new`: a project with kernels of its own, outside of this repository.

use crate::{process, workspace};
use anyhow::{Context, Result, bail};
use std::fs;
use std::path::{Component, Path, PathBuf, absolute};
use std::process::ExitCode;

/// Write a small project outside of this repository, with an operator, an element and a kernel of its own
#[derive(clap::Args)]
pub struct Args {
    /// The folder to make, with its parents; its name becomes the project's
    folder: PathBuf,
    /// The project's name, if it is not to be the folder's
    #[arg(long)]
    name: Option<String>,
}

/// The files as they stand in `xtask/template`, each with its place in the project.
const FILES: [(&str, &str); 15] = {
    macro_rules! files {
        ($($place:literal $(from $file:literal)?),*) => {
            [$(($place, files!(@ $place $(from $file)?))),*]
        };
        (@ $place:literal) => { include_str!(concat!("../template/", $place)) };
        (@ $place:literal from $file:literal) => { include_str!($file) };
    }
    files![
        "Cargo.toml",
        // The versions that this repository is tested with; cargo leaves out what is not used.
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

/// What the files call the project, as a package and as a crate, and the folder of this repository.
const NAME: &str = "my-project";
const CRATE: &str = "my_project";
const ROOT: &str = "/path/to/warpfold";

/// Names of crates that a project's own would be taken for.
const TAKEN: [&str; 9] = [
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
    /// Writes the project and says what to do next.
    pub fn run(self) -> Result<ExitCode> {
        write(&self.folder, self.name.as_deref(), &workspace::root())?;
        let folder = self.folder.display();
        process::say(&format!(
            "new: {folder} is ready\n  cd '{folder}'\n  cargo run\n  cargo test"
        ));
        Ok(ExitCode::SUCCESS)
    }
}

/// Writes all files of a project into a folder that it makes, or none. The project has this name, or the folder's, and
/// uses the repository at `root`.
pub fn write(folder: &Path, name: Option<&str>, root: &Path) -> Result<()> {
    let folder = absolute(folder).context("the folder has no path")?;
    let own_name = folder.file_name().map(|name| name.to_string_lossy());
    let (Some(own_name), Some(parent)) = (own_name, folder.parent()) else {
        bail!("{} is not a folder that can be made", folder.display());
    };
    let name = name.unwrap_or(&own_name);
    check_name(name)?;
    if folder.symlink_metadata().is_ok() {
        bail!("{} exists already: choose another", folder.display());
    }
    if folder.starts_with(root) {
        bail!(
            "{} is in this repository, whose workspace would take it for a part: choose a folder outside",
            folder.display()
        );
    }
    let Some(root) = root.to_str().filter(|root| !root.contains(['"', '\\'])) else {
        bail!(
            "the path of this repository, {}, cannot stand in a Cargo.toml",
            root.display()
        );
    };
    // In a folder beside the nearest parent that is there. It disappears again if something fails.
    let mut parents = folder.ancestors().skip(1);
    let there = parents.find(|parent| parent.symlink_metadata().is_ok());
    let there = there.unwrap_or(parent);
    if !there.is_dir() {
        bail!("{} is not a folder", there.display());
    }
    let below = folder.strip_prefix(there).expect("it is below its parents");
    if below.components().any(|part| part == Component::ParentDir) {
        bail!(
            "{} has `..` behind a folder that does not exist",
            folder.display()
        );
    }
    let cannot = || format!("cannot write in {}", there.display());
    let begun = tempfile::Builder::new()
        .prefix(".new-")
        .tempdir_in(there)
        .with_context(cannot)?;
    // The first of the folders to make; the others and the project lie in it.
    let first = below.iter().next().expect("it is not its own parent");
    let made = begun.path().join(below);
    for (place, text) in FILES {
        let path = made.join(place);
        let text = text
            .replace(NAME, name)
            .replace(CRATE, &name.replace('-', "_"))
            .replace(ROOT, root);
        let folder = path.parent().expect("it is in a folder");
        fs::create_dir_all(folder).with_context(cannot)?;
        fs::write(&path, text).with_context(cannot)?;
    }
    fs::rename(begun.path().join(first), there.join(first)).with_context(cannot)
}

/// Whether cargo and rustc take the name, for a package and for a crate.
fn check_name(name: &str) -> Result<()> {
    let starts = name.starts_with(|c: char| c.is_ascii_alphabetic());
    let has_only = name
        .chars()
        .all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
    if !starts || !has_only {
        bail!(
            "`{name}` is not the name of a crate: one has ASCII letters, digits, `-` and `_`, and begins with a letter; \
             give one by --name"
        );
    }
    if is_keyword(name) || TAKEN.contains(&name.replace('-', "_").as_str()) {
        bail!("`{name}` is a name that Rust or warpfold uses itself; give another by --name");
    }
    Ok(())
}

/// Whether it is a word of the language, which is no name of a crate.
fn is_keyword(name: &str) -> bool {
    const KEYWORDS: &str = "abstract as async await become box break const continue crate do dyn else enum extern \
        false final fn for gen if impl in let loop macro match mod move mut override priv pub ref return self Self \
        static struct super trait true try type typeof unsafe unsized use virtual where while yield";
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
    fn names_and_paths_are_put_in() {
        let parent = tempfile::tempdir().unwrap();
        let folder = parent.path().join("two-words");
        write(&folder, None, &workspace::root()).unwrap();
        for (place, _) in FILES {
            let text = fs::read_to_string(folder.join(place)).unwrap();
            for left in [NAME, CRATE, ROOT] {
                assert!(!text.contains(left), "{place} has {left}");
            }
        }
        let laws = fs::read_to_string(folder.join("kernels/tests/laws.rs")).unwrap();
        assert!(laws.contains("two_words_kernels"), "{laws}");
        let left: Vec<_> = fs::read_dir(&parent).unwrap().collect();
        assert_eq!(left.len(), 1, "{left:?}");
    }

    #[test]
    fn parents_that_are_missing_are_made() {
        let parent = tempfile::tempdir().unwrap();
        let folder = parent.path().join("a/b/fine");
        write(&folder, None, &workspace::root()).unwrap();
        assert!(folder.join("kernels/src/lib.rs").is_file());
        for folder in ["", "a", "a/b"] {
            let left: Vec<_> = fs::read_dir(parent.path().join(folder)).unwrap().collect();
            assert_eq!(left.len(), 1, "{left:?}");
        }
    }

    #[test]
    fn what_cannot_be_a_project_is_refused_and_nothing_is_left() {
        let parent = tempfile::tempdir().unwrap();
        let at = |name: &str| parent.path().join(name);
        refused(
            &at("my project"),
            None,
            "`my project` is not the name of a crate",
        );
        refused(&at("1st"), None, "begins with a letter");
        refused(&at("größe"), None, "ASCII letters");
        refused(&at("fine"), Some("fn"), "a name that Rust or warpfold uses");
        refused(&at("cuda-std"), None, "a name that Rust or warpfold uses");
        refused(&workspace::root().join("fine"), None, "outside");
        refused(Path::new("/"), None, "not a folder that can be made");
        assert_eq!(fs::read_dir(&parent).unwrap().count(), 0);

        fs::write(at("taken"), "").unwrap();
        refused(&at("taken"), None, "exists already");
        refused(&at("taken/fine"), None, "taken is not a folder");
        refused(&at("taken/more/fine"), None, "taken is not a folder");
        refused(&at("missing/../fine"), None, "`..`");
        refused(&at("missing/1st"), None, "begins with a letter");
        assert_eq!(fs::read_dir(&parent).unwrap().count(), 1);
    }

    /// Of a folder that nobody may write in, as far as this user is bound by that.
    #[test]
    fn a_folder_that_cannot_be_written_is_refused() {
        // Nobody writes there, not even root.
        refused(Path::new("/proc/fine"), None, "cannot write in /proc");
        refused(Path::new("/proc/more/fine"), None, "cannot write in /proc");
    }
}
