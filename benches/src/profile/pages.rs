//! Parses ncu's CSV pages.

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail, ensure};
use csv::{ReaderBuilder, StringRecord};

/// The metrics of one launch: a line of the raw page.
#[derive(Debug, PartialEq)]
pub struct Measured {
    pub kernel: String,
    pub threads: u32,
    pub blocks: u32,
    values: BTreeMap<String, f64>,
}

/// A listing of the source page: the instructions of one launch.
#[derive(Debug, PartialEq)]
pub struct Listing {
    pub kernel: String,
    pub instructions: Vec<Instruction>,
}

/// An instruction with its counts.
#[derive(Clone, Debug, PartialEq)]
pub struct Instruction {
    /// The disassembly: `@!P0 LDS R4, [R11]`.
    pub text: String,
    values: BTreeMap<String, f64>,
}

impl Measured {
    pub fn get(&self, metric: &str) -> Result<f64> {
        let value = self.values.get(metric).copied();
        value.with_context(|| format!("ncu did not measure {metric} of {}", self.kernel))
    }

    pub fn count(&self, metric: &str) -> Result<u64> {
        Ok(self.get(metric)? as u64)
    }

    /// `None` for a ratio whose denominator is zero.
    pub fn ratio(&self, metric: &str) -> Option<f64> {
        self.values
            .get(metric)
            .copied()
            .filter(|value| value.is_finite())
    }
}

impl Instruction {
    /// The opcode without modifiers: `LDS`.
    pub fn opcode(&self) -> &str {
        let word = self
            .text
            .split_whitespace()
            .find(|word| !word.starts_with('@'));
        word.and_then(|word| word.split('.').next()).unwrap_or("")
    }

    /// The value of a metric; 0 if it does not apply.
    pub fn count(&self, metric: &str) -> u64 {
        self.values.get(metric).map_or(0, |&value| value as u64)
    }
}

/// Parses the raw page: a header, a line of units, a line for each launch.
pub fn launches(csv: &str) -> Result<Vec<Measured>> {
    let mut records = reader(csv);
    let header = records.next().context("ncu printed no launches")??;
    records.next().context("ncu printed no units")??;
    let launch = |record: csv::Result<StringRecord>| {
        let record = record?;
        let field = |name: &str| {
            let at = header.iter().position(|column| column == name);
            at.and_then(|at| record.get(at))
                .with_context(|| format!("ncu printed no column {name}"))
        };
        Ok(Measured {
            kernel: field("Kernel Name")?.to_owned(),
            threads: extent(field("Block Size")?)?,
            blocks: extent(field("Grid Size")?)?,
            values: values(&header, &record),
        })
    };
    records.map(launch).collect()
}

/// Parses the source page: for each launch a line with the kernel's name, a header and a line for each
/// instruction. ncu prints every listing twice; the second is dropped.
pub fn instructions(csv: &str) -> Result<Vec<Listing>> {
    let mut listings: Vec<Listing> = Vec::new();
    let mut header = None;
    for record in reader(csv) {
        let record = record?;
        match (record.get(0), record.get(1)) {
            (Some("Kernel Name"), Some(kernel)) => {
                header = None;
                drop_repeated(&mut listings);
                listings.push(Listing {
                    kernel: kernel.to_owned(),
                    instructions: Vec::new(),
                });
            }
            (Some("Address"), _) => header = Some(record),
            (_, Some(text)) => {
                let (Some(header), Some(listing)) = (&header, listings.last_mut()) else {
                    bail!("ncu printed an instruction outside a listing: {text}");
                };
                ensure!(
                    record.len() == header.len(),
                    "ncu printed an incomplete line: {text}"
                );
                listing.instructions.push(Instruction {
                    text: text.split_whitespace().collect::<Vec<_>>().join(" "),
                    values: values(header, &record),
                });
            }
            _ => {}
        }
    }
    drop_repeated(&mut listings);
    Ok(listings)
}

fn drop_repeated(listings: &mut Vec<Listing>) {
    if let [.., first, second] = listings.as_slice()
        && first == second
    {
        listings.pop();
    }
}

