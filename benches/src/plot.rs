//! A record as a picture: an SVG with a bar for every row, which needs nothing beside it.

use anyhow::Result;
use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use crate::options::BadOption;
use crate::report::{By, Device, Peers, Report, Row};
use crate::table::thousands;

// Pixels.
const WIDTH: i32 = 900;
/// Title, subtitle, legend and the ceiling's text.
const HEAD: i32 = 112;
/// The scale below the bars.
const FOOT: i32 = 48;
/// The kernels' names.
const NAMES: i32 = 190;
const RIGHT: i32 = 24;
const BAR: i32 = 15;
/// Between the bars of two kernels.
const GAP: i32 = 8;

const INK: RGBColor = RGBColor(0x22, 0x22, 0x22);
const FAINT: RGBColor = RGBColor(0x59, 0x59, 0x59);
const GRID: RGBColor = RGBColor(0xE2, 0xE2, 0xE2);
/// The scale's and the ceiling's numbers, the texts of the bars and the names.
const TEXT: f64 = 13.0;

type Canvas<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// Draws the rows of `threads`, or of the record's first number of threads, and what does not
/// depend on it.
pub fn svg(report: &Report, threads: Option<u32>) -> Result<String> {
    let threads = pick(report, threads)?;
    let rows: Vec<&Row> = report.rows_of(threads).collect();
    let kernels: Vec<&[&Row]> = rows.chunk_by(|row, next| next.is_twin_of(row)).collect();
    let height = (rows.len() as i32 * BAR) + (kernels.len() as i32 + 1) * GAP;

    let mut svg = String::new();
    {
        let size = (WIDTH as u32, (HEAD + height + FOOT) as u32);
        let canvas = SVGBackend::with_string(&mut svg, size).into_drawing_area();
        canvas.fill(&WHITE)?;
        head(&canvas, report, threads)?;
        legend(&canvas, &rows)?;

        let ceiling = report.ceiling.as_ref().and_then(speed);
        let speeds = rows.iter().filter_map(|row| speed(row)).chain(ceiling);
        let x_of = scale(&canvas, speeds.fold(1.0, f64::max) * 1.02)?;
        let limit = ceiling.map(&x_of);

        let mut y = HEAD + GAP;
        for bars in kernels {
            let middle = (NAMES - 8, y + bars.len() as i32 * BAR / 2);
            let name = bars[0].label();
            write(&canvas, &name, middle, HPos::Right, (TEXT, INK))?;
            for row in bars {
                bar(&canvas, row, y, &x_of, limit)?;
                y += BAR;
            }
            y += GAP;
        }
        if let (Some(row), Some(x)) = (&report.ceiling, limit) {
            let line = PathElement::new([(x, HEAD - 4), (x, y)], INK.stroke_width(2));
            canvas.draw(&line)?;
            let text = format!("read ceiling: {}", value(row));
            write(&canvas, &text, (x + 1, HEAD - 14), HPos::Right, (TEXT, INK))?;
        }
        canvas.present()?;
    }
    Ok(svg)
}

/// The number of threads to draw: the one asked for or the first; a CPU's rows have none.
fn pick(report: &Report, asked: Option<u32>) -> Result<Option<u32>> {
    let has = report.threads();
    let Some(asked) = asked else {
        return Ok(has.first().copied());
    };
    if has.contains(&asked) {
        return Ok(Some(asked));
    }
    let has: Vec<_> = has.iter().map(u32::to_string).collect();
    let reason = if has.is_empty() {
        "its rows have no number of threads".to_owned()
    } else {
        format!("it has {}", has.join(", "))
    };
    Err(BadOption::new(format!(
        "the record has no rows of {asked} threads: {reason}"
    ))
    .into())
}

/// What was measured, on what, when and with what.
fn head(canvas: &Canvas, report: &Report, threads: Option<u32>) -> Result<()> {
    let device = match &report.device {
        Device::Cuda(cuda) => &cuda.name,
        Device::Cpu { .. } => &report.machine.cpu,
    };
    let mut title = format!("Sum of {} i32 on {device}", thousands(report.n as u64));
    if let Some(threads) = threads {
        title += &format!(", {threads} threads per block");
    }
    let day = report.date.split('T').next().unwrap_or(&report.date);
    let mut parts = vec![
        day.to_owned(),
        format!("median of {} rounds", report.repeats),
        format!("warpfold {}", report.version),
    ];
    if let Some(Peers::Built(built)) = &report.peers {
        parts.push(format!("nvcc {}", built.nvcc_version));
        parts.push(format!("CUB {}", built.cub_version));
    }
    write(canvas, &title, (16, 26), HPos::Left, (19.0, INK))?;
    let subtitle = parts.join(" · ");
    write(canvas, &subtitle, (16, 50), HPos::Left, (TEXT, FAINT))
}

