//! Sortable tables of all rows of a suite.

use std::collections::BTreeSet;

use maud::{Markup, html};

use crate::relate::Related;
use crate::schema::{By, Row, Suite, Time};
use crate::words::{conditions, number, thousands};

/// A cell: its text, and the number that it is sorted by, if any.
#[derive(Default)]
pub struct Cell {
    pub text: String,
    pub value: Option<f64>,
    pub class: &'static str,
}

impl Cell {
    pub fn text(text: impl Into<String>) -> Cell {
        Cell {
            text: text.into(),
            ..Cell::default()
        }
    }

    pub fn number(text: impl Into<String>, value: f64) -> Cell {
        Cell {
            text: text.into(),
            value: Some(value),
            class: "number",
        }
    }

    pub fn maybe(value: Option<f64>, text: impl Fn(f64) -> String) -> Cell {
        value.map_or_else(Cell::default, |value| Cell::number(text(value), value))
    }

    pub fn integer(value: Option<u64>) -> Cell {
        Cell::maybe(value.map(|value| value as f64), |value| {
            thousands(value as u64)
        })
    }
}

/// A table with buttons as heads; an empty column is left out.
pub fn sortable(
    caption: &str,
    heads: &[String],
    rows: &[Vec<Cell>],
    class: impl Fn(usize) -> &'static str,
) -> Markup {
    let used = |column: &usize| {
        rows.iter()
            .any(|row| row.get(*column).is_some_and(|cell| !cell.text.is_empty()))
    };
    let used: Vec<_> = (0..heads.len()).filter(used).collect();
    let numeric = |column: usize| {
        let mut cells = rows.iter().filter_map(|row| row.get(column));
        cells.any(|cell| cell.value.is_some()).then_some("number")
    };
    html! {
        div.scroll tabindex="0" role="region" aria-label=(caption) {
            table.sortable {
                caption { (caption) }
                thead {
                    tr {
                        @for &column in &used {
                            th scope="col" class=[numeric(column)] aria-sort="none" {
                                button type="button" { (heads[column]) }
                            }
                        }
                    }
                }
                tbody {
                    @for (index, row) in rows.iter().enumerate() {
                        tr class=[Some(class(index)).filter(|class| !class.is_empty())] {
                            @for cell in used.iter().filter_map(|&column| row.get(column)) {
                                @let class = Some(cell.class).filter(|class| !class.is_empty());
                                td class=[class] data-value=[cell.value] { (cell.text) }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// The table of the rows with times.
pub fn timed(suite: Suite, rows: &[&Row], related: &Related) -> Markup {
    let what = [
        "by",
        "kernel",
        "op",
        "keys",
        "n",
        "threads",
        "on",
        "clock",
        "median µs",
        "GB/s",
        "% of ceiling",
    ];
    let over = By::PEERS.map(|peer| format!("ours / {}", peer.title()));
    let more = [
        "state",
        "95 % low µs",
        "95 % high µs",
        "min µs",
        "max µs",
        "samples",
        "bytes",
        "blocks",
    ];
    let heads = what.iter().map(|&head| head.to_owned()).chain(over);
    let heads: Vec<_> = heads
        .chain(more.iter().map(|&head| head.to_owned()))
        .collect();
    let cells: Vec<_> = rows.iter().map(|row| line(row, related)).collect();
    let class = |index: usize| match rows.get(index) {
        Some(row) if row.wrong.is_some() => "wrong",
        Some(row) if row.time.is_some_and(|time| time.unstable) => "unstable",
        _ => "",
    };
    let caption = format!("{}: all timed rows", suite.title());
    sortable(&caption, &heads, &cells, class)
}

fn line(row: &Row, related: &Related) -> Vec<Cell> {
    let us = |of: fn(&Time) -> f64| Cell::maybe(row.time.as_ref().map(of), number);
    let mut cells = vec![
        Cell::text(row.by.title()),
        Cell::text(row.label()),
        Cell::text(row.subject()),
        Cell::text(row.keys.clone().unwrap_or_default()),
        Cell::integer(Some(row.n)),
        Cell::integer(row.threads.map(Into::into)),
        Cell::text(row.backend.title()),
        Cell::text(conditions(row.cache, row.timing)),
        us(|time| time.median_us),
        Cell::maybe(row.gb_per_s(), number),
        Cell::maybe(related.of_ceiling(row).map(|part| part * 100.0), |part| {
            format!("{part:.1}")
        }),
    ];
    let over = |peer| Cell::maybe(related.ratio(row, peer), |ratio| format!("{ratio:.3}"));
    cells.extend(By::PEERS.map(over));
    cells.push(state(row));
    cells.extend([
        us(|time| time.interval_us.0),
        us(|time| time.interval_us.1),
        us(|time| time.min_us),
        us(|time| time.max_us),
        Cell::integer(Some(row.samples_us.len() as u64)),
        Cell::integer(Some(row.bytes)),
        Cell::integer(row.blocks.map(Into::into)),
    ]);
    cells
}

/// The state as a sign and text, because not every reader sees the colour.
fn state(row: &Row) -> Cell {
    Cell::text(match (&row.wrong, row.time) {
        (Some(wrong), _) => format!(
            "✗ wrong in {} of {} runs: got {}, expected {}",
            wrong.runs, wrong.of, wrong.got, wrong.expected
        ),
        (None, Some(time)) if time.unstable => "~ unstable".into(),
        (None, Some(_)) => "ok".into(),
        (None, None) => "not timed".into(),
    })
}

/// The table of the simulator's rows.
pub fn counted(suite: Suite, rows: &[&Row]) -> Markup {
    let names: BTreeSet<_> = rows.iter().flat_map(|row| row.counts.keys()).collect();
    let heads = ["kernel", "op", "keys", "n", "threads", "blocks"].map(str::to_owned);
    let heads: Vec<_> = heads
        .into_iter()
        .chain(names.iter().map(|name| name.to_string()))
        .chain(["state".into()])
        .collect();
    let line = |row: &&Row| {
        let mut cells = vec![
            Cell::text(row.label()),
            Cell::text(row.subject()),
            Cell::text(row.keys.clone().unwrap_or_default()),
            Cell::integer(Some(row.n)),
            Cell::integer(row.threads.map(Into::into)),
            Cell::integer(row.blocks.map(Into::into)),
        ];
        cells.extend(
            names
                .iter()
                .map(|&name| Cell::integer(row.counts.get(name).copied())),
        );
        cells.push(Cell::text(if row.wrong.is_some() {
            "✗ wrong"
        } else {
            "ok"
        }));
        cells
    };
    let cells: Vec<_> = rows.iter().map(line).collect();
    let class = |index: usize| {
        if rows.get(index).is_some_and(|row| row.wrong.is_some()) {
            "wrong"
        } else {
            ""
        }
    };
    let caption = format!("{}: the simulator's counts, without times", suite.title());
    sortable(&caption, &heads, &cells, class)
}
