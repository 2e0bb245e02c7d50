//! Horizontal bar charts of speeds.

use plotters::prelude::*;
use plotters::style::text_anchor::HPos;

use super::ReportError;
use super::figure::{Canvas, Drawn, Figure, Mark, Marks, Point};
use super::look::{self, FAINT, GRID, INK, Look, TEXT, TITLE};
use crate::words;

// Pixels.
const WIDTH: i32 = 900;
const MARGIN: i32 = 14;
const RIGHT: i32 = 24;
const FOOT: i32 = 48;
const BAR: i32 = 15;
/// Between two groups of bars.
const GAP: i32 = 8;
const SECTION: i32 = 26;
const SWATCH: i32 = 13;
const LEGEND_LINE: i32 = 20;

pub struct Chart {
    pub name: String,
    pub title: String,
    pub caption: String,
    pub groups: Vec<Group>,
    /// The ceiling's name and speed.
    pub ceiling: Option<(String, f64)>,
}

/// Adjacent bars with one name.
pub struct Group {
    /// A heading above the group if it differs from the previous group's.
    pub section: Option<String>,
    pub name: String,
    pub bars: Vec<Bar>,
}

pub struct Bar {
    /// The name in the legend.
    pub series: String,
    pub look: Look,
    /// From `select::speed`; `None`: only the text is drawn.
    pub gb_per_s: Option<f64>,
    pub text: String,
}

/// The positions of all texts and bars.
struct Column<'a> {
    texts: Vec<Text<'a>>,
    placed: Vec<Placed<'a>>,
    bottom: i32,
}

/// The name of a group, or the heading of a section.
struct Text<'a> {
    text: &'a str,
    y: i32,
    is_section: bool,
}

/// A bar with its position.
struct Placed<'a> {
    bar: &'a Bar,
    y: i32,
    index: usize,
}

impl Chart {
    /// The figure; `None` if there are no bars.
    pub fn draw(&self) -> Result<Option<Figure>, ReportError> {
        let bars = || self.groups.iter().flat_map(|group| &group.bars);
        if bars().next().is_none() {
            return Ok(None);
        }
        let mut legend: Vec<(String, Look)> = Vec::new();
        for bar in bars() {
            if !legend.iter().any(|(series, _)| *series == bar.series) {
                legend.push((bar.series.clone(), bar.look));
            }
        }
        let names: Vec<_> = legend.iter().map(|(series, _)| series.clone()).collect();
        let (positions, lines) = look::flow(&names, SWATCH, WIDTH - 2 * MARGIN);
        let head = 42 + lines * LEGEND_LINE + 24;
        let column = self.column(head);

        let points = column
            .placed
            .iter()
            .filter_map(|placed| self.mark(placed, &names))
            .collect();
        let marks = Marks {
            tag: "rect",
            points,
            paths: Vec::new(),
        };
        let what = (&*self.name, &*self.title, &*self.caption);
        let figure = Figure::draw(what, (WIDTH, column.bottom + FOOT), &marks, |canvas| {
            look::write(canvas, &self.title, (MARGIN, 22), HPos::Left, (TITLE, INK))?;
            for ((series, look), (x, line)) in legend.iter().zip(&positions) {
                let (x, y) = (MARGIN + x, 50 + line * LEGEND_LINE);
                let swatch = [(x, y - SWATCH / 2), (x + SWATCH, y + SWATCH / 2 + 1)];
                canvas.draw(&Rectangle::new(swatch, look.color.filled()))?;
                look::write(canvas, series, (x + SWATCH + 6, y), HPos::Left, (TEXT, INK))?;
            }
            self.plot(canvas, head, &column)
        });
        figure.map(Some)
    }

    fn mark(&self, placed: &Placed, names: &[String]) -> Option<Mark> {
        let Placed { bar, index, .. } = placed;
        let series = names.iter().position(|name| *name == bar.series)?;
        let point = Point {
            series: (series, bar.series.clone()),
            x: *index as f64,
            y: bar.gb_per_s?,
            title: format!("{}: {}", bar.series, bar.text),
        };
        Some(Mark {
            dash: None,
            point: Some(point),
        })
    }

