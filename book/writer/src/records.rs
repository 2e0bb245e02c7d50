//! Figures of `benches/records`, by the tables that the bench has printed.

use anyhow::{Context, Result, bail};
use std::fs;
use std::path::{Path, PathBuf};

/// The folder of the records.
#[derive(Clone, Debug)]
pub struct Records {
    folder: PathBuf,
}

/// The names of the tables, with their files, and a column that the right one of several tables in a file has.
const TABLES: [(&str, &str, &str); 8] = [
    ("ladder", "h200/2026-11-23/ladder.txt", "cold"),
    (
        "nsight",
        "h200/2026-11-22/profile/profile.md",
        "duration µs",
    ),
    ("stalls", "h200/2026-11-22/profile/profile.md", "instr/warp"),
    ("kepler", "h200/2026-11-21/kepler.txt", "ours/nvcc"),
    ("keyed32", "h200/2026-11-21/keyed.txt", "sums of f32"),
    ("keyed64", "h200/2026-11-21/keyed.txt", "sums of f64"),
    ("copy", "h200/2026-11-21/copy.txt", "cudaMemcpy"),
    ("hottest", "h200/2026-11-22/profile/lines.md", "stalled"),
];

/// The machine code of all kernels, with counts.
pub const SASS: &str = "h200/2026-11-21/ncu-256-sass.csv";

/// A table of text.
#[derive(Clone, Debug)]
pub struct Table {
    file: &'static str,
    columns: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Records {
    /// The records of the repository at `root`.
    pub fn new(root: &Path) -> Self {
        Self {
            folder: root.join("benches/records"),
        }
    }

    /// The text of a record.
    pub fn read(&self, file: &str) -> Result<String> {
        let path = self.folder.join(file);
        fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))
    }

    /// The table with this name.
    pub fn table(&self, name: &str) -> Result<Table> {
        let found = TABLES.iter().find(|(known, ..)| *known == name);
        let &(_, file, column) = found.with_context(|| format!("there is no table `{name}`"))?;
        self.behind(file, "", column)
    }

    /// The first table of a file with this column, behind a line with this text.
    pub fn behind(&self, file: &'static str, text: &str, column: &str) -> Result<Table> {
        let record = self.read(file)?;
        let lines = record.lines().skip_while(|line| !line.contains(text));
        let mut lines = lines.map(cells);
        while let Some(cells) = lines.next() {
            let Some(columns) = cells else { continue };
            if columns.iter().any(|name| name == column) {
                // The ruler follows the head.
                let rows = lines.by_ref().skip(1).map_while(|cells| cells).collect();
                return Ok(Table {
                    file,
                    columns,
                    rows,
                });
            }
        }
        bail!("{file} has no table with a column `{column}` behind `{text}`")
    }

    /// The machine code of a kernel as the profiler has listed it, without addresses, and without the instructions that the
    /// launch never reached.
    pub fn sass(&self, entry: &str) -> Result<Vec<String>> {
        let text = self.read(SASS)?;
        let head = format!("\"Kernel Name\",\"{entry}\"");
        let mut lines = text
            .lines()
            .skip_while(|line| !line.starts_with(&head))
            .skip(1);
        let columns = lines.next().map(quoted).unwrap_or_default();
        let column = |name| columns.iter().position(|column| *column == name);
        let (Some(source), Some(executed)) = (column("Source"), column("inst_executed")) else {
            bail!("the record has no machine code of `{entry}`");
        };
        let code = lines
            .take_while(|line| !line.starts_with("\"Kernel Name\""))
            .map(quoted)
            .filter(|cells| cells.get(executed).is_some_and(|count| *count != "0"))
            .filter_map(|cells| cells.get(source).map(|code| code.trim_end().to_owned()));
        Ok(code.collect())
    }

    /// The lines of the record of the minimum of 10^8 floats, each with its time in ms.
    pub fn minima(&self) -> Result<Vec<(String, f64)>> {
        let text = self.read("h100/2026-11-26/posts/min-of-array.txt")?;
        let lines = text.lines().skip_while(|line| !line.contains("speed-up"));
        let lines = lines
            .skip(1)
            .take_while(|line| !line.starts_with("minimum"));
        lines
            .map(|line| {
                let (name, rest) = line.split_at_checked(24).context("a short line")?;
                let ms = rest.split_whitespace().next().unwrap_or_default();
                let ms = ms
                    .parse()
                    .with_context(|| format!("`{line}` has no number"))?;
                Ok((name.trim().to_owned(), ms))
            })
            .collect()
    }
}

