//! Things that appear in the cache whole or not at all.

use anyhow::{Context, Result};
use std::fs::{self, File};
use std::path::Path;

/// Names what is still being written in the cache.
const PARTIAL: &str = "partial-";

/// Makes the directory `name` in the cache from what `fill` writes into an empty one, unless
/// `present` says that it is there. One setup at a time does this: the others wait, then see it.
///
/// Gives `None` where it was there, else what `fill` gave.
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
    let made = fill(partial.path())?;
    let place = cache.join(name);
    if place.exists() {
        fs::remove_dir_all(&place).with_context(context)?;
    }
    fs::rename(partial.keep(), &place).with_context(context)?;
    Ok(Some(made))
}

/// What setups that were killed have left. Called under the lock, so none is in use.
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
                bail!("the network went away")
            },
        );
        assert!(filled.is_err());
        let left: Vec<_> = fs::read_dir(cache.path()).unwrap().flatten().collect();
        assert_eq!(left.len(), 1, "only the lock is left: {left:?}");
    }

    #[test]
    fn a_fill_replaces_what_was_broken_and_what_was_killed() {
        let cache = tempfile::tempdir().unwrap();
        let thing = cache.path().join("thing");
        for stale in ["thing", "partial-killed"] {
            fs::create_dir(cache.path().join(stale)).unwrap();
            fs::write(cache.path().join(stale).join("old"), "").unwrap();
        }
        let fill = |dir: &Path| Ok(fs::write(dir.join("new"), "new")?);
        let made = into_cache(cache.path(), "thing", || false, fill).unwrap();
        assert!(made.is_some());
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
