//! Parses ncu's page of instructions grouped by source line.
//!
//! For each file and kernel the page has a line with the file's path, one with the kernel's name and a
//! header. Then come the source lines, which have a number; below each are its instructions, which have an
//! address:
//!
//! ```text
//! "File Path","/repository/kernels-gpu/src/harris/reduce_2.rs"
//! "Function Name","reduce_2_sum_i32"
//! "Line No","Source","Address","Source","inst_executed"
//! "53","scratch.set(tid, O::combine(scratch.get(tid), ..","-","-","786432"
//! "","","0x7fb0257bcac0","@!P0 LDS R4, [R5]","262144"
//! ```
//!
//! The other columns of a source line are ignored: its counts are the sums of those below it, and quotes in
//! its text are not escaped.

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail, ensure};
use csv::{ReaderBuilder, StringRecord};

use super::ncu::{EXECUTED, SAMPLES, SELECTED};
use super::pages::number;

/// An instruction with its source line and its counts.
#[derive(Debug, PartialEq)]
pub struct Located {
    pub kernel: String,
    pub file: String,
    pub line: u32,
    pub address: String,
    values: BTreeMap<String, f64>,
}

impl Located {
    /// The value of a metric; 0 if it does not apply.
    pub fn count(&self, metric: &str) -> u64 {
        self.values.get(metric).map_or(0, |&value| value as u64)
    }
}

/// All instructions that have source lines.
pub fn located(page: &str) -> Result<Vec<Located>> {
    let mut located = Vec::new();
    let (mut file, mut kernel) = (None, None);
    let (mut header, mut line) = (None, None);
    for text in page.lines().filter(|text| is_of_page(text)) {
        let record = record(text)?;
        let (first, second) = (record.get(0).unwrap_or(""), record.get(1).unwrap_or(""));
        match first {
            "File Path" => (file, header, line) = (Some(second.to_owned()), None, None),
            "Function Name" | "Kernel Name" => {
                (kernel, header, line) = (Some(second.to_owned()), None, None);
            }
            "Line No" => header = Some(Header::of(record)?),
            "Address" => bail!("{NO_LINES}"),
            _ => {
                let header: &Header = header
                    .as_ref()
                    .with_context(|| format!("ncu printed a line outside of a listing: {text}"))?;
                if let Ok(number) = first.parse() {
                    line = Some(number);
                }
                let is_complete = record.len() == header.names.len();
                let Some((address, values)) = header.instruction(&record).filter(|_| is_complete)
                else {
                    ensure!(
                        line.is_some(),
                        "ncu printed neither a source line nor an instruction: {text}"
                    );
                    let is_truncated = first.is_empty() && !is_complete;
                    ensure!(!is_truncated, "ncu printed an incomplete line: {text}");
                    continue;
                };
                let incomplete =
                    || format!("ncu printed an instruction without kernel, file or line: {text}");
                located.push(Located {
                    kernel: kernel.clone().with_context(incomplete)?,
                    file: file.clone().with_context(incomplete)?,
                    line: line.with_context(incomplete)?,
                    address,
                    values,
                });
            }
        }
    }
    ensure!(!located.is_empty(), "{NO_LINES}");
    Ok(located)
}

const NO_LINES: &str = "ncu found no source lines: build the kernels with line numbers, by \
`cargo xtask profile --lines`";

/// Whether a line is neither empty nor a message of ncu.
fn is_of_page(text: &str) -> bool {
    !text.trim().is_empty() && !text.starts_with("==")
}

/// Parses one line alone, so that an unescaped quote affects no other line.
fn record(text: &str) -> Result<StringRecord> {
    let mut reader = ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .from_reader(text.as_bytes());
    let record = reader.records().next();
    Ok(record.context("an empty line")??)
}

/// The columns of a listing.
struct Header {
    names: StringRecord,
    address: usize,
}

impl Header {
    fn of(names: StringRecord) -> Result<Self> {
        let column = |name: &str| {
            let index = names.iter().position(|other| other == name);
            index.with_context(|| {
                let names: Vec<_> = names.iter().collect();
                format!(
                    "ncu printed no column {name}; its columns are {}",
                    names.join(", ")
                )
            })
        };
        let address = column("Address")?;
        for metric in [EXECUTED, SAMPLES, SELECTED] {
            column(metric)?;
        }
        Ok(Self { names, address })
    }

    /// The address and the numeric columns; `None` for a source line.
    fn instruction(&self, record: &StringRecord) -> Option<(String, BTreeMap<String, f64>)> {
        let address = record.get(self.address)?;
        if !address.starts_with("0x") {
            return None;
        }
        let columns = self.names.iter().zip(record).skip(self.address + 1);
        let number = |(name, text): (&str, &str)| Some((name.to_owned(), number(text)?));
        Some((address.to_owned(), columns.filter_map(number).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Written by hand, see `lines.rs`.
    const PAGE: &str = include_str!("testdata/lines.csv");

    #[test]
    fn instructions_have_the_line_above_them() {
        let located = located(PAGE).unwrap();
        let lines: Vec<_> = located
            .iter()
            .map(|one| (one.line, one.address.as_str(), one.count(EXECUTED)))
            .collect();
        assert_eq!(lines[0], (42, "0x7fb0257bc9e0", 32_768));
        assert_eq!(lines[1], (53, "0x7fb0257bcac0", 262_144));
        assert!(located.iter().all(|one| one.kernel == "reduce_2_sum_i32"));
        assert!(located[1].file.ends_with("reduce_2.rs"));
        assert_eq!(located[1].count(SAMPLES), 100);
    }

    #[test]
    fn the_error_for_an_invalid_page_quotes_it() {
        let error = |page: &str| located(page).unwrap_err().to_string();
        assert!(error("").contains("--lines"));
        assert!(error("\"Kernel Name\",\"k\"\n\"Address\",\"Source\"\n").contains("--lines"));
        let header = "\"Line No\",\"Source\",\"Address\",\"Source\",\"# Samples\"\n";
        let text = error(header);
        assert!(
            text.contains("inst_executed") && text.contains("# Samples"),
            "{text}"
        );
        let text = error("\"#\",\"Source\",\"Samples\"\n");
        assert!(text.contains("\"#\",\"Source\",\"Samples\""), "{text}");
        let text = error(&PAGE.replace("\"41\"", "\"\""));
        assert!(text.contains("neither a source line"), "{text}");
        let text = error(&PAGE.replace(",\"100\",\"2\"", ""));
        assert!(text.contains("an incomplete line"), "{text}");
    }
}
