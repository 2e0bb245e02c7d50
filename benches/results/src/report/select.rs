//! Selection of the rows for figures.

use super::axis::Unit;
use super::lines::{Line, Panel, Spot};
use super::look::Look;
pub use crate::relate::grouped;
use crate::relate::{EMPTY_KERNEL, Related};
use crate::schema::{Backend, By, Cache, Results, Row, Suite, Timing};
use crate::words;

/// The rows of a suite, without those of the simulator, which have no times.
pub fn timed(results: &Results, suite: Suite) -> Vec<&Row> {
    let rows = results.rows.iter();
    rows.filter(|row| row.suite == suite && row.backend != Backend::Sim)
        .collect()
}

/// ` on the CPU`, or empty for the device.
pub fn on(backend: Backend) -> &'static str {
    match backend {
        Backend::Cpu => " on the CPU",
        Backend::Cuda | Backend::Sim => "",
    }
}

/// `cold, device time`
pub fn title(cache: Cache, timing: Timing) -> String {
    let timing = match timing {
        Timing::Device => "device time",
        Timing::Launch => "time with the launch",
        Timing::Stream => "time call after call",
        Timing::Graph => "time in a graph",
        Timing::Call => "time of the call",
        Timing::None => "not timed",
    };
    format!("{cache}, {timing}")
}

/// The speed in GB/s, if it can be drawn.
pub fn speed(row: &Row) -> Option<f64> {
    // One impossible value would make the scale useless for all others.
    row.gb_per_s().filter(|speed| (0.0..=1e9).contains(speed))
}

/// The time in microseconds, if it can be drawn on a logarithmic scale.
pub fn time(row: &Row) -> Option<f64> {
    row.median_us().filter(|us| (1e-6..=1e12).contains(us))
}

/// The row as a point; `None` if it cannot be drawn: without elements, because the axis is logarithmic, or
/// without a value in this unit.
pub fn spot(row: &Row, unit: Unit) -> Option<Spot> {
    let height = match unit {
        Unit::GbPerS => speed(row),
        Unit::Us => time(row),
        Unit::Ulps => None, // rows have right answers or none
    };
    Some(Spot {
        n: Some(row.n).filter(|n| *n > 0)?,
        height: height?,
        unstable: row.time.is_some_and(|time| time.unstable),
    })
}

/// A panel for each cache and timing, with a line for each name and for each ceiling; panels of times also
/// have a line for the empty kernel.
pub fn panels<'a>(
    rows: &[&'a Row],
    related: &Related<'a>,
    unit: Unit,
    name: impl Fn(&Row) -> (String, Look),
) -> Vec<Panel> {
    let conditions = grouped(rows, |row| (row.cache, row.timing));
    let panel = |rows: Vec<&'a Row>| {
        let mut lines = Vec::new();
        for rows in grouped(&rows, |row| name(row).0) {
            let (text, look) = name(rows[0]);
            lines.extend(split(rows).into_iter().map(|(kernel, rows)| Line {
                name: match kernel {
                    Some(kernel) => format!("{text} ({kernel})"),
                    None => text.clone(),
                },
                look,
                points: spots(&rows, unit),
            }));
        }
        lines.extend(ceilings(&rows, related, unit));
        let (cache, timing) = (rows[0].cache, rows[0].timing);
        Panel {
            title: title(cache, timing),
            lines,
        }
    };
    conditions.into_iter().map(panel).collect()
}

/// Splits rows by kernel if they have several points of one size, because a line has one.
fn split(rows: Vec<&Row>) -> Vec<(Option<String>, Vec<&Row>)> {
    let mut sizes: Vec<_> = rows.iter().map(|row| row.n).collect();
    sizes.sort_unstable();
    if sizes.windows(2).all(|pair| pair[0] != pair[1]) {
        return vec![(None, rows)];
    }
    let kernels = grouped(&rows, |row| (row.label(), row.threads));
    let several = kernels.len() > 1;
    kernels
        .into_iter()
        .map(|rows| {
            let threads = rows[0]
                .threads
                .map_or(String::new(), |t| format!(", {t} threads"));
            let name = format!("{}{threads}", rows[0].label());
            (several.then_some(name), rows)
        })
        .collect()
}

fn spots(rows: &[&Row], unit: Unit) -> Vec<Spot> {
    rows.iter().filter_map(|row| spot(row, unit)).collect()
}

/// One line for each ceiling of these rows; for times also one for the empty kernel.
fn ceilings<'a>(rows: &[&'a Row], related: &Related<'a>, unit: Unit) -> Vec<Line> {
    let mut found: Vec<&Row> = rows.iter().filter_map(|row| related.ceiling(row)).collect();
    if unit == Unit::Us {
        found.extend(rows.iter().filter_map(|row| related.floor(row)));
    }
    found.sort_by_key(|row| (row.kernel.clone(), row.n));
    found.dedup_by_key(|row| (row.kernel.clone(), row.n));
    let kernels = grouped(&found, |row| &row.kernel);
    let line = |rows: Vec<&Row>| Line {
        name: rows[0].kernel.replace('_', " "),
        look: Look::of(By::Ceiling, usize::from(rows[0].kernel == EMPTY_KERNEL)),
        points: spots(&rows, unit),
    };
    kernels.into_iter().map(line).collect()
}

/// A name and a look for each author and variant.
pub fn variants(rows: &[&Row]) -> impl Fn(&Row) -> (String, Look) + use<> {
    let mut all: Vec<(By, Option<String>)> = Vec::new();
    for row in rows {
        let variant = (row.by, row.variant.clone());
        if !all.contains(&variant) {
            all.push(variant);
        }
    }
    move |row| {
        let variants: Vec<_> = all.iter().filter(|(by, _)| *by == row.by).collect();
        let index = variants
            .iter()
            .position(|(_, variant)| *variant == row.variant);
        let name = match &row.variant {
            Some(variant) if variant != "default" || variants.len() > 1 => {
                format!("{}, {variant}", row.by.title())
            }
            _ => row.by.title().to_owned(),
        };
        (name, Look::of(row.by, index.unwrap_or(0)))
    }
}

/// The caption of a line chart of these rows.
pub fn caption(rows: &[&Row], unit: Unit) -> String {
    let mut caption = unit.caption().to_owned();
    if rows
        .iter()
        .any(|row| row.time.is_some_and(|time| time.unstable))
    {
        caption += " A large hollow point is unstable.";
    }
    let undrawn = rows.iter().filter(|row| spot(row, unit).is_none());
    match undrawn.count() {
        0 => {}
        1 => caption += " One row has no point: see the table.",
        undrawn => {
            caption += &format!(
                " {} rows have no point: see the table.",
                words::thousands(undrawn as u64)
            )
        }
    }
    caption
}
