//! The ladder: bars for each rung and its reference kernel, with the rung's gain.

use super::bars::{Bar, Chart, Group};
use super::figure::{Figure, distinct};
use super::look::Look;
use super::{ReportError, select};
use crate::relate::Related;
use crate::schema::{By, Results, Row, Suite};
use crate::words;

pub fn figures<'a>(
    results: &'a Results,
    related: &Related<'a>,
) -> Result<Vec<Figure>, ReportError> {
    let rows = select::timed(results, Suite::Ladder);
    let key = |row: &'a Row| {
        (
            row.group,
            row.backend,
            &row.element,
            row.n,
            row.cache,
            row.timing,
        )
    };
    let mut figures = Vec::new();
    for rows in select::grouped(&rows, key) {
        let mut threads: Vec<_> = rows
            .iter()
            .filter_map(|row| row.threads)
            .map(Some)
            .collect();
        threads.sort_unstable();
        threads.dedup();
        if threads.is_empty() {
            threads.push(None);
        }
        for threads in threads {
            // Rows that do not depend on the number of threads are in every figure.
            let shown = |row: &&&Row| row.threads.is_none() || row.threads == threads;
            let rows: Vec<_> = rows.iter().filter(shown).copied().collect();
            figures.extend(chart(&rows, threads, related).draw()?);
        }
    }
    Ok(distinct(figures))
}

fn chart<'a>(rows: &[&'a Row], threads: Option<u32>, related: &Related<'a>) -> Chart {
    let first = rows[0];
    let per_block = threads.map_or(String::new(), |threads| {
        format!(", {threads} threads per block")
    });
    let (n, element) = (words::thousands(first.n), &first.element);
    let conditions = select::title(first.cache, first.timing);
    let on = select::on(first.backend);
    let op = first
        .op
        .as_ref()
        .map_or(String::new(), |op| format!("{op} of "));
    let ceiling = rows.iter().find(|row| row.by == By::Ceiling);
    let ceiling = ceiling.copied().or_else(|| related.ceiling(first));
    Chart {
        name: format!("ladder {} {element} {n}{per_block} {conditions}", first.backend),
        title: format!("Ladder: {op}{n} {element}{on}{per_block}: {conditions}"),
        caption: "The number after a speed is the gain: the previous rung's time over this rung's. \
                  reduce_0_modulo is compared with reduce_0, reduce_2_warp with reduce_2; reduce_4_redux, \
                  reduce_5 and the first reduce_5_x with reduce_4."
            .into(),
        groups: groups(rows, related),
        ceiling: ceiling.and_then(|row| Some((row.kernel.replace('_', " "), select::speed(row)?))),
    }
}

/// A group for each of our kernels and its reference kernel, then one for each other row.
fn groups(rows: &[&Row], related: &Related) -> Vec<Group> {
    let mut groups = Vec::new();
    let mut references = Vec::new();
    for row in rows.iter().filter(|row| row.by == By::Warpfold) {
        let gain = related.gain(row);
        let reference = related.rival(row, By::Nvcc);
        references.extend(reference.map(std::ptr::from_ref));
        let bars = [
            Some(bar(row, gain)),
            reference.map(|reference| bar(reference, None)),
        ];
        groups.push(Group {
            section: None,
            name: row.label(),
            bars: bars.into_iter().flatten().collect(),
        });
    }
    let others = rows.iter().filter(|row| {
        !matches!(row.by, By::Warpfold | By::Ceiling)
            && !references.contains(&std::ptr::from_ref(**row))
    });
    groups.extend(others.map(|row| Group {
        section: None,
        name: row.label(),
        bars: vec![bar(row, None)],
    }));
    groups
}

/// A bar with the row's speed and gain, or with the reason why there is no speed.
pub fn bar(row: &Row, gain: Option<f64>) -> Bar {
    let text = match (row.gb_per_s(), &row.wrong) {
        (_, Some(wrong)) => format!("wrong in {} of {} runs", wrong.runs, wrong.of),
        (None, None) => "not timed".into(),
        (Some(speed), None) => {
            let gain = gain.map_or(String::new(), |gain| format!(", {gain:.2}×"));
            let unstable = row.time.is_some_and(|time| time.unstable);
            let unstable = if unstable { " (unstable)" } else { "" };
            format!("{} GB/s{gain}{unstable}", words::number(speed))
        }
    };
    Bar {
        series: row.by.title().into(),
        look: Look::of(row.by, 0),
        gb_per_s: select::speed(row),
        text,
    }
}
