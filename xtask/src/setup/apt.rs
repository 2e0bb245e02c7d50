//! Downloads Debian's packages by apt. apt has separate state directories, so it needs no root and does not
//! change the system.

use crate::process;
use crate::workspace::Version;
use anyhow::{Context, Result, bail};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The packages of rustc and of its sources, best first. `-web` is the newer rustc with which stable releases
/// build browsers.
pub(super) const COMPILERS: [(&str, &str); 2] =
    [("rustc-web", "rust-web-src"), ("rustc", "rust-src")];

/// apt with separate state directories.
pub(super) struct Apt {
    state: PathBuf,
}

impl Apt {
    /// Downloads the package lists of the system's sources into `state`, a new directory. The lists must
    /// contain one of `names`.
    pub(super) fn updated(state: PathBuf, names: &[&str]) -> Result<Self> {
        for folder in ["lists/partial", "cache/archives/partial"] {
            fs::create_dir_all(state.join(folder))?;
        }
        let apt = Self { state };
        process::report("setup: reading Debian's package lists");
        // The update may fail because of another source's list, so only the packages matter.
        let update = process::output_of(apt.command("apt-get").arg("update"));
        if apt.show(names)?.is_empty() {
            update?;
            bail!("apt-get finds no package {}", names.join(" or "));
        }
        Ok(apt)
    }

    /// Downloads `packages` into `folder`. apt checks them by the hashes in the lists, and the lists by
    /// Debian's signature.
    pub(super) fn download(&self, packages: &[String], folder: &Path) -> Result<()> {
        process::report(&format!(
            "setup: downloading Debian's packages {}",
            packages.join(" ")
        ));
        let mut download = self.command("apt-get");
        download.current_dir(folder).arg("download").args(packages);
        process::output_of(&mut download).map(drop)
    }

    /// A program of apt that uses only our state directories.
    fn command(&self, program: &str) -> Command {
        let option =
            |name: &str, folder: &str| format!("-o{name}={}", self.state.join(folder).display());
        let mut command = Command::new(program);
        command
            .arg("-q")
            .arg(option("Dir::State::Lists", "lists"))
            .arg(option("Dir::Cache", "cache"))
            // As root, apt would switch to a user without write access to the folder.
            .arg("-oAPT::Sandbox::User=root")
            .args(["-oAcquire::Retries=2", "-oAcquire::http::Timeout=30"]);
        command
    }

    /// Deletes the lists.
    pub(super) fn delete(self) -> Result<()> {
        Ok(fs::remove_dir_all(self.state)?)
    }

    /// The packages of these names in the versions that apt would install; unknown ones are left out.
    fn show(&self, names: &[&str]) -> Result<Vec<Package>> {
        let mut show = self.command("apt-cache");
        show.args(["show", "--no-all-versions"]).args(names);
        // apt-cache fails if one name is unknown, but prints the others.
        let output = show.output().context("cannot start apt-cache")?;
        Ok(packages_in(&String::from_utf8_lossy(&output.stdout)))
    }

    /// The first of `names` that apt knows.
    pub(super) fn first_of<'a>(&self, names: &[&'a str]) -> Result<Option<&'a str>> {
        let known = self.show(names)?;
        let is_known = |name: &&str| known.iter().any(|package| package.name == *name);
        Ok(names.iter().copied().find(is_known))
    }

    /// The first of [`COMPILERS`] that is not older than `pinned`, and its sources.
    pub(super) fn compiler(&self, pinned: Version) -> Result<(&'static str, &'static str)> {
        let known = self.show(&COMPILERS.map(|(compiler, _)| compiler))?;
        COMPILERS
            .into_iter()
            .find(|(compiler, _)| {
                let package = known.iter().find(|package| package.name == *compiler);
                package.is_some_and(|p| Version::parse(&p.version) >= Some(pinned))
            })
            .with_context(|| {
                let seen: Vec<_> = known
                    .iter()
                    .map(|p| format!("{} {}", p.name, p.version))
                    .collect();
                format!(
                    "Debian's rustc must be at least {pinned}; available: {}",
                    seen.join(", ")
                )
            })
    }

    /// `roots` and the dependencies to download: a compiler's own libraries always, others if the system
    /// lacks them. Programs and the C library are not downloaded.
    pub(super) fn closure(&self, roots: &[&str]) -> Result<Vec<String>> {
        let mut query = Command::new("dpkg-query");
        query.args(["-W", "-f=${Package} ${db:Status-Status}\n"]);
        let text = process::stdout_of(&mut query)?;
        let installed = text.lines().filter_map(|l| l.strip_suffix(" installed"));
        let installed: BTreeSet<_> = installed.collect();
        closure(
            roots,
            |name| installed.contains(name),
            |names| self.show(names),
        )
    }
}

/// The fields of a package's stanza that setup needs.
#[derive(Debug, Default, PartialEq)]
struct Package {
    name: String,
    version: String,
    /// Each dependency's alternatives, without versions.
    depends: Vec<Vec<String>>,
}