/// The cells of a line `"a","b",`.
fn quoted(line: &str) -> Vec<&str> {
    let inner = line.trim_end_matches(',').trim_matches('"');
    inner.split("\",\"").collect()
}

/// The cells of a table's line; `None` for another line.
fn cells(line: &str) -> Option<Vec<String>> {
    let inner = line.trim().strip_prefix('|')?.strip_suffix('|')?;
    Some(
        inner
            .split('|')
            .map(|cell| cell.trim().to_owned())
            .collect(),
    )
}

impl Table {
    /// The table's file, below `benches/records`.
    pub fn file(&self) -> &'static str {
        self.file
    }

    /// The first cells of all rows.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.rows.iter().map(|row| row[0].as_str())
    }

    /// The cell of the first row with this name. A table of kernels has their names, or those of their entries for sums
    /// of `i32`; of several numbers of threads, 256.
    pub fn cell(&self, row: &str, column: &str) -> Result<&str> {
        let at = self.columns.iter().position(|name| name == column);
        let at = at.with_context(|| {
            format!(
                "{} has no column `{column}`; it has {:?}",
                self.file, self.columns
            )
        })?;
        let threads = self.columns.iter().position(|name| name == "threads");
        let entry = format!("{row}_sum_i32");
        let is_it = |cells: &&Vec<String>| {
            let of_threads =
                threads.is_none_or(|at| ["256", "512", ""].contains(&cells[at].as_str()));
            (cells[0] == row || cells[0] == entry) && of_threads
        };
        let found = self.rows.iter().find(is_it);
        found
            .map(|cells| cells[at].as_str())
            .with_context(|| format!("{} has no row `{row}`", self.file))
    }

    /// The number in a cell, without thousands separators, percent signs and remarks in brackets.
    pub fn number(&self, row: &str, column: &str) -> Result<f64> {
        let cell = self.cell(row, column)?;
        let first = cell.split_whitespace().next().unwrap_or_default();
        let number: String = first.chars().filter(|c| !",%x".contains(*c)).collect();
        number
            .parse()
            .with_context(|| format!("{}: `{cell}` is no number", self.file))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn machine_code_is_what_a_launch_has_executed() {
        let records = Records::new(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."));
        let code = records.sass("reduce_5_x8_sum_i32").unwrap();
        // The path of a thread whose chunks are all inside the input.
        let loads: Vec<_> = code.iter().filter(|line| line.contains("LDG")).collect();
        assert_eq!(loads.len(), 8, "{loads:?}");
        assert!(
            loads.iter().all(|load| load.starts_with("      LDG.E")),
            "{loads:?}"
        );
        assert!(records.sass("no_such_kernel").is_err());
    }

    #[test]
    fn a_changed_record_changes_the_figure() {
        let root = tempfile::tempdir().unwrap();
        let file = root
            .path()
            .join("benches/records/h200/2026-11-23/ladder.txt");
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        let records = Records::new(root.path());
        assert!(
            records
                .table("ladder")
                .unwrap_err()
                .to_string()
                .contains("cannot read")
        );

        let table = |time| {
            format!(
                "head\n| kernel | threads | cold |\n|--|--|--|\n| reduce_9 | 256 | {time} |\n\n"
            )
        };
        for time in ["1,234", "5.5"] {
            fs::write(&file, table(time)).unwrap();
            let number = records
                .table("ladder")
                .unwrap()
                .number("reduce_9", "cold")
                .unwrap();
            assert_eq!(number, time.replace(',', "").parse::<f64>().unwrap());
        }
        let ladder = records.table("ladder").unwrap();
        assert!(
            ladder
                .number("reduce_8", "cold")
                .unwrap_err()
                .to_string()
                .contains("no row `reduce_8`")
        );
        assert!(
            ladder
                .number("reduce_9", "warm")
                .unwrap_err()
                .to_string()
                .contains("no column `warm`")
        );
        fs::write(&file, "nothing\n").unwrap();
        assert!(
            records
                .table("ladder")
                .unwrap_err()
                .to_string()
                .contains("no table")
        );
    }
}