/// The source page without the repeated listings.
pub fn without_copies(csv: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in split_before(csv, "\"Kernel Name\"") {
        if parts.last() != Some(&part) {
            parts.push(part);
        }
    }
    parts.concat()
}

/// Splits `text` before each line that begins with `start`.
fn split_before<'a>(text: &'a str, start: &str) -> Vec<&'a str> {
    let mut cuts = vec![0];
    let line_starts = text.match_indices('\n').map(|(at, _)| at + 1);
    cuts.extend(line_starts.filter(|&at| text[at..].starts_with(start)));
    cuts.push(text.len());
    cuts.windows(2).map(|cut| &text[cut[0]..cut[1]]).collect()
}

fn reader(csv: &str) -> impl Iterator<Item = csv::Result<StringRecord>> {
    ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .from_reader(csv.as_bytes())
        .into_records()
}

/// The numeric columns.
fn values(header: &StringRecord, record: &StringRecord) -> BTreeMap<String, f64> {
    let columns = header.iter().zip(record);
    let number = |(name, text): (&str, &str)| Some((name.to_owned(), number(text)?));
    columns.filter_map(number).collect()
}

/// Parses a number, also with grouped digits: `131072.000000`, `393,251`.
pub fn number(text: &str) -> Option<f64> {
    text.replace(',', "").parse().ok()
}

/// Parses the first number of `(256, 1, 1)`.
fn extent(text: &str) -> Result<u32> {
    let numbers = text.trim_matches(['(', ')']);
    let first = numbers.split(',').next().unwrap_or_default().trim();
    let context = || format!("ncu printed an invalid grid or block size: {text}");
    first.parse().with_context(context)
}

#[cfg(test)]
mod tests {
    use super::*;

    const RAW: &str = include_str!("testdata/raw.csv");
    const SOURCE: &str = include_str!("testdata/source.csv");

    #[test]
    fn launches_have_their_shape_and_their_metrics() {
        let launches = launches(RAW).unwrap();
        let shapes: Vec<_> = launches
            .iter()
            .map(|launch| (launch.kernel.as_str(), launch.threads, launch.blocks))
            .collect();
        assert_eq!(
            shapes,
            [
                ("reduce_1_sum_i32", 256, 4096),
                ("reduce_2_sum_i32", 256, 4096),
                ("reduce_0_sum_f64", 256, 4096)
            ]
        );
        let sectors = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum";
        assert_eq!(launches[0].count(sectors).unwrap(), 131_072);
        let wavefronts = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum";
        assert_eq!(launches[0].count(wavefronts).unwrap(), 394_189);
        assert!(launches[0].get("no_such_metric").is_err());
    }

    #[test]
    fn a_listing_that_is_printed_twice_is_read_once() {
        let kept = without_copies(SOURCE);
        for csv in [SOURCE, &kept] {
            let listings = instructions(csv).unwrap();
            let kernels: Vec<_> = listings.iter().map(|l| l.kernel.as_str()).collect();
            assert_eq!(
                kernels,
                ["reduce_1_sum_i32", "reduce_2_sum_i32", "reduce_0_sum_f64"]
            );
        }
        assert!(kept.len() < SOURCE.len() * 6 / 10);
    }

    #[test]
    fn instructions_have_opcodes_and_counts() {
        let listings = instructions(SOURCE).unwrap();
        let loads: Vec<_> = listings[0]
            .instructions
            .iter()
            .filter(|instruction| instruction.opcode() == "LDS")
            .collect();
        assert_eq!(loads.len(), 3);
        assert_eq!(loads[0].text, "@!P0 LDS R4, [R5]");
        assert_eq!(loads[0].count("inst_executed"), 262_144);
        assert_eq!(loads[0].count("thread_inst_executed_true"), 1_044_480);
        assert_eq!(loads[0].count("memory_l1_wavefronts_shared"), 192_512);
        assert_eq!(loads[0].count("memory_l1_wavefronts_shared_ideal"), 49_152);
    }

    #[test]
    fn an_invalid_page_is_an_error() {
        assert!(launches("").is_err());
        assert!(launches("\"ID\"\n\"\"\n\"0\"\n").is_err());
        assert!(instructions("\"0x0\",\"NOP\"\n").is_err());
    }
}
