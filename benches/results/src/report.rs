//! The report: one self-contained page with the figures and tables of a run.
//!
//! | module | contents |
//! |---|---|
//! | `figure` | an SVG figure with the points that it shows |
//! | `look` | colours, fonts, texts |
//! | `png` | figures as PNG |
//! | `lines`, `bars`, `heat` | the three kinds of figure; `axis` belongs to `lines` |
//! | `whole`, `ladder`, `kepler`, `copies`, `keyed` | the figures of each suite |
//! | `accuracy` | the figures of an `accuracy.json` |
//! | `parts` | the figures of `segments.json` and `runs.json` |
//! | `page`, `head`, `glance`, `tables`, `compared`, `profile` | the page |

mod accuracy;
mod axis;
mod bars;
mod compared;
mod copies;
mod figure;
mod glance;
mod head;
mod heat;
mod kepler;
mod keyed;
mod ladder;
mod lines;
mod look;
mod page;
mod parts;
mod png;
mod profile;
pub(crate) mod select;
mod tables;
mod whole;

use thiserror::Error;

pub use self::figure::{Figure, Series};
use crate::accuracy::Accuracy;
use crate::compare::Comparison;
use crate::parts::Folder;
use crate::relate::Related;
use crate::schema::{Profiled, Results, Suite};

/// Why a report cannot be written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ReportError {
    /// The drawing library failed.
    #[error("cannot draw {figure}: {reason}")]
    Draw {
        /// The figure's title.
        figure: String,
        /// The drawing library's error.
        reason: String,
    },
    /// The points of the figures cannot be written as JSON.
    #[error("cannot write the figures' points: {0}")]
    Points(#[from] serde_json::Error),
}

/// The page, with a section for `comparison`, whose new run must be `results`.
///
/// Figures are `figure[data-points]`, with that number of points (`circle.point`), bars or cells
/// (`rect.point`). `script#points` has the values of all points, by the figure's `id` and the series' name.
/// Tables are `table.sortable`: the buttons in their heads sort.
pub fn html(results: &Results, comparison: Option<&Comparison>) -> Result<String, ReportError> {
    page::page(results, comparison)
}

/// A page with only the table of the kernels under Nsight Compute. `about` says what was measured, and how.
pub fn profile_html(profiled: &[Profiled], about: &str) -> String {
    profile::page(profiled, about)
}

/// The table of [`profile_html`] as Markdown, for a terminal.
pub fn profile_markdown(profiled: &[Profiled]) -> String {
    profile::markdown(profiled)
}

/// The figures of the page, in its order.
pub fn figures(results: &Results) -> Result<Vec<Figure>, ReportError> {
    let figures = Suite::ALL.map(|suite| figures_of(results, suite));
    let figures: Result<Vec<_>, _> = figures.into_iter().collect();
    Ok(figures?.into_iter().flatten().collect())
}

/// The errors of sums, a figure for each type.
pub fn accuracy_figures(record: &Accuracy) -> Result<Vec<Figure>, ReportError> {
    accuracy::figures(record)
}

/// The speeds of segments and of runs, a figure for each operator and type.
pub fn parts_figures(folder: &Folder) -> Result<Vec<Figure>, ReportError> {
    parts::figures(folder)
}

fn figures_of(results: &Results, suite: Suite) -> Result<Vec<Figure>, ReportError> {
    let related = &Related::new(results);
    match suite {
        Suite::Whole | Suite::Operators => whole::figures(results, suite, related),
        Suite::Ladder => ladder::figures(results, related),
        Suite::Kepler => kepler::figures(results, related),
        Suite::Copy => copies::figures(results, related),
        Suite::Keyed => keyed::figures(results, related),
    }
}

#[cfg(test)]
mod tests;
