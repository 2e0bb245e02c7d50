//! `results.json` read back.

use std::io;
use std::path::{Path, PathBuf};

use serde_json::Value;
use thiserror::Error;

use crate::schema::{Results, SCHEMA};

/// Why a file is no `results.json`.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The system's words.
    #[error("cannot read {file}: {error}", file = .file.display())]
    Io {
        /// Which.
        file: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// It is something else.
    #[error("{file} is no results.json: {reason}; `cargo xtask bench --out DIR` writes one", file = .file.display())]
    Foreign {
        /// Which.
        file: PathBuf,
        /// Why.
        reason: String,
    },
}

/// The results that `bench --out` wrote.
pub fn read(file: &Path) -> Result<Results, ReadError> {
    let json = std::fs::read_to_string(file).map_err(|error| ReadError::Io {
        file: file.into(),
        error,
    })?;
    parse(&json).map_err(|reason| ReadError::Foreign {
        file: file.into(),
        reason,
    })
}

/// The error is the reason why these are no results.
pub fn parse(json: &str) -> Result<Results, String> {
    let value: Value = serde_json::from_str(json).map_err(|error| format!("not JSON ({error})"))?;
    // Another schema is named as such, rather than by the first field that differs.
    match value.get("schema").and_then(Value::as_str) {
        Some(SCHEMA) => serde_json::from_value(value).map_err(|error| error.to_string()),
        Some(other) => Err(format!("its schema is {other}, not {SCHEMA}")),
        None => Err(format!("it does not name the schema {SCHEMA}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example;

    #[test]
    fn a_profile_comes_back_and_so_does_its_absence() {
        let mut results = example::results();
        let json = serde_json::to_string(&results).unwrap();
        assert_eq!(parse(&json).unwrap().profiled, results.profiled);
        results.profiled.clear();
        let json = serde_json::to_string(&results).unwrap();
        assert!(!json.contains("profiled"), "as older files");
        assert!(parse(&json).unwrap().profiled.is_empty());
    }
}
