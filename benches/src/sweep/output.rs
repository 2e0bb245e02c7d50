//! What a run leaves in its folder.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};
use warpfold_results::compare::Comparison;
use warpfold_results::schema::Results;
use warpfold_results::{csv, read, report};

use super::options::SweepOptions;
use super::{OrRefuse, refuse};
use crate::say;

/// Where the results go, and what they are compared with.
pub struct Output {
    folder: PathBuf,
    old: Option<Results>,
    tolerance: f64,
    fail_on_regression: bool,
}

impl Output {
    /// Fails before the measuring, not after it.
    pub fn open(options: &SweepOptions) -> Result<Self> {
        let old = match &options.compare {
            Some(file) => Some(read::read(file).or_refuse(|| "--compare".into())?),
            None => None,
        };
        let percent = options.tolerance;
        if !(percent >= 0.0 && percent.is_finite()) {
            return Err(refuse(format!(
                "--tolerance {percent}: not a part of a time in percent"
            )));
        }
        let folder = options.out.clone();
        let shown = folder.display();
        fs::create_dir_all(&folder).or_refuse(|| format!("cannot make the folder {shown}"))?;
        if let Err(error) = tempfile::tempfile_in(&folder) {
            return Err(refuse(format!("cannot write in {shown}: {error}")));
        }
        Ok(Self {
            folder,
            old,
            tolerance: percent / 100.0,
            fail_on_regression: options.fail_on_regression,
        })
    }

    /// Writes everything. Whether all answers were right, and nothing slower than it may be.
    pub fn write(&self, results: &Results) -> Result<bool> {
        let compared = self.old.as_ref();
        let compared = compared.map(|old| Comparison::new(old, results, self.tolerance));
        let files = [
            ("results.json", serde_json::to_string(results)? + "\n"),
            ("results.csv", csv::csv(results)?),
            ("report.html", report::html(results, compared.as_ref())?),
        ];
        for (name, text) in &files {
            let file = self.folder.join(name);
            fs::write(&file, text).with_context(|| format!("cannot write {}", file.display()))?;
            say(&file.display().to_string())?;
        }
        if let Some(compared) = &compared {
            say(&format!("\n{}", compared.table()))?;
        }
        for row in results.rows.iter().filter(|row| row.wrong.is_some()) {
            eprintln!(
                "wrong: {} {} of {} {}: {:?}",
                row.suite.name(),
                row.kernel,
                row.n,
                row.element,
                row.wrong
            );
        }
        let slower = self.fail_on_regression && compared.is_some_and(|it| it.has_regression());
        Ok(results.is_right() && !slower)
    }
}
