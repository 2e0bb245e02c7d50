//! Unpacks Debian's packages into a folder of the cache, and writes scripts that run their programs.

use super::apt::Apt;
use super::download;
use crate::process;
use anyhow::{Context, Result};
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The subfolder with the packages' files.
const ROOT: &str = "root";

/// Unpacked packages in a folder.
pub(super) struct Unpacked {
    folder: PathBuf,
    /// The bytes of the downloaded packages.
    pub(super) downloaded: u64,
}

impl Unpacked {
    /// Downloads `packages` and the libraries that they need, unpacks them into `folder`, and deletes the
    /// packages and apt's state.
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
        apt.delete()?;
        Ok(Self {
            folder: folder.to_path_buf(),
            downloaded,
        })
    }

    /// The packages' `/usr`.
    pub(super) fn usr(&self) -> PathBuf {
        self.folder.join(ROOT).join("usr")
    }

    /// Writes a script that runs the unpacked `program` with the unpacked libraries and with `variables`,
    /// which are paths. The folder can be moved.
    pub(super) fn write_script(
        &self,
        script: &Path,
        program: &Path,
        variables: &[(&str, &Path)],
    ) -> Result<()> {
        let below = script.parent().context("the script has no folder")?;
        let relative = |path: &Path| -> Result<String> {
            Ok(format!("$here/{}", path.strip_prefix(below)?.display()))
        };
        let mut folders = BTreeSet::new();
        // Debian 12 still has some libraries outside `/usr`.
        for lib in [self.usr(), self.folder.join(ROOT)].map(|folder| folder.join("lib")) {
            if lib.is_dir() {
                collect_library_folders(&lib, &mut folders)?;
            }
        }
        let folders: Vec<_> = folders.iter().map(|f| relative(f)).collect::<Result<_>>()?;
        let mut text = format!(
            "#!/bin/sh\n\
             here=$(cd \"$(dirname \"$0\")\" && pwd) || exit 1\n\
             export LD_LIBRARY_PATH=\"{}${{LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}}\"\n",
            folders.join(":"),
        );
        for (name, path) in variables {
            text += &format!("export {name}=\"{}\"\n", relative(path)?);
        }
        text += &format!("exec \"{}\" \"$@\"\n", relative(program)?);
        fs::write(script, text)?;
        fs::set_permissions(script, fs::Permissions::from_mode(0o755))?;
        Ok(())
    }
}

/// Collects folders with shared libraries of the programs. Those in rustlib are for compiled programs.
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
    fn the_script_finds_its_libraries_after_a_move() {
        let cache = tempfile::tempdir().unwrap();
        let before = cache.path().join("before");
        let unpacked = Unpacked {
            folder: before.clone(),
            downloaded: 0,
        };
        let usr = unpacked.usr();
        let bin = usr.join("lib").join("rust-1.96").join("bin");
        let libraries = usr.join("lib").join("x86_64-linux-gnu");
        let rustlib = usr.join("lib").join("rustlib").join("lib");
        let outside = before.join(ROOT).join("lib");
        for folder in [&bin, &libraries, &rustlib, &outside] {
            fs::create_dir_all(folder).unwrap();
        }
        fs::write(libraries.join("libLLVM.so.22.1"), "").unwrap();
        fs::write(rustlib.join("libstd.so"), "").unwrap();
        fs::write(outside.join("libnl-3.so.200"), "").unwrap();
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
        let folders = [
            after.join("root/lib"),
            after.join("root/usr/lib/x86_64-linux-gnu"),
        ];
        let folders = folders.map(|folder| folder.display().to_string()).join(":");
        let fonts = after.join("fonts.conf");
        assert_eq!(text, format!("{folders} {} -vV\n", fonts.display()));
    }
}
