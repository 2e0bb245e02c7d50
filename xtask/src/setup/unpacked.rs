//! Debian's packages unpacked below a folder of the cache, and scripts that run programs there.
//! Nothing is installed.

use super::apt::Apt;
use super::download;
use crate::process;
use anyhow::{Context, Result};
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Where the packages are unpacked, below the folder.
const ROOT: &str = "root";

/// Packages unpacked below a folder.
pub(super) struct Unpacked {
    folder: PathBuf,
    /// The bytes of the packages, which are gone.
    pub(super) downloaded: u64,
}

impl Unpacked {
    /// Downloads `packages` and what libraries they need, unpacks them below `folder` and throws
    /// the packages and apt's state away.
    pub(super) fn fill(folder: &Path, apt: Apt, packages: &[&str]) -> Result<Self> {
        let packages = apt.closure(packages)?;
        let downloads = folder.join("packages");
        fs::create_dir(&downloads)?;
        apt.download(&packages, &downloads)?;
        let root = folder.join(ROOT);
        fs::create_dir(&root)?;
        for package in fs::read_dir(&downloads)? {
            let mut unpack = Command::new("dpkg-deb");
            unpack.arg("-x").arg(package?.path()).arg(&root);
            process::output_of(&mut unpack)?;
        }
        let downloaded = download::bytes_in(&downloads);
        fs::remove_dir_all(downloads)?;
        apt.forget()?;
        Ok(Self {
            folder: folder.to_path_buf(),
            downloaded,
        })
    }

    /// The packages' `/usr`.
    pub(super) fn usr(&self) -> PathBuf {
        self.folder.join(ROOT).join("usr")
    }

    /// Writes a script that runs the unpacked `program` with the unpacked libraries, and with
    /// `variables` set to paths. All of it may be moved together.
    pub(super) fn write_script(
        &self,
        script: &Path,
        program: &Path,
        variables: &[(&str, &Path)],
    ) -> Result<()> {
        let below = script.parent().context("a script lies in a folder")?;
        let shown = |path: &Path| -> Result<String> {
            Ok(format!("$here/{}", path.strip_prefix(below)?.display()))
        };
        let mut folders = BTreeSet::new();
        collect_library_folders(&self.usr().join("lib"), &mut folders)?;
        let folders: Vec<_> = folders.iter().map(|f| shown(f)).collect::<Result<_>>()?;
        let mut text = format!(
            "#!/bin/sh\n\
             here=$(cd \"$(dirname \"$0\")\" && pwd) || exit 1\n\
             export LD_LIBRARY_PATH=\"{}${{LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}}\"\n",
            folders.join(":"),
        );
        for (name, path) in variables {
            text += &format!("export {name}=\"{}\"\n", shown(path)?);
        }
        text += &format!("exec \"{}\" \"$@\"\n", shown(program)?);
        fs::write(script, text)?;
        fs::set_permissions(script, fs::Permissions::from_mode(0o755))?;
        Ok(())
    }
}

/// The folders that hold shared libraries for the programs themselves (rustlib's are for what a
/// compiler compiles).
fn collect_library_folders(folder: &Path, found: &mut BTreeSet<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if entry.file_type()?.is_dir() {
            if name != "rustlib" {
                collect_library_folders(&entry.path(), found)?;
            }
        } else if name.starts_with("lib") && name.contains(".so") {
            found.insert(folder.to_path_buf());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_script_finds_its_libraries_wherever_it_is_moved() {
        let cache = tempfile::tempdir().unwrap();
        let before = cache.path().join("before");
        let unpacked = Unpacked {
            folder: before.clone(),
            downloaded: 0,
        };
        let usr = unpacked.usr();
        let bin = usr.join("lib").join("rust-1.96").join("bin");
        let libraries = usr.join("lib").join("x86_64-linux-gnu");
        let not_the_compilers = usr.join("lib").join("rustlib").join("lib");
        for folder in [&bin, &libraries, &not_the_compilers] {
            fs::create_dir_all(folder).unwrap();
        }
        fs::write(libraries.join("libLLVM.so.22.1"), "").unwrap();
        fs::write(not_the_compilers.join("libstd.so"), "").unwrap();
        let rustc = bin.join("rustc");
        fs::write(&rustc, "#!/bin/sh\necho $LD_LIBRARY_PATH $FONTS $1\n").unwrap();
        fs::set_permissions(&rustc, fs::Permissions::from_mode(0o755)).unwrap();
        let fonts = before.join("fonts.conf");
        let variables: [(&str, &Path); 1] = [("FONTS", &fonts)];
        unpacked
            .write_script(&before.join("rustc"), &rustc, &variables)
            .unwrap();

        let after = cache.path().join("after");
        fs::rename(before, &after).unwrap();
        let mut command = Command::new(after.join("rustc"));
        command.arg("-vV").env_remove("LD_LIBRARY_PATH");
        let text = process::stdout_of(&mut command).unwrap();
        let folder = after.join("root/usr/lib/x86_64-linux-gnu");
        let fonts = after.join("fonts.conf");
        assert_eq!(
            text,
            format!("{} {} -vV\n", folder.display(), fonts.display())
        );
    }
}
