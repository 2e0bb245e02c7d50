//! What was measured, on what, with what and how.

use std::collections::BTreeSet;

use maud::{Markup, html};

use crate::machine::Cuda;
use crate::schema::{Clocks, Method, Results, Timing};
use crate::words::{conditions, thousands};

/// What it was measured on, in a few words.
pub fn on(results: &Results) -> &str {
    match &results.device {
        Some(device) => &device.name,
        None => &results.machine.cpu,
    }
}

/// What a reader must not miss.
pub fn warnings(results: &Results) -> Markup {
    let rows = &results.rows;
    let wrong = rows.iter().filter(|row| row.wrong.is_some()).count();
    let unstable = rows
        .iter()
        .filter(|row| row.time.is_some_and(|time| time.unstable));
    let unstable = unstable.count();
    let throttled: BTreeSet<_> = results.clocks.iter().flat_map(|at| &at.throttled).collect();
    html! {
        p.summary {
            (thousands(rows.len() as u64)) " rows; "
            strong { (wrong) " wrong" } ", " strong { (unstable) " unstable" } "."
        }
        @if !results.complete {
            p.warning role="note" { "⚠ The run was broken off: it lacks rows." }
        }
        @if wrong > 0 {
            p.warning role="note" { "⚠ Wrong answers in " (wrong) " of the rows, which have no time." }
        }
        @if !throttled.is_empty() {
            p.warning role="note" {
                "⚠ The device was throttled during the run: "
                @for (place, reason) in throttled.iter().enumerate() {
                    @if place > 0 { ", " }
                    (reason)
                }
                "."
            }
        }
    }
}

pub fn section(results: &Results) -> Markup {
    html! {
        section id="run" {
            h2 { "The run" }
            table.facts {
                caption { "What was run" }
                tbody {
                    (fact("Date", html! { time datetime=(results.date) { (results.date) } }))
                    @if let Some(device) = &results.device { (fact("Device", cuda(device))) }
                    (fact("Machine", html! { (results.machine) }))
                    (fact("warpfold-bench", html! { (results.version) ", commit " code { (results.commit) } }))
                    (fact("Compiler", html! { (results.compiler) }))
                    (fact("Command", html! { code { (results.command_line) } }))
                    (fact("Clocks", clocks(&results.clocks)))
                }
            }
            @if !results.peers.is_empty() {
                table.facts {
                    caption { "What is compared with" }
                    tbody {
                        @for peer in &results.peers {
                            (fact(peer.by.title(), html! {
                                @if let Some(version) = &peer.version { (version) }
                                @if let Some(absent) = &peer.absent { " not timed: " (absent) }
                            }))
                        }
                    }
                }
            }
            (method(results))
            @if !results.notes.is_empty() {
                h3 { "Notes" }
                ul.notes { @for note in &results.notes { li { (note) } } }
            }
        }
    }
}

fn fact(name: &str, value: Markup) -> Markup {
    html! { tr { th scope="row" { (name) } td { (value) } } }
}

fn gib(bytes: u64) -> String {
    format!("{:.1} GiB", bytes as f64 / f64::from(1 << 30))
}

fn cuda(device: &Cuda) -> Markup {
    let (major, minor) = device.compute_capability;
    html! {
        (device.index) ": " (device.name) ", compute capability " (major) "." (minor) ", "
        (device.multiprocessors) " multiprocessors, " (gib(device.memory_bytes)) ", L2 cache "
        (format!("{:.1} MiB", device.l2_bytes as f64 / f64::from(1 << 20))) ", memory bus "
        (device.memory_bus_bits) " bits; driver for CUDA " (device.driver) ", kernels from "
        (device.ptx_arch) ", " (device.stream) " stream"
    }
}

fn clocks(clocks: &[Clocks]) -> Markup {
    let range = |values: &dyn Fn(&Clocks) -> Option<f64>, unit: &str| -> Option<String> {
        let least = clocks.iter().filter_map(values).reduce(f64::min)?;
        let most = clocks.iter().filter_map(values).reduce(f64::max)?;
        Some(if least == most {
            format!("{least} {unit}")
        } else {
            format!("{least} to {most} {unit}")
        })
    };
    let parts = [
        (
            "multiprocessors",
            range(&|at| Some(at.sm_mhz.into()), "MHz"),
        ),
        ("memory", range(&|at| Some(at.memory_mhz.into()), "MHz")),
        ("chip", range(&|at| at.temperature_c.map(Into::into), "°C")),
        ("board", range(&|at| at.power_w, "W")),
    ];
    let parts = parts.map(|(name, range)| range.map(|range| format!("{name} {range}")));
    let parts: Vec<_> = parts.into_iter().flatten().collect();
    let throttled = clocks.iter().filter(|at| !at.throttled.is_empty()).count();
    html! {
        @if clocks.is_empty() {
            "not read"
        } @else {
            (parts.join(", ")) "; read " (clocks.len()) " times, throttled in " (throttled)
        }
    }
}

fn method(results: &Results) -> Markup {
    let Method {
        seed,
        input,
        warmup_rounds,
        rounds,
        flush_bytes,
        spread_limit,
        budget_s,
        took_s,
    } = &results.method;
    let used: BTreeSet<_> = results
        .rows
        .iter()
        .map(|row| (row.cache, row.timing))
        .collect();
    let clocked = used.iter().filter(|(_, timing)| *timing != Timing::None);
    let caches: BTreeSet<_> = clocked.map(|(cache, _)| *cache).collect();
    let timings: BTreeSet<_> = used.iter().map(|(_, timing)| *timing).collect();
    html! {
        h3 { "Method" }
        p {
            "Rows of a group have the same input and are timed in turn, once a round each. After "
            (warmup_rounds.0) " to " (warmup_rounds.1) " rounds of warm-up follow "
            (rounds.0) " to " (rounds.1) " timed ones. Every answer is checked. "
            "A time is the median of its samples; its interval holds the true median with a "
            "probability of 95 % at least. A row is unstable, and so not to be relied on, where the interval is "
            "wider than " (format!("{}", spread_limit * 100.0)) " % of the median. "
            "GB/s is bytes that must be read and written at least, over the median. "
            "A ratio is our time over the peer's: below 1, ours is the faster."
        }
        p {
            @match input {
                Some(input) => { "The elements came from " (input) "." }
                None => { "The elements are random, of seed " (seed) "." }
            }
            " Before each cold run " (thousands(*flush_bytes)) " bytes were written. The run took "
            (format!("{took_s:.0}")) " s"
            @if let Some(budget) = budget_s { " of the " (budget) " s that were allowed" }
            "."
        }
        dl {
            @for cache in caches { dt { (cache) } dd { (cache.meaning()) } }
            @for timing in timings { dt { (timing) } dd { (timing.meaning()) } }
        }
        @if used.is_empty() { p { "There are no rows." } }
        @else {
            p.small {
                "In this run: "
                @for (place, (cache, timing)) in used.iter().enumerate() {
                    @if place > 0 { "; " }
                    (conditions(*cache, *timing))
                }
                "."
            }
        }
    }
}
