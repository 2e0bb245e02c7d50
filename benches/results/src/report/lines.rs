//! Lines over sizes: panels side by side that share their scales.

use std::ops::Range;

use plotters::coord::ranged1d::{DefaultFormatting, KeyPointHint};
use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;
use plotters::style::text_anchor::HPos;

use super::ReportError;
use super::figure::{Canvas, Drawn, Figure, Mark, Marks, Point};
use super::look::{self, FAINT, GRID, INK, Look, TEXT, TITLE};
use crate::words;

/// Pixels.
const PANEL: (i32, i32) = (390, 300);
/// How wide the only panel is.
const ALONE: i32 = 560;
const MARGIN: i32 = 14;
const TITLE_HIGH: i32 = 40;
const LEGEND_LINE: i32 = 20;
const SAMPLE: i32 = 26;

pub struct Chart {
    pub name: String,
    pub title: String,
    pub caption: String,
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

/// A row on a line; `select::spot` makes it of those that can be drawn.
pub struct Spot {
    pub n: u64,
    pub gb_per_s: f64,
    pub unstable: bool,
}

impl Chart {
    /// `None` of no points.
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
        let layout = Layout::of(&self.title, &self.panels);
        let what = (&*self.name, &*self.title, &*self.caption);
        let marks = self.marks(&layout);
        let figure = Figure::draw(what, layout.size, &marks, |canvas| {
            layout.draw(canvas, &self.title, &self.panels)
        });
        figure.map(Some)
    }

