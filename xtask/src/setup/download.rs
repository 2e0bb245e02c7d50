//! Adds folders to the cache atomically.

use anyhow::{Context, Result};
use std::fs::{self, File};
use std::path::Path;

/// Prefix of incomplete folders in the cache.
const PARTIAL: &str = "partial-";

/// Creates the folder `name` in the cache with the files that `fill` writes, unless it is `present`. A lock
/// makes other setups wait.
///
/// Returns `None` if it was present, otherwise the result of `fill`.
pub(super) fn into_cache<T>(
    cache: &Path,
    name: &str,
    present: impl Fn() -> bool,
    fill: impl FnOnce(&Path) -> Result<T>,
) -> Result<Option<T>> {
    let context = || format!("cannot write to the cache {}", cache.display());
    fs::create_dir_all(cache).with_context(context)?;
    let lock = File::create(cache.join("setup.lock")).with_context(context)?;
    lock.lock().with_context(context)?;
    if present() {
        return Ok(None);
    }
    remove_partials(cache).with_context(context)?;
    let partial = tempfile::Builder::new()
        .prefix(PARTIAL)
        .tempdir_in(cache)
        .with_context(context)?;
    let result = fill(partial.path())?;
    let folder = cache.join(name);
    if folder.exists() {
        fs::remove_dir_all(&folder).with_context(context)?;
    }
    fs::rename(partial.keep(), &folder).with_context(context)?;
    Ok(Some(result))
}

/// Deletes the incomplete folders of killed setups. Requires the lock, so that none is in use.
fn remove_partials(cache: &Path) -> std::io::Result<()> {
    for entry in fs::read_dir(cache)? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with(PARTIAL) {
            fs::remove_dir_all(entry.path())?;
        }
    }
    Ok(())
}

/// The bytes of the files directly in `dir`.
pub(super) fn bytes_in(dir: &Path) -> u64 {
    let files = fs::read_dir(dir).into_iter().flatten().flatten();
    files
        .filter_map(|file| file.metadata().ok())
        .filter(|metadata| metadata.is_file())
        .map(|metadata| metadata.len())
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::bail;

    #[test]
    fn a_failed_fill_leaves_nothing() {
        let cache = tempfile::tempdir().unwrap();
        let filled = into_cache(
            cache.path(),
            "thing",
            || false,
            |dir| -> Result<()> {
                fs::write(dir.join("half"), "half")?;
                bail!("the download failed")
            },
        );
        assert!(filled.is_err());
        let files: Vec<_> = fs::read_dir(cache.path()).unwrap().flatten().collect();
        assert_eq!(files.len(), 1, "more than the lock: {files:?}");
    }

    #[test]
    fn a_fill_replaces_broken_and_incomplete_folders() {
        let cache = tempfile::tempdir().unwrap();
        let thing = cache.path().join("thing");
        for stale in ["thing", "partial-killed"] {
            fs::create_dir(cache.path().join(stale)).unwrap();
            fs::write(cache.path().join(stale).join("old"), "").unwrap();
        }
        let fill = |dir: &Path| Ok(fs::write(dir.join("new"), "new")?);
        let result = into_cache(cache.path(), "thing", || false, fill).unwrap();
        assert!(result.is_some());
        assert!(thing.join("new").is_file() && !thing.join("old").exists());
        assert!(!cache.path().join("partial-killed").exists());
        let present = || thing.join("new").is_file();
        assert!(
            into_cache(cache.path(), "thing", present, fill)
                .unwrap()
                .is_none()
        );
    }
}
