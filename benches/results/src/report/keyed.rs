//! Reduction by key, as in figure 1 of "Voting and Shuffling to Optimize Atomic Operations": a bar for each
//! algorithm and distribution of the keys.

use super::bars::{Chart, Group};
use super::figure::{Figure, distinct};
use super::ladder::bar;
use super::{ReportError, select};
use crate::relate::Related;
use crate::schema::{By, Results, Row, Suite};
use crate::words;

pub fn figures<'a>(
    results: &'a Results,
    related: &Related<'a>,
) -> Result<Vec<Figure>, ReportError> {
    let mut rows = select::timed(results, Suite::Keyed);
    rows.retain(|row| row.by != By::Ceiling);
    let key = |row: &'a Row| (row.backend, &row.element, row.n, row.cache, row.timing);
    let mut figures = Vec::new();
    for rows in select::grouped(&rows, key) {
        let first = rows[0];
        let (n, element) = (words::thousands(first.n), &first.element);
        let conditions = select::title(first.cache, first.timing);
        let on = select::on(first.backend);
        let keys = select::grouped(&rows, |row| &row.keys);
        let chart = Chart {
            name: format!("keyed {} {element} {n} {conditions}", first.backend),
            title: format!("{n} {element} by key{on}: {conditions}"),
            caption: "All algorithms for each distribution of the keys.".into(),
            groups: keys.iter().flat_map(|rows| groups(rows, related)).collect(),
            ceiling: None,
        };
        figures.extend(chart.draw()?);
    }
    Ok(distinct(figures))
}

/// A group for each of our kernels and its reference kernel, then one for each other row.
fn groups(rows: &[&Row], related: &Related) -> Vec<Group> {
    let section = rows.first().and_then(|row| row.keys.as_ref());
    let section = section.map(|keys| format!("Keys: {keys}"));
    let ours = rows.iter().filter(|row| row.by == By::Warpfold);
    let mut references = Vec::new();
    let mut groups = Vec::new();
    for row in ours {
        let reference = related.rival(row, By::Nvcc);
        references.extend(reference.map(std::ptr::from_ref));
        let rows = [Some(*row), reference];
        groups.push(Group {
            section: section.clone(),
            name: name(row),
            bars: rows.iter().flatten().map(|row| bar(row, None)).collect(),
        });
    }
    let others = rows
        .iter()
        .filter(|row| row.by != By::Warpfold && !references.contains(&std::ptr::from_ref(**row)));
    groups.extend(others.map(|row| Group {
        section: section.clone(),
        name: name(row),
        bars: vec![bar(row, None)],
    }));
    groups
}

fn name(row: &Row) -> String {
    match row.threads {
        Some(threads) => format!("{}, {threads} threads", row.label()),
        None => row.label(),
    }
}
