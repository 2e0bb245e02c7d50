//! Whole-array reductions: speeds, times of small arrays, and heat maps of the ratios to each peer.

use super::axis::Unit;
use super::figure::{Figure, distinct};
use super::heat::{Band, Cell, Map};
use super::lines::{Chart, ELEMENTS};
use super::{ReportError, select};
use crate::relate::Related;
use crate::schema::{Backend, By, Results, Row, Suite};

pub fn figures<'a>(
    results: &'a Results,
    suite: Suite,
    related: &Related<'a>,
) -> Result<Vec<Figure>, ReportError> {
    let mut rows = select::timed(results, suite);
    rows.retain(|row| row.by != By::Ceiling);
    let mut figures = Vec::new();
    for map in maps(&rows, suite, related) {
        figures.extend(map.draw()?);
    }
    for rows in select::grouped(&rows, |row| (row.backend, &row.op, &row.element)) {
        let subject = format!("{}{}", rows[0].subject(), select::on(rows[0].backend));
        let name = format!("{suite} {} {subject}", rows[0].backend);
        let title = format!("Whole-array reduction: {subject}");
        let small = small(&rows);
        let charts = [
            (Unit::GbPerS, rows, name.clone(), title.clone()),
            (Unit::Us, small, name + " time", title + ", small arrays"),
        ];
        for (unit, rows, name, title) in charts {
            let chart = Chart {
                name,
                title,
                caption: select::caption(&rows, unit),
                unit,
                across: ELEMENTS,
                panels: select::panels(&rows, related, unit, select::variants(&rows)),
            };
            figures.extend(chart.draw()?);
        }
    }
    Ok(distinct(figures))
}

/// The largest array, in bytes, for which the launch is a large part of the time.
const SMALL_BYTES: u64 = 16 << 20;

/// The rows of small arrays on a CUDA device.
fn small<'a>(rows: &[&'a Row]) -> Vec<&'a Row> {
    let is_small = |row: &&&Row| row.backend == Backend::Cuda && row.bytes <= SMALL_BYTES;
    rows.iter().filter(is_small).copied().collect()
}

/// A heat map for each peer, backend, cache, timing, and variant of ours.
fn maps(rows: &[&Row], suite: Suite, related: &Related) -> Vec<Map> {
    let ours = rows.iter().filter(|row| row.by == By::Warpfold);
    let ours: Vec<&Row> = ours.copied().collect();
    let several = select::grouped(&ours, |row| &row.variant).len() > 1;
    let mut maps = Vec::new();
    for peer in By::PEERS {
        let key = |row: &Row| (row.backend, row.variant.clone(), row.cache, row.timing);
        for rows in select::grouped(&ours, key) {
            let first = rows[0];
            let conditions = select::title(first.cache, first.timing);
            let on = select::on(first.backend);
            let variant = match &first.variant {
                Some(variant) if several => format!(" ({variant})"),
                _ => String::new(),
            };
            let peer_name = peer.title();
            let bands = select::grouped(&rows, |row| (&row.op, &row.element));
            maps.push(Map {
                name: format!("{suite} ratio {peer} {}{variant} {conditions}", first.backend),
                title: format!("warpfold{variant} / {peer_name}{on}: {conditions}"),
                caption: format!(
                    "Our time over that of {peer_name}: below 1, ours is faster. An asterisk marks ratios of \
                     an unstable time."
                ),
                rows: bands.iter().map(|rows| band(rows, peer, related)).collect(),
            });
        }
    }
    maps
}

fn band(rows: &[&Row], peer: By, related: &Related) -> Band {
    let unstable = |row: &Row| row.time.is_some_and(|time| time.unstable);
    let cells = rows.iter().filter_map(|row| {
        Some(Cell {
            n: row.n,
            ratio: related.ratio(row, peer)?,
            unstable: unstable(row) || related.rival(row, peer).is_some_and(unstable),
        })
    });
    let is_wrong = |row: &Row| row.wrong.is_some();
    let wrong = rows.iter().filter(|row| {
        related
            .rival(row, peer)
            .is_some_and(|rival| is_wrong(row) || is_wrong(rival))
    });
    Band {
        wrong: wrong.map(|row| row.n).collect(),
        name: rows.first().map_or(String::new(), |row| row.subject()),
        cells: cells.collect(),
    }
}
