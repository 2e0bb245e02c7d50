//! The results as text and as JSON.

use std::io::{self, Write};

use serde::Serialize;

use crate::parts::Results;
use crate::value::Value;

/// A result. The JSON does not contain the variant's name.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum Answer {
    Number(Value),
    Extrema {
        min: Value,
        max: Value,
    },
    Indexed {
        index: u64,
        value: Value,
    },
    Cells {
        cells: Vec<Value>,
        /// The number of elements whose key has no cell.
        rejected: u64,
    },
    /// The groups, an element of each column for each group.
    Groups(Vec<Column>),
    /// Groups that were written to a file.
    WrittenGroups {
        output: String,
        groups: usize,
    },
    /// Cells that were written to a file.
    Written {
        output: String,
        cells: usize,
        rejected: u64,
    },
    /// A result for each part of the array.
    Parts(Results),
    /// Such results that were written to a file.
    Saved {
        output: String,
        shape: Vec<usize>,
    },
}

impl<T: Into<Value>> From<T> for Answer {
    fn from(number: T) -> Self {
        Self::Number(number.into())
    }
}

impl Answer {
    /// The lines of the text output.
    fn lines(&self) -> Vec<String> {
        match self {
            Self::Number(value) => vec![value.to_string()],
            Self::Extrema { min, max } => vec![format!("{min} {max}")],
            Self::Indexed { index, value } => vec![format!("{index} {value}")],
            Self::Cells { cells, .. } => cells.iter().map(Value::to_string).collect(),
            Self::Parts(results) => results.lines(),
            Self::Groups(columns) => {
                let rows = columns.first().map_or(0, |column| column.values.len());
                let row = |row: usize| {
                    let values = columns.iter().map(|column| column.values[row].to_string());
                    values.collect::<Vec<_>>().join(" ")
                };
                (0..rows).map(row).collect()
            }
            Self::Written { .. } | Self::Saved { .. } | Self::WrittenGroups { .. } => vec![],
        }
    }
}

/// A name and the values of all groups.
#[derive(Debug, Serialize)]
pub struct Column {
    pub name: &'static str,
    pub values: Vec<Value>,
}

impl Column {
    pub fn new<T: Into<Value>>(name: &'static str, values: Vec<T>) -> Self {
        let values = values.into_iter().map(Into::into).collect();
        Self { name, values }
    }
}

/// The names of an array's files; in JSON `"file": FILE` or `"files": [FILE, ..]`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum FileNames {
    File(String),
    Files(Vec<String>),
}

/// The output of `--json`.
#[derive(Debug, Serialize)]
pub struct Report {
    pub op: &'static str,
    #[serde(flatten)]
    pub file: FileNames,
    pub dtype: &'static str,
    /// The number of elements.
    pub n: usize,
    pub result: Answer,
    /// What is promised about the bits of the result: `fast`, `reproducible` or `exact`.
    pub determinism: &'static str,
    /// The version of the order in which `reproducible` results are combined.
    pub order_version: u32,
    pub device: String,
    /// The number of ranks, if there are several. The numbers below are those of rank 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ranks: Option<usize>,
    /// The time from the start of the command to its result.
    pub seconds: f64,
    pub seconds_reading: f64,
    /// The number of bytes read.
    pub bytes: u64,
    pub chunk_bytes: u64,
}

impl Report {
    /// Writes JSON or text; with `each`, lines of text end with the file's name.
    pub fn write(&self, json: bool, each: bool, to: &mut dyn Write) -> io::Result<()> {
        if json {
            serde_json::to_writer(&mut *to, self)?;
            return writeln!(to);
        }
        for line in self.result.lines() {
            match &self.file {
                FileNames::File(file) if each => writeln!(to, "{line} {file}"),
                _ => writeln!(to, "{line}"),
            }?;
        }
        Ok(())
    }
}
