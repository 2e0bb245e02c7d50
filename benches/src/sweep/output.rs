//! The output of a run: tables, files and the exit status.

use std::fs::{self, OpenOptions};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
#[cfg(feature = "sweeps")]
use rayon::prelude::*;
use warpfold_results::compare::Comparison;
use warpfold_results::schema::{By, Results, Row};
#[cfg(feature = "sweeps")]
use warpfold_results::{csv, report};
use warpfold_results::{read, table};

use super::options::SweepOptions;
use super::{OrRefuse, refuse};
use crate::print_line;

#[cfg(feature = "sweeps")]
/// The subfolder of the figures.
const FIGURES: &str = "figures";

/// Where the results go, besides the terminal.
pub enum Target {
    /// A folder for all formats and the report.
    #[cfg(feature = "sweeps")]
    Folder(PathBuf),
    /// A file in the format of `results.json`.
    Json(PathBuf),
    /// The terminal only.
    Terminal,
}

/// Where the results go, and the old results to compare with.
pub struct Output {
    target: Target,
    old: Option<Results>,
    tolerance: f64,
    fail_on_regression: bool,
    quiet: bool,
}

impl Output {
    /// Reads the old results and checks that the target can be written, before any measurement.
    pub fn open(options: &SweepOptions, target: Target) -> Result<Self> {
        let old = match &options.compare {
            Some(file) => Some(read::read(file).or_refuse(|| "--compare".into())?),
            None => None,
        };
        let percent = options.tolerance;
        if !(percent >= 0.0 && percent.is_finite()) {
            return Err(refuse(format!(
                "--tolerance {percent}: must be finite and at least 0"
            )));
        }
        match &target {
            #[cfg(feature = "sweeps")]
            Target::Folder(folder) => {
                let shown = folder.display();
                fs::create_dir_all(folder)
                    .or_refuse(|| format!("cannot create the folder {shown}"))?;
                if let Err(error) = tempfile::tempfile_in(folder) {
                    return Err(refuse(format!("cannot write in {shown}: {error}")));
                }
            }
            Target::Json(file) => {
                let opened = OpenOptions::new().create(true).append(true).open(file);
                opened.or_refuse(|| format!("cannot write {}", file.display()))?;
            }
            Target::Terminal => {}
        }
        Ok(Self {
            target,
            old,
            tolerance: percent / 100.0,
            fail_on_regression: options.fail_on_regression,
            quiet: options.quiet,
        })
    }

    /// Writes the results, then fails if an answer is wrong or a row has become too slow.
    pub fn write(&self, results: &Results) -> Result<()> {
        // With a folder, the report has the peers' rows.
        let is_shown = |row: &Row| match self.target {
            #[cfg(feature = "sweeps")]
            Target::Folder(_) => row.by == By::Warpfold,
            _ => row.by != By::Nvcc,
        };
        let tables = table::tables(results, is_shown);
        if !self.quiet && !tables.is_empty() {
            print_line(&format!("{}\n\n{tables}\n", table::header(results)))?;
        }
        let compared = self.old.as_ref();
        let compared = compared.map(|old| Comparison::new(old, results, self.tolerance));
        let json = || -> Result<String> { Ok(serde_json::to_string(results)? + "\n") };
        match &self.target {
            #[cfg(feature = "sweeps")]
            Target::Folder(folder) => write_all(folder, json()?, results, compared.as_ref())?,
            Target::Json(file) => save(file, json()?)?,
            Target::Terminal => {}
        }
        if let Some(compared) = &compared {
            print_line(&format!(
                "\ncompared with {}: {}\n{}",
                compared.old.date,
                compared.summary(),
                compared.changes()
            ))?;
        }
        let wrong = results.rows.iter().filter(|row| row.wrong.is_some());
        for row in wrong {
            let (suite, kernel) = (row.suite.name(), &row.kernel);
            eprintln!(
                "wrong answer: suite {suite}, {kernel} of {} {}: {:?}",
                row.n, row.element, row.wrong
            );
        }
        ensure!(
            results.is_right(),
            "at least one wrong answer; rows with wrong answers have no time"
        );
        let slower = compared.is_some_and(|compared| compared.has_regression());
        ensure!(
            !(self.fail_on_regression && slower),
            "at least one row has become slower"
        );
        Ok(())
    }
}

#[cfg(feature = "sweeps")]
/// Writes all formats to the folder.
fn write_all(
    folder: &Path,
    json: String,
    results: &Results,
    compared: Option<&Comparison>,
) -> Result<()> {
    let files = [
        ("results.json", json),
        ("results.csv", csv::csv(results)?),
        ("report.html", report::html(results, compared)?),
    ];
    for (name, text) in files {
        let file = folder.join(name);
        save(&file, text)?;
        print_line(&file.display().to_string())?;
    }
    let figures = report::figures(results)?;
    if figures.is_empty() {
        return Ok(());
    }
    let folder = folder.join(FIGURES);
    let shown = folder.display();
    fs::create_dir_all(&folder).with_context(|| format!("cannot create the folder {shown}"))?;
    // In parallel: each takes some tenths of a second.
    figures.par_iter().try_for_each(|figure| -> Result<()> {
        let name = &figure.name;
        save(&folder.join(format!("{name}.svg")), &figure.svg)?;
        save(&folder.join(format!("{name}.png")), figure.png()?)
    })?;
    print_line(&format!("{shown} ({} figures)", figures.len()))?;
    Ok(())
}

fn save(file: &Path, bytes: impl AsRef<[u8]>) -> Result<()> {
    fs::write(file, bytes).with_context(|| format!("cannot write {}", file.display()))
}
