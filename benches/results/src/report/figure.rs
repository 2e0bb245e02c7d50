//! An SVG figure with the points that it shows.

use std::collections::BTreeMap;
use std::error::Error;

use maud::{Markup, html};
use plotters::coord::Shift;
use plotters::prelude::*;
use serde::Serialize;

use super::ReportError;

pub type Canvas<'a> = DrawingArea<SVGBackend<'a>, Shift>;
/// A result with any error: plotters' error types depend on its backend.
pub type Drawn<T> = Result<T, Box<dyn Error>>;

/// A figure of the report.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Figure {
    /// A name for a file: lower-case letters, digits and hyphens.
    pub name: String,
    /// The title, one line.
    pub title: String,
    /// An explanation for the reader.
    pub caption: String,
    /// The picture, self-contained.
    pub svg: String,
    /// All points in the picture.
    pub series: Vec<Series>,
}

/// The points of one line, the bars of one colour, or the cells of one row.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Series {
    /// The name, unique in the figure.
    pub name: String,
    /// Lines: n, and GB/s or microseconds. Bars: the bar's index, from 0, and GB/s. Cells: n and the ratio.
    pub points: Vec<(f64, f64)>,
}

impl Figure {
    /// The number of points, bars or cells.
    pub fn points(&self) -> usize {
        self.series.iter().map(|series| series.points.len()).sum()
    }

    /// Draws the figure with `draw` and annotates it with its title, its caption and `marks`.
    pub fn draw(
        (name, title, caption): (&str, &str, &str),
        size: (i32, i32),
        marks: &Marks,
        draw: impl FnOnce(&Canvas) -> Drawn<()>,
    ) -> Result<Figure, ReportError> {
        let mut svg = String::new();
        let size = (size.0.max(1) as u32, size.1.max(1) as u32);
        {
            let canvas = SVGBackend::with_string(&mut svg, size).into_drawing_area();
            let drawn = canvas
                .fill(&WHITE)
                .map_err(Into::into)
                .and_then(|()| draw(&canvas))
                .and_then(|()| Ok(canvas.present()?));
            drawn.map_err(|error| ReportError::Draw {
                figure: title.into(),
                reason: error.to_string(),
            })?;
        }
        let name = slug(name);
        let svg = annotate(&svg, "polyline", &marks.paths);
        let svg = annotate(&svg, marks.tag, &marks.points);
        let (title_id, caption_id) = (format!("{name}-title"), format!("{name}-desc"));
        let head = html! {
            title id=(title_id) { (title) }
            desc id=(caption_id) { (caption) }
        };
        let role = format!("<svg role=\"img\" aria-labelledby=\"{title_id} {caption_id}\"");
        let svg = svg.replacen("<svg", &role, 1);
        let svg = svg.replacen(">\n", &format!(">\n{}\n", head.into_string()), 1);
        let mut series: BTreeMap<usize, Series> = BTreeMap::new();
        for mark in &marks.points {
            let Some(point) = &mark.point else { continue };
            let (index, name) = &point.series;
            let empty = || Series {
                name: name.clone(),
                points: Vec::new(),
            };
            let series = series.entry(*index).or_insert_with(empty);
            series.points.push((point.x, point.y));
        }
        Ok(Figure {
            name,
            title: title.into(),
            caption: caption.into(),
            svg,
            series: series.into_values().collect(),
        })
    }
}

/// Attributes that plotters cannot write. They are added to the last elements with a tag, which must have
/// been drawn in this order.
pub struct Marks {
    /// The SVG tag of `points`.
    pub tag: &'static str,
    pub points: Vec<Mark>,
    /// For `polyline` elements.
    pub paths: Vec<Mark>,
}

/// The attributes of one element.
#[derive(Default)]
pub struct Mark {
    pub dash: Option<&'static str>,
    pub point: Option<Point>,
}

/// The data that an element shows.
pub struct Point {
    /// The index and the name of its series.
    pub series: (usize, String),
    pub x: f64,
    pub y: f64,
    /// The tooltip.
    pub title: String,
}

/// Adds the marks to the last elements with this tag.
fn annotate(svg: &str, tag: &str, marks: &[Mark]) -> String {
    let open = format!("<{tag} ");
    let skip = svg.matches(&open).count().saturating_sub(marks.len());
    let mut pieces = svg.split(&open);
    let mut out = pieces.next().unwrap_or_default().to_owned();
    for (index, piece) in pieces.enumerate() {
        out += &open;
        let mark = index.checked_sub(skip).and_then(|index| marks.get(index));
        let Some(mark) = mark else {
            out += piece;
            continue;
        };
        if let Some(dash) = mark.dash {
            out += &format!("stroke-dasharray=\"{dash}\" ");
        }
        match &mark.point {
            Some(point) => {
                let title = html! { title { (point.title) } }.into_string();
                out += &format!(
                    "class=\"point\" data-x=\"{}\" data-y=\"{}\" ",
                    point.x, point.y
                );
                out += &piece.replacen("/>", &format!(">{title}</{tag}>"), 1);
            }
            None => out += piece,
        }
    }
    out
}

/// The text in lower-case letters, digits and hyphens.
fn slug(text: &str) -> String {
    let mut slug = String::new();
    for c in text.chars() {
        match c {
            c if c.is_ascii_alphanumeric() => slug.push(c.to_ascii_lowercase()),
            _ if slug.ends_with('-') || slug.is_empty() => {}
            _ => slug.push('-'),
        }
    }
    let slug = slug.trim_end_matches('-');
    if slug.is_empty() {
        "figure".into()
    } else {
        slug.into()
    }
}

/// Makes the figures' names distinct by adding numbers.
pub fn distinct(mut figures: Vec<Figure>) -> Vec<Figure> {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for figure in &mut figures {
        let count = seen.entry(figure.name.clone()).or_default();
        *count += 1;
        if *count > 1 {
            let name = format!("{}-{count}", figure.name);
            for end in ["title", "desc"] {
                let (old, new) = (format!("{}-{end}", figure.name), format!("{name}-{end}"));
                figure.svg = figure.svg.replacen(&old, &new, 2);
            }
            figure.name = name;
        }
    }
    figures
}

/// The figure's HTML element.
pub fn on_page(figure: &Figure) -> Markup {
    html! {
        figure id=(figure.name) data-points=(figure.points()) {
            (maud::PreEscaped(&figure.svg))
            figcaption { (figure.caption) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slugs() {
        assert_eq!(slug("Whole: sum f32 <CPU>"), "whole-sum-f32-cpu");
        assert_eq!(slug("<>"), "figure");
        assert_eq!(slug(""), "figure");
    }

    #[test]
    fn the_last_elements_are_marked() {
        let svg = "<svg>\n<rect a=\"1\"/>\n<rect a=\"2\"/>\n<circle/>\n</svg>";
        let point = Point {
            series: (0, "s".into()),
            x: 1.0,
            y: 2.5,
            title: "a < b".into(),
        };
        let marks = [Mark {
            dash: None,
            point: Some(point),
        }];
        let marked = annotate(svg, "rect", &marks);
        assert!(marked.contains("<rect a=\"1\"/>"), "{marked}");
        let second = "<rect class=\"point\" data-x=\"1\" data-y=\"2.5\" a=\"2\">\
                      <title>a &lt; b</title></rect>";
        assert!(marked.contains(second), "{marked}");
        assert_eq!(annotate("no such", "rect", &marks), "no such");
    }
}
