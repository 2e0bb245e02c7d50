//! The check of the book's pages in a browser: pages with a fault have it, and a page without one has none.
//!
//! Without a browser the test is reported as ignored; `cargo xtask setup --browser` downloads one.

use libtest_mimic::{Arguments, Completion, Failed, Trial};
use std::fs;
use std::path::Path;
use std::process::ExitCode;
use xtask::{book, browser};

fn main() -> ExitCode {
    let trial = Trial::ignorable_test("faults_of_pages_are_found", || match browser::find() {
        Ok(browser) => faults_are_found(&browser.program).map(|()| Completion::Completed),
        Err(error) => Ok(Completion::ignored_with(format!("{error:#}"))),
    });
    libtest_mimic::run(&Arguments::from_args(), vec![trial]).exit_code()
}

/// A page that takes its theme as mdBook's do.
fn page(main: &str) -> String {
    let theme = "document.documentElement.className = localStorage.getItem('mdbook-theme')";
    let paragraphs = "<p>text</p>".repeat(10);
    format!(
        "<!DOCTYPE html><html><head><title>page</title></head><body><script>{theme}</script>\
         <main>{paragraphs}{main}</main></body></html>"
    )
}

fn faults_are_found(browser: &Path) -> Result<(), Failed> {
    let site = tempfile::tempdir()?;
    let wide = "<div style='width: 700px'>wide</div>";
    let scrolling = format!("<div style='overflow-x: auto'>{wide}</div>");
    let cases = [
        // The page, the views in which it has a fault, and what that is.
        ("good", page(&scrolling), 0, ""),
        (
            "wide",
            page(wide),
            2,
            "400 px: overflow: &lt;div&gt; wide ends at 708 of 400",
        ),
        (
            "script",
            page("<script>nothing();</script>"),
            4,
            "nothing is not defined",
        ),
        ("picture", page("<img src='none.svg'>"), 4, "none.svg"),
        (
            "empty",
            page("").replace("<p>text</p>", ""),
            4,
            "elements: 1 in main",
        ),
    ];
    for (name, text, views, fault) in &cases {
        fs::write(site.path().join(format!("{name}.html")), text)?;
        let found = book::opened::faults(browser, site.path(), &[name])?;
        if found.len() != *views || !found.iter().all(|found| found.contains(fault)) {
            return Err(format!("{name}: {found:?}, not {views} times {fault:?}").into());
        }
    }
    let left = fs::read_dir(site.path())?.count();
    assert_eq!(left, cases.len(), "only the pages are left");
    assert!(book::opened::faults(browser, site.path(), &["none"]).is_err());
    Ok(())
}
