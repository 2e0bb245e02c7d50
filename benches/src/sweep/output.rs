//! What a run leaves in its folder.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use rayon::prelude::*;
use warpfold_results::compare::Comparison;
use warpfold_results::schema::Results;
use warpfold_results::{csv, read, report, table};

use super::options::SweepOptions;
use super::{OrRefuse, refuse};
use crate::say;

/// The folder of the pictures, by themselves.
const FIGURES: &str = "figures";

/// Where the results go, and what they are compared with.
pub struct Output {
    folder: PathBuf,
    old: Option<Results>,
    tolerance: f64,
    fail_on_regression: bool,
    quiet: bool,
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
            quiet: options.quiet,
        })
    }

    /// Writes everything; then fails where an answer was wrong, or a row slower than it may be.
    pub fn write(&self, results: &Results) -> Result<()> {
        let tables = table::tables(results);
        if !self.quiet && !tables.is_empty() {
            say(&format!("{tables}\n"))?;
        }
        let compared = self.old.as_ref();
        let compared = compared.map(|old| Comparison::new(old, results, self.tolerance));
        let files = [
            ("results.json", serde_json::to_string(results)? + "\n"),
            ("results.csv", csv::csv(results)?),
            ("report.html", report::html(results, compared.as_ref())?),
        ];
        for (name, text) in &files {
            say(&self.save(name, text)?.display().to_string())?;
        }
        let figures = report::figures(results)?;
        if !figures.is_empty() {
            let folder = self.folder.join(FIGURES);
            fs::create_dir_all(&folder)
                .with_context(|| format!("cannot make the folder {}", folder.display()))?;
            // Some tenths of a second each.
            figures.par_iter().try_for_each(|figure| -> Result<()> {
                let name = format!("{FIGURES}/{}", figure.name);
                self.save(&format!("{name}.svg"), &figure.svg)?;
                self.save(&format!("{name}.png"), figure.png()?)?;
                Ok(())
            })?;
            say(&format!(
                "{} ({} pictures)",
                folder.display(),
                figures.len()
            ))?;
        }
        if let Some(compared) = &compared {
            say(&format!(
                "\nbeside {}: {}\n{}",
                compared.old.date,
                compared.summary(),
                compared.changes()
            ))?;
        }
        let wrong = results.rows.iter().filter(|row| row.wrong.is_some());
        for row in wrong {
            let (suite, kernel) = (row.suite.name(), &row.kernel);
            eprintln!(
                "wrong: {suite}, {kernel} of {} {}: {:?}",
                row.n, row.element, row.wrong
            );
        }
        ensure!(results.is_right(), "a wrong answer; its rows have no time");
        let slower = compared.is_some_and(|compared| compared.has_regression());
        ensure!(
            !(self.fail_on_regression && slower),
            "a row has become slower"
        );
        Ok(())
    }

    fn save(&self, name: &str, bytes: impl AsRef<[u8]>) -> Result<PathBuf> {
        let file = self.folder.join(name);
        fs::write(&file, bytes).with_context(|| format!("cannot write {}", file.display()))?;
        Ok(file)
    }
}
