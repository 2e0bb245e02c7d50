//! What is printed.

use std::io::{self, Write};

use serde::Serialize;

use crate::value::Value;

/// A result. In JSON without the variant's name.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum Answer {
    Number(Value),
    Extrema {
        min: Value,
        max: Value,
    },
    Place {
        index: u64,
        value: Value,
    },
    Cells {
        cells: Vec<Value>,
        /// The number of elements whose key is not that of a cell.
        rejected: u64,
    },
    /// Cells in a file.
    Written {
        output: String,
        cells: usize,
        rejected: u64,
    },
}

impl<T: Into<Value>> From<T> for Answer {
    fn from(number: T) -> Self {
        Self::Number(number.into())
    }
}

impl Answer {
    /// As text, line by line.
    fn lines(&self) -> Vec<String> {
        match self {
            Self::Number(value) => vec![value.to_string()],
            Self::Extrema { min, max } => vec![format!("{min} {max}")],
            Self::Place { index, value } => vec![format!("{index} {value}")],
            Self::Cells { cells, .. } => cells.iter().map(Value::to_string).collect(),
            Self::Written { .. } => vec![],
        }
    }
}

/// The files of an array: in JSON `"file": FILE` or `"files": [FILE, ..]`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Named {
    File(String),
    Files(Vec<String>),
}

/// All that `--json` prints.
#[derive(Debug, Serialize)]
pub struct Report {
    pub op: &'static str,
    #[serde(flatten)]
    pub file: Named,
    pub dtype: &'static str,
    /// The number of elements.
    pub n: usize,
    pub result: Answer,
    pub device: String,
    /// From the start of the command to its result.
    pub seconds: f64,
    pub seconds_reading: f64,
    /// The number of bytes read.
    pub bytes: u64,
    pub chunk_bytes: u64,
}

impl Report {
    /// As JSON, or as text; with `each`, the file's name is at the end of each line of text.
    pub fn write(&self, json: bool, each: bool, to: &mut dyn Write) -> io::Result<()> {
        if json {
            serde_json::to_writer(&mut *to, self)?;
            return writeln!(to);
        }
        for line in self.result.lines() {
            match &self.file {
                Named::File(file) if each => writeln!(to, "{line} {file}"),
                _ => writeln!(to, "{line}"),
            }?;
        }
        Ok(())
    }
}
