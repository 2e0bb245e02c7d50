//! Copies: a line for each width of the accesses, and one for the driver's copy.

use super::axis::Unit;
use super::figure::{Figure, distinct};
use super::lines::{Chart, ELEMENTS};
use super::look::{BLUE, INK, Look, ORANGE, PURPLE, VERMILION};
use super::{ReportError, select};
use crate::relate::Related;
use crate::schema::{By, Results, Row, Suite};

pub fn figures<'a>(
    results: &'a Results,
    related: &Related<'a>,
) -> Result<Vec<Figure>, ReportError> {
    let mut rows = select::timed(results, Suite::Copy);
    rows.retain(|row| row.by != By::Ceiling);
    let mut figures = Vec::new();
    for rows in select::grouped(&rows, |row| (row.backend, &row.element)) {
        let subject = format!("{}{}", rows[0].element, select::on(rows[0].backend));
        let chart = Chart {
            name: format!("copy {} {subject}", rows[0].backend),
            title: format!("Copies of {subject} by the width of the accesses"),
            caption: select::caption(&rows, Unit::GbPerS)
                + " Bytes read and bytes written both count. Dashed lines: the kernels compiled by nvcc.",
            unit: Unit::GbPerS,
            across: ELEMENTS,
            panels: select::panels(&rows, related, Unit::GbPerS, looks(&rows)),
        };
        figures.extend(chart.draw()?);
    }
    Ok(distinct(figures))
}

/// A colour for each width; dashes for nvcc; black for the driver.
fn looks(rows: &[&Row]) -> impl Fn(&Row) -> (String, Look) + use<> {
    const COLORS: [plotters::style::RGBColor; 4] = [BLUE, ORANGE, PURPLE, VERMILION];
    let mut widths: Vec<String> = Vec::new();
    for row in rows.iter().filter(|row| row.by == By::Warpfold) {
        if !widths.contains(&row.label()) {
            widths.push(row.label());
        }
    }
    move |row| {
        let label = row.label();
        let index = widths.iter().position(|width| *width == label);
        let color = COLORS[index.unwrap_or(0) % COLORS.len()];
        let (name, color, dash) = match row.by {
            By::Warpfold => (label, color, None),
            By::Nvcc => (format!("{label}, nvcc"), color, Some("7 3")),
            By::Driver => (format!("driver: {label}"), INK, None),
            by => {
                let look = Look::of(by, 0);
                (format!("{}: {label}", by.title()), look.color, look.dash)
            }
        };
        (name, Look { color, dash })
    }
}
