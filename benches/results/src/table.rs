//! A run as text for a terminal: its machine and its times.

use std::ops::Range;

use comfy_table::{Cell, CellAlignment, Table, presets};

use crate::machine::Cuda;
use crate::relate::{Related, grouped};
use crate::schema::{By, Cache, Results, Row, Suite, Timing};
use crate::words::{number, size};

/// The columns of times. GB/s and ratios use the first that a line has. Only the report has times of graphs.
const CLOCKS: [(&str, Cache, Timing); 5] = [
    ("cold", Cache::Cold, Timing::Device),
    ("warm", Cache::Warm, Timing::Device),
    ("launch", Cache::Warm, Timing::Launch),
    ("stream", Cache::Warm, Timing::Stream),
    ("call", Cache::Warm, Timing::Call),
];

/// The columns that are moved to the title of a table if all our lines have the same value.
const COMMON: [&str; 4] = ["op", "keys", "n", "threads"];

const LEGEND: &str = "Medians in us. GB/s, the share of the ceiling, the gain (the previous rung's time over \
                      this one's) and ratios\n(our time over the peer's) use the first time of a line. ~: \
                      unstable.";

/// A table in Markdown; the columns in `right` are aligned to the right.
pub fn markdown<C: Into<Cell>>(
    heads: impl IntoIterator<Item = impl Into<Cell>>,
    lines: impl IntoIterator<Item = impl IntoIterator<Item = C>>,
    right: Range<usize>,
) -> String {
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN);
    table.set_header(heads.into_iter().map(Into::into));
    for line in lines {
        table.add_row(line.into_iter().map(Into::into));
    }
    for column in table.column_iter_mut().skip(right.start).take(right.len()) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table.to_string()
}

/// The page with this text between the two markers of this name; `None` without them.
pub fn insert(page: &str, name: &str, text: &str) -> Option<String> {
    let begin = format!("<!-- {name}: the command writes what follows -->\n");
    let end = format!("<!-- {name}: end -->");
    let (before, rest) = page.split_once(&begin)?;
    let (_, after) = rest.split_once(&end)?;
    Some(format!("{before}{begin}\n{text}\n\n{end}{after}"))
}

/// The run, its machine, its method and its notes.
pub fn header(results: &Results) -> String {
    let mut lines = vec![
        format!(
            "warpfold-bench {}, commit {}, {}",
            results.version, results.commit, results.date
        ),
        format!("command  {}", results.command_line),
        format!("machine  {}", results.machine),
    ];
    lines.extend(results.device.as_ref().map(device));
    for peer in &results.peers {
        let absent = peer.absent.as_ref();
        let absent = absent.map(|reason| format!("not timed: {reason}"));
        let found = peer.version.clone().or(absent).unwrap_or_default();
        lines.push(format!("peer     {}: {found}", peer.by.title()));
    }
    let method = &results.method;
    lines.push(match &method.input {
        Some(input) => format!("data     {input}"),
        None => format!("data     random, seed {}", method.seed),
    });
    lines.extend(results.notes.iter().map(|note| format!("note     {note}")));
    lines.push(format!(
        "method   medians of {} to {} rounds after {} to {} of warm-up; every row once per round; every \
         result checked",
        method.rounds.0, method.rounds.1, method.warmup_rounds.0, method.warmup_rounds.1
    ));
    lines.join("\n")
}

pub(crate) fn device(cuda: &Cuda) -> String {
    let (major, minor) = cuda.compute_capability;
    format!(
        "device   {}: {}, compute capability {major}.{minor}, {} multiprocessors, driver for CUDA {}, \
         kernels from {}",
        cuda.index, cuda.name, cuda.multiprocessors, cuda.driver, cuda.ptx_arch
    )
}

/// A table for each suite and backend, with a line for all times of one kernel; empty if no row is shown.
pub fn tables(results: &Results, is_shown: impl Fn(&Row) -> bool) -> String {
    let related = Related::new(results);
    let is_shown = |row: &&Row| row.timing != Timing::None && is_shown(row);
    let shown: Vec<_> = results.rows.iter().filter(is_shown).collect();
    let mut parts = Vec::new();
    for suite in Suite::ALL {
        let rows = shown.iter().copied().filter(|row| row.suite == suite);
        let table_of = |row: &'_ Row| {
            let keys = row.keys.clone().map(|keys| (keys, row.subject()));
            (row.backend, keys)
        };
        for rows in grouped(&rows.collect::<Vec<_>>(), table_of) {
            let (common, table) = table(&rows, &related);
            let title = format!("{} ({})", suite.title(), rows[0].backend.title());
            let title = [vec![title], common].concat().join(", ");
            parts.push(format!("{title}\n{table}"));
        }
    }
    if !parts.is_empty() {
        parts.push(LEGEND.into());
    }
    parts.join("\n\n")
}