    /// In the order of the drawing.
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
        let mut place = 0;
        for panel in &self.panels {
            for line in &panel.lines {
                let series = format!("{} / {}", panel.title, line.name);
                points.extend(line.points.iter().map(|spot| Mark {
                    dash: None,
                    point: Some(spot.point((place, series.clone()), &line.name)),
                }));
                place += 1;
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
    fn point(&self, series: (usize, String), name: &str) -> Point {
        let unstable = if self.unstable { " (unstable)" } else { "" };
        let (n, speed) = (words::size(self.n), words::number(self.gb_per_s));
        Point {
            series,
            x: self.n as f64,
            y: self.gb_per_s,
            title: format!("{name}: n = {n}, {speed} GB/s{unstable}"),
        }
    }
}

struct Layout {
    size: (i32, i32),
    legend: Vec<(String, Look)>,
    places: Vec<(i32, i32)>,
    head: i32,
    columns: i32,
    panel: i32,
    /// Powers of two.
    sizes: (f64, f64),
    fastest: f64,
}

impl Layout {
    fn of(title: &str, panels: &[Panel]) -> Layout {
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
        // One, two, three; two by two; then by three.
        let columns = if panels.len() == 4 {
            2
        } else {
            panels.len().clamp(1, 3) as i32
        };
        let rows = (panels.len() as i32 + columns - 1) / columns;
        let wide = if columns == 1 {
            ALONE
        } else {
            PANEL.0 * columns
        };
        let wide = wide.max(look::width(title, TITLE) + 2 * MARGIN);
        let names: Vec<_> = legend.iter().map(|(name, _)| name.clone()).collect();
        let (places, legend_lines) = look::flow(&names, SAMPLE, wide - 2 * MARGIN);
        let head = TITLE_HIGH + legend_lines * LEGEND_LINE + 6;
        let exponents = || spots().map(|spot| (spot.n as f64).log2());
        let least = exponents().fold(f64::INFINITY, f64::min).floor();
        let most = exponents().fold(f64::NEG_INFINITY, f64::max).ceil();
        let fastest = spots().map(|spot| spot.gb_per_s).fold(0.0, f64::max);
        Layout {
            size: (wide, head + rows * PANEL.1),
            legend,
            places,
            head,
            columns,
            panel: wide / columns,
            sizes: (least - 0.5, most + 0.5),
            // A scale of nothing has no end.
            fastest: fastest.max(1e-6) * 1.06,
        }
    }

    fn draw(&self, canvas: &Canvas, title: &str, panels: &[Panel]) -> Drawn<()> {
        look::write(canvas, title, (MARGIN, 22), HPos::Left, (TITLE, INK))?;
        // All lines after all grids, and all points after all lines: see Marks.
        let mut lines = Vec::new();
        for ((name, look), (x, line)) in self.legend.iter().zip(&self.places) {
            let (x, y) = (MARGIN + x, TITLE_HIGH + line * LEGEND_LINE + 8);
            lines.push((vec![(x, y), (x + SAMPLE, y)], *look));
            look::write(canvas, name, (x + SAMPLE + 6, y), HPos::Left, (TEXT, INK))?;
        }
        let mut points = Vec::new();
        for (place, panel) in (0..).zip(panels) {
            let corner = (
                place % self.columns * self.panel,
                self.head + place / self.columns * PANEL.1,
            );
            let at = self.grid(canvas, &panel.title, corner)?;
            for line in &panel.lines {
                let spots: Vec<_> = line
                    .points
                    .iter()
                    .map(|spot| (at(spot), spot.unstable))
                    .collect();
                lines.push((spots.iter().map(|(place, _)| *place).collect(), line.look));
                points.extend(spots.into_iter().map(|spot| (spot, line.look.color)));
            }
        }
        for (path, look) in lines {
            canvas.draw(&PathElement::new(path, look.color.stroke_width(2)))?;
        }
        for ((place, unstable), color) in points {
            let (radius, style) = match unstable {
                true => (5, color.stroke_width(2)),
                false => (3, color.filled()),
            };
            canvas.draw(&Circle::new(place, radius, style))?;
        }
        Ok(())
    }

    /// Draws a panel's scales, and tells where on them a spot lies.
    fn grid(
        &self,
        canvas: &Canvas,
        title: &str,
        (x, y): (i32, i32),
    ) -> Drawn<impl Fn(&Spot) -> (i32, i32)> {
        let area = canvas.clone().shrink((x, y), (self.panel, PANEL.1));
        look::write(&area, "GB/s", (54, 8), HPos::Right, (TEXT - 1.0, FAINT))?;
        look::write(&area, title, (66, 8), HPos::Left, (TEXT, INK))?;
        let (least, most) = self.sizes;
        let powers = Powers {
            range: least..most,
            axis: (least..most).into(),
        };
        let count = powers.whole().count();
        let mut chart = ChartBuilder::on(&area)
            .margin_top(22)
            .margin_right(MARGIN)
            .set_label_area_size(LabelAreaPosition::Left, 62)
            .margin_bottom(14)
            .set_label_area_size(LabelAreaPosition::Bottom, 42)
            .build_cartesian_2d(powers, 0.0..self.fastest)?;
        chart
            .configure_mesh()
            .max_light_lines(0)
            .bold_line_style(GRID)
            .axis_style(FAINT)
            .x_labels(count)
            .y_labels(7)
            .x_label_formatter(&|exponent| words::power(exponent.round().max(0.0) as u32))
            .y_label_formatter(&|speed| ((speed * 1e6).round() / 1e6).to_string())
            .label_style(look::font(TEXT).color(&FAINT))
            .axis_desc_style(look::font(TEXT - 1.0).color(&FAINT))
            .x_desc("elements")
            .draw()?;
        let spec = chart.as_coord_spec().clone();
        Ok(move |spot: &Spot| spec.translate(&((spot.n as f64).log2(), spot.gb_per_s)))
    }
}

/// An axis of exponents of two, of which whole ones are written.
#[derive(Clone)]
struct Powers {
    range: Range<f64>,
    axis: RangedCoordf64,
}

impl Powers {
    /// Ten at most.
    fn whole(&self) -> impl Iterator<Item = f64> {
        let Range { start, end } = self.range;
        let step = ((end - start) / 10.0).ceil().max(1.0) as usize;
        let whole = start.ceil() as i32..=end.floor() as i32;
        whole.step_by(step).map(f64::from)
    }
}

impl Ranged for Powers {
    type FormatOption = DefaultFormatting;
    type ValueType = f64;

    fn map(&self, exponent: &f64, limit: (i32, i32)) -> i32 {
        self.axis.map(exponent, limit)
    }

    fn key_points<Hint: KeyPointHint>(&self, _: Hint) -> Vec<f64> {
        self.whole().collect()
    }

    fn range(&self) -> Range<f64> {
        self.range.clone()
    }
}
