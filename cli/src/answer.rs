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
        /// Elements whose key names no cell.
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

/// All that `--json` prints.
#[derive(Debug, Serialize)]
pub struct Report {
    pub op: &'static str,
    pub file: String,
    pub dtype: &'static str,
    /// Elements.
    pub n: usize,
    pub result: Answer,
    pub device: String,
    /// From the start of the program on.
    pub seconds: f64,
    pub seconds_reading: f64,
    /// That were read.
    pub bytes: u64,
    pub chunk_bytes: u64,
}

impl Report {
    pub fn write(&self, json: bool, to: &mut impl Write) -> io::Result<()> {
        if json {
            serde_json::to_writer(&mut *to, self)?;
            return writeln!(to);
        }
        match &self.result {
            Answer::Number(value) => writeln!(to, "{value}"),
            Answer::Extrema { min, max } => writeln!(to, "{min} {max}"),
            Answer::Place { index, value } => writeln!(to, "{index} {value}"),
            Answer::Cells { cells, .. } => cells.iter().try_for_each(|cell| writeln!(to, "{cell}")),
            Answer::Written { .. } => Ok(()),
        }
    }
}
