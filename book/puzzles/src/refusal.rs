//! Why an answer is refused.

use crate::drawing;
use cuda_sim::{Failure, Request, Site};
use std::fmt;

/// The outcome of a check.
pub type Verdict = Result<(), Refusal>;

/// Why an answer is refused: a text with the learner's lines and a drawing.
#[derive(Debug)]
pub struct Refusal {
    text: String,
}

impl Refusal {
    /// A refusal for any reason.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into() }
    }

    /// The simulator found bugs.
    pub(crate) fn found(failure: &Failure) -> Self {
        let mut text = String::new();
        // The first findings have the cause; the others mostly follow from it.
        for finding in failure.findings.iter().take(2) {
            text += &format!("{finding}\n");
            let sites = [finding.site, finding.other.and_then(|(_, site)| site)];
            let mut shown = None;
            for site in sites.into_iter().flatten() {
                if shown.replace(site) != Some(site) {
                    text += &line_at(site);
                }
            }
            text += &drawing::of(finding);
        }
        let more = failure.findings.len().saturating_sub(2);
        if more > 0 {
            let findings = if more == 1 { "finding" } else { "findings" };
            text += &format!("and {more} more {findings}\n");
        }
        Self { text }
    }

    /// The kernel is right, but needs more than the budget; `worst` is a request that shows why.
    pub(crate) fn over_budget(what: &str, got: u64, most: u64, worst: Option<&Request>) -> Self {
        let mut text = format!(
            "the result is right, but the kernel needs {got} {what}; the budget is {most}\n"
        );
        if let Some(request) = worst {
            text += &format!("    at {}\n{}", request.site, line_at(request.site));
            text += &request.to_string();
        }
        Self { text }
    }

    /// Adds which launch it was.
    pub(crate) fn in_launch(mut self, launch: &str) -> Self {
        self.text = format!("{launch}\n\n{}", self.text);
        self
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text.trim_end())
    }
}

/// The source line with a mark under the column; empty if the file cannot be read.
fn line_at(site: Site) -> String {
    let Ok(source) = std::fs::read_to_string(site.file()) else {
        return String::new();
    };
    let Some(line) = source.lines().nth(site.line() as usize - 1) else {
        return String::new();
    };
    let number = site.line().to_string();
    let blank = " ".repeat(number.len());
    let mark = " ".repeat(site.column() as usize - 1);
    format!(" {blank} |\n {number} | {line}\n {blank} | {mark}^\n")
}
