//! The comparison with an earlier run.

use maud::{Markup, html};

use super::tables::{Cell, sortable};
use crate::compare::{Comparison, Entry, Run, Verdict};
use crate::schema::Time;
use crate::words::{conditions, number};

const HEADS: [&str; 12] = [
    "verdict",
    "suite",
    "by",
    "kernel",
    "op",
    "keys",
    "n",
    "threads",
    "clock",
    "old µs",
    "new µs",
    "new / old",
];

pub fn section(comparison: &Comparison) -> Markup {
    let tolerance = comparison.tolerance * 100.0;
    let heads: Vec<_> = HEADS
        .into_iter()
        .chain(["95 % low", "95 % high"])
        .map(str::to_owned)
        .collect();
    // Regressions first.
    let mut entries: Vec<_> = comparison.entries.iter().collect();
    entries.sort_by_key(|entry| !entry.regression);
    let rows: Vec<_> = entries.iter().map(|entry| line(entry)).collect();
    let class = |index: usize| match entries.get(index) {
        Some(entry) if entry.regression => "wrong",
        Some(entry) if entry.verdict == Verdict::Unstable => "unstable",
        _ => "",
    };
    html! {
        section id="compare" {
            h2 { "Compared with an earlier run" }
            p {
                "Old: " (run(&comparison.old)) ". New: " (run(&comparison.new)) ". "
                strong { (comparison.summary()) } "."
            }
            @if comparison.has_regression() {
                p.warning role="note" { "⚠ There are regressions." }
            }
            p {
                "A ratio is the new time over the old time: above 1 is slower. Its interval contains the "
                "quotients of all times in the two rows' intervals. A row counts as slower or faster if the "
                "whole interval is more than " (format!("{tolerance}")) " % away from 1, and neither row is "
                "unstable."
            }
            @if !comparison.notes.is_empty() {
                ul.notes { @for note in &comparison.notes { li { (note) } } }
            }
            @if !rows.is_empty() {
                (sortable("All rows of both runs", &heads, &rows, class))
            }
        }
    }
}

fn run(run: &Run) -> Markup {
    html! { (run.date) " on " (run.on) ", commit " code { (run.commit) } }
}

fn line(entry: &Entry) -> Vec<Cell> {
    let row = &entry.row;
    let us = |time: Option<Time>| Cell::maybe(time.map(|time| time.median_us), number);
    let ratio = |of: fn(&crate::compare::Ratio) -> f64| {
        let value = entry
            .ratio
            .as_ref()
            .map(of)
            .filter(|value| value.is_finite());
        Cell::maybe(value, |value| format!("{value:.3}"))
    };
    let mark = match entry.verdict {
        _ if entry.regression => "✗ ",
        Verdict::Unstable => "~ ",
        _ => "",
    };
    vec![
        Cell::text(format!("{mark}{}", entry.verdict.name())),
        Cell::text(format!("{}, {}", row.suite, row.backend.title())),
        Cell::text(row.by.title()),
        Cell::text(row.label()),
        Cell::text(row.subject()),
        Cell::text(row.keys.clone().unwrap_or_default()),
        Cell::integer(Some(row.n)),
        Cell::integer(row.threads.map(Into::into)),
        Cell::text(conditions(row.cache, row.timing)),
        us(entry.old),
        us(entry.new),
        ratio(|ratio| ratio.median),
        ratio(|ratio| ratio.low),
        ratio(|ratio| ratio.high),
    ]
}
