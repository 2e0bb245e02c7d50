//! Everything that is wrong with a page.

use libtest_mimic::Failed;

use crate::chromium::Chromium;
use crate::page::Page;
use crate::plots::{self, Listed};
use crate::tables;

/// The points that the page lists, and what is wrong with it; an error where nothing can be said.
pub fn of(chromium: &Chromium, html: &str) -> Result<(Listed, Vec<String>), Failed> {
    let page = Page::open(chromium, html)?;
    let mut faults: Vec<String> = page.ask("rendered()")?;
    let listed = plots::listed(&page, &mut faults)?;
    plots::check(&page, &listed, &mut faults)?;
    tables::check(&page, &mut faults)?;
    faults.extend(page.faults()?);
    Ok((listed, faults))
}