    /// The positions of all texts and bars, from `head` down.
    fn column(&self, head: i32) -> Column<'_> {
        let mut y = head + GAP;
        let (mut texts, mut placed) = (Vec::new(), Vec::new());
        let mut section = None;
        for group in &self.groups {
            if group.section.is_some() && group.section.as_deref() != section {
                section = group.section.as_deref();
                texts.push(Text {
                    text: section.unwrap_or_default(),
                    y: y + SECTION / 2,
                    is_section: true,
                });
                y += SECTION;
            }
            texts.push(Text {
                text: &group.name,
                y: y + group.bars.len() as i32 * BAR / 2,
                is_section: false,
            });
            for bar in &group.bars {
                let index = placed.len();
                placed.push(Placed { bar, y, index });
                y += BAR;
            }
            y += GAP;
        }
        Column {
            texts,
            placed,
            bottom: y,
        }
    }

    fn plot(&self, canvas: &Canvas, head: i32, column: &Column) -> Drawn<()> {
        let Column {
            texts,
            placed,
            bottom,
        } = column;
        let longest = texts.iter().map(|text| look::width(text.text, TEXT)).max();
        let names = longest.unwrap_or(0).clamp(100, 330) + MARGIN + 10;
        let limit = self.ceiling.as_ref().map(|(_, speed)| *speed);
        let speeds = placed
            .iter()
            .filter_map(|placed| placed.bar.gb_per_s)
            .chain(limit);
        // The scale must not be empty.
        let most = speeds.fold(1e-6, f64::max) * 1.02;

        let mut chart = ChartBuilder::on(canvas)
            .margin_top(head)
            .margin_right(RIGHT)
            .set_label_area_size(LabelAreaPosition::Left, names)
            .set_label_area_size(LabelAreaPosition::Bottom, FOOT)
            .build_cartesian_2d(0.0..most, 0.0..1.0)?;
        chart
            .configure_mesh()
            .disable_y_mesh()
            .y_labels(0)
            .x_max_light_lines(0)
            .bold_line_style(GRID)
            .axis_style(FAINT)
            .x_labels(8)
            .x_label_formatter(&|speed| ((speed * 1e3).round() / 1e3).to_string())
            .x_label_style(look::font(TEXT).color(&FAINT))
            .axis_desc_style(look::font(TEXT).color(&FAINT))
            .x_desc("GB/s; longer is faster")
            .draw()?;
        let x_of = |speed: f64| chart.backend_coord(&(speed, 0.0)).0;

        for Text {
            text,
            y,
            is_section,
        } in texts
        {
            let (x, anchor) = match is_section {
                true => (MARGIN, HPos::Left),
                false => (names - 8, HPos::Right),
            };
            let color = if *is_section { FAINT } else { INK };
            look::write(canvas, text, (x, *y), anchor, (TEXT, color))?;
        }
        for placed in placed {
            if let Some(speed) = placed.bar.gb_per_s {
                let corners = [
                    (names, placed.y),
                    (x_of(speed).max(names), placed.y + BAR - 1),
                ];
                canvas.draw(&Rectangle::new(corners, placed.bar.look.color.filled()))?;
            }
        }
        let limit = limit.map(x_of);
        for placed in placed {
            value(canvas, placed, names, x_of, limit)?;
        }
        if let (Some((name, speed)), Some(x)) = (&self.ceiling, limit) {
            let line = PathElement::new([(x, head - 4), (x, *bottom)], INK.stroke_width(2));
            canvas.draw(&line)?;
            let text = format!("{name}: {} GB/s", words::number(*speed));
            look::write(canvas, &text, (x + 1, head - 14), HPos::Right, (TEXT, INK))?;
        }
        Ok(())
    }
}

/// Writes the bar's text to its right, or inside it if the text would cross `limit` or the figure's edge.
fn value(
    canvas: &Canvas,
    placed: &Placed,
    names: i32,
    x_of: impl Fn(f64) -> i32,
    limit: Option<i32>,
) -> Drawn<()> {
    let Placed { bar, y, .. } = placed;
    let end = bar.gb_per_s.map_or(names, x_of);
    let needed = look::width(&bar.text, TEXT) + 12;
    let room = limit.filter(|&limit| limit > end).unwrap_or(WIDTH) - end;
    let is_inside = room < needed && end - names > needed;
    let (x, anchor, color) = if is_inside {
        (end - 6, HPos::Right, look::ink_on(bar.look.color))
    } else {
        (end + 6, HPos::Left, INK)
    };
    look::write(
        canvas,
        &bar.text,
        (x, y + BAR / 2),
        anchor,
        (TEXT - 1.0, color),
    )
}
