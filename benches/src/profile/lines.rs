//! The time of a launch by source line.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};
use warpfold_results::table;
use warpfold_results::words::thousands;

use super::launch::Launched;
use super::located::{Located, located};
use super::ncu::{EXECUTED, SAMPLES, SELECTED};
use super::pages;

/// The costs of a launch by source line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LineProfile {
    pub entry: String,
    pub n: usize,
    pub threads: u32,
    pub blocks: u32,
    /// The line with the most samples first.
    pub lines: Vec<Line>,
    /// Of instructions without a source line.
    pub without_line: Cost,
}

/// A source line and its cost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Line {
    /// Relative to the repository's root, if inside it.
    pub file: String,
    pub line: u32,
    #[serde(flatten)]
    pub cost: Cost,
}

/// The cost of instructions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cost {
    /// Executed warp instructions.
    pub instructions: u64,
    /// Samples in which a warp was at these instructions.
    pub samples: u64,
    /// Samples in which that warp was stalled.
    pub stalled: u64,
}

impl Cost {
    fn add(&mut self, count: impl Fn(&str) -> u64) {
        let samples = count(SAMPLES);
        self.instructions += count(EXECUTED);
        self.samples += samples;
        self.stalled += samples.saturating_sub(count(SELECTED));
    }

    fn minus(self, other: Cost) -> Cost {
        Cost {
            instructions: self.instructions.saturating_sub(other.instructions),
            samples: self.samples.saturating_sub(other.samples),
            stalled: self.stalled.saturating_sub(other.stalled),
        }
    }
}

/// The costs of each launch, from ncu's page of instructions by source line and its page of all instructions.
pub fn lined(launched: &Launched, page: &str, source: &str) -> Result<Vec<LineProfile>> {
    let located = located(page)?;
    let listings = pages::instructions(source)?;
    let each = launched.launches.iter();
    each.map(|launch| {
        let entry = launch.entry.as_str();
        let listing = listings.iter().find(|listing| listing.kernel == entry);
        let listing = listing.with_context(|| format!("ncu printed no instructions of {entry}"))?;
        let mut all = Cost::default();
        for instruction in &listing.instructions {
            all.add(|metric| instruction.count(metric));
        }
        let (lines, found) = by_line(located.iter().filter(|one| one.kernel == entry));
        ensure!(!lines.is_empty(), "ncu printed no lines of {entry}");
        Ok(LineProfile {
            entry: entry.to_owned(),
            n: launched.n,
            threads: launch.threads,
            blocks: launch.blocks,
            lines,
            without_line: all.minus(found),
        })
    })
    .collect()
}

/// The lines, the hottest first, and their total cost. ncu prints an instruction once for each file that has
/// its line; here it counts once.
fn by_line<'a>(located: impl Iterator<Item = &'a Located>) -> (Vec<Line>, Cost) {
    let mut seen = HashSet::new();
    let (mut lines, mut all) = (BTreeMap::<_, Cost>::new(), Cost::default());
    for one in located.filter(|one| seen.insert(&one.address)) {
        let cost = lines.entry((short(&one.file), one.line)).or_default();
        cost.add(|metric| one.count(metric));
        all.add(|metric| one.count(metric));
    }
    let mut lines: Vec<_> = lines
        .into_iter()
        .map(|((file, line), cost)| Line { file, line, cost })
        .collect();
    lines.sort_by_key(|line| std::cmp::Reverse((line.cost.samples, line.cost.instructions)));
    (lines, all)
}

/// The root of the repository that this program was built from.
fn root() -> &'static Path {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here)
}

fn short(file: &str) -> String {
    let path = Path::new(file);
    let path = path.strip_prefix(root()).unwrap_or(path);
    path.display().to_string()
}

/// The launches with their lines, as Markdown tables.
pub fn markdown(lined: &[LineProfile]) -> String {
    let mut files = Files::default();
    let mut text = format!("{COLUMNS}\n");
    for one in lined {
        let mut rows = Vec::new();
        for line in &one.lines {
            let location = format!("{}:{}", line.file, line.line);
            rows.push(row(location, line.cost, files.line(&line.file, line.line)));
        }
        if one.without_line != Cost::default() {
            rows.push(row("(no line)".into(), one.without_line, String::new()));
        }
        let heads = ["line", "instructions", "samples", "stalled", "source"];
        let table = table::markdown(heads, rows, 1..4);
        text += &format!(
            "\n### {}, {} elements, {} threads\n\n{table}\n",
            one.entry,
            thousands(one.n as u64),
            one.threads
        );
    }
    text
}

