//! The HTML page.

use std::collections::BTreeMap;

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::figure::{Figure, on_page};
use super::{ReportError, compared, figures_of, glance, head, profile, tables};
use crate::compare::Comparison;
use crate::relate::Related;
use crate::schema::{Backend, Results, Row, Suite};

/// The page may not load anything.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src \
                      data:; base-uri 'none'; form-action 'none'";

pub fn page(results: &Results, comparison: Option<&Comparison>) -> Result<String, ReportError> {
    let related = &Related::new(results);
    let mut sections = Vec::new();
    for suite in Suite::ALL {
        let rows: Vec<_> = results
            .rows
            .iter()
            .filter(|row| row.suite == suite)
            .collect();
        if !rows.is_empty() {
            sections.push((suite, figures_of(results, suite)?, rows));
        }
    }
    let points = points(sections.iter().flat_map(|(_, figures, _)| figures))?;
    let glance = glance::section(results, related);
    let profiled = (!results.profiled.is_empty()).then(|| profile::section(&results.profiled));
    let mut contents = vec![("run", "The run")];
    contents.extend(glance.is_some().then_some(("glance", "At a glance")));
    contents.extend(comparison.is_some().then_some(("compare", "Compared")));
    contents.extend(
        sections
            .iter()
            .map(|(suite, ..)| (suite.name(), suite.title())),
    );
    contents.extend(profiled.is_some().then_some((profile::ID, profile::TITLE)));
    Ok(shell(Shell {
        title: &format!("warpfold bench: {}", head::on(results)),
        header: head::warnings(results),
        contents: &contents,
        main: html! {
            (head::section(results))
            @if let Some(glance) = &glance { (glance) }
            @if let Some(comparison) = comparison { (compared::section(comparison)) }
            @for (suite, figures, rows) in &sections {
                (section(*suite, figures, rows, related))
            }
            @if let Some(profiled) = &profiled { (profiled) }
        },
        points: &points,
    }))
}

/// The parts of a page.
pub struct Shell<'a> {
    pub title: &'a str,
    /// Below the title.
    pub header: Markup,
    /// The `id` and the title of each section.
    pub contents: &'a [(&'a str, &'a str)],
    pub main: Markup,
    /// JSON in which `<`, `>` and `&` are escaped.
    pub points: &'a str,
}

/// A self-contained page.
pub fn shell(page: Shell) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                link rel="icon" href="data:,";
                title { (page.title) }
                style { (PreEscaped(include_str!("style.css"))) }
            }
            body {
                header {
                    h1 { (page.title) }
                    (page.header)
                }
                nav aria-label="Contents" {
                    ul {
                        @for (id, title) in page.contents {
                            li { a href={ "#" (id) } { (title) } }
                        }
                    }
                }
                main { (page.main) }
                script type="application/json" id="points" { (PreEscaped(page.points)) }
                script { (PreEscaped(include_str!("sort.js"))) }
            }
        }
    };
    page.into_string()
}

fn section(suite: Suite, figures: &[Figure], rows: &[&Row], related: &Related) -> Markup {
    let (counted, timed): (Vec<&Row>, Vec<&Row>) =
        rows.iter().partition(|row| row.backend == Backend::Sim);
    html! {
        section id=(suite) {
            h2 { (suite.title()) }
            @if !figures.is_empty() {
                div.figures { @for figure in figures { (on_page(figure)) } }
            }
            @if !timed.is_empty() { (tables::timed(suite, &timed, related)) }
            @if !counted.is_empty() { (tables::counted(suite, &counted)) }
        }
    }
}

type Points = Vec<(f64, f64)>;

/// All points as JSON by figure and series, with `<`, `>` and `&` escaped for a page.
fn points<'a>(figures: impl Iterator<Item = &'a Figure>) -> Result<String, ReportError> {
    let mut all: BTreeMap<&str, BTreeMap<&str, Points>> = BTreeMap::new();
    for figure in figures {
        let all_series = all.entry(&figure.name).or_default();
        for series in &figure.series {
            let points = all_series.entry(&series.name).or_default();
            points.extend(&series.points);
        }
    }
    let json = serde_json::to_string(&all)?;
    let json = json.replace('<', "\\u003c").replace('>', "\\u003e");
    Ok(json.replace('&', "\\u0026"))
}
