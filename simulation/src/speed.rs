//! The simulator's speed: elements reduced per second on one core.

use std::fmt::Write;
use std::time::Duration;

use comfy_table::{CellAlignment, Table, presets};
use cuda_sim::Simulator;

use crate::case::{Case, Wrong};
use crate::data::Data;
use crate::ladder::{Style, entry};

/// Kernels with different costs for the simulator, with their element types: many barriers, few barriers,
/// many elements per thread, and only atomics on one address.
const KERNELS: [(&str, &str); 5] = [
    ("reduce_0", "f32"),
    ("reduce_2", "f32"),
    ("reduce_4", "f32"),
    ("reduce_5_x8", "f32"),
    ("reduce_naive", "i32"),
];

const THREADS: [u32; 3] = [128, 256, 1024];

/// The simulator's modes.
type Mode = (&'static str, fn(Simulator) -> Simulator);

const MODES: [Mode; 4] = [
    ("off", |simulator| simulator),
    ("checks", Simulator::check_all),
    ("counters", Simulator::count),
    ("both", |simulator| simulator.check_all().count()),
];

/// The kernels' speeds for each number of threads and each mode.
#[derive(Clone, Debug)]
pub struct Speed {
    n: usize,
    runs: u32,
    rows: Vec<Row>,
}

#[derive(Clone, Debug)]
struct Row {
    kernel: &'static str,
    element: &'static str,
    threads: u32,
    /// The median of each mode.
    took: [Duration; MODES.len()],
}

impl Speed {
    /// Reduces `n` elements with every kernel, once to warm up and then `runs` times for the median. Only the
    /// launches are timed.
    ///
    /// # Errors
    ///
    /// The error of a launch: each result is checked.
    ///
    /// # Panics
    ///
    /// If there is no run.
    pub fn measure(n: usize, runs: u32) -> Result<Self, Wrong> {
        let mut rows = Vec::new();
        for (kernel, element) in KERNELS {
            for threads in THREADS {
                let mut took = [Duration::ZERO; MODES.len()];
                for (took, (_, mode)) in took.iter_mut().zip(MODES) {
                    let entry = entry(kernel, "sum", element).expect("the ladder has this sum");
                    let case = Case {
                        data: Data::Whole,
                        ..Case::new(entry, threads, n)
                    };
                    *took = median(&case, runs, mode)?;
                }
                rows.push(Row {
                    kernel,
                    element,
                    threads,
                    took,
                });
            }
        }
        Ok(Self { n, runs, rows })
    }

    /// Prints a table of millions of elements per second.
    pub fn write(&self, style: Style) -> String {
        let heading = match style {
            Style::Plain => "",
            Style::Markdown => "### ",
        };
        let mut table = Table::new();
        table.load_style(presets::ASCII_MARKDOWN);
        let modes = MODES.map(|(mode, _)| mode);
        table.set_header(["kernel", "elements", "threads"].into_iter().chain(modes));
        for row in &self.rows {
            let cells = [
                row.kernel.into(),
                row.element.into(),
                row.threads.to_string(),
            ];
            let speeds = row.took.map(|took| {
                let per_second = self.n as f64 / took.as_secs_f64();
                format!("{:.1}", per_second / 1e6)
            });
            table.add_row(cells.into_iter().chain(speeds));
        }
        for column in table.column_iter_mut().skip(2) {
            column.set_cell_alignment(CellAlignment::Right);
        }
        let mut text =
            format!("{heading}The simulator's speed, millions of elements per second\n\n");
        let _ = writeln!(text, "{table}\n");
        let _ = writeln!(
            text,
            "Sums of {} elements on one core; medians of {} launches after one warm-up launch; all \
             results are checked.",
            self.n, self.runs
        );
        text
    }
}

/// The time of a launch.
fn median(case: &Case, runs: u32, mode: fn(Simulator) -> Simulator) -> Result<Duration, Wrong> {
    let launch = || case.launch(mode(Simulator::new()));
    launch()?;
    let mut took = Vec::new();
    for _ in 0..runs {
        took.push(launch()?.took);
    }
    took.sort_unstable();
    Ok(took[took.len() / 2])
}
