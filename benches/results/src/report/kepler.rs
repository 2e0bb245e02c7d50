//! Shuffles and atomics, as in figures 3 and 4 of "Faster Parallel Reductions on Kepler": three algorithms
//! with loads of one, two and four elements, and the widest loads beside CUB.

use super::axis::Unit;
use super::figure::{Figure, distinct};
use super::lines::{Chart, ELEMENTS, Panel};
use super::look::{BLUE, GREEN, Look, ORANGE, PURPLE, SKY, VERMILION};
use super::{ReportError, select};
use crate::relate::Related;
use crate::schema::{By, Results, Row, Suite};

pub fn figures<'a>(
    results: &'a Results,
    related: &Related<'a>,
) -> Result<Vec<Figure>, ReportError> {
    let mut rows = select::timed(results, Suite::Kepler);
    rows.retain(|row| row.by != By::Ceiling);
    let mut figures = Vec::new();
    let key = |row: &'a Row| (row.backend, &row.element, row.cache, row.timing);
    for rows in select::grouped(&rows, key) {
        let first = rows[0];
        let conditions = select::title(first.cache, first.timing);
        let subject = format!("{}{}", first.element, select::on(first.backend));
        let name = |number: u32| {
            format!(
                "kepler figure {number} {} {subject} {conditions}",
                first.backend
            )
        };
        let look = looks(&rows);
        let (custom, libraries): (Vec<&Row>, Vec<&Row>) = rows
            .iter()
            .partition(|row| matches!(row.by, By::Warpfold | By::Nvcc));
        let figure_3 = Chart {
            name: name(3),
            title: format!(
                "Figure 3: three algorithms by the width of their loads, {subject}: {conditions}"
            ),
            caption: select::caption(&custom, Unit::GbPerS)
                + " A panel for each width of the loads. Dashed lines: the kernels compiled by nvcc.",
            unit: Unit::GbPerS,
            across: ELEMENTS,
            panels: by_width(&custom, related, &look),
        };
        figures.extend(figure_3.draw()?);
        let widest = custom.iter().map(|row| width(row)).max();
        let is_shown = |row: &&&Row| row.by == By::Warpfold && Some(width(row)) == widest;
        let shown = custom.iter().filter(is_shown).copied();
        let shown: Vec<&Row> = shown.chain(libraries).collect();
        let figure_4 = Chart {
            name: name(4),
            title: format!("Figure 4: the widest loads beside CUB, {subject}: {conditions}"),
            caption: select::caption(&shown, Unit::GbPerS),
            unit: Unit::GbPerS,
            across: ELEMENTS,
            panels: select::panels(&shown, related, Unit::GbPerS, &look),
        };
        figures.extend(figure_4.draw()?);
    }
    Ok(distinct(figures))
}

fn by_width<'a>(
    rows: &[&'a Row],
    related: &Related<'a>,
    look: impl Fn(&Row) -> (String, Look),
) -> Vec<Panel> {
    let mut widths = select::grouped(rows, width);
    widths.sort_by_key(|rows| rows.first().map(|row| width(row)));
    let panels = widths.into_iter().flat_map(|rows| {
        let title = match width(rows[0]) {
            1 => "one element per load".to_owned(),
            width => format!("{width} elements per load"),
        };
        let mut panels = select::panels(&rows, related, Unit::GbPerS, &look);
        for panel in &mut panels {
            panel.title = title.clone();
        }
        panels
    });
    panels.collect()
}

/// The width of the loads: 4 for the kernel `stable_vec4`, and for a variant `vec4`.
fn width(row: &Row) -> u32 {
    let of = |text: &str| text.rsplit_once("vec")?.1.parse().ok();
    let variant = row.variant.as_deref().and_then(of);
    variant.or_else(|| of(&row.kernel)).unwrap_or(1)
}

fn algorithm(row: &Row) -> &str {
    row.kernel.split("_vec").next().unwrap_or(&row.kernel)
}

/// A colour for each algorithm; dashes for nvcc; green for CUB, as in the other figures.
fn looks(rows: &[&Row]) -> impl Fn(&Row) -> (String, Look) + use<> {
    const COLORS: [plotters::style::RGBColor; 5] = [BLUE, ORANGE, PURPLE, SKY, VERMILION];
    let mut algorithms: Vec<String> = Vec::new();
    for row in rows.iter().filter(|row| row.by == By::Warpfold) {
        if !algorithms.iter().any(|known| known == algorithm(row)) {
            algorithms.push(algorithm(row).into());
        }
    }
    move |row| {
        let algorithm = algorithm(row);
        let index = algorithms.iter().position(|known| known == algorithm);
        let color = COLORS[index.unwrap_or(0) % COLORS.len()];
        let (name, color, dash) = match row.by {
            By::Warpfold => (algorithm.to_owned(), color, None),
            By::Nvcc => (format!("{algorithm}, nvcc"), color, Some("7 3")),
            By::Cub => ("CUB".into(), GREEN, None),
            by => (by.title().into(), Look::of(by, 0).color, None),
        };
        (name, Look { color, dash })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example;

    #[test]
    fn widths() {
        let mut row = example::results().rows[0].clone();
        row.variant = None;
        for (kernel, variant, expected) in [
            ("stable", None, 1),
            ("stable_vec4", None, 4),
            ("stable", Some("vec2"), 2),
            ("stable", Some("scalar"), 1),
            ("stable_vec", Some("default"), 1),
        ] {
            row.kernel = kernel.into();
            row.variant = variant.map(str::to_owned);
            assert_eq!(width(&row), expected, "{kernel} {variant:?}");
        }
    }
}
