//! Where the time of a launch goes, by lines of source.

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

/// A launch, line by line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Lined {
    pub entry: String,
    pub n: usize,
    pub threads: u32,
    pub blocks: u32,
    /// The hottest first.
    pub lines: Vec<Line>,
    /// Of instructions that come from no line.
    pub without_line: Heat,
}

/// A line of source.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Line {
    /// From the repository's root, where it lies below that.
    pub file: String,
    pub line: u32,
    #[serde(flatten)]
    pub heat: Heat,
}

/// What instructions cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Heat {
    /// Warp instructions that were executed.
    pub instructions: u64,
    /// How often a warp was met there, of all times that somebody looked.
    pub samples: u64,
    /// Of those, how often it was stalled.
    pub stalled: u64,
}

impl Heat {
    fn add(&mut self, count: impl Fn(&str) -> u64) {
        let samples = count(SAMPLES);
        self.instructions += count(EXECUTED);
        self.samples += samples;
        self.stalled += samples.saturating_sub(count(SELECTED));
    }

    fn less(self, other: Heat) -> Heat {
        Heat {
            instructions: self.instructions.saturating_sub(other.instructions),
            samples: self.samples.saturating_sub(other.samples),
            stalled: self.stalled.saturating_sub(other.stalled),
        }
    }
}

/// What was launched, from the pages of instructions below their lines and of all instructions.
pub fn lined(launched: &Launched, page: &str, source: &str) -> Result<Vec<Lined>> {
    let located = located(page)?;
    let listings = pages::instructions(source)?;
    let each = launched.launches.iter();
    each.map(|launch| {
        let entry = launch.entry.as_str();
        let listing = listings.iter().find(|listing| listing.kernel == entry);
        let listing = listing.with_context(|| format!("ncu printed no instructions of {entry}"))?;
        let mut all = Heat::default();
        for instruction in &listing.instructions {
            all.add(|metric| instruction.count(metric));
        }
        let (lines, found) = by_line(located.iter().filter(|one| one.kernel == entry));
        ensure!(!lines.is_empty(), "ncu printed no lines of {entry}");
        Ok(Lined {
            entry: entry.to_owned(),
            n: launched.n,
            threads: launch.threads,
            blocks: launch.blocks,
            lines,
            without_line: all.less(found),
        })
    })
    .collect()
}

/// The hottest first; and what they come to. ncu prints an instruction again where another file has its
/// line, too; it counts once.
fn by_line<'a>(located: impl Iterator<Item = &'a Located>) -> (Vec<Line>, Heat) {
    let mut seen = HashSet::new();
    let (mut lines, mut all) = (BTreeMap::<_, Heat>::new(), Heat::default());
    for one in located.filter(|one| seen.insert(&one.address)) {
        let heat = lines.entry((short(&one.file), one.line)).or_default();
        heat.add(|metric| one.count(metric));
        all.add(|metric| one.count(metric));
    }
    let mut lines: Vec<_> = lines
        .into_iter()
        .map(|((file, line), heat)| Line { file, line, heat })
        .collect();
    lines.sort_by_key(|line| std::cmp::Reverse((line.heat.samples, line.heat.instructions)));
    (lines, all)
}

/// The repository that this was built from, where it still is.
fn root() -> &'static Path {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here)
}

fn short(file: &str) -> String {
    let path = Path::new(file);
    let path = path.strip_prefix(root()).unwrap_or(path);
    path.display().to_string()
}

/// The launches for people, each with its lines.
pub fn markdown(lined: &[Lined]) -> String {
    let mut files = Files::default();
    let mut text = format!("{COLUMNS}\n");
    for one in lined {
        let mut rows = Vec::new();
        for line in &one.lines {
            let place = format!("{}:{}", line.file, line.line);
            rows.push(row(place, line.heat, files.line(&line.file, line.line)));
        }
        if one.without_line != Heat::default() {
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

const COLUMNS: &str = "The hottest lines first. Instructions: of warps, that were executed. Samples: how \
often a warp was met there. Stalled: of those, how often it could not go on.";

fn row(place: String, heat: Heat, source: String) -> [String; 5] {
    let [instructions, samples, stalled] =
        [heat.instructions, heat.samples, heat.stalled].map(thousands);
    [place, instructions, samples, stalled, source]
}

/// Source files, each read once.
#[derive(Default)]
struct Files(HashMap<String, Vec<String>>);

impl Files {
    /// As a cell of a Markdown table; empty where the source is not on this machine.
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

    /// Made by hand after the columns that ncu is known to print; the instructions are those of
    /// `reduce_2_sum_i32`, the figures are not.
    fn lined() -> Vec<Lined> {
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
    fn lines_have_what_their_instructions_cost_the_hottest_first() {
        let [lined] = &lined()[..] else { panic!() };
        let lines: Vec<_> = lined
            .lines
            .iter()
            .map(|line| (line.file.as_str(), line.line, line.heat))
            .collect();
        let heat = |instructions, samples, stalled| Heat {
            instructions,
            samples,
            stalled,
        };
        let reduce_2 = "kernels-gpu/src/harris/reduce_2.rs";
        let expected = [
            (reduce_2, 53, heat(786_432, 300, 290)),
            (reduce_2, 42, heat(32_768, 70, 65)),
            ("kernels-gpu/src/op/sum.rs", 14, heat(262_144, 30, 10)),
        ];
        assert_eq!(lines, expected);
        assert_eq!(lined.without_line, heat(32_768, 5, 5));
    }

    #[test]
    fn people_see_the_line_and_its_text() {
        let text = markdown(&lined());
        let row = text
            .lines()
            .find(|row| row.contains("reduce_2.rs:53"))
            .unwrap();
        assert!(row.contains("786,432") && row.contains("290"), "{text}");
        let kernel = include_str!("../../../kernels-gpu/src/harris/reduce_2.rs");
        let line = kernel.lines().nth(53 - 1).unwrap().trim();
        assert!(row.contains(line), "the kernel's own text: {row}");
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
