//! A smoke test of the report in Chromium: it loads without an error or a request, shows the points that it
//! lists, and its tables sort. Broken pages show that the test detects faults.
//!
//! Without a browser the tests are reported as ignored. `WARPFOLD_CHROMIUM` names a browser outside `PATH`.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use libtest_mimic::{Arguments, Completion, Failed, Trial};
use tempfile::TempDir;
use warpfold_results::{compare, example, report};

const FAULTS: &str = include_str!("faults.js");
const SMOKE: &str = include_str!("smoke.js");

/// The output of `smoke.js` for a page without a fault.
const NO_FAULT: &str = "no fault";

/// Milliseconds of virtual time until the browser prints the page.
const TIME_BUDGET: &str = "--virtual-time-budget=10000";

/// The browser's possible names in `PATH`.
const NAMES: [&str; 4] = [
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
];

fn main() -> ExitCode {
    let mut arguments = Arguments::from_args();
    arguments.test_threads.get_or_insert(2);
    let trials = vec![
        trial("a_report_of_every_suite_has_no_fault", no_fault),
        trial("broken_pages_have_faults", broken_pages),
    ];
    libtest_mimic::run(&arguments, trials).exit_code()
}

fn trial(name: &str, test: fn(PathBuf) -> Result<(), Failed>) -> Trial {
    Trial::ignorable_test(name, move || match browser() {
        Some(browser) => test(browser).map(|()| Completion::Completed),
        None => Ok(Completion::ignored_with("no browser")),
    })
}

/// The browser in `WARPFOLD_CHROMIUM`, which must exist if the variable is set, or the first in `PATH`.
fn browser() -> Option<PathBuf> {
    if let Some(chosen) = env::var_os("WARPFOLD_CHROMIUM").filter(|chosen| !chosen.is_empty()) {
        return Some(chosen.into());
    }
    let path = env::var_os("PATH").unwrap_or_default();
    let folders: Vec<_> = env::split_paths(&path).collect();
    let in_folders = |name| folders.iter().map(move |folder| folder.join(name));
    NAMES
        .iter()
        .flat_map(in_folders)
        .find(|file| file.is_file())
}

fn no_fault(browser: PathBuf) -> Result<(), Failed> {
    let found = faults(&browser, &page()?)?;
    match found == NO_FAULT {
        true => Ok(()),
        false => Err(found.into()),
    }
}

/// Each page is broken in one way, and the test reports that fault.
fn broken_pages(browser: PathBuf) -> Result<(), Failed> {
    let page = page()?;
    let request = "<img alt='' src='http://127.0.0.1:9/a.png'></body>";
    let broken = [
        (
            "a script that fails",
            page.replace("</body>", "<script>nothing();</script></body>"),
            "error: ",
        ),
        (
            "a request",
            page.replace("</body>", request),
            "request: http://127.0.0.1:9",
        ),
        (
            "a missing point",
            page.replacen("class=\"point\"", "class=\"none\"", 1),
            "draws other points",
        ),
        (
            "a point outside",
            outside(&page).ok_or("there is no circle")?,
            "points are visible",
        ),
        (
            "tables that do not sort",
            page.replace("addEventListener(\"click\"", "addEventListener(\"none\""),
            "is not sorted",
        ),
    ];
    for (name, broken, fault) in broken {
        if broken == page {
            return Err(format!("{name}: the page was not broken").into());
        }
        let found = faults(&browser, &broken)?;
        if !found.contains(fault) {
            return Err(format!("{name}: {found:?} does not contain {fault:?}").into());
        }
    }
    Ok(())
}

/// The page with its first point far to the right of its figure.
fn outside(page: &str) -> Option<String> {
    let circle = "<circle class=\"point\"";
    let (before, rest) = page.split_once(circle)?;
    let (attributes, after) = rest.split_once(" cx=\"")?;
    Some(format!("{before}{circle}{attributes} cx=\"9{after}"))
}

/// A page with all suites, a profile, and a comparison with another run.
fn page() -> Result<String, Failed> {
    let new = example::results();
    let mut old = new.clone();
    for time in old
        .rows
        .iter_mut()
        .step_by(2)
        .filter_map(|row| row.time.as_mut())
    {
        time.median_us *= 1.1;
    }
    Ok(report::html(&new, Some(&compare::compare(&old, &new)))?)
}

/// Opens the page and returns the output of `smoke.js`.
fn faults(browser: &Path, page: &str) -> Result<String, Failed> {
    let folder = TempDir::with_prefix("warpfold-browser")?;
    let page = page.replacen("<head>", &format!("<head><script>{FAULTS}</script>"), 1);
    let page = page.replace("</body>", &format!("<script>{SMOKE}</script></body>"));
    let file = folder.path().join("report.html");
    fs::write(&file, page)?;
    let profile = folder.path().join("profile");
    let mut command = Command::new(browser);
    command.args([
        "--headless",
        "--dump-dom",
        TIME_BUDGET,
        "--window-size=1280,900",
    ]);
    // The sandbox does not work for root; the page is trusted.
    command.args([
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--no-first-run",
    ]);
    command.args([
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
    ]);
    let mut user_data = OsString::from("--user-data-dir=");
    user_data.push(profile);
    command.arg(user_data);
    command.arg(&file).env("XDG_CACHE_HOME", folder.path());
    let output = command.stdin(Stdio::null()).output()?;
    let dom = String::from_utf8_lossy(&output.stdout);
    let result = dom
        .split_once("<pre id=\"smoke\">")
        .and_then(|(_, rest)| rest.split_once("</pre>"));
    match result {
        Some((result, _)) => Ok(result.to_owned()),
        None => {
            let last: Vec<_> = String::from_utf8_lossy(&output.stderr)
                .lines()
                .rev()
                .take(3)
                .map(str::to_owned)
                .collect();
            Err(format!(
                "{}: {}; the page did not load: {last:?}",
                browser.display(),
                output.status
            )
            .into())
        }
    }
}
