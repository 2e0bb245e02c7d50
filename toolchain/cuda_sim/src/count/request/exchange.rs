//! Shuffles as text and as SVG: which lane each lane reads.

use super::Request;
use crate::count::merge::lanes_of;
use std::fmt::Write;

/// The width of a lane, the height of a row, the height between the rows, and the width of the labels, in pixels.
const SIDE: usize = 28;
const ROW: usize = 20;
const BETWEEN: usize = 56;
const LABEL: usize = 72;

/// The lanes that read another lane, with their sources.
fn moves(request: &Request) -> impl Iterator<Item = (usize, usize)> {
    let source = |lane: usize| (lane, request.addresses[lane] as usize);
    lanes_of(request.active)
        .map(source)
        .filter(|(lane, source)| lane != source)
}

pub(super) fn summary(request: &Request) -> String {
    let (lanes, moved) = (request.active.count_ones(), moves(request).count());
    format!("shuffle, {lanes} lanes: {moved} read another lane")
}

pub(super) fn text(request: &Request) -> String {
    let mut text = format!("{}\n  lane ", summary(request));
    for lane in 0..32 {
        let _ = write!(text, "{lane:>3}");
    }
    text += "\n  reads";
    for lane in 0..32 {
        let source = moves(request).find(|(reader, _)| *reader == lane);
        let cell = source.map_or(".".to_owned(), |(_, source)| source.to_string());
        let _ = write!(text, "{cell:>3}");
    }
    text + "\n"
}

pub(super) fn svg(request: &Request) -> String {
    let (width, height) = (LABEL + 32 * SIDE + 8, ROW + 2 * ROW + BETWEEN + 12);
    let (top, bottom) = (ROW + 4, ROW + 4 + ROW + BETWEEN);
    let title = summary(request);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
         height=\"{height}\" font-family=\"sans-serif\" font-size=\"11\">\n\
         <title>{title}</title>\n\
         <rect width=\"{width}\" height=\"{height}\" rx=\"4\" fill=\"#fdfdfb\"/>\n\
         <text x=\"6\" y=\"15\" font-weight=\"bold\" fill=\"#222\">{title}</text>\n\
         <text x=\"6\" y=\"{}\" fill=\"#555\">from lane</text><text x=\"6\" y=\"{}\" fill=\"#555\">to lane</text>\n",
        top + 14,
        bottom + 14,
    );
    let centre = |lane: usize| LABEL + lane * SIDE + SIDE / 2;
    for (lane, source) in moves(request) {
        let _ = writeln!(
            svg,
            "<path d=\"M{} {}L{} {bottom}\" stroke=\"hsl({} 55% 55%)\" stroke-width=\"1.5\"/>",
            centre(source),
            top + ROW,
            centre(lane),
            200 + source * 4
        );
    }
    for lane in 0..32 {
        // A lane has the colour of its value.
        let source = moves(request).find(|(reader, _)| *reader == lane);
        let value = source.map_or(lane, |(_, source)| source);
        for (y, of) in [(top, lane), (bottom, value)] {
            let fill = match request.active >> lane & 1 {
                0 => "#eeeeea".to_owned(),
                _ => format!("hsl({} 62% 78%)", 200 + of * 4),
            };
            let _ = write!(
                svg,
                "<rect x=\"{}\" y=\"{y}\" width=\"{}\" height=\"{ROW}\" fill=\"{fill}\"/>\
                 <text x=\"{}\" y=\"{}\" text-anchor=\"middle\" fill=\"#111\">{lane}</text>",
                LABEL + lane * SIDE + 1,
                SIDE - 2,
                centre(lane),
                y + 14
            );
        }
        svg.push('\n');
    }
    svg + "</svg>\n"
}
