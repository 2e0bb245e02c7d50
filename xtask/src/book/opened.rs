//! Pages of the book's site, opened in a browser: light and dark, narrow and wide.

use crate::process;
use anyhow::{Context, Result};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::Duration;

/// A page with drawings, one with wide tables, and one with source code.
pub const PAGES: [&str; 3] = ["warps", "ladder", "many"];

/// mdBook's names of the light and of the dark theme, as `book.toml` has them.
const THEMES: [&str; 2] = ["light", "navy"];

/// The widths of a phone and of a notebook.
const WIDTHS: [u32; 2] = [400, 1280];

const FAULTS: &str = include_str!("faults.js");
const CHECK: &str = include_str!("check.js");

/// What `check.js` says of a page without a fault.
const NO_FAULT: &str = "no fault";

/// Milliseconds of virtual time until the browser prints the page.
const TIME_BUDGET: &str = "--virtual-time-budget=5000";

/// The longest time of a page: a browser that hangs is an error.
const LIMIT: Duration = Duration::from_secs(30);

/// Opens these pages of a site in each theme and width, and returns the faults: what is wider than the page, and errors.
///
/// # Errors
///
/// If a page is missing, or the browser does not open it.
pub fn faults(browser: &Path, site: &Path, pages: &[&str]) -> Result<Vec<String>> {
    let mut faults = vec![];
    for page in pages {
        let views = THEMES.map(|theme| WIDTHS.map(|width| (theme, width)));
        let found: Vec<Result<Option<String>>> = thread::scope(|scope| {
            let open = |(theme, width)| {
                scope.spawn(move || {
                    View {
                        site,
                        page,
                        theme,
                        width,
                    }
                    .fault(browser)
                })
            };
            let threads: Vec<_> = views.into_iter().flatten().map(open).collect();
            let join = |thread: thread::ScopedJoinHandle<'_, _>| {
                thread
                    .join()
                    .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            };
            threads.into_iter().map(join).collect()
        });
        for fault in found {
            faults.extend(fault?);
        }
    }
    Ok(faults)
}

/// A page as somebody sees it.
struct View<'a> {
    site: &'a Path,
    page: &'a str,
    theme: &'static str,
    width: u32,
}

impl View<'_> {
    /// What is wrong, if something is.
    fn fault(&self, browser: &Path) -> Result<Option<String>> {
        let Self {
            site,
            page,
            theme,
            width,
        } = self;
        let file = site.join(format!("{page}.html"));
        let text =
            fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
        let constants = format!("const THEME = \"{theme}\", WIDTH = {width};");
        let first = format!("<head><script>{constants}{FAULTS}</script>");
        let last = format!("<script>{CHECK}</script></body>");
        let changed = text.replacen("<head>", &first, 1).replace("</body>", &last);
        // Beside the page, so that its links lead to the same files.
        let copy = Removed(site.join(format!(".{page}-{theme}-{width}.html")));
        fs::write(&copy.0, changed)
            .with_context(|| format!("cannot write {}", copy.0.display()))?;
        let found = opened(browser, &copy.0, *width)?;
        Ok((found != NO_FAULT).then(|| format!("{page}, {theme}, {width} px: {found}")))
    }
}

/// A file that is removed in the end.
struct Removed(PathBuf);

impl Drop for Removed {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// What `check.js` says of the page in a file.
fn opened(browser: &Path, file: &Path, width: u32) -> Result<String> {
    let profile = tempfile::tempdir().context("cannot create a folder")?;
    let mut user_data = OsString::from("--user-data-dir=");
    user_data.push(profile.path());
    let mut command = Command::new(browser);
    command
        .args(["--headless", "--dump-dom", TIME_BUDGET])
        .arg(format!("--window-size={width},900"))
        .arg("--hide-scrollbars")
        // The sandbox does not work for root; the page is trusted.
        .args([
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--no-first-run",
        ])
        .args([
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
        ])
        .arg(user_data)
        .arg(file)
        .env("XDG_CACHE_HOME", profile.path());
    let dom = process::bounded(&mut command, LIMIT)?;
    let found = dom
        .split_once("<pre id=\"faults\">")
        .and_then(|(_, rest)| rest.split_once("</pre>"));
    let (found, _) = found.with_context(|| format!("{} did not load", file.display()))?;
    Ok(found.to_owned())
}
