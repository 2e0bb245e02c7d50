//! Our times for a terminal: a table for each suite.

use comfy_table::{CellAlignment, Table, presets};

use crate::relate::Related;
use crate::report::select::grouped;
use crate::schema::{By, Cache, Results, Row, Suite, Timing};
use crate::words::{number, size};

/// What a line may have times of, the most telling first; what graphs take is for the report.
const CLOCKS: [(&str, Cache, Timing); 5] = [
    ("cold", Cache::Cold, Timing::Device),
    ("warm", Cache::Warm, Timing::Device),
    ("launch", Cache::Warm, Timing::Launch),
    ("stream", Cache::Warm, Timing::Stream),
    ("call", Cache::Warm, Timing::Call),
];

const LEGEND: &str = "Medians in us. GB/s, % of the ceiling and ratios (our time over theirs) are of a line's \
                      first time. ~: unstable.";

/// A line for everything of ours that was timed on one input; empty where nothing was.
pub fn tables(results: &Results) -> String {
    let related = Related::new(results);
    let is_ours = |row: &&Row| row.by == By::Warpfold && row.timing != Timing::None;
    let ours: Vec<_> = results.rows.iter().filter(is_ours).collect();
    let mut parts = Vec::new();
    for suite in Suite::ALL {
        let rows = ours.iter().copied().filter(|row| row.suite == suite);
        for rows in grouped(&rows.collect::<Vec<_>>(), |row| row.backend) {
            let title = format!("{} ({})", suite.title(), rows[0].backend.title());
            parts.push(format!("{title}\n{}", table(&rows, &related)));
        }
    }
    if !parts.is_empty() {
        parts.push(LEGEND.into());
    }
    parts.join("\n\n")
}

/// A column without any text is left out.
fn table(rows: &[&Row], related: &Related) -> Table {
    let lines = grouped(rows, |row| {
        (
            row.group,
            row.label(),
            row.subject(),
            &row.keys,
            row.threads,
        )
    });
    let lines: Vec<_> = lines.iter().map(|rows| line(rows, related)).collect();
    let heads = ["kernel", "of", "keys", "n", "threads"]
        .map(str::to_owned)
        .into_iter();
    let heads = heads
        .chain(CLOCKS.map(|(name, ..)| name.to_owned()))
        .chain(["GB/s", "% ceiling"].map(str::to_owned))
        .chain(By::PEERS.map(|peer| format!("/ {}", peer.title())));
    let used = |column: usize| lines.iter().any(|line| !line[column].is_empty());
    let (used, heads): (Vec<_>, Vec<_>) = heads
        .enumerate()
        .filter(|(column, _)| used(*column))
        .unzip();
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN);
    table.set_header(heads);
    table.add_rows(
        lines
            .iter()
            .map(|line| used.iter().map(|&column| &line[column])),
    );
    for column in table.column_iter_mut().skip(2) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

/// Rows that differ in their clocks alone.
fn line(rows: &[&Row], related: &Related) -> Vec<String> {
    let of = |(_, cache, timing)| {
        rows.iter()
            .find(|row| (row.cache, row.timing) == (cache, timing))
    };
    let first = CLOCKS.into_iter().find_map(of).unwrap_or(&rows[0]);
    let maybe = |value: Option<f64>, text: fn(f64) -> String| value.map_or(String::new(), text);
    let mut cells = vec![
        first.label(),
        first.subject(),
        first.keys.clone().unwrap_or_default(),
        size(first.n),
        first
            .threads
            .map_or(String::new(), |threads| threads.to_string()),
    ];
    cells.extend(CLOCKS.map(|clock| of(clock).map_or(String::new(), |row| median(row))));
    cells.push(maybe(first.gb_per_s(), number));
    cells.push(maybe(related.of_ceiling(first), |part| {
        format!("{:.1}", part * 100.0)
    }));
    cells.extend(
        By::PEERS.map(|peer| maybe(related.ratio(first, peer), |ratio| format!("{ratio:.3}"))),
    );
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

    #[test]
    fn every_time_of_ours_is_there() {
        let results = example::results();
        let tables = tables(&results);
        let ours = results.rows.iter().filter(|row| row.by == By::Warpfold);
        for row in ours.filter(|row| row.backend != Backend::Sim) {
            let is_line = |line: &str| {
                let cells: Vec<_> = line.split('|').map(str::trim).collect();
                let has = |text: &str| cells.contains(&text);
                let keys = row.keys.iter().all(|keys| has(keys));
                has(&row.label())
                    && has(&row.subject())
                    && has(&size(row.n))
                    && has(&median(row))
                    && keys
            };
            assert!(tables.lines().any(is_line), "{row:?} is not in\n{tables}");
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
        let part = format!("{:.1}", related.of_ceiling(row).unwrap() * 100.0);
        let tables = tables(&results);
        let line = tables
            .lines()
            .find(|line| line.contains(&median(row)))
            .unwrap();
        let cells: Vec<_> = line.split('|').map(str::trim).collect();
        // Bars around: kernel, subject, n, four clocks, GB/s, ceiling, two peers.
        assert_eq!(cells.len(), 2 + 11, "{line}");
        assert_eq!((cells[9], cells[10]), (&*part, &*ratio), "{line}");
    }

    #[test]
    fn a_clock_that_nothing_was_timed_by_has_no_column() {
        let mut results = example::results();
        let head = |results: &Results| tables(results).lines().nth(1).unwrap().to_owned();
        assert!(head(&results).contains("| launch | stream |  call |"));
        results.rows.retain(|row| row.timing != Timing::Stream);
        assert!(head(&results).contains("| launch |  call |"));
    }

    #[test]
    fn what_is_not_to_be_relied_on_is_marked() {
        let tables = tables(&example::results());
        let unstable = tables.matches(" ~").count() - LEGEND.matches(" ~").count();
        assert_eq!(unstable, 1);
        assert_eq!(tables.matches("WRONG").count(), 1);
        assert!(!tables.contains("CuPy"), "absent");
    }

    #[test]
    fn lines_fit_a_terminal() {
        let tables = tables(&example::results());
        let widest = tables.lines().map(|line| line.chars().count()).max();
        assert!(widest.is_some_and(|widest| widest <= 120), "{widest:?}");
        let nothing = Results {
            rows: Vec::new(),
            ..example::results()
        };
        assert_eq!(super::tables(&nothing), "");
    }
}
