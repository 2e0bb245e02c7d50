//! The table of kernels under Nsight Compute, for the report, for a page and for a terminal.

use maud::{Markup, html};

use super::page::{Shell, shell};
use super::tables::{Cell, sortable};
use crate::schema::Profiled;
use crate::table;
use crate::words::{number, thousands};

pub const ID: &str = "profile";
pub const TITLE: &str = "Under Nsight Compute";

const HEADS: [&str; 10] = [
    "entry",
    "threads",
    "duration µs",
    "compute %",
    "memory %",
    "DRAM GB/s",
    "bank conflicts",
    "sectors/request",
    "registers",
    "occupancy %",
];

fn line(profiled: &Profiled) -> [Cell; HEADS.len()] {
    let percent = |value: f64| Cell::number(format!("{value:.1}"), value);
    [
        Cell::text(&profiled.entry),
        Cell::integer(Some(profiled.threads.into())),
        Cell::number(number(profiled.duration_us), profiled.duration_us),
        percent(profiled.compute_percent),
        percent(profiled.memory_percent),
        Cell::maybe(profiled.dram_gb_per_s(), number),
        Cell::integer(profiled.bank_conflicts),
        Cell::maybe(profiled.load_sectors_per_request, number),
        Cell::integer(Some(profiled.registers.into())),
        percent(profiled.occupancy_percent),
    ]
}

/// An explanation of the columns.
fn meaning(profiled: &[Profiled]) -> String {
    let mut sizes: Vec<_> = profiled.iter().map(|one| one.n).collect();
    sizes.sort_unstable();
    sizes.dedup();
    let sizes: Vec<_> = sizes.into_iter().map(thousands).collect();
    format!(
        "One launch each over {} elements, with flushed caches. Compute and memory: throughput relative to \
         the device's peak. DRAM: bytes read and written, divided by the duration. Bank conflicts: accesses \
         to shared memory that had to be repeated. Sectors/request: sectors of 32 bytes per load of a warp \
         from global memory. Occupancy: active warps relative to the most that a multiprocessor supports.",
        sizes.join(" and ")
    )
}

pub fn section(profiled: &[Profiled]) -> Markup {
    let heads = HEADS.map(str::to_owned);
    let lines: Vec<_> = profiled.iter().map(|one| line(one).into()).collect();
    html! {
        section id=(ID) {
            h2 { (TITLE) }
            p { (meaning(profiled)) }
            (sortable("Kernels under Nsight Compute", &heads, &lines, |_| ""))
        }
    }
}

/// A page with only the table; `about` says what was measured, and how.
pub fn page(profiled: &[Profiled], about: &str) -> String {
    shell(Shell {
        title: "warpfold under Nsight Compute",
        header: html! { p { (about) } },
        contents: &[(ID, TITLE)],
        main: section(profiled),
        points: "{}",
    })
}

/// The table as Markdown.
pub fn markdown(profiled: &[Profiled]) -> String {
    let lines = profiled.iter().map(|one| line(one).map(|cell| cell.text));
    let table = table::markdown(HEADS, lines, 1..HEADS.len());
    format!("{}\n\n{table}\n", meaning(profiled))
}
