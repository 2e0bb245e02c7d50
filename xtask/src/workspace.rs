//! The workspace's root, target directory and pinned toolchain.

use crate::process;
use anyhow::{Context, Result};
use std::path::{Path, PathBuf};

/// The target triple of every device build.
pub const DEVICE_TARGET: &str = "nvptx64-nvidia-cuda";

/// Features that are off by default and that no other package enables, for commands over the workspace.
pub const ALL_FEATURES: [&str; 2] = [
    "--features",
    "kernels-gpu/laws,warpfold/laws,warpfold/ndarray,warpfold/simulator",
];

/// [`ALL_FEATURES`] with the tests that take minutes.
pub const ALL_TESTS: [&str; 2] = [
    "--features",
    "kernels-gpu/laws,warpfold/laws,warpfold/ndarray,warpfold/simulator,warpfold-bench/long-tests,xtask/long-tests",
];

/// The workspace's root.
pub fn root() -> PathBuf {
    let xtask = std::env::var_os("CARGO_MANIFEST_DIR")
        .map(PathBuf::from)
        .filter(|dir| dir.ends_with("xtask"))
        .unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).to_path_buf());
    xtask.parent().map(Path::to_path_buf).unwrap_or(xtask)
}

/// The target directory, as cargo resolves it.
pub fn target_dir() -> Result<PathBuf> {
    #[derive(serde::Deserialize)]
    struct Metadata {
        target_directory: PathBuf,
    }
    let text = process::stdout_of(process::cargo().args([
        "metadata",
        "--no-deps",
        "--offline",
        "--format-version=1",
    ]))?;
    let metadata: Metadata =
        serde_json::from_str(&text).context("cannot parse the output of `cargo metadata`")?;
    Ok(metadata.target_directory)
}

/// The pinned toolchain's version, `channel` of rust-toolchain.toml.
pub fn pinned_version() -> Result<Version> {
    let path = root().join("rust-toolchain.toml");
    let text = std::fs::read_to_string(&path)
        .with_context(|| format!("cannot read {}", path.display()))?;
    text.lines()
        .filter_map(|line| line.trim().strip_prefix("channel"))
        .filter_map(|rest| rest.trim_start().strip_prefix('='))
        .find_map(|value| Version::parse(value.trim().trim_matches('"')))
        .with_context(|| format!("{} pins no version in `channel`", path.display()))
}

/// A compiler's version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version(pub u32, pub u32, pub u32);

impl Version {
    /// Parses `1.96.0`, also in a package's version such as `1:1.96.0+dfsg1-1`; `None` without three numbers.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.rsplit_once(':').map_or(text, |(_epoch, rest)| rest);
        let mut numbers = text.splitn(3, '.');
        let patch = |text: &str| {
            let end = text
                .find(|c: char| !c.is_ascii_digit())
                .unwrap_or(text.len());
            text[..end].parse().ok()
        };
        Some(Self(
            numbers.next()?.parse().ok()?,
            numbers.next()?.parse().ok()?,
            patch(numbers.next()?)?,
        ))
    }
}

impl std::fmt::Display for Version {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}.{}", self.0, self.1, self.2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_of_distributions_are_read_and_ordered() {
        assert_eq!(
            Version::parse("1.96.0+dfsg1-1~deb12u2"),
            Some(Version(1, 96, 0))
        );
        assert_eq!(
            Version::parse("1:22.1.8-1~deb12u1"),
            Some(Version(22, 1, 8))
        );
        assert_eq!(Version::parse("stable"), None);
        assert_eq!(Version::parse("1.96"), None);
        assert!(Version(1, 96, 0) > Version(1, 95, 9));
        assert!(Version(1, 100, 0) > Version(1, 95, 0));
    }

    #[test]
    fn the_pinned_toolchain_is_read() {
        assert!(pinned_version().unwrap() >= Version(1, 95, 0));
    }

    #[test]
    fn the_root_has_the_lock_file() {
        assert!(root().join("Cargo.lock").is_file());
    }
}
