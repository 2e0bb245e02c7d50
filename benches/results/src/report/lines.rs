//! Line charts of speeds or times against the number of elements: panels with common scales. The scale of
//! times is logarithmic.

use plotters::prelude::*;
use plotters::style::text_anchor::HPos;

use super::ReportError;
use super::axis::{Axis, HEIGHTS, Marked, Unit};
use super::figure::{Canvas, Drawn, Figure, Mark, Marks, Point};
use super::look::{self, FAINT, GRID, INK, Look, TEXT, TITLE};
use crate::words;

/// Pixels.
const PANEL: (i32, i32) = (390, 300);
/// The width of a single panel.
const SINGLE: i32 = 560;
const MARGIN: i32 = 14;
const TITLE_HIGH: i32 = 40;
const LEGEND_LINE: i32 = 20;
const SAMPLE: i32 = 26;

/// The usual [`across`](Chart::across).
pub const ELEMENTS: &str = "elements";

pub struct Chart {
    pub name: String,
    pub title: String,
    pub caption: String,
    pub unit: Unit,
    /// What the horizontal axis counts.
    pub across: &'static str,
    pub panels: Vec<Panel>,
}

pub struct Panel {
    pub title: String,
    pub lines: Vec<Line>,
}

pub struct Line {
    pub name: String,
    pub look: Look,
    pub points: Vec<Spot>,
}

/// A row as a point of a line; see `select::spot`.
pub struct Spot {
    pub n: u64,
    /// In the chart's unit; a time is above 0.
    pub height: f64,
    pub unstable: bool,
}

impl Chart {
    /// The figure; `None` if there are no points.
    pub fn draw(mut self) -> Result<Option<Figure>, ReportError> {
        for line in self.panels.iter_mut().flat_map(|panel| &mut panel.lines) {
            line.points.sort_by_key(|spot| spot.n);
        }
        self.panels.retain_mut(|panel| {
            panel.lines.retain(|line| !line.points.is_empty());
            !panel.lines.is_empty()
        });
        if self.panels.is_empty() {
            return Ok(None);
        }
        let layout = Layout::of(&self.title, (self.unit, self.across), &self.panels);
        let what = (&*self.name, &*self.title, &*self.caption);
        let marks = self.marks(&layout);
        let figure = Figure::draw(what, layout.size, &marks, |canvas| {
            layout.draw(canvas, &self.title, &self.panels)
        });
        figure.map(Some)
    }

    /// The marks in the order of [`Layout::draw`].
    fn marks(&self, layout: &Layout) -> Marks {
        let dashed = |look: Look| Mark {
            dash: look.dash,
            point: None,
        };
        let samples = layout.legend.iter().map(|(_, look)| dashed(*look));
        let lines = || self.panels.iter().flat_map(|panel| &panel.lines);
        let paths = samples
            .chain(lines().map(|line| dashed(line.look)))
            .collect();
        let mut points = Vec::new();
        let mut index = 0;
        for panel in &self.panels {
            for line in &panel.lines {
                let series = format!("{} / {}", panel.title, line.name);
                points.extend(line.points.iter().map(|spot| Mark {
                    dash: None,
                    point: Some(spot.point((index, series.clone()), &line.name, self.unit)),
                }));
                index += 1;
            }
        }
        Marks {
            tag: "circle",
            points,
            paths,
        }
    }
}

impl Spot {
    fn point(&self, series: (usize, String), name: &str, unit: Unit) -> Point {
        let unstable = if self.unstable { " (unstable)" } else { "" };
        let (n, height) = (words::size(self.n), words::number(self.height));
        Point {
            series,
            x: self.n as f64,
            y: self.height,
            title: format!("{name}: n = {n}, {height} {}{unstable}", unit.name()),
        }
    }
}

struct Layout {
    unit: Unit,
    across: &'static str,
    size: (i32, i32),
    legend: Vec<(String, Look)>,
    /// The position and the line of each name in the legend.
    positions: Vec<(i32, i32)>,
    head: i32,
    columns: i32,
    panel: i32,
    /// Exponents of two.
    sizes: (f64, f64),
    heights: (f64, f64),
}

