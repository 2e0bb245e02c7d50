//! What the learner has solved, in a file of the learner's folder.

use super::Puzzle;
use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

/// The file's name.
const FILE: &str = ".progress.json";

/// What is solved, by the puzzles' names.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Progress {
    /// The index of the current puzzle.
    pub current: usize,
    /// The solved puzzles.
    pub solved: BTreeSet<String>,
    /// How many hints were given.
    pub hints: BTreeMap<String, usize>,
}

impl Progress {
    /// The progress in this folder; none if there is no file.
    pub fn load(folder: &Path) -> Result<Self> {
        let path = folder.join(FILE);
        match fs::read_to_string(&path) {
            Ok(text) => serde_json::from_str(&text).with_context(|| {
                format!("{} is damaged; delete it to begin again", path.display())
            }),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(error).with_context(|| format!("cannot read {}", path.display())),
        }
    }

    /// Writes the file.
    pub fn save(&self, folder: &Path) -> Result<()> {
        let path = folder.join(FILE);
        let text = serde_json::to_string_pretty(self).context("cannot write the progress")?;
        fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))
    }

    /// How many of these puzzles are solved.
    pub fn count(&self, puzzles: &[Puzzle]) -> usize {
        let solved = |puzzle: &&Puzzle| self.solved.contains(puzzle.name());
        puzzles.iter().filter(solved).count()
    }
}
