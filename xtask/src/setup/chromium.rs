//! Debian's Chromium for the tests of the bench's report, unpacked into the cache with the
//! libraries that the system lacks and a font.

use super::apt::Apt;
use super::unpacked::Unpacked;
use super::{BROWSER, Step, download};
use crate::browser::{self, Browser};
use anyhow::{Context, Result};
use std::path::Path;
use std::time::Instant;

/// Debian's packages of it, which are also the programs' names, best first: the headless shell has
/// no windows, and so few dependencies.
const PACKAGES: [&str; 2] = ["chromium-headless-shell", "chromium"];

/// Its data, and the font of every page: with a font of its own it needs none of the system's.
const DATA: [&str; 2] = ["chromium-common", "fonts-dejavu-core"];

/// The font is the only one, so that a page looks the same everywhere.
const FONTS: &str = r#"<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir prefix="relative">root/usr/share/fonts</dir>
  <cachedir prefix="xdg">fontconfig</cachedir>
</fontconfig>
"#;

pub(super) fn provide() -> Result<(Browser, Step)> {
    let start = Instant::now();
    let script = browser::cached();
    let place = script.parent().context("the browser has a folder")?;
    let cache = place.parent().context("the cache has folders")?;
    let name = place.file_name().unwrap_or_default().to_string_lossy();
    let present = || browser::version(&script).is_ok();
    let fetched = download::into_cache(cache, &name, present, fill)?;
    let found = browser::find()?;
    let used = found.to_string();
    let step = match fetched {
        None => Step::present(BROWSER, used),
        Some(bytes) => Step::fetched(BROWSER, used, Some(bytes), start),
    };
    Ok((found, step))
}

fn fill(dir: &Path) -> Result<u64> {
    let apt = Apt::updated(dir.join("apt"), &PACKAGES)?;
    let package = apt.first_of(&PACKAGES)?.context("the lists changed")?;
    let packages: Vec<_> = [package].into_iter().chain(DATA).collect();
    let unpacked = Unpacked::fill(dir, apt, &packages)?;
    let program = unpacked.usr().join("lib").join("chromium").join(package);
    let fonts = dir.join("fonts.conf");
    std::fs::write(&fonts, FONTS)?;
    let script = dir.join(browser::cached().file_name().unwrap_or_default());
    unpacked.write_script(&script, &program, &[("FONTCONFIG_FILE", &fonts)])?;
    browser::version(&script).context("the unpacked browser does not run here")?;
    Ok(unpacked.downloaded)
}