impl Layout {
    fn of(title: &str, (unit, across): (Unit, &'static str), panels: &[Panel]) -> Layout {
        let lines = || panels.iter().flat_map(|panel| &panel.lines);
        let spots = || lines().flat_map(|line| &line.points);
        let mut legend: Vec<(String, Look)> = Vec::new();
        for line in lines() {
            if !legend
                .iter()
                .any(|(name, look)| (name, look) == (&line.name, &line.look))
            {
                legend.push((line.name.clone(), line.look));
            }
        }
        // Four panels are two by two; otherwise a row has up to three.
        let columns = if panels.len() == 4 {
            2
        } else {
            panels.len().clamp(1, 3) as i32
        };
        let rows = (panels.len() as i32 + columns - 1) / columns;
        let wide = if columns == 1 {
            SINGLE
        } else {
            PANEL.0 * columns
        };
        let wide = wide.max(look::width(title, TITLE) + 2 * MARGIN);
        let names: Vec<_> = legend.iter().map(|(name, _)| name.clone()).collect();
        let (positions, legend_lines) = look::flow(&names, SAMPLE, wide - 2 * MARGIN);
        let head = TITLE_HIGH + legend_lines * LEGEND_LINE + 6;
        let exponents = || spots().map(|spot| (spot.n as f64).log2());
        let least = exponents().fold(f64::INFINITY, f64::min).floor();
        let most = exponents().fold(f64::NEG_INFINITY, f64::max).ceil();
        let heights = spots().map(|spot| spot.height).collect::<Vec<_>>();
        Layout {
            unit,
            across,
            size: (wide, head + rows * PANEL.1),
            legend,
            positions,
            head,
            columns,
            panel: wide / columns,
            sizes: (least - 0.5, most + 0.5),
            heights: unit.axis(heights.iter().copied()),
        }
    }

    fn draw(&self, canvas: &Canvas, title: &str, panels: &[Panel]) -> Drawn<()> {
        look::write(canvas, title, (MARGIN, 22), HPos::Left, (TITLE, INK))?;
        // All lines are drawn after all grids, and all points after all lines: see `Marks`.
        let mut lines = Vec::new();
        for ((name, look), (x, line)) in self.legend.iter().zip(&self.positions) {
            let (x, y) = (MARGIN + x, TITLE_HIGH + line * LEGEND_LINE + 8);
            lines.push((vec![(x, y), (x + SAMPLE, y)], *look));
            look::write(canvas, name, (x + SAMPLE + 6, y), HPos::Left, (TEXT, INK))?;
        }
        let mut points = Vec::new();
        for (index, panel) in (0..).zip(panels) {
            let corner = (
                index % self.columns * self.panel,
                self.head + index / self.columns * PANEL.1,
            );
            let at = self.grid(canvas, &panel.title, corner)?;
            for line in &panel.lines {
                let spots: Vec<_> = line
                    .points
                    .iter()
                    .map(|spot| (at(spot), spot.unstable))
                    .collect();
                lines.push((spots.iter().map(|(at, _)| *at).collect(), line.look));
                points.extend(spots.into_iter().map(|spot| (spot, line.look.color)));
            }
        }
        for (path, look) in lines {
            canvas.draw(&PathElement::new(path, look.color.stroke_width(2)))?;
        }
        for ((at, unstable), color) in points {
            let (radius, style) = match unstable {
                true => (5, color.stroke_width(2)),
                false => (3, color.filled()),
            };
            canvas.draw(&Circle::new(at, radius, style))?;
        }
        Ok(())
    }

    /// Draws a panel's scales, and returns the function from a spot to its pixel.
    fn grid(
        &self,
        canvas: &Canvas,
        title: &str,
        (x, y): (i32, i32),
    ) -> Drawn<impl Fn(&Spot) -> (i32, i32)> {
        let area = canvas.clone().shrink((x, y), (self.panel, PANEL.1));
        look::write(
            &area,
            self.unit.name(),
            (54, 8),
            HPos::Right,
            (TEXT - 1.0, FAINT),
        )?;
        look::write(&area, title, (66, 8), HPos::Left, (TEXT, INK))?;
        let (least, most) = self.sizes;
        let powers = Axis::of(least..most, Marked::Whole);
        let count = powers.marks().len();
        let (low, high) = self.heights;
        let heights = Axis::of(low..high, self.unit.marked());
        let mut chart = ChartBuilder::on(&area)
            .margin_top(22)
            .margin_right(MARGIN)
            .set_label_area_size(LabelAreaPosition::Left, 62)
            .margin_bottom(14)
            .set_label_area_size(LabelAreaPosition::Bottom, 42)
            .build_cartesian_2d(powers, heights)?;
        chart
            .configure_mesh()
            .max_light_lines(0)
            .bold_line_style(GRID)
            .axis_style(FAINT)
            .x_labels(count)
            .y_labels(HEIGHTS)
            .x_label_formatter(&|exponent| words::power(exponent.round().max(0.0) as u32))
            .y_label_formatter(&|coordinate| self.unit.label(*coordinate))
            .label_style(look::font(TEXT).color(&FAINT))
            .axis_desc_style(look::font(TEXT - 1.0).color(&FAINT))
            .x_desc(self.across)
            .draw()?;
        let (spec, unit) = (chart.as_coord_spec().clone(), self.unit);
        Ok(move |spot: &Spot| {
            spec.translate(&((spot.n as f64).log2(), unit.coordinate(spot.height)))
        })
    }
}
