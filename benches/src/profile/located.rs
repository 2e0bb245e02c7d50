//! ncu's page of instructions below the lines of source that they come from, read.
//!
//! For each file and kernel a line with the file's path, one with the kernel's name, a header, and then
//! the lines of source, which have a number, and below each its instructions, which have an address:
//!
//! ```text
//! "File Path","/repository/kernels-gpu/src/harris/reduce_2.rs"
//! "Function Name","reduce_2_sum_i32"
//! "Line No","Source","Address","Source","inst_executed"
//! "53","scratch.set(tid, O::combine(scratch.get(tid), ..","-","-","786432"
//! "","","0x7fb0257bcac0","@!P0 LDS R4, [R5]","262144"
//! ```
//!
//! What stands behind a line's number is not read: it is the sum of what stands below it, and its text is
//! printed with quotes in quotes.

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail, ensure};
use csv::{ReaderBuilder, StringRecord};

use super::ncu::{EXECUTED, SAMPLES, SELECTED};
use super::pages::number;

/// An instruction, with its line and what was counted of it.
#[derive(Debug, PartialEq)]
pub struct Located {
    pub kernel: String,
    pub file: String,
    pub line: u32,
    pub address: String,
    values: BTreeMap<String, f64>,
}

impl Located {
    /// Zero where the metric does not apply.
    pub fn count(&self, metric: &str) -> u64 {
        self.values.get(metric).map_or(0, |&value| value as u64)
    }
}

/// The instructions of all kernels that have lines.
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
                    .with_context(|| format!("ncu printed outside of a listing: {text}"))?;
                if let Ok(number) = first.parse() {
                    line = Some(number);
                }
                let whole = record.len() == header.names.len();
                let Some((address, values)) = header.instruction(&record).filter(|_| whole) else {
                    ensure!(
                        line.is_some(),
                        "ncu printed neither a line nor an instruction: {text}"
                    );
                    let is_cut = first.is_empty() && !whole;
                    ensure!(!is_cut, "ncu printed half a line: {text}");
                    continue;
                };
                let of = || format!("ncu printed an instruction without its place: {text}");
                located.push(Located {
                    kernel: kernel.clone().with_context(of)?,
                    file: file.clone().with_context(of)?,
                    line: line.with_context(of)?,
                    address,
                    values,
                });
            }
        }
    }
    ensure!(!located.is_empty(), "{NO_LINES}");
    Ok(located)
}

const NO_LINES: &str = "ncu found no lines of source: the kernels need line numbers, with which \
`cargo xtask profile --lines` builds them";

/// Not an empty line, and none of ncu's own remarks.
fn is_of_page(text: &str) -> bool {
    !text.trim().is_empty() && !text.starts_with("==")
}

/// One line at a time: a quote in a line's text spoils no other.
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
        let place = |name: &str| {
            let at = names.iter().position(|column| column == name);
            at.with_context(|| {
                let names: Vec<_> = names.iter().collect();
                format!("ncu printed no column {name}, but {}", names.join(", "))
            })
        };
        let address = place("Address")?;
        for metric in [EXECUTED, SAMPLES, SELECTED] {
            place(metric)?;
        }
        Ok(Self { names, address })
    }

    /// The address, and the columns that hold numbers.
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

    /// Made by hand, see `lines.rs`.
    const PAGE: &str = include_str!("testdata/lines.csv");

    #[test]
    fn instructions_have_the_line_above_them() {
        let located = located(PAGE).unwrap();
        let places: Vec<_> = located
            .iter()
            .map(|one| (one.line, one.address.as_str(), one.count(EXECUTED)))
            .collect();
        assert_eq!(places[0], (42, "0x7fb0257bc9e0", 32_768));
        assert_eq!(places[1], (53, "0x7fb0257bcac0", 262_144));
        assert!(located.iter().all(|one| one.kernel == "reduce_2_sum_i32"));
        assert!(located[1].file.ends_with("reduce_2.rs"));
        assert_eq!(located[1].count(SAMPLES), 100);
    }

    #[test]
    fn what_is_no_such_page_is_an_error_that_shows_it() {
        let error = |page: &str| located(page).unwrap_err().to_string();
        assert!(error("").contains("--lines"));
        assert!(error("\"Kernel Name\",\"k\"\n\"Address\",\"Source\"\n").contains("--lines"));
        let header = "\"Line No\",\"Source\",\"Address\",\"Source\",\"# Samples\"\n";
        let said = error(header);
        assert!(
            said.contains("inst_executed") && said.contains("# Samples"),
            "{said}"
        );
        let said = error("\"#\",\"Source\",\"Samples\"\n");
        assert!(said.contains("\"#\",\"Source\",\"Samples\""), "{said}");
        let said = error(&PAGE.replace("\"41\"", "\"\""));
        assert!(said.contains("neither a line"), "{said}");
        let said = error(&PAGE.replace(",\"100\",\"2\"", ""));
        assert!(said.contains("half a line"), "{said}");
    }
}
