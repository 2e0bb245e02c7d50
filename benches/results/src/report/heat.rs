//! Heat maps of ratios: a column for each size, a row for each operator and element type.

use plotters::prelude::*;
use plotters::style::text_anchor::HPos;

use super::ReportError;
use super::figure::{Canvas, Drawn, Figure, Mark, Marks, Point};
use super::look::{self, BLUE, FAINT, INK, TEXT, TITLE, VERMILION};
use crate::words;

// Pixels.
const MARGIN: i32 = 14;
const CELL: (i32, i32) = (56, 22);
const HEAD: i32 = 90;
const SWATCH: (i32, i32) = (34, 12);

/// The ratios in the legend. Ratios beyond the first and the last have the same colours as these.
const SCALE: [f64; 7] = [0.5, 0.63, 0.79, 1.0, 1.26, 1.59, 2.0];

pub struct Map {
    pub name: String,
    pub title: String,
    pub caption: String,
    pub rows: Vec<Band>,
}

/// A row of the map.
pub struct Band {
    pub name: String,
    pub cells: Vec<Cell>,
    /// The sizes without a ratio because a result was wrong.
    pub wrong: Vec<u64>,
}

pub struct Cell {
    pub n: u64,
    pub ratio: f64,
    pub unstable: bool,
}

impl Cell {
    fn text(&self) -> String {
        let unstable = if self.unstable { "*" } else { "" };
        match self.ratio {
            large if large >= 100.0 => format!("{large:.0}{unstable}"),
            large if large >= 10.0 => format!("{large:.1}{unstable}"),
            ratio => format!("{ratio:.2}{unstable}"),
        }
    }
}

impl Map {
    /// The figure; `None` if there are no cells.
    pub fn draw(mut self) -> Result<Option<Figure>, ReportError> {
        for row in &mut self.rows {
            row.cells
                .retain(|cell| cell.ratio.is_finite() && cell.ratio >= 0.0);
            row.cells.sort_by_key(|cell| cell.n);
            // A size that was measured twice: the first measurement.
            row.cells.dedup_by_key(|cell| cell.n);
        }
        self.rows.retain(|row| !row.cells.is_empty());
        let wrong = self.rows.iter().flat_map(|row| row.wrong.iter().copied());
        let mut sizes: Vec<_> = self.cells().map(|(_, cell)| cell.n).chain(wrong).collect();
        sizes.sort_unstable();
        sizes.dedup();
        if sizes.is_empty() {
            return Ok(None);
        }
        let names = self.rows.iter().map(|row| look::width(&row.name, TEXT));
        let names = names.max().unwrap_or(0) + MARGIN + 10;
        let right = names + sizes.len() as i32 * CELL.0 + MARGIN;
        let wide = right
            .max(look::width(&self.title, TITLE) + 2 * MARGIN)
            .max(520);
        let high = HEAD + self.rows.len() as i32 * CELL.1 + MARGIN;
        let points = self.marks();
        let what = (&*self.name, &*self.title, &*self.caption);
        let figure = Figure::draw(what, (wide, high), &points, |canvas| {
            self.head(canvas, names, &sizes)?;
            self.map(canvas, names, &sizes)
        });
        figure.map(Some)
    }

    /// All cells, each with the index of its row.
    fn cells(&self) -> impl Iterator<Item = (usize, &Cell)> {
        let rows = self.rows.iter().enumerate();
        rows.flat_map(|(index, row)| row.cells.iter().map(move |cell| (index, cell)))
    }

    fn marks(&self) -> Marks {
        let point = |(row, cell): (usize, &Cell)| {
            let name = &self.rows[row].name;
            let unstable = if cell.unstable { " (unstable)" } else { "" };
            Point {
                series: (row, name.clone()),
                x: cell.n as f64,
                y: cell.ratio,
                title: format!(
                    "{name}, n = {}: {:.3}{unstable}",
                    words::size(cell.n),
                    cell.ratio
                ),
            }
        };
        let marks = self.cells().map(|cell| Mark {
            dash: None,
            point: Some(point(cell)),
        });
        Marks {
            tag: "rect",
            points: marks.collect(),
            paths: Vec::new(),
        }
    }