/// Who wrote the bars of which colour.
fn legend(canvas: &Canvas, rows: &[&Row]) -> Result<()> {
    let mut x = 16;
    for by in [By::Warpfold, By::Nvcc, By::Cub, By::Host] {
        if rows.iter().any(|row| row.by == by) {
            let look = Look::of(by);
            let swatch = [(x, 67), (x + 13, 80)];
            canvas.draw(&Rectangle::new(swatch, look.fill.filled()))?;
            write(canvas, look.name, (x + 19, 74), HPos::Left, (TEXT, INK))?;
            x += 19 + width(look.name) + 20;
        }
    }
    Ok(())
}

/// Draws the scale from 0 to `max` GB/s and tells where on it a speed lies.
fn scale(canvas: &Canvas, max: f64) -> Result<impl Fn(f64) -> i32> {
    let mut chart = ChartBuilder::on(canvas)
        .margin_top(HEAD)
        .margin_right(RIGHT)
        .set_label_area_size(LabelAreaPosition::Left, NAMES)
        .set_label_area_size(LabelAreaPosition::Bottom, FOOT)
        .build_cartesian_2d(0.0..max, 0.0..1.0)?;
    chart
        .configure_mesh()
        .disable_y_mesh()
        .y_labels(0)
        .x_max_light_lines(0)
        .bold_line_style(GRID)
        .axis_style(FAINT)
        .x_labels(8)
        .x_label_formatter(&|speed| ((speed * 1e3).round() / 1e3).to_string())
        .x_label_style(font(TEXT).color(&FAINT))
        .axis_desc_style(font(TEXT).color(&FAINT))
        .x_desc("GB of input per second; longer is faster")
        .draw()?;
    Ok(move |speed| chart.backend_coord(&(speed, 0.0)).0)
}

/// A bar with its value behind its end, or within it where the text would run into `limit` or out
/// of the picture.
fn bar(
    canvas: &Canvas,
    row: &Row,
    y: i32,
    x_of: impl Fn(f64) -> i32,
    limit: Option<i32>,
) -> Result<()> {
    let look = Look::of(row.by);
    let end = x_of(speed(row).unwrap_or(0.0));
    let corners = [(NAMES, y), (end, y + BAR - 1)];
    canvas.draw(&Rectangle::new(corners, look.fill.filled()))?;

    let text = value(row);
    let room = limit.filter(|&limit| limit > end).unwrap_or(WIDTH) - end;
    let within = room < width(&text) + 12 && end - NAMES > width(&text) + 12;
    let (x, anchor, color) = if within {
        (end - 6, HPos::Right, look.on_fill)
    } else {
        (end + 6, HPos::Left, INK)
    };
    write(canvas, &text, (x, y + BAR / 2), anchor, (TEXT - 1.0, color))
}

/// How the bars of one author look. The fills are Okabe and Ito's, which differ in lightness too.
struct Look {
    name: &'static str,
    fill: RGBColor,
    /// Text on the bar.
    on_fill: RGBColor,
}

impl Look {
    fn of(by: By) -> Look {
        let (name, fill, on_fill) = match by {
            By::Warpfold => ("warpfold (Rust)", RGBColor(0x00, 0x72, 0xB2), WHITE),
            By::Nvcc => (
                "the same kernel from nvcc (CUDA C++)",
                RGBColor(0xE6, 0x9F, 0x00),
                INK,
            ),
            By::Cub => ("CUB, default policy", RGBColor(0x00, 0x9E, 0x73), INK),
            By::Host => ("plain Rust", RGBColor(0xCC, 0x79, 0xA7), INK),
        };
        Look {
            name,
            fill,
            on_fill,
        }
    }
}

/// In GB/s; a wrong row has none.
fn speed(row: &Row) -> Option<f64> {
    row.time.map(|time| time.gb_per_s)
}

fn value(row: &Row) -> String {
    match (row.time, &row.wrong) {
        (Some(time), _) => {
            let decimals = usize::from(time.gb_per_s < 100.0);
            let (speed, ms) = (time.gb_per_s, time.summary.median_ms);
            format!("{speed:.decimals$} GB/s, {ms:.3} ms")
        }
        (None, Some(wrong)) => format!("wrong in {} of {} runs", wrong.runs, wrong.of),
        (None, None) => "not timed".into(),
    }
}

/// Writes at the height of the text's middle.
fn write(
    canvas: &Canvas,
    text: &str,
    at: (i32, i32),
    anchor: HPos,
    (size, color): (f64, RGBColor),
) -> Result<()> {
    let style = font(size).color(&color).pos(Pos::new(anchor, VPos::Center));
    Ok(canvas.draw(&Text::new(text, at, style))?)
}

/// A font that is `pixels` high in the SVG: plotters divides the size by 1.24 there.
fn font(pixels: f64) -> FontDesc<'static> {
    (FontFamily::SansSerif, pixels * 1.24).into()
}

