//! The head of the page: warnings, the device, the machine, the peers and the method.

use std::collections::BTreeSet;

use maud::{Markup, html};

use crate::machine::Cuda;
use crate::schema::{Clocks, Method, Results, Timing};
use crate::words::{conditions, thousands};

/// The device's name, or the processor's if no device was used.
pub fn on(results: &Results) -> &str {
    match &results.device {
        Some(device) => &device.name,
        None => &results.machine.cpu,
    }
}

/// The numbers of wrong and unstable rows, and the reasons to distrust the run.
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
            p.warning role="note" { "⚠ The run is incomplete: rows are missing." }
        }
        @if wrong > 0 {
            p.warning role="note" { "⚠ Wrong results in " (wrong) " of the rows; these have no time." }
        }
        @if !throttled.is_empty() {
            p.warning role="note" {
                "⚠ The device was throttled during the run: "
                @for (index, reason) in throttled.iter().enumerate() {
                    @if index > 0 { ", " }
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
                caption { "Environment" }
                tbody {
                    (fact("Date", html! { time datetime=(results.date) { (results.date) } }))
                    @if let Some(device) = &results.device { (fact("Device", cuda(device))) }
                    (fact("Machine", html! { (results.machine) }))
                    (fact("warpfold-bench", html! {
                        (results.version) ", commit " code { (results.commit) }
                    }))
                    (fact("Compiler", html! { (results.compiler) }))
                    (fact("Command", html! { code { (results.command_line) } }))
                    (fact("Clocks", clocks(&results.clocks)))
                }
            }
            @if !results.peers.is_empty() {
                table.facts {
                    caption { "Peers" }
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
            (parts.join(", ")) "; read " (clocks.len()) " times, throttled at " (throttled) " of them"
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
            "Rows of a group have the same input and are timed in turn, once per round: "
            (warmup_rounds.0) " to " (warmup_rounds.1) " rounds of warm-up, then "
            (rounds.0) " to " (rounds.1) " timed rounds. Every result is checked. "
            "A time is the median of its samples; its interval contains the true median with a "
            "probability of at least 95 %. A row is unstable, and its median unreliable, if the interval or "
            "the difference between the first and the second half of the samples is larger than "
            (format!("{}", spread_limit * 100.0)) " % of the median. "
            "GB/s is the least number of bytes that must be read and written, divided by the median. "
            "A ratio is our time over the peer's: below 1, ours is faster."
        }
        p {
            @match input {
                Some(input) => { "The elements came from " (input) "." }
                None => { "The elements are random, seed " (seed) "." }
            }
            " Before each cold run " (thousands(*flush_bytes)) " bytes of other memory were read, which "
            "flushes the caches. The run took " (format!("{took_s:.0}")) " s"
            @if let Some(budget) = budget_s { " of the allowed " (budget) " s" }
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
                @for (index, (cache, timing)) in used.iter().enumerate() {
                    @if index > 0 { "; " }
                    (conditions(*cache, *timing))
                }
                "."
            }
        }
    }
}