    fn head(&self, canvas: &Canvas, names: i32, sizes: &[u64]) -> Drawn<()> {
        look::write(canvas, &self.title, (MARGIN, 22), HPos::Left, (TITLE, INK))?;
        let text = (TEXT - 1.0, FAINT);
        let (mut x, y) = (MARGIN, 46);
        look::write(canvas, "ours faster", (x, y), HPos::Left, text)?;
        x += look::width("ours faster", TEXT) + 4;
        for ratio in SCALE {
            let corners = [(x, y - SWATCH.1), (x + SWATCH.0, y + SWATCH.1)];
            canvas.draw(&Rectangle::new(corners, color(ratio).filled()))?;
            let at = (x + SWATCH.0 / 2, y);
            let ink = (TEXT - 2.0, look::ink_on(color(ratio)));
            look::write(canvas, &format!("{ratio}"), at, HPos::Center, ink)?;
            x += SWATCH.0;
        }
        look::write(canvas, "peer faster", (x + 8, y), HPos::Left, text)?;
        let y = HEAD - 14;
        look::write(canvas, "n", (names - 8, y), HPos::Right, text)?;
        for (column, n) in (0..).zip(sizes) {
            let x = names + column * CELL.0 + CELL.0 / 2;
            look::write(canvas, &words::size(*n), (x, y), HPos::Center, text)?;
        }
        Ok(())
    }

    fn map(&self, canvas: &Canvas, names: i32, sizes: &[u64]) -> Drawn<()> {
        let x_of = |n: u64| names + sizes.partition_point(|size| *size < n) as i32 * CELL.0;
        for (index, row) in (0..).zip(&self.rows) {
            let y = HEAD + index * CELL.1 + CELL.1 / 2;
            look::write(canvas, &row.name, (names - 8, y), HPos::Right, (TEXT, INK))?;
            for n in &row.wrong {
                let at = (x_of(*n) + CELL.0 / 2, y);
                look::write(canvas, "wrong", at, HPos::Center, (TEXT - 1.0, FAINT))?;
            }
        }
        for (row, cell) in self.cells() {
            let (x, y) = (x_of(cell.n), HEAD + row as i32 * CELL.1);
            // One pixel is left between cells.
            let corners = [(x, y), (x + CELL.0 - 1, y + CELL.1 - 1)];
            let fill = color(cell.ratio);
            canvas.draw(&Rectangle::new(corners, fill.filled()))?;
            let middle = (x + CELL.0 / 2, y + CELL.1 / 2);
            let ink = (TEXT - 1.0, look::ink_on(fill));
            look::write(canvas, &cell.text(), middle, HPos::Center, ink)?;
        }
        Ok(())
    }
}

/// The colour of a ratio: blue below 1, vermilion above 1, light grey at 1. The strength is the logarithm of
/// the ratio, so that 2 is as strong as 1/2.
fn color(ratio: f64) -> RGBColor {
    let strength = ratio.log2().clamp(-1.0, 1.0);
    let end = if strength < 0.0 { BLUE } else { VERMILION };
    let mix = |from: u8, to: u8| {
        let (from, to) = (f64::from(from), f64::from(to));
        (from + (to - from) * strength.abs()).round() as u8
    };
    RGBColor(mix(0xF4, end.0), mix(0xF4, end.1), mix(0xF4, end.2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_neutral_at_one_and_limited_at_both_ends() {
        assert_eq!(color(1.0), RGBColor(0xF4, 0xF4, 0xF4));
        assert_eq!((color(0.5), color(0.0)), (BLUE, BLUE));
        assert_eq!((color(2.0), color(1e9)), (VERMILION, VERMILION));
    }

    #[test]
    fn texts_of_cells_are_short() {
        let text = |ratio, unstable| {
            let cell = Cell {
                n: 1,
                ratio,
                unstable,
            };
            cell.text()
        };
        assert_eq!(text(0.984, true), "0.98*");
        assert_eq!(text(12.34, false), "12.3");
        assert_eq!(text(1234.5, false), "1234");
    }
}