/// The common values, and the table of the rest. An empty column is left out.
fn table(rows: &[&Row], related: &Related) -> (Vec<String>, String) {
    let lines = grouped(rows, |row| {
        (
            (row.group, row.by),
            row.label(),
            row.subject(),
            &row.keys,
            row.threads,
        )
    });
    let is_ours: Vec<_> = lines
        .iter()
        .map(|rows| rows[0].by == By::Warpfold)
        .collect();
    let lines: Vec<_> = lines.iter().map(|rows| line(rows, related)).collect();
    let heads = ["kernel"].into_iter().chain(COMMON);
    let heads = heads.chain(CLOCKS.map(|(name, ..)| name));
    let heads = heads.chain(["GB/s", "ceiling", "gain"]).map(str::to_owned);
    let heads = heads.chain(By::PEERS.map(|peer| format!("/ {}", peer.title())));
    let heads = heads.chain(["check".to_owned()]);

    let mut common = Vec::new();
    let is_column = |(column, head): &(usize, String)| {
        let mut ours = lines.iter().zip(&is_ours).filter(|(_, is_ours)| **is_ours);
        let first = ours.next().map(|(line, _)| &line[*column]);
        let is_common = ours.all(|(line, _)| Some(&line[*column]) == first);
        match first {
            Some(text) if is_common && COMMON.contains(&&**head) => {
                common.extend((!text.is_empty()).then(|| format!("{head} {text}")));
                false
            }
            _ => lines.iter().any(|line| !line[*column].is_empty()),
        }
    };
    let (used, heads): (Vec<_>, Vec<_>) = heads.enumerate().filter(is_column).unzip();
    let lines = lines.iter();
    let lines = lines.map(|line| used.iter().map(|&column| &line[column]));
    let right = 1..heads.len();
    (common, markdown(heads, lines, right))
}

/// The line of rows that differ only in their clocks.
fn line(rows: &[&Row], related: &Related) -> Vec<String> {
    let of = |(_, cache, timing)| {
        rows.iter()
            .find(|row| (row.cache, row.timing) == (cache, timing))
    };
    let first = CLOCKS.into_iter().find_map(of).unwrap_or(&rows[0]);
    let cell = |value: Option<f64>, text: fn(f64) -> String| value.map_or(String::new(), text);
    let is_wrong = rows.iter().any(|row| row.wrong.is_some());
    let mut cells = vec![
        match first.by {
            By::Warpfold => first.label(),
            by => format!("{} ({})", first.label(), by.title()),
        },
        first.subject(),
        first.keys.clone().unwrap_or_default(),
        size(first.n),
        first
            .threads
            .map_or(String::new(), |threads| threads.to_string()),
    ];
    cells.extend(CLOCKS.map(|clock| of(clock).map_or(String::new(), |row| median(row))));
    cells.push(cell(first.gb_per_s(), number));
    cells.push(cell(related.of_ceiling(first), |part| {
        format!("{:.1}%", part * 100.0)
    }));
    cells.push(cell(related.gain(first), |gain| format!("{gain:.2}x")));
    cells.extend(
        By::PEERS.map(|peer| cell(related.ratio(first, peer), |ratio| format!("{ratio:.3}"))),
    );
    cells.push(if is_wrong { "WRONG" } else { "right" }.into());
    cells
}

