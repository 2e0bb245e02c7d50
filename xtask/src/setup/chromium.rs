//! Debian's Chromium for the tests of the bench's report, unpacked into the cache with a font and the
//! libraries that the system lacks.

use super::apt::Apt;
use super::unpacked::Unpacked;
use super::{BROWSER, Step, download};
use crate::browser::{self, Browser};
use anyhow::{Context, Result};
use std::path::Path;
use std::time::Instant;

/// Debian's packages of Chromium, best first; the programs have the same names. The headless shell has fewer
/// dependencies.
const PACKAGES: [&str; 2] = ["chromium-headless-shell", "chromium"];

/// Chromium's data, and a font, because the system may have none.
const DATA: [&str; 2] = ["chromium-common", "fonts-dejavu-core"];

/// The configuration of fontconfig with this font only, so that pages look the same on every machine.
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
    let folder = script.parent().context("the browser has no folder")?;
    let cache = folder.parent().context("the browser has no cache")?;
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
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
    let package = apt
        .first_of(&PACKAGES)?
        .context("the package lists have no Chromium")?;
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