const COLUMNS: &str = "The hottest lines first. Instructions: executed warp instructions. Samples: how often \
a sampled warp was at the line. Stalled: the samples in which the warp was stalled.";

fn row(location: String, cost: Cost, source: String) -> [String; 5] {
    let [instructions, samples, stalled] =
        [cost.instructions, cost.samples, cost.stalled].map(thousands);
    [location, instructions, samples, stalled, source]
}

/// Source files, each read once.
#[derive(Default)]
struct Files(HashMap<String, Vec<String>>);

impl Files {
    /// The line's text, escaped for a Markdown table; empty if the source is not on this machine.
    fn line(&mut self, file: &str, line: u32) -> String {
        let lines = self.0.entry(file.to_owned()).or_insert_with(|| {
            let text = fs::read_to_string(root().join(file)).unwrap_or_default();
            text.lines().map(str::to_owned).collect()
        });
        let index = (line as usize).checked_sub(1);
        let text = index.and_then(|index| lines.get(index));
        text.map_or("", |text| text.trim()).replace('|', "\\|")
    }
}

#[cfg(test)]
mod tests {
    use super::super::launch::Launch;
    use super::*;

    /// Written by hand with ncu's columns: instructions of `reduce_2_sum_i32`, counts made up.
    fn lined() -> Vec<LineProfile> {
        let page =
            include_str!("testdata/lines.csv").replace("ROOT", &root().display().to_string());
        let launched = Launched {
            device: "a test".into(),
            n: 1 << 20,
            seed: 1,
            launches: vec![Launch {
                entry: "reduce_2_sum_i32".into(),
                threads: 256,
                blocks: 4096,
            }],
        };
        super::lined(&launched, &page, include_str!("testdata/lines-sass.csv")).unwrap()
    }

    #[test]
    fn lines_have_the_cost_of_their_instructions_the_hottest_first() {
        let [lined] = &lined()[..] else { panic!() };
        let lines: Vec<_> = lined
            .lines
            .iter()
            .map(|line| (line.file.as_str(), line.line, line.cost))
            .collect();
        let cost = |instructions, samples, stalled| Cost {
            instructions,
            samples,
            stalled,
        };
        let reduce_2 = "kernels-gpu/src/harris/reduce_2.rs";
        let expected = [
            (reduce_2, 53, cost(786_432, 300, 290)),
            (reduce_2, 42, cost(32_768, 70, 65)),
            ("kernels-gpu/src/op/sum.rs", 14, cost(262_144, 30, 10)),
        ];
        assert_eq!(lines, expected);
        assert_eq!(lined.without_line, cost(32_768, 5, 5));
    }

    #[test]
    fn the_table_has_the_line_and_its_text() {
        let text = markdown(&lined());
        let row = text
            .lines()
            .find(|row| row.contains("reduce_2.rs:53"))
            .unwrap();
        assert!(row.contains("786,432") && row.contains("290"), "{text}");
        let kernel = include_str!("../../../kernels-gpu/src/harris/reduce_2.rs");
        let line = kernel.lines().nth(53 - 1).unwrap().trim();
        assert!(row.contains(line), "the source's text: {row}");
        assert!(text.contains("(no line)"), "{text}");
    }

    #[test]
    fn a_kernel_without_lines_is_an_error() {
        let page = include_str!("testdata/lines.csv").replace("reduce_2_sum_i32", "another");
        let launched = Launched {
            device: "a test".into(),
            n: 1,
            seed: 1,
            launches: vec![Launch {
                entry: "reduce_2_sum_i32".into(),
                threads: 256,
                blocks: 1,
            }],
        };
        let error = super::lined(&launched, &page, include_str!("testdata/lines-sass.csv"));
        let error = error.unwrap_err().to_string();
        assert!(error.contains("no lines of reduce_2_sum_i32"), "{error}");
    }
}
