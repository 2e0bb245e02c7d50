//! The report: one page with figures and tables of a run, which needs nothing beside it.
//!
//! | module | what it has |
//! |---|---|
//! | `figure` | a picture with the points it shows |
//! | `look` | colours, fonts, texts |
//! | `png` | a picture in pixels |
//! | `lines`, `bars`, `heat` | the three kinds of picture |
//! | `whole`, `ladder`, `kepler`, `copies`, `keyed` | which rows a suite's pictures show |
//! | `page`, `head`, `glance`, `tables`, `compared`, `profile` | the page |

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
mod png;
mod profile;
pub(crate) mod select;
mod tables;
mod whole;

use thiserror::Error;

pub use self::figure::{Figure, Series};
use crate::compare::Comparison;
use crate::relate::Related;
use crate::schema::{Profiled, Results, Suite};

/// Why there is no report.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ReportError {
    /// The drawing library's words.
    #[error("cannot draw {figure}: {reason}")]
    Draw {
        /// Which.
        figure: String,
        /// Why.
        reason: String,
    },
    /// The points of the figures have no JSON.
    #[error("cannot write the figures' points: {0}")]
    Points(#[from] serde_json::Error),
}

/// The page; with a comparison that has these results as its new run, what has changed.
///
/// Figures are `figure[data-points]`: as many points (`circle.point`), bars or cells (`rect.point`)
/// are in its picture. `script#points` has the values of all, by the figure's `id` and the series'
/// name. Tables are `table.sortable`: the buttons in their heads sort.
pub fn html(results: &Results, comparison: Option<&Comparison>) -> Result<String, ReportError> {
    page::page(results, comparison)
}

/// A page of kernels under Nsight Compute and nothing else: the table that [`html`] has. `about` says what
/// was measured, and how.
pub fn profile_html(profiled: &[Profiled], about: &str) -> String {
    profile::page(profiled, about)
}

/// The same table as Markdown, for a terminal.
pub fn profile_markdown(profiled: &[Profiled]) -> String {
    profile::markdown(profiled)
}

/// The pictures of the page, in its order, each of which is a file of its own too.
pub fn figures(results: &Results) -> Result<Vec<Figure>, ReportError> {
    let figures = Suite::ALL.map(|suite| figures_of(results, suite));
    let figures: Result<Vec<_>, _> = figures.into_iter().collect();
    Ok(figures?.into_iter().flatten().collect())
}

/// Of one suite.
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