/// At least as wide as `text` in most fonts, where it is [`TEXT`] high.
fn width(text: &str) -> i32 {
    (text.chars().count() as f64 * TEXT * 0.58) as i32
}

#[cfg(test)]
mod tests {
    use crate::record::tests::cuda;
    use crate::report::tests::{report, right, samples};
    use crate::timing::Wrong;

    use super::*;

    /// Of the rectangles in the colour of `by`; the legend's is the first.
    fn widths(svg: &str, by: By) -> Vec<f64> {
        let RGBColor(r, g, b) = Look::of(by).fill;
        let fill = format!("fill=\"#{r:02X}{g:02X}{b:02X}\"");
        let rectangles = svg.lines().filter(|line| line.starts_with("<rect"));
        let filled = rectangles.filter(|line| line.contains(&fill));
        let width = |line: &str| {
            line.split("width=\"")
                .nth(1)?
                .split('"')
                .next()?
                .parse()
                .ok()
        };
        filled.map(|line| width(line).unwrap()).collect()
    }

    #[test]
    fn a_bar_for_every_row_of_the_threads() {
        let report = right();
        for threads in [256, 512] {
            let svg = svg(&report, Some(threads)).unwrap();
            for by in [By::Warpfold, By::Nvcc, By::Cub] {
                let rows = report.rows_of(Some(threads)).filter(|row| row.by == by);
                let bars = widths(&svg, by).len() - 1;
                assert_eq!(bars, rows.count(), "{by:?}, {threads} threads");
            }
            assert!(!svg.contains(Look::of(By::Host).name));
        }
    }

    #[test]
    fn every_kernel_is_named_and_every_value_written() {
        let mut report = right();
        report.device = Device::Cuda(cuda());
        let svg = svg(&report, None).unwrap();
        for row in report.rows_of(Some(256)).chain(&report.ceiling) {
            assert!(svg.contains(&value(row)), "{}: {svg}", value(row));
        }
        for row in report.rows_of(Some(256)) {
            assert!(svg.contains(&row.label()), "{}: {svg}", row.label());
        }
        for text in ["read ceiling", "1,000,000 i32 on A GPU", "256 threads"] {
            assert!(svg.contains(text), "{text}: {svg}");
        }
        assert!(svg.contains(&report.date[..10]), "{svg}");
    }

    #[test]
    fn bars_are_as_long_as_their_rows_are_fast() {
        let report = right();
        let svg = svg(&report, Some(256)).unwrap();
        let ours = report
            .rows_of(Some(256))
            .filter(|row| row.by == By::Warpfold);
        let speeds: Vec<_> = ours.filter_map(speed).collect();
        let lengths = &widths(&svg, By::Warpfold)[1..];
        let unit = lengths[0] / speeds[0];
        for (length, speed) in lengths.iter().zip(&speeds) {
            assert!(
                (length - unit * speed).abs() <= 4.0,
                "{lengths:?}, {speeds:?}"
            );
            assert!(
                length + f64::from(NAMES + RIGHT) <= f64::from(WIDTH),
                "{length}"
            );
        }
    }

    #[test]
    fn a_value_stands_before_the_ceiling_or_within_its_bar() {
        // CUB's bar ends at 0.8 of the ceiling, the slowest of ours at an eighth.
        let mut report = right();
        let anchor = |report: &Report, by| {
            let svg = svg(report, Some(256)).unwrap();
            let row = report.rows_of(Some(256)).find(|row| row.by == by).unwrap();
            let text = value(row);
            let before = svg.split(&text).next().unwrap();
            let tag = before.rsplit("<text").next().unwrap();
            tag.contains("text-anchor=\"end\"")
        };
        assert!(anchor(&report, By::Cub), "within");
        assert!(!anchor(&report, By::Warpfold), "behind the end");
        report.ceiling = None;
        assert!(anchor(&report, By::Cub), "the picture ends there");
    }

    #[test]
    fn a_wrong_row_says_so() {
        let mut samples: Vec<_> = [1.0; 10].map(samples).into();
        samples[1].wrong = Some(Wrong {
            runs: 1,
            of: 4,
            got: 77,
        });
        let svg = svg(&report(samples), None).unwrap();
        assert!(svg.contains("wrong in 1 of 4 runs"), "{svg}");
    }

    #[test]
    fn threads_that_the_record_lacks_are_a_bad_option() {
        let mut report = right();
        let error = svg(&report, Some(128)).unwrap_err();
        assert!(error.is::<BadOption>());
        assert!(error.to_string().contains("it has 256, 512"), "{error}");

        report.rows.retain(|row| row.threads.is_none());
        let error = svg(&report, Some(128)).unwrap_err();
        assert!(
            error.to_string().contains("no number of threads"),
            "{error}"
        );
        assert!(svg(&report, None).unwrap().contains("DeviceReduce::Sum"));
    }
}