fn median(row: &Row) -> String {
    match (&row.wrong, row.time) {
        (Some(_), _) => "WRONG".into(),
        (None, Some(time)) if time.unstable => format!("~{}", number(time.median_us)),
        (None, Some(time)) => number(time.median_us),
        (None, None) => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example;
    use crate::schema::Backend;

    fn is_ours(row: &Row) -> bool {
        row.by == By::Warpfold
    }

    #[test]
    fn the_tables_have_all_our_times() {
        let results = example::results();
        let tables = tables(&results, is_ours);
        let ours = results.rows.iter().filter(|row| is_ours(row));
        for row in ours.filter(|row| row.backend != Backend::Sim) {
            // The title of a table has the common values of its lines.
            let is_in = |table: &str| {
                let (title, lines) = table.split_once('\n').unwrap_or_default();
                let is_line = |line: &str| {
                    let cells: Vec<_> = line.split('|').map(str::trim).collect();
                    let has = |head: &str, text: &str| {
                        cells.contains(&text) || title.contains(&format!(", {head} {text}"))
                    };
                    cells.contains(&&*row.label())
                        && cells.contains(&&*median(row))
                        && has("op", &row.subject())
                        && has("n", &size(row.n))
                        && row.keys.iter().all(|keys| has("keys", keys))
                };
                title.starts_with(row.suite.title()) && lines.lines().any(is_line)
            };
            assert!(
                tables.split("\n\n").any(is_in),
                "{row:?} is not in\n{tables}"
            );
        }
        for suite in Suite::ALL {
            assert!(tables.contains(suite.title()), "{suite}");
        }
        assert!(!tables.contains(Backend::Sim.title()), "it has no times");
    }

    #[test]
    fn a_line_has_all_clocks_and_the_ratios_of_the_first() {
        let results = example::results();
        let row = results
            .rows
            .iter()
            .find(|row| row.suite == Suite::Whole)
            .unwrap();
        let related = Related::new(&results);
        let ratio = format!("{:.3}", related.ratio(row, By::Cub).unwrap());
        let part = format!("{:.1}%", related.of_ceiling(row).unwrap() * 100.0);
        let tables = tables(&results, is_ours);
        let line = tables
            .lines()
            .find(|line| line.contains(&median(row)))
            .unwrap();
        let cells: Vec<_> = line.split('|').map(str::trim).collect();
        // The two empty cells outside, and: kernel, op, n, four clocks, GB/s, ceiling, two peers, check.
        assert_eq!(cells.len(), 2 + 12, "{line}");
        assert_eq!((cells[9], cells[10]), (&*part, &*ratio), "{line}");
    }

    #[test]
    fn a_clock_without_times_has_no_column() {
        let mut results = example::results();
        let head = |results: &Results| tables(results, is_ours).lines().nth(1).unwrap().to_owned();
        assert!(head(&results).contains("| launch | stream |  call |"));
        results.rows.retain(|row| row.timing != Timing::Stream);
        assert!(head(&results).contains("| launch |  call |"));
    }

    #[test]
    fn unstable_times_are_marked() {
        let tables = tables(&example::results(), is_ours);
        let unstable = tables.matches(" ~").count() - LEGEND.matches(" ~").count();
        assert_eq!(unstable, 1);
        assert_eq!(tables.matches("WRONG").count(), 2, "a time and a check");
        assert!(!tables.contains("CuPy"), "absent");
    }

    #[test]
    fn lines_fit_a_terminal() {
        let tables = tables(&example::results(), |row| {
            is_ours(row) || (row.suite == Suite::Ladder && row.by != By::Nvcc)
        });
        let widest = tables.lines().map(|line| line.chars().count()).max();
        assert!(widest.is_some_and(|widest| widest <= 120), "{widest:?}");
        let empty = Results {
            rows: Vec::new(),
            ..example::results()
        };
        assert_eq!(super::tables(&empty, |_| true), "");
    }

    #[test]
    fn the_table_of_the_ladder_has_gains_and_peers() {
        let results = example::results();
        let tables = tables(&results, |row| {
            row.suite == Suite::Ladder && row.by != By::Nvcc
        });
        let (title, rest) = tables.split_once('\n').unwrap();
        assert!(title.contains("op sum i32, n 400,000,000"), "{title}");
        let has = |kernel: &str, text: &str| {
            let line = rest.lines().find(|line| line.contains(kernel)).unwrap();
            assert!(line.contains(text), "{line}");
        };
        has("reduce_3", "1.83x");
        has("reduce_3", "right");
        has("DeviceReduce::Sum (CUB)", "98.3");
        has("read_ceiling (ceiling)", "4639");
    }

    #[test]
    fn keys_have_a_table_for_each_type_and_distribution() {
        let tables = tables(&example::results(), |row| row.suite == Suite::Keyed);
        for keys in ["random", "ordered", "shifted"] {
            for element in ["f32", "f64"] {
                let title = format!("op sum {element}, keys {keys}");
                assert_eq!(tables.matches(&title).count(), 1, "{title}: {tables}");
            }
        }
    }

    #[test]
    fn the_header_has_the_device_and_all_peers() {
        let header = header(&example::results());
        for part in [
            "device   0: A GPU (made up)",
            "CUB: CUB 3.0.1",
            "CuPy: not timed: python3 has no module",
            "random, seed",
            "every result checked",
        ] {
            assert!(header.contains(part), "{part} is not in:\n{header}");
        }
    }
}
