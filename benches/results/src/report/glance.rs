//! A summary of the ratios to each peer: a line for each suite and clock.

use std::collections::BTreeMap;

use maud::{Markup, html};

use crate::relate::Related;
use crate::schema::{Backend, By, Cache, Results, Suite, Timing};
use crate::words::conditions;

/// Identifies a line of the summary.
type Key<'a> = (Suite, Backend, By, Cache, Timing, Option<&'a str>);

/// The summary; `None` if there are no ratios.
pub fn section(results: &Results, related: &Related) -> Option<Markup> {
    let mut all: BTreeMap<Key, Vec<f64>> = BTreeMap::new();
    for row in &results.rows {
        // In the other suites all variants, such as the widths of copies, share a line.
        let variant = row.variant.as_deref().filter(|_| is_whole(row.suite));
        for peer in By::PEERS {
            let ratio = related.ratio(row, peer).filter(|ratio| *ratio > 0.0);
            let key = (row.suite, row.backend, peer, row.cache, row.timing, variant);
            if let Some(ratio) = ratio {
                all.entry(key).or_default().push(ratio);
            }
        }
    }
    if all.is_empty() {
        return None;
    }
    let order = |suite: &Suite| Suite::ALL.iter().position(|other| other == suite);
    let mut all: Vec<_> = all.into_iter().collect();
    all.sort_by_key(|((suite, ..), _)| order(suite));
    Some(html! {
        section id="glance" {
            h2 { "At a glance" }
            div.scroll tabindex="0" role="region" aria-label="Our time over the peers'" {
                table.glance {
                    caption { "Our time over the peer's: below 1, ours is faster" }
                    thead { tr {
                        th scope="col" { "suite" }
                        th scope="col" { "on" }
                        th scope="col" { "clock" }
                        th scope="col" { "our variant" }
                        th scope="col" { "peer" }
                        th.number scope="col" { "geometric mean" }
                        th.number scope="col" { "best" }
                        th.number scope="col" { "worst" }
                        th.number scope="col" { "ours not slower" }
                    } }
                    tbody {
                        @for ((suite, backend, peer, cache, timing, variant), ratios) in &all {
                            tr {
                                td { a href={ "#" (suite) } { (suite.title()) } }
                                td { (backend.title()) }
                                td { (conditions(*cache, *timing)) }
                                td { (variant.unwrap_or_default()) }
                                td { (peer.title()) }
                                @for text in summary(ratios, is_whole(*suite) || *peer == By::Nvcc) {
                                    td.number { (text) }
                                }
                            }
                        }
                    }
                }
            }
            p.small {
                "The summary includes unstable rows; the tables below have every row. "
                "In suites with kernels that only demonstrate a step, only the best kernel is compared with "
                "a library."
            }
        }
    })
}

/// Whether all kernels of the suite are meant for programs, rather than to demonstrate a step.
fn is_whole(suite: Suite) -> bool {
    matches!(suite, Suite::Whole | Suite::Operators)
}

/// The geometric mean, the best, the worst, and the number of ratios up to 1; only the best unless `is_full`.
fn summary(ratios: &[f64], is_full: bool) -> [String; 4] {
    let logarithms: f64 = ratios.iter().map(|ratio| ratio.ln()).sum();
    let mean = (logarithms / ratios.len() as f64).exp();
    let best = ratios.iter().copied().fold(f64::INFINITY, f64::min);
    let worst = ratios.iter().copied().fold(0.0, f64::max);
    let not_slower = ratios.iter().filter(|ratio| **ratio <= 1.0).count();
    let [mean, best, worst] = [mean, best, worst].map(|ratio| format!("{ratio:.3}"));
    if is_full {
        [
            mean,
            best,
            worst,
            format!("{not_slower} of {}", ratios.len()),
        ]
    } else {
        [String::new(), best, String::new(), String::new()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example;

    #[test]
    fn means_are_geometric() {
        let expected = ["1.000", "0.500", "2.000", "1 of 2"];
        assert_eq!(summary(&[0.5, 2.0], true), expected);
        assert_eq!(summary(&[0.5, 2.0], false), ["", "0.500", "", ""]);
    }

    #[test]
    fn the_summary_has_every_timed_peer() {
        let results = example::results();
        let glance = section(&results, &Related::new(&results)).unwrap();
        for peer in [By::Nvcc, By::Cub, By::Torch, By::Driver, By::Loop] {
            let cell = format!("<td>{}</td>", peer.title());
            assert!(glance.0.contains(&cell), "{peer}");
        }
        assert!(!glance.0.contains("CuPy"), "absent");
    }
}
