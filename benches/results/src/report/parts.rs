//! Speeds of segments and of runs against their mean length: a figure for each operator and type.

use super::ReportError;
use super::axis::Unit;
use super::figure::Figure;
use super::lines::{Chart, Line, Panel, Spot};
use super::look::Look;
use crate::parts::{Folder, Form, Row, distinct};
use crate::schema::By;

const CAPTION: &str = "Bandwidth against the mean number of items of a part. The bytes are all that the call has to read \
                       and write; the read ceiling is a read of as many.";

pub fn figures(folder: &Folder) -> Result<Vec<Figure>, ReportError> {
    let of_segments: Panels = &[
        ("segments of one length, by offsets", "of ", Form::Call),
        ("the same as rows", "of ", Form::Rows),
    ];
    let of_runs: Panels = &[("runs of random lengths", "mean of ", Form::Call)];
    let mut figures = Vec::new();
    for (what, parts, panels) in [
        ("segments", &folder.segments, of_segments),
        ("runs", &folder.runs, of_runs),
    ] {
        let Some(parts) = parts else { continue };
        for (op, element) in distinct(parts.rows.iter().map(|row| (&row.op, &row.element))) {
            let is_in = |row: &&Row| (&row.op, &row.element) == (op, element);
            let rows: Vec<_> = parts.rows.iter().filter(is_in).collect();
            let chart = Chart {
                name: format!("{what} {op} {element}"),
                title: format!("{what}: {op} of {element} on {}", parts.device),
                caption: CAPTION.into(),
                unit: Unit::GbPerS,
                across: "items of a part",
                panels: panels.iter().map(|panel| panel_of(&rows, *panel)).collect(),
            };
            figures.extend(chart.draw()?);
        }
    }
    Ok(figures)
}

/// The title of a panel, the beginning of the names of its parts, and the call.
type Panels = &'static [(&'static str, &'static str, Form)];

fn panel_of(rows: &[&Row], (title, begin, form): (&str, &str, Form)) -> Panel {
    let is_in = |row: &&&Row| row.parts.starts_with(begin) && row.us(form).is_some();
    let rows: Vec<_> = rows.iter().filter(is_in).collect();
    let line = |by: By, speed: &dyn Fn(&Row) -> Option<f64>| {
        let spot = |row: &&&Row| {
            Some(Spot {
                n: (row.n as f64 / row.results as f64).round() as u64,
                height: speed(row)?,
                unstable: false,
            })
        };
        Line {
            name: match by {
                By::Ceiling => "read ceiling".into(),
                by => by.title().into(),
            },
            look: Look::of(by, 0),
            points: rows.iter().filter_map(spot).collect(),
        }
    };
    let ours = |row: &Row| Some(row.gb_per_s(form, row.us(form)?));
    let mut lines = vec![line(By::Warpfold, &ours)];
    lines.extend(By::PEERS.map(|by| {
        let theirs = |row: &Row| Some(row.gb_per_s(form, row.peer_us(by, form)?));
        line(by, &theirs)
    }));
    let read = |row: &Row| Some(row.gb_per_s(Form::Call, row.read_us));
    lines.push(line(By::Ceiling, &read));
    Panel {
        title: title.into(),
        lines,
    }
}
