//! What a run leaves in its folder.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use warpfold_results::schema::Results;

use super::options::SweepOptions;
use super::{OrRefuse, refuse};
use crate::say;

/// Where the results go, and what they are compared with.
pub struct Output {
    folder: PathBuf,
}

impl Output {
    /// Fails before the measuring, not after it.
    pub fn open(options: &SweepOptions) -> Result<Self> {
        let folder = options.out.clone();
        let shown = folder.display();
        fs::create_dir_all(&folder).or_refuse(|| format!("cannot make the folder {shown}"))?;
        if let Err(error) = tempfile::tempfile_in(&folder) {
            return Err(refuse(format!("cannot write in {shown}: {error}")));
        }
        Ok(Self { folder })
    }

    /// Writes everything. Whether all answers were right, and nothing slower than it may be.
    pub fn write(&self, results: &Results) -> Result<bool> {
        let json = serde_json::to_string(results)? + "\n";
        let file = self.save("results.json", &json)?;
        say(&format!("results: {}", file.display()))?;
        Ok(results.is_right())
    }

    fn save(&self, name: &str, text: &str) -> Result<PathBuf> {
        let file = self.folder.join(Path::new(name));
        fs::write(&file, text).with_context(|| format!("cannot write {}", file.display()))?;
        Ok(file)
    }
}
