//! Requests as text and as SVG.

use super::Request;
use crate::Space;
use crate::count::banks::lanes_together;
use crate::count::merge::lanes_of;
use std::collections::BTreeMap;
use std::fmt::Write;

const WORD: u64 = 4;
const BANKS: usize = 32;
/// Words of a sector.
const SECTOR: u64 = 8;

/// The rows of text; the rest is counted.
const ROWS: usize = 16;

/// A table of words: for each the lanes that access it.
struct Table {
    /// The heads of the columns.
    columns: Vec<String>,
    /// What a row is: `wavefront` or `sector`.
    unit: &'static str,
    rows: Vec<Row>,
}

/// The lanes at each word of a row; lanes that share a word are in one cell.
type Row = Vec<Vec<usize>>;

impl Table {
    fn of(request: &Request) -> Self {
        match request.what.space() {
            Some(Space::Shared) => Self {
                columns: (0..BANKS).map(|bank| bank.to_string()).collect(),
                unit: "wavefront",
                rows: wavefronts(request),
            },
            _ => Self {
                columns: (0..SECTOR)
                    .map(|word| format!("+{}", word * WORD))
                    .collect(),
                unit: "sector",
                rows: sectors(request),
            },
        }
    }
}

/// The lanes at each word that they access.
fn words(request: &Request, lanes: impl Iterator<Item = usize>) -> BTreeMap<u64, Vec<usize>> {
    let mut words = BTreeMap::<u64, Vec<usize>>::new();
    for lane in lanes {
        let first = request.addresses[lane];
        let last = first + u64::from(request.size.max(1)) - 1;
        for word in first / WORD..=last / WORD {
            words.entry(word).or_default().push(lane);
        }
    }
    words
}

/// Each bank serves one word in a wavefront, lowest first.
fn wavefronts(request: &Request) -> Vec<Row> {
    let together = lanes_together(request.size) as usize;
    let mut rows = Vec::new();
    for first in (0..32).step_by(together) {
        let group =
            lanes_of(request.active).filter(|lane| (first..first + together).contains(lane));
        let start = rows.len();
        let mut served = [0; BANKS];
        for (word, lanes) in words(request, group) {
            let bank = word as usize % BANKS;
            let row = start + served[bank];
            served[bank] += 1;
            if rows.len() <= row {
                rows.push(vec![Vec::new(); BANKS]);
            }
            rows[row][bank] = lanes;
        }
    }
    rows
}

fn sectors(request: &Request) -> Vec<Row> {
    let mut rows = BTreeMap::<u64, Row>::new();
    for (word, lanes) in words(request, lanes_of(request.active)) {
        let row = rows
            .entry(word / SECTOR)
            .or_insert_with(|| vec![Vec::new(); SECTOR as usize]);
        row[(word % SECTOR) as usize] = lanes;
    }
    rows.into_values().collect()
}

/// The lane of a cell, with a `+` if there are more.
fn cell(lanes: &[usize]) -> String {
    match lanes {
        [] => String::new(),
        [lane] => lane.to_string(),
        [lane, ..] => format!("{lane}+"),
    }
}

pub(super) fn text(request: &Request) -> String {
    let table = Table::of(request);
    let width = if table.columns.len() > 8 { 3 } else { 4 };
    let mut text = format!("{}\n", request.summary());
    let head = match table.unit {
        "wavefront" => "bank",
        _ => "byte",
    };
    let mut line = |label: &str, cells: &mut dyn Iterator<Item = String>| {
        let mut row = format!("  {label:<13}");
        for cell in cells {
            let _ = write!(row, "{cell:>width$}");
        }
        text.push_str(row.trim_end());
        text.push('\n');
    };
    line(head, &mut table.columns.iter().cloned());
    for (number, row) in table.rows.iter().take(ROWS).enumerate() {
        let cells = row.iter().map(|lanes| match lanes.as_slice() {
            [] => ".".to_owned(),
            lanes => cell(lanes),
        });
        line(
            &format!("{} {}", table.unit, number + 1),
            &mut cells.into_iter(),
        );
    }
    if table.rows.len() > ROWS {
        let _ = writeln!(
            text,
            "  and {} more {}s",
            table.rows.len() - ROWS,
            table.unit
        );
    }
    text
}

/// The side of a cell, and the width of the labels, in pixels.
const SIDE: usize = 22;
const LABEL: usize = 96;

pub(super) fn svg(request: &Request) -> String {
    let table = Table::of(request);
    let side = if table.columns.len() > 8 {
        SIDE
    } else {
        2 * SIDE
    };
    let width = LABEL + table.columns.len() * side + 8;
    let height = (table.rows.len() + 2) * SIDE + 8;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
         height=\"{height}\" font-family=\"sans-serif\" font-size=\"11\">\n\
         <title>{}</title>\n\
         <rect width=\"{width}\" height=\"{height}\" rx=\"4\" fill=\"#fdfdfb\"/>\n\
         <text x=\"6\" y=\"15\" font-weight=\"bold\" fill=\"#222\">{}</text>\n",
        request.summary(),
        request.summary()
    );
    for (column, head) in table.columns.iter().enumerate() {
        let x = LABEL + column * side + side / 2;
        let _ = writeln!(
            svg,
            "<text x=\"{x}\" y=\"{}\" text-anchor=\"middle\" fill=\"#555\">{head}</text>",
            SIDE + 15
        );
    }
    for (number, row) in table.rows.iter().enumerate() {
        let y = (number + 2) * SIDE;
        let _ = writeln!(
            svg,
            "<text x=\"6\" y=\"{}\" fill=\"#555\">{} {}</text>",
            y + 15,
            table.unit,
            number + 1
        );
        let _ = write!(
            svg,
            "<rect x=\"{LABEL}\" y=\"{y}\" width=\"{}\" height=\"{}\" fill=\"#eeeeea\"/>",
            table.columns.len() * side,
            SIDE - 1
        );
        for (column, lanes) in row.iter().enumerate() {
            let Some(lane) = lanes.first() else { continue };
            let x = LABEL + column * side;
            // Neighbouring lanes have neighbouring colours.
            let hue = 200 + lane * 4;
            let _ = write!(
                svg,
                "<rect x=\"{x}\" y=\"{y}\" width=\"{side}\" height=\"{}\" fill=\"hsl({hue} 62% 78%)\"/>\
                 <text x=\"{}\" y=\"{}\" text-anchor=\"middle\" fill=\"#111\">{}</text>",
                SIDE - 1,
                x + side / 2,
                y + 15,
                cell(lanes)
            );
        }
        svg.push('\n');
    }
    // The lines between the columns.
    let _ = write!(svg, "<path stroke=\"#fdfdfb\" d=\"");
    for column in 1..table.columns.len() {
        let x = LABEL + column * side;
        let _ = write!(svg, "M{x} {}V{}", 2 * SIDE, (table.rows.len() + 2) * SIDE);
    }
    svg.push_str("\"/>\n");
    svg.push_str("</svg>\n");
    svg
}
