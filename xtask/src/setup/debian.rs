//! A device compiler out of Debian's packages, unpacked into the cache. Nothing is installed:
//! apt works in state directories of its own and needs no root.

use super::apt::Apt;
use super::{DEVICE_COMPILER, Provided, Step, download};
use crate::process;
use crate::workspace::{self, Version};
use anyhow::{Context, Result, bail};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

/// Where the packages are unpacked, below the folder in the cache.
const ROOT: &str = "root";

/// The script that runs the unpacked rustc, found by cuda_builder.
fn wrapper() -> PathBuf {
    cuda_builder::toolchain::cache_dir()
        .join("debian")
        .join("rustc")
}

pub(super) fn provide() -> Result<Provided> {
    let start = Instant::now();
    let pinned = workspace::pinned_version()?;
    let cache = cuda_builder::toolchain::cache_dir();
    let present = || checked(&wrapper(), pinned).is_ok();
    let fetched = download::into_cache(&cache, "debian", present, |dir| fill(dir, pinned))?;
    let version = checked(&wrapper(), pinned)?;
    let used = format!("Debian's rustc {version}, {}", wrapper().display());
    let step = match fetched {
        None => Step::present(DEVICE_COMPILER, used),
        Some(bytes) => Step::fetched(DEVICE_COMPILER, used, Some(bytes), start),
    };
    Ok((wrapper(), step))
}

fn fill(dir: &Path, pinned: Version) -> Result<u64> {
    let state = dir.join("apt");
    let apt = Apt::updated(state.clone())?;
    let (compiler, sources) = apt.compiler(pinned)?;
    let packages = apt.closure(&[compiler, sources])?;
    let downloads = dir.join("packages");
    fs::create_dir(&downloads)?;
    process::say(&format!(
        "setup: downloading Debian's packages {}",
        packages.join(" ")
    ));
    let mut download = apt.command("apt-get");
    download.current_dir(&downloads).arg("download");
    process::output_of(download.args(&packages))?;

    let root = dir.join(ROOT);
    fs::create_dir(&root)?;
    for package in fs::read_dir(&downloads)? {
        let mut unpack = Command::new("dpkg-deb");
        unpack.arg("-x").arg(package?.path()).arg(&root);
        process::output_of(&mut unpack)?;
    }
    keep_only_the_library(&root.join("usr").join("src"))?;
    let script = dir.join("rustc");
    write_wrapper(&script, &root)?;
    checked(&script, pinned).context("the unpacked rustc does not run here")?;

    let bytes = download::bytes_in(&downloads);
    for done in [downloads, state] {
        fs::remove_dir_all(done)?;
    }
    Ok(bytes)
}

/// The version of the rustc behind `wrapper`, if it runs, is new enough and has core's source.
fn checked(wrapper: &Path, pinned: Version) -> Result<Version> {
    let text = process::stdout_of(Command::new(wrapper).arg("-vV"))?;
    let version = text
        .lines()
        .find_map(|line| Version::parse(line.strip_prefix("release: ")?))
        .with_context(|| format!("{} -vV names no release", wrapper.display()))?;
    if version < pinned {
        bail!("rustc {version} is older than the pinned {pinned}");
    }
    let sysroot = process::stdout_of(Command::new(wrapper).args(["--print", "sysroot"]))?;
    let core = Path::new(sysroot.trim()).join("lib/rustlib/src/rust/library/core/src/lib.rs");
    if !core.is_file() {
        bail!(
            "rustc {version} has no source of core at {}",
            core.display()
        );
    }
    Ok(version)
}

/// The sources' package holds the whole compiler; builds read the library only.
fn keep_only_the_library(src: &Path) -> Result<()> {
    for tree in fs::read_dir(src)? {
        for entry in fs::read_dir(tree?.path())? {
            let entry = entry?;
            if !entry.file_type()?.is_dir() {
                fs::remove_file(entry.path())?;
            } else if entry.file_name() != "library" {
                fs::remove_dir_all(entry.path())?;
            }
        }
    }
    Ok(())
}

/// Writes the script that runs the rustc below `root` with its own libraries.
fn write_wrapper(script: &Path, root: &Path) -> Result<()> {
    let usr = root.join("usr");
    let rustc = rustc_below(&usr).context("Debian's packages hold no rustc")?;
    let below = script.parent().context("a script lies in a folder")?;
    let shown = |path: &Path| -> Result<String> {
        Ok(format!("$here/{}", path.strip_prefix(below)?.display()))
    };
    let mut folders = BTreeSet::new();
    collect_library_folders(&usr.join("lib"), &mut folders)?;
    let folders: Vec<_> = folders.iter().map(|f| shown(f)).collect::<Result<_>>()?;
    let text = format!(
        "#!/bin/sh\n\
         here=$(cd \"$(dirname \"$0\")\" && pwd) || exit 1\n\
         export LD_LIBRARY_PATH=\"{}${{LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}}\"\n\
         exec \"{}\" \"$@\"\n",
        folders.join(":"),
        shown(&rustc)?,
    );
    fs::write(script, text)?;
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(script, fs::Permissions::from_mode(0o755))?;
    Ok(())
}

/// `usr/bin/rustc`, or `usr/lib/rust-<version>/bin/rustc` where several can be installed.
fn rustc_below(usr: &Path) -> Option<PathBuf> {
    let mut places = vec![usr.join("bin")];
    for entry in fs::read_dir(usr.join("lib"))
        .into_iter()
        .flatten()
        .flatten()
    {
        places.push(entry.path().join("bin"));
    }
    let rustcs = places.into_iter().map(|place| place.join("rustc"));
    rustcs.filter(|rustc| rustc.is_file()).min()
}

/// The folders that hold shared libraries for the compiler itself (rustlib's are for what it
/// compiles).
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
    fn the_wrapper_finds_its_libraries_wherever_it_is_moved() {
        let cache = tempfile::tempdir().unwrap();
        let usr = cache.path().join("before").join(ROOT).join("usr");
        let bin = usr.join("lib").join("rust-1.96").join("bin");
        let libraries = usr.join("lib").join("x86_64-linux-gnu");
        let not_the_compilers = usr.join("lib").join("rustlib").join("lib");
        for folder in [&bin, &libraries, &not_the_compilers] {
            fs::create_dir_all(folder).unwrap();
        }
        fs::write(libraries.join("libLLVM.so.22.1"), "").unwrap();
        fs::write(not_the_compilers.join("libstd.so"), "").unwrap();
        let rustc = bin.join("rustc");
        fs::write(&rustc, "#!/bin/sh\necho $LD_LIBRARY_PATH $1\n").unwrap();
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(&rustc, fs::Permissions::from_mode(0o755)).unwrap();
        let before = cache.path().join("before");
        write_wrapper(&before.join("rustc"), &before.join(ROOT)).unwrap();

        let after = cache.path().join("after");
        fs::rename(before, &after).unwrap();
        let mut command = Command::new(after.join("rustc"));
        command.arg("-vV").env_remove("LD_LIBRARY_PATH");
        let text = process::stdout_of(&mut command).unwrap();
        let folder = after.join("root/usr/lib/x86_64-linux-gnu");
        assert_eq!(text, format!("{} -vV\n", folder.display()));
    }
}
