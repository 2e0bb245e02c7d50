//! The errors of sums against the number of elements: a figure for each type, with a panel for each data.

use super::ReportError;
use super::axis::Unit;
use super::figure::Figure;
use super::lines::{Chart, ELEMENTS, Line, Panel, Spot};
use super::look::{BLUE, GREEN, INK, Look, ORANGE, PURPLE, SKY, VERMILION};
use crate::accuracy::{Accuracy, By, Case, Data};

pub fn figures(record: &Accuracy) -> Result<Vec<Figure>, ReportError> {
    let figures = ["f32", "f64"].map(|element| {
        let cases = record.cases.iter().filter(|case| case.element == element);
        let cases: Vec<_> = cases.collect();
        let chart = Chart {
            name: format!("accuracy {element}"),
            title: format!("Errors of sums of {element}"),
            caption: format!("{} {}", Unit::Ulps.caption(), left_out(&cases)),
            unit: Unit::Ulps,
            across: ELEMENTS,
            panels: Data::ALL.map(|data| panel(data, &cases)).into(),
        };
        chart.draw()
    });
    let figures: Result<Vec<_>, _> = figures.into_iter().collect();
    Ok(figures?.into_iter().flatten().collect())
}

/// What the panels do not show.
fn left_out(cases: &[&Case]) -> String {
    let errors = cases
        .iter()
        .flat_map(|case| By::ALL.map(|by| case.error(by)));
    match errors
        .flatten()
        .filter(|error| error.ulps.is_infinite())
        .count()
    {
        0 => "Every sum is finite.".into(),
        count => format!("{count} sums that are not finite are left out."),
    }
}

fn panel(data: Data, cases: &[&Case]) -> Panel {
    let line = |by: By| {
        let cases = cases.iter().filter(|case| case.data == data);
        let spot = |case: &&Case| {
            Some(Spot {
                n: case.n,
                height: case.error(by)?.ulps,
                unstable: false,
            })
        };
        let spots = cases.filter_map(spot);
        Line {
            name: by.title().into(),
            look: look(by),
            points: spots.filter(|spot| spot.height.is_finite()).collect(),
        }
    };
    Panel {
        title: data.to_string(),
        lines: By::ALL.map(line).into(),
    }
}

/// Lines of equal errors lie on one another, so the later of two has dashes.
fn look(by: By) -> Look {
    let (color, dash) = match by {
        By::Fast => (SKY, None),
        By::Reproducible => (BLUE, Some("7 3")),
        By::Exact => (BLUE, None),
        By::Cub => (GREEN, None),
        By::CubGpuToGpu => (GREEN, Some("7 3")),
        By::Torch => (VERMILION, Some("9 3 2 3")),
        By::Numpy => (PURPLE, Some("7 3")),
        By::Loop => (ORANGE, None),
        By::Fsum => (INK, Some("2 3")),
    };
    Look { color, dash }
}
