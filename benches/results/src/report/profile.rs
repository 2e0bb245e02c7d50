//! Kernels under Nsight Compute: a table, on the page, alone, and in a terminal.

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

/// What the columns are.
fn meaning(profiled: &[Profiled]) -> String {
    let mut sizes: Vec<_> = profiled.iter().map(|one| one.n).collect();
    sizes.sort_unstable();
    sizes.dedup();
    let sizes: Vec<_> = sizes.into_iter().map(thousands).collect();
    format!(
        "One launch each over {} elements, with empty caches. Compute and memory: throughput, of the \
         highest there could be. DRAM: bytes read and written over the duration. Bank conflicts: how \
         often shared memory had to be asked once more. Sectors/request: of 32 bytes, of a warp's loads \
         from global memory. Occupancy: warps in flight, of those that there is room for.",
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

/// A page with nothing else; `about` says what was measured, and how.
pub fn page(profiled: &[Profiled], about: &str) -> String {
    shell(Shell {
        title: "warpfold under Nsight Compute",
        header: html! { p { (about) } },
        contents: &[(ID, TITLE)],
        main: section(profiled),
        points: "{}",
    })
}

/// The same for a terminal, and as Markdown.
pub fn markdown(profiled: &[Profiled]) -> String {
    let lines = profiled.iter().map(|one| line(one).map(|cell| cell.text));
    let table = table::markdown(HEADS, lines, 1..HEADS.len());
    format!("{}\n\n{table}\n", meaning(profiled))
}
