//! Reading `results.json`.

use std::io;
use std::path::{Path, PathBuf};

use serde_json::Value;
use thiserror::Error;

use crate::schema::{Results, SCHEMA};

/// Why a `results.json` cannot be read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The system cannot read the file.
    #[error("cannot read {file}: {error}", file = .file.display())]
    Io {
        /// The file.
        file: PathBuf,
        /// The system's error.
        error: io::Error,
    },
    /// The contents have another format.
    #[error(
        "{file} is not a results.json: {reason}; `cargo xtask bench --out DIR` writes one",
        file = .file.display()
    )]
    Foreign {
        /// The file.
        file: PathBuf,
        /// What is wrong with the contents.
        reason: String,
    },
}

/// Reads the results that `bench --out` wrote.
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

/// Parses the contents of a `results.json`; the error says what is wrong with them.
pub fn parse(json: &str) -> Result<Results, String> {
    let value: Value = serde_json::from_str(json).map_err(|error| format!("not JSON ({error})"))?;
    // The schema is checked first: the error then names it, not the first field that differs.
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
    fn a_profile_and_its_absence_can_be_read_back() {
        let mut results = example::results();
        let json = serde_json::to_string(&results).unwrap();
        assert_eq!(parse(&json).unwrap().profiled, results.profiled);
        results.profiled.clear();
        let json = serde_json::to_string(&results).unwrap();
        assert!(!json.contains("profiled"), "as in older files");
        assert!(parse(&json).unwrap().profiled.is_empty());
    }
}
