//! What has become faster, and what slower.

use maud::{Markup, html};

use super::tables::{Cell, sortable};
use crate::compare::{Comparison, Entry, Run, Verdict};
use crate::schema::Time;
use crate::words::{conditions, number, thousands};

const HEADS: [&str; 12] = [
    "verdict",
    "suite",
    "by",
    "kernel",
    "of",
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
    let class = |place: usize| match entries.get(place) {
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
                "A ratio is the new time over the old one: above 1 is slower. Its interval goes from the new "
                "interval's low end over the old one's high end to the new one's high end over the old one's low end. A row is "
                "slower or faster where that interval as a whole lies more than " (format!("{tolerance}"))
                " % from 1, and neither row is unstable."
            }
            @if !comparison.notes.is_empty() {
                ul.notes { @for note in &comparison.notes { li { (note) } } }
            }
            @if !rows.is_empty() {
                (sortable("Both runs side by side", &heads, &rows, class))
            }
        }
    }
}

fn run(run: &Run) -> Markup {
    html! { (run.date) " on " (run.on) ", commit " code { (run.commit) } }
}

fn line(entry: &Entry) -> Vec<Cell> {
    let key = &entry.key;
    let us = |time: Option<Time>| {
        let cell = |time: Time| Cell::number(number(time.median_us), time.median_us);
        time.map_or_else(Cell::default, cell)
    };
    let ratio = |of: fn(&crate::compare::Ratio) -> f64| {
        let value = entry
            .ratio
            .as_ref()
            .map(of)
            .filter(|value| value.is_finite());
        value.map_or_else(Cell::default, |value| {
            Cell::number(format!("{value:.3}"), value)
        })
    };
    let mark = match entry.verdict {
        _ if entry.regression => "✗ ",
        Verdict::Unstable => "~ ",
        _ => "",
    };
    let of = match &key.op {
        Some(op) => format!("{op} {}", key.element),
        None => key.element.clone(),
    };
    let threads = key.threads.map_or_else(Cell::default, |threads| {
        Cell::number(threads.to_string(), threads.into())
    });
    vec![
        Cell::text(format!("{mark}{}", entry.verdict.name())),
        Cell::text(format!("{}, {}", key.suite, key.backend.title())),
        Cell::text(key.by.title()),
        Cell::text(key.label()),
        Cell::text(of),
        Cell::text(key.keys.clone().unwrap_or_default()),
        Cell::number(thousands(key.n), key.n as f64),
        threads,
        Cell::text(conditions(key.cache, key.timing)),
        us(entry.old),
        us(entry.new),
        ratio(|ratio| ratio.median),
        ratio(|ratio| ratio.low),
        ratio(|ratio| ratio.high),
    ]
}
