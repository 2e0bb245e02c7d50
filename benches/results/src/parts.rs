//! Records of reductions of parts of an array: `segments.json`, `axes.json`, `runs.json`, `growth.json` and `groups.json`
//! of the bench, and how they are shown.

mod groups;
mod table;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

pub use self::groups::{Distribution, Group, Groups};
#[cfg(feature = "report")]
pub(crate) use self::table::distinct;
pub use self::table::{growth_table, tables};
use crate::machine::Machine;
use crate::schema::{By, Peer};

/// One run of `segments`, `axes` or `runs`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Parts {
    /// When the run began, RFC 3339, UTC.
    pub date: String,
    /// The command line as typed.
    pub command_line: String,
    /// The computer.
    pub machine: Machine,
    /// The name of the device.
    pub device: String,
    /// The other libraries: their versions, or why they are absent. Empty without `--peers`.
    #[serde(default)]
    pub peers: Vec<Peer>,
    /// Other remarks for the reader, e.g. why a library has no time.
    #[serde(default)]
    pub notes: Vec<String>,
    /// The rounds of which the median is taken.
    pub rounds: usize,
    /// Each operator with each kind of parts.
    pub rows: Vec<Row>,
}

/// The times of an operator with one kind of parts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// `sum`, `arg_min` or `arg_max`
    pub op: String,
    /// `f32` or `f64`
    pub element: String,
    /// What is reduced: the lengths of segments, a shape and its axes, or the mean length of runs.
    pub parts: String,
    /// The number of items.
    pub n: usize,
    /// The number of results.
    pub results: usize,
    /// The bytes that are read and written.
    pub bytes: usize,
    /// The median time in microseconds of a read of as many bytes.
    pub read_us: f64,
    /// The median time of the call.
    pub call_us: f64,
    /// The median time of the call for rows of one length.
    pub rows_us: Option<f64>,
    /// The times of other libraries.
    #[serde(default)]
    pub peers: Vec<Timed>,
}

/// The time of another library.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Timed {
    /// The library.
    pub by: By,
    /// Which of our calls it is compared with.
    pub form: Form,
    /// Its median time in microseconds.
    pub us: f64,
}

/// A call of this library.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Form {
    /// The call for any segments, axes or runs.
    Call,
    /// The call for rows of one length.
    Rows,
}

impl Row {
    /// Our time in microseconds.
    pub fn us(&self, form: Form) -> Option<f64> {
        match form {
            Form::Call => Some(self.call_us),
            Form::Rows => self.rows_us,
        }
    }

    /// The time of another library in microseconds.
    pub fn peer_us(&self, by: By, form: Form) -> Option<f64> {
        let is_it = |timed: &&Timed| (timed.by, timed.form) == (by, form);
        self.peers.iter().find(is_it).map(|timed| timed.us)
    }

    /// Our time divided by that of another library.
    pub fn ratio(&self, by: By, form: Form) -> Option<f64> {
        Some(self.us(form)? / self.peer_us(by, form)?)
    }

    /// The bytes that a call reads and writes: rows have no offsets, which otherwise have 32 bits.
    fn bytes(&self, form: Form) -> usize {
        match form {
            Form::Call => self.bytes,
            Form::Rows => self.bytes - (self.results + 1) * size_of::<u32>(),
        }
    }

    /// The speed in GB/s of a call that takes this time.
    pub fn gb_per_s(&self, form: Form, us: f64) -> f64 {
        self.bytes(form) as f64 / us / 1e3
    }

    /// Our speed as a share of that of a read.
    pub fn share(&self, form: Form) -> Option<f64> {
        Some(self.gb_per_s(form, self.us(form)?) / self.gb_per_s(Form::Call, self.read_us))
    }
}

/// The records of one folder; a file that does not exist is `None`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Folder {
    /// `segments.json`
    pub segments: Option<Parts>,
    /// `axes.json`
    pub axes: Option<Parts>,
    /// `runs.json`
    pub runs: Option<Parts>,
    /// `growth.json`
    pub growth: Option<Parts>,
    /// `groups.json`
    pub groups: Option<Groups>,
}

impl Folder {
    /// Parses the records whose texts `read` finds by their names; the error names the file.
    ///
    /// # Errors
    ///
    /// Those of `read`; a text that is not such a record.
    pub fn parse(
        mut read: impl FnMut(&str) -> Result<Option<String>, String>,
    ) -> Result<Self, String> {
        fn parsed<T: for<'a> Deserialize<'a>>(
            name: &str,
            text: Result<Option<String>, String>,
        ) -> Result<Option<T>, String> {
            let parse = |text: String| serde_json::from_str(&text);
            let record = text?.map(parse).transpose();
            record.map_err(|error| format!("{name} is no record of the bench: {error}"))
        }
        Ok(Self {
            segments: parsed("segments.json", read("segments.json"))?,
            axes: parsed("axes.json", read("axes.json"))?,
            runs: parsed("runs.json", read("runs.json"))?,
            growth: parsed("growth.json", read("growth.json"))?,
            groups: parsed("groups.json", read("groups.json"))?,
        })
    }
}
