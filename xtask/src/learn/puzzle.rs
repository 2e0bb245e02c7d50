//! The puzzles, as files of `book/puzzles`.

use anyhow::{Context, Result, bail};
use std::fs;
use std::path::{Path, PathBuf};

/// One puzzle.
#[derive(Clone, Debug)]
pub struct Puzzle {
    /// `06_coalesce`
    stem: String,
    source: String,
    hints: PathBuf,
}

/// All puzzles in order.
pub fn puzzles(root: &Path) -> Result<Vec<Puzzle>> {
    let folder = root.join("book/puzzles");
    let exercises = folder.join("exercises");
    let context = || format!("cannot read {}", exercises.display());
    let mut puzzles = Vec::new();
    for entry in fs::read_dir(&exercises).with_context(context)? {
        let path = entry.with_context(context)?.path();
        let stem = path
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let source =
            fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        if !source.starts_with("//! # ") || !stem.contains('_') {
            bail!(
                "{}: a puzzle begins with `//! # ` and has a number and a name",
                path.display()
            );
        }
        let hints = folder.join("hints").join(format!("{stem}.md"));
        puzzles.push(Puzzle {
            stem,
            source,
            hints,
        });
    }
    puzzles.sort_by(|a, b| a.stem.cmp(&b.stem));
    if puzzles.is_empty() {
        bail!("{} has no puzzles", exercises.display());
    }
    Ok(puzzles)
}

impl Puzzle {
    /// The number and the name: `06_coalesce`.
    pub fn stem(&self) -> &str {
        &self.stem
    }

    /// The name: `coalesce`; also that of the function.
    pub fn name(&self) -> &str {
        self.stem
            .split_once('_')
            .map_or(&self.stem, |(_, name)| name)
    }

    /// The file's name: `06_coalesce.rs`.
    pub fn file(&self) -> String {
        format!("{}.rs", self.stem)
    }

    /// The unsolved puzzle.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// `06 Coalescing: neighbours load neighbours (make cheaper)`
    pub fn title(&self) -> &str {
        let first = self.source.lines().next().unwrap_or_default();
        first.trim_start_matches("//! # ")
    }

    /// The task: the file's first comment, without the title.
    pub fn task(&self) -> String {
        let comment = self
            .source
            .lines()
            .skip(1)
            .map_while(|line| line.strip_prefix("//!"));
        let lines: Vec<_> = comment
            .map(|line| line.strip_prefix(' ').unwrap_or(line))
            .collect();
        lines.join("\n").trim().to_owned()
    }

    /// The hints, at least one.
    pub fn hints(&self) -> Result<Vec<String>> {
        let text = fs::read_to_string(&self.hints)
            .with_context(|| format!("cannot read {}", self.hints.display()))?;
        Ok(text
            .split("\n---\n")
            .map(|hint| hint.trim().to_owned())
            .collect())
    }
}
