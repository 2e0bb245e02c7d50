//! The table, for a terminal and for a page.

use super::{Accuracy, By, Case};
use crate::table::{self, device, markdown};
use crate::words::size;

const LEGEND: &str = "Errors in ulps: 0 is the nearest value to the exact sum. `!`: no digit is right. `!!`: not \
                      even the sign. `-`: absent.";

/// The run, its machine, and who is absent.
pub fn header(record: &Accuracy) -> String {
    let mut lines = vec![
        format!(
            "warpfold-bench {}, commit {}, {}",
            record.version, record.commit, record.date
        ),
        format!("command  {}", record.command_line),
        format!("machine  {}", record.machine),
    ];
    lines.extend(record.device.as_ref().map(device));
    for peer in &record.peers {
        let absent = peer.absent.as_ref();
        let absent = absent.map(|reason| format!("absent: {reason}"));
        let found = peer.version.clone().or(absent).unwrap_or_default();
        lines.push(format!("peer     {}: {found}", peer.by.title()));
    }
    lines.push(format!("data     random, seed {}", record.seed));
    lines.extend(record.notes.iter().map(|note| format!("note     {note}")));
    lines.join("\n")
}

/// The errors of these cases, and what the signs mean.
pub fn table<'a>(cases: impl IntoIterator<Item = &'a Case>) -> String {
    let heads = ["data", "type", "n", "condition"];
    let heads = heads.into_iter().chain(By::ALL.map(By::title));
    let lines = cases.into_iter().map(line);
    let columns = 4 + By::ALL.len();
    format!("{}\n\n{LEGEND}", markdown(heads, lines, 2..columns))
}

/// The cases with the most elements.
pub fn largest(record: &Accuracy) -> impl Iterator<Item = &Case> {
    let most = record.cases.iter().map(|case| case.n).max();
    let is_largest = move |case: &&Case| Some(case.n) == most;
    record.cases.iter().filter(is_largest)
}

fn line(case: &Case) -> Vec<String> {
    let mut cells = vec![
        case.data.to_string(),
        case.element.clone(),
        size(case.n),
        format!("{:.0e}", case.condition),
    ];
    let errors = By::ALL.map(|by| case.error(by));
    cells.extend(errors.map(|error| error.map_or("-".into(), |error| error.to_string())));
    cells
}

/// The page with this text between the two markers; `None` without markers.
pub fn insert(page: &str, text: &str) -> Option<String> {
    table::insert(page, "accuracy", text)
}
