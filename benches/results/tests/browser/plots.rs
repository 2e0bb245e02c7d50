//! Plots that show the points that the page lists.

use std::collections::{BTreeMap, BTreeSet};

use libtest_mimic::Failed;
use serde::Deserialize;
use warpfold_results::report::Figure;
use warpfold_results::schema::Results;

use crate::page::Page;

/// By figure and series.
pub type Listed = BTreeMap<String, BTreeMap<String, Vec<(f64, f64)>>>;

#[derive(Deserialize)]
struct Drawn {
    /// As the figure says.
    count: usize,
    points: Vec<Point>,
}

#[derive(Deserialize)]
struct Point {
    tag: String,
    value: (f64, f64),
    /// In pixels, y from above.
    middle: (f64, f64),
    /// Whether it is visible and within its picture.
    seen: bool,
}

/// What the page lists; nothing where it does not.
pub fn listed(page: &Page, faults: &mut Vec<String>) -> Result<Listed, Failed> {
    let there: bool = page.ask("document.getElementById('points') !== null")?;
    if there {
        return page.ask("listed()");
    }
    faults.push("the page lists no points".into());
    Ok(Listed::new())
}

/// Each figure shows its points, each of them once, where it belongs.
pub fn check(page: &Page, listed: &Listed, faults: &mut Vec<String>) -> Result<(), Failed> {
    let drawn: BTreeMap<String, Drawn> = page.ask("drawn()")?;
    let names: BTreeSet<_> = drawn.keys().chain(listed.keys()).collect();
    for name in names {
        let (Some(drawn), Some(series)) = (drawn.get(name), listed.get(name)) else {
            faults.push(format!("{name}: is not both drawn and listed"));
            continue;
        };
        let mut wrong = |what: String| faults.push(format!("{name}: {what}"));
        let listed = sorted(series.values().flatten().copied());
        let shown = sorted(drawn.points.iter().map(|point| point.value));
        if drawn.points.is_empty() {
            wrong("shows no points".into());
        }
        if (drawn.count, drawn.points.len()) != (listed.len(), listed.len()) {
            let (count, shown) = (drawn.count, drawn.points.len());
            wrong(format!(
                "lists {} points, claims {count}, shows {shown}",
                listed.len()
            ));
        } else if listed != shown {
            wrong("shows other points than it lists".into());
        }
        let hidden = drawn.points.iter().filter(|point| !point.seen).count();
        if hidden > 0 {
            wrong(format!("{hidden} points are not seen"));
        }
        let misplaced = series
            .values()
            .map(|points| misplaced(points, &drawn.points));
        let misplaced: usize = misplaced.sum();
        if misplaced > 0 {
            wrong(format!("{misplaced} points are misplaced"));
        }
    }
    Ok(())
}

/// How many of a line's circles contradict another: a larger x lies further right, a larger y higher.
/// Circles of the same values cannot be told apart, and are left out.
fn misplaced(series: &[(f64, f64)], drawn: &[Point]) -> usize {
    let of = |value: &(f64, f64)| {
        let mut same = drawn.iter().filter(|point| point.value == *value);
        let only = same.next().filter(|point| point.tag == "circle")?;
        same.next().is_none().then_some(only)
    };
    let circles: Vec<_> = series.iter().filter_map(of).collect();
    let contradict = |a: &Point, b: &Point| {
        (a.value.0 < b.value.0 && a.middle.0 > b.middle.0)
            || (a.value.1 < b.value.1 && a.middle.1 < b.middle.1)
    };
    let is_misplaced = |a: &&&Point| circles.iter().any(|b| contradict(a, b) || contradict(b, a));
    circles.iter().filter(is_misplaced).count()
}

fn sorted(points: impl Iterator<Item = (f64, f64)>) -> Vec<(f64, f64)> {
    let mut points: Vec<_> = points.collect();
    points.sort_by(|a, b| a.partial_cmp(b).unwrap_or(std::cmp::Ordering::Equal));
    points
}

/// The page lists what the library says it drew.
pub fn are(listed: &Listed, figures: &[Figure]) -> Result<(), Failed> {
    let names: Vec<_> = figures.iter().map(|figure| &figure.name).collect();
    if listed.len() != figures.len() {
        return Err(format!("lists {:?}, not {names:?}", listed.keys()).into());
    }
    for figure in figures {
        let series = listed.get(&figure.name).ok_or("a figure is not listed")?;
        for drawn in &figure.series {
            let points = series.get(&drawn.name).map_or(&[][..], Vec::as_slice);
            let same = |(a, b): (&(f64, f64), &(f64, f64))| a.0 == b.0 && is_close(a.1, b.1);
            if points.len() != drawn.points.len() || !points.iter().zip(&drawn.points).all(same) {
                let (figure, name, drawn) = (&figure.name, &drawn.name, &drawn.points);
                return Err(format!("{figure}: {name}: {points:?}, not {drawn:?}").into());
            }
        }
    }
    Ok(())
}

/// JSON is read to the last digit but one.
fn is_close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-12 * a.abs().max(b.abs())
}

/// Every y comes from the rows: a speed, a median, or what the median of one is of the median of another.
pub fn come_from(results: &Results, listed: &Listed) -> Result<(), Failed> {
    let rows = &results.rows;
    let speeds = rows.iter().filter_map(|row| row.gb_per_s());
    let pairs = rows.iter().flat_map(|a| rows.iter().map(move |b| (a, b)));
    let ratios = pairs
        .filter(|(a, b)| a.group == b.group)
        .filter_map(|(a, b)| Some(a.median_us()? / b.median_us()?));
    let times = rows.iter().filter_map(|row| row.median_us());
    let known: Vec<_> = speeds.chain(times).chain(ratios).collect();
    let is_known = |y: f64| {
        known
            .iter()
            .any(|known| (known - y).abs() <= 1e-9 * y.abs())
    };
    for (figure, series) in listed {
        for (name, points) in series {
            if let Some(point) = points.iter().find(|point| !is_known(point.1)) {
                return Err(format!("{figure}: {name}: {point:?} is of no row").into());
            }
        }
    }
    Ok(())
}
