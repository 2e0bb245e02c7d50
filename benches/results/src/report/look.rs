//! Colours, fonts and texts. The colours are Okabe and Ito's, which also differ in lightness.

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::figure::{Canvas, Drawn};
use crate::schema::By;

pub const INK: RGBColor = RGBColor(0x22, 0x22, 0x22);
pub const FAINT: RGBColor = RGBColor(0x59, 0x59, 0x59);
pub const GRID: RGBColor = RGBColor(0xE2, 0xE2, 0xE2);

pub const BLUE: RGBColor = RGBColor(0x00, 0x72, 0xB2);
pub const ORANGE: RGBColor = RGBColor(0xE6, 0x9F, 0x00);
pub const GREEN: RGBColor = RGBColor(0x00, 0x9E, 0x73);
pub const VERMILION: RGBColor = RGBColor(0xD5, 0x5E, 0x00);
pub const PURPLE: RGBColor = RGBColor(0xCC, 0x79, 0xA7);
pub const SKY: RGBColor = RGBColor(0x56, 0xB4, 0xE9);

/// The height of most texts in pixels.
pub const TEXT: f64 = 13.0;
pub const TITLE: f64 = 16.0;

/// The colour and the dashes of a line, or the colour of a bar.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Look {
    pub color: RGBColor,
    /// The SVG attribute `stroke-dasharray`; `None`: solid.
    pub dash: Option<&'static str>,
}

impl Look {
    /// The look of the author's variant with this index.
    pub fn of(by: By, variant: usize) -> Look {
        const DASHES: [Option<&str>; 4] = [None, Some("7 3"), Some("2 3"), Some("9 3 2 3")];
        let color = match by {
            By::Warpfold => BLUE,
            By::Ceiling => INK,
            By::Nvcc => ORANGE,
            By::Cub => GREEN,
            By::Torch => VERMILION,
            By::Cupy => PURPLE,
            By::Driver | By::Loop => SKY,
        };
        let dash = match by {
            By::Ceiling => Some(["4 4", "1 4"][variant % 2]),
            _ => DASHES[variant % DASHES.len()],
        };
        Look { color, dash }
    }
}

/// Dark or white, so that text is legible on `fill`.
pub fn ink_on(fill: RGBColor) -> RGBColor {
    let RGBColor(r, g, b) = fill;
    let light = 0.299 * f64::from(r) + 0.587 * f64::from(g) + 0.114 * f64::from(b);
    if light > 105.0 { INK } else { WHITE }
}

/// Writes a text that is vertically centred at `at`.
pub fn write(
    canvas: &Canvas,
    text: &str,
    at: (i32, i32),
    anchor: HPos,
    (size, color): (f64, RGBColor),
) -> Drawn<()> {
    let style = font(size).color(&color).pos(Pos::new(anchor, VPos::Center));
    Ok(canvas.draw(&Text::new(text, at, style))?)
}

/// A font of this height in the SVG. (plotters' SVG backend divides the size by 1.24.)
pub fn font(pixels: f64) -> FontDesc<'static> {
    (FontFamily::SansSerif, pixels * 1.24).into()
}

/// An upper bound in most fonts of the width of a text with this height.
pub fn width(text: &str, pixels: f64) -> i32 {
    (text.chars().count() as f64 * pixels * 0.58) as i32
}

/// Lays out a legend of width `room`: the x position and the line of each name, and the number of lines.
pub fn flow(names: &[String], swatch: i32, room: i32) -> (Vec<(i32, i32)>, i32) {
    let (mut x, mut line) = (0, 0);
    let mut positions = Vec::new();
    for name in names {
        let wide = swatch + 6 + width(name, TEXT) + 16;
        if x > 0 && x + wide > room {
            (x, line) = (0, line + 1);
        }
        positions.push((x, line));
        x += wide;
    }
    (positions, if names.is_empty() { 0 } else { line + 1 })
}
