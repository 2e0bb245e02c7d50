//! A record of copies for people.

use comfy_table::{CellAlignment, Table, presets};

use super::record::{By, Record, Row, Size};
use crate::report::Device;
use crate::table::{device_lines, peers_line, thousands};

impl Record {
    /// Everything that holds for all rows.
    pub fn header(&self) -> String {
        let mut lines = vec![
            format!(
                "warpfold-bench {}, commit {}, {}",
                self.version, self.commit, self.date
            ),
            format!("command  {}", self.command_line),
            format!("machine  {}", self.machine),
        ];
        if let Device::Cuda(cuda) = &self.device {
            lines.extend(device_lines(cuda));
        }
        lines.extend(self.peers.as_ref().map(peers_line));
        lines.push(format!("data     random i32, seed {}", self.seed));
        lines.push(format!(
            "method   mean of the middle half of {} rounds after {} of warm-up, every row once a round, nothing in the L2 cache",
            self.repeats, self.warmup
        ));
        lines.push(
            "         GB/s: bytes read and written; /nvcc: time / time of nvcc's twin".into(),
        );
        lines.push(
            "         every copy's sum checked, the first of each row element by element".into(),
        );
        lines.join("\n")
    }

    /// A line for each size.
    pub fn table(&self) -> String {
        let Some(first) = self.sizes.first() else {
            return String::new();
        };
        let mut table = Table::new();
        table.load_style(presets::ASCII_MARKDOWN);
        let mut titles = vec!["bytes".to_owned()];
        for row in &first.rows {
            match row.by {
                By::Warpfold => titles.push(format!("{} GB/s", row.kernel)),
                By::Nvcc => titles.push("/nvcc".into()),
                By::Driver => titles.push("cudaMemcpy".into()),
            }
        }
        table.set_header(titles);
        for size in &self.sizes {
            table.add_row(cells(size));
        }
        for column in table.column_iter_mut() {
            column.set_cell_alignment(CellAlignment::Right);
        }
        format!("{table}\n")
    }
}

fn cells(size: &Size) -> Vec<String> {
    let mut cells = vec![thousands((size.n * size_of::<i32>()) as u64)];
    for row in &size.rows {
        cells.push(match row.by {
            By::Nvcc => size
                .over_twin(ours(size, row))
                .map_or("-".into(), |ratio| format!("{ratio:.3}")),
            _ => row
                .gb_per_s
                .map_or("WRONG".into(), |speed| format!("{speed:.1}")),
        });
    }
    cells
}

/// The row that a twin is the twin of.
fn ours<'a>(size: &'a Size, twin: &'a Row) -> &'a Row {
    let mut rows = size.rows.iter();
    rows.find(|row| row.by == By::Warpfold && row.kernel == twin.kernel)
        .unwrap_or(twin)
}