fn packages_in(stanzas: &str) -> Vec<Package> {
    let mut packages = Vec::new();
    for stanza in stanzas.split("\n\n") {
        let fields: BTreeMap<_, _> = stanza
            .lines()
            .filter_map(|line| line.split_once(": "))
            .collect();
        let Some(name) = fields.get("Package") else {
            continue;
        };
        let depends = ["Pre-Depends", "Depends"]
            .iter()
            .filter_map(|field| fields.get(field))
            .flat_map(|list| list.split(", "))
            .map(|alternatives| alternatives.split('|').map(bare_name).collect())
            .collect();
        packages.push(Package {
            name: (*name).into(),
            version: fields.get("Version").copied().unwrap_or("").into(),
            depends,
        });
    }
    packages
}

/// The name in a dependency: `libstd-rust-dev` in `libstd-rust-dev:any (= 1.63.0)`.
fn bare_name(dependency: &str) -> String {
    let name = dependency.split_whitespace().next().unwrap_or("");
    name.split(':').next().unwrap_or("").into()
}

fn closure(
    roots: &[&str],
    installed: impl Fn(&str) -> bool,
    show: impl Fn(&[&str]) -> Result<Vec<Package>>,
) -> Result<Vec<String>> {
    let mut chosen: Vec<String> = roots.iter().map(|name| name.to_string()).collect();
    let mut new = chosen.clone();
    while !new.is_empty() {
        let names: Vec<_> = new.iter().map(String::as_str).collect();
        let packages = show(&names)?;
        // Of a name that only other packages provide, nothing can be downloaded.
        let is_known = |name: &String| packages.iter().any(|package| package.name == *name);
        let is_root = |name: &String| roots.contains(&name.as_str());
        chosen.retain(|name| is_root(name) || !new.contains(name) || is_known(name));
        new.clear();
        for alternatives in packages.iter().flat_map(|package| &package.depends) {
            let dependency = match alternatives.iter().find(|name| is_compilers(name)) {
                Some(library) => library,
                None if alternatives.iter().any(|name| installed(name)) => continue,
                None => match alternatives.iter().find(|name| is_library(name)) {
                    Some(library) => library,
                    None => continue,
                },
            };
            if !chosen.contains(dependency) {
                chosen.push(dependency.clone());
                new.push(dependency.clone());
            }
        }
    }
    Ok(chosen)
}

fn is_compilers(name: &str) -> bool {
    name.starts_with("libstd-rust") || name.starts_with("libllvm")
}

fn is_library(name: &str) -> bool {
    name.starts_with("lib") && !name.starts_with("libc6") && !name.ends_with("-dev")
}

#[cfg(test)]
mod tests {
    use super::*;

    const STANZAS: &str = "\
Package: rustc-web
Version: 1.96.0+dfsg1-1~deb12u2
Depends: libc6 (>= 2.34), libstd-rust-web-dev (= 1.96.0+dfsg1-1~deb12u2), gcc, libc-dev
Description: Rust systems programming language

Package: libstd-rust-web-dev
Version: 1.96.0+dfsg1-1~deb12u2
Depends: libstd-rust-web-1.96 (= 1.96.0+dfsg1-1~deb12u2)

Package: libstd-rust-web-1.96
Version: 1.96.0+dfsg1-1~deb12u2
Depends: libc6 (>= 2.34), libllvm22, libstdc++6 (>= 11), libvirtual1

Package: libllvm22
Version: 1:22.1.8-1~deb12u1
Depends: libedit2 (>= 2.11), libz3-4:any (>= 4.8.12), zlib1g (>= 1:1.2.0) | libz-ng

Package: libz3-4
Version: 4.8.12

Package: libstdc++6
Version: 12.2.0

Package: rust-web-src
Version: 1.96.0+dfsg1-1~deb12u2
";

    fn known(names: &[&str]) -> Result<Vec<Package>> {
        let mut packages = packages_in(STANZAS);
        packages.retain(|package| names.contains(&package.name.as_str()));
        Ok(packages)
    }

    #[test]
    fn a_compilers_libraries_are_downloaded_even_if_installed() {
        let chosen = closure(&["rustc-web", "rust-web-src"], |_| true, known).unwrap();
        let expected = [
            "rustc-web",
            "rust-web-src",
            "libstd-rust-web-dev",
            "libstd-rust-web-1.96",
            "libllvm22",
        ];
        assert_eq!(chosen, expected);
    }

    #[test]
    fn libraries_that_the_system_lacks_are_downloaded_too() {
        let installed = |name: &str| ["libedit2", "zlib1g", "libc6"].contains(&name);
        let chosen = closure(&["rustc-web"], installed, known).unwrap();
        assert!(chosen.contains(&"libz3-4".into()), "{chosen:?}");
        assert!(chosen.contains(&"libstdc++6".into()), "{chosen:?}");
        // No stanza has the name of the last one.
        for other in [
            "libedit2",
            "zlib1g",
            "libz-ng",
            "libc6",
            "libc-dev",
            "gcc",
            "libvirtual1",
        ] {
            assert!(!chosen.contains(&other.into()), "{other} in {chosen:?}");
        }
    }
}
