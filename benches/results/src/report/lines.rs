//! Line charts of speeds or times against the number of elements: panels with common scales. The scale of
//! times is logarithmic.

use std::ops::Range;

use plotters::coord::ranged1d::{BoldPoints, DefaultFormatting, KeyPointHint};
use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;
use plotters::style::text_anchor::HPos;

use super::ReportError;
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
/// The largest number of marks on an axis of speeds.
const HEIGHTS: usize = 7;

pub struct Chart {
    pub name: String,
    pub title: String,
    pub caption: String,
    pub unit: Unit,
    pub panels: Vec<Panel>,
}

/// The unit of the vertical axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// On a linear scale that begins at 0.
    GbPerS,
    /// Microseconds, on a logarithmic scale.
    Us,
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
        let layout = Layout::of(&self.title, self.unit, &self.panels);
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

impl Unit {
    fn name(self) -> &'static str {
        match self {
            Unit::GbPerS => "GB/s",
            Unit::Us => "us",
        }
    }

    /// The label at a coordinate of the axis.
    fn label(self, coordinate: f64) -> String {
        match self {
            Unit::GbPerS => ((coordinate * 1e6).round() / 1e6).to_string(),
            // Two digits are enough for the marks.
            Unit::Us => {
                let us = 10f64.powf(coordinate);
                let digit = 10f64.powf(1.0 - us.log10().floor());
                ((us * digit).round() / digit).to_string()
            }
        }
    }

    /// The coordinate of a height on the axis.
    fn coordinate(self, height: f64) -> f64 {
        match self {
            Unit::GbPerS => height,
            Unit::Us => height.log10(),
        }
    }

    /// The coordinates of the ends of the axis for these heights.
    fn axis(self, heights: impl Iterator<Item = f64> + Clone) -> (f64, f64) {
        let most = heights.clone().map(|height| self.coordinate(height));
        let most = most.fold(f64::NEG_INFINITY, f64::max);
        match self {
            // The scale must not be empty.
            Unit::GbPerS => (0.0, most.max(1e-6) * 1.06),
            Unit::Us => {
                let least = heights.map(|height| self.coordinate(height));
                let least = least.fold(f64::INFINITY, f64::min);
                (least - 0.1, most + 0.1)
            }
        }
    }
}

struct Layout {
    unit: Unit,
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
    fn of(title: &str, unit: Unit, panels: &[Panel]) -> Layout {
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
        let heights = match self.unit {
            Unit::GbPerS => Axis::of(low..high, Marked::Even),
            Unit::Us => Axis::of(low..high, Marked::Tens),
        };
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
            .x_desc("elements")
            .draw()?;
        let (spec, unit) = (chart.as_coord_spec().clone(), self.unit);
        Ok(move |spot: &Spot| {
            spec.translate(&((spot.n as f64).log2(), unit.coordinate(spot.height)))
        })
    }
}

/// An axis with its marks.
#[derive(Clone)]
struct Axis {
    range: Range<f64>,
    axis: RangedCoordf64,
    marked: Marked,
}

#[derive(Clone, Copy)]
enum Marked {
    /// Up to ten whole numbers.
    Whole,
    /// The marks that plotters chooses.
    Even,
    /// On a logarithmic axis: powers of ten; on a short axis also 2 and 5 times these, or all multiples.
    Tens,
}

impl Axis {
    fn of(range: Range<f64>, marked: Marked) -> Self {
        Self {
            axis: range.clone().into(),
            range,
            marked,
        }
    }

    fn marks(&self) -> Vec<f64> {
        let Range { start, end } = self.range;
        match self.marked {
            Marked::Whole => {
                let step = ((end - start) / 10.0).ceil().max(1.0) as usize;
                let whole = start.ceil() as i32..=end.floor() as i32;
                whole.step_by(step).map(f64::from).collect()
            }
            Marked::Even => self.axis.key_points(BoldPoints(HEIGHTS)),
            Marked::Tens => {
                let factors: &[f64] = match end - start {
                    ..0.7 => &[1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0],
                    ..3.0 => &[1.0, 2.0, 5.0],
                    _ => &[1.0],
                };
                let step = ((end - start) / 10.0).ceil().max(1.0) as usize;
                let powers = (start.floor() as i32..=end.floor() as i32).step_by(step);
                let marks = powers.flat_map(|power| {
                    let factors = factors.iter();
                    factors.map(move |factor| f64::from(power) + factor.log10())
                });
                marks.filter(|mark| (start..=end).contains(mark)).collect()
            }
        }
    }
}

impl Ranged for Axis {
    type FormatOption = DefaultFormatting;
    type ValueType = f64;

    fn map(&self, coordinate: &f64, limit: (i32, i32)) -> i32 {
        self.axis.map(coordinate, limit)
    }

    fn key_points<Hint: KeyPointHint>(&self, _: Hint) -> Vec<f64> {
        self.marks()
    }

    fn range(&self) -> Range<f64> {
        self.range.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_of_times_have_powers_of_ten() {
        let labels = |low: f64, high: f64| {
            let axis = Axis::of(low.log10()..high.log10(), Marked::Tens);
            let marks = axis.marks().into_iter().map(|mark| Unit::Us.label(mark));
            marks.collect::<Vec<_>>()
        };
        assert_eq!(labels(1.2, 70.0), ["2", "5", "10", "20", "50"]);
        assert_eq!(labels(0.5, 2e4), ["1", "10", "100", "1000", "10000"]);
        assert_eq!(labels(3.1, 8.2), ["4", "5", "6", "7", "8"]);
        assert_eq!(labels(0.011, 0.024), ["0.015", "0.02"]);
        assert!(labels(1e-9, 1e9).len() <= 10);
    }

    #[test]
    fn an_axis_of_times_has_margins() {
        let (low, high) = Unit::Us.axis([10.0, 100.0].into_iter());
        assert!(low < 1.0 && high > 2.0 && high - low < 1.5);
        let (low, high) = Unit::Us.axis([7.0].into_iter());
        assert!(low < high, "a single time");
        assert_eq!(Unit::GbPerS.axis([0.0].into_iter()).0, 0.0);
    }
}
