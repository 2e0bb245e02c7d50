//! A record of whole reductions for people.

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
        lines.push(format!(
            "data     random elements, floats from 0 to 1, seed {}",
            self.seed
        ));
        lines.push(format!(
            "method   mean of the middle half of {} rounds after {} of warm-up, every row once a round",
            self.repeats, self.warmup
        ));
        lines.push(
            "         us: between two events on an idle stream; call: by the host's clock, until the \
             value is there"
                .into(),
        );
        lines.push("         /CUB: time / CUB's time; every answer checked".into());
        lines.join("\n")
    }

    /// A line for each type, operator and size.
    pub fn table(&self) -> String {
        let Some(first) = self.sizes.first() else {
            return String::new();
        };
        let mut table = Table::new();
        table.load_style(presets::ASCII_MARKDOWN);
        let mut titles = vec!["".to_owned(), "n".into(), "bytes".into()];
        for row in &first.rows {
            match row.by {
                By::Warpfold => {
                    let grid = match row.grid.as_str() {
                        "default" => "warpfold",
                        grid => grid,
                    };
                    titles.push(format!("{grid} us"));
                    titles.push("/CUB".into());
                }
                By::Call => titles.push("call us".into()),
                By::Cub => titles.push("CUB us".into()),
                By::Nothing => titles.push("empty us".into()),
            }
        }
        titles.push("GB/s".into());
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
    let mut cells = vec![
        format!("{} {}", size.op, size.element),
        thousands(size.n as u64),
        thousands(size.bytes as u64),
    ];
    for row in &size.rows {
        cells.push(microseconds(row));
        if row.by == By::Warpfold {
            let ratio = size.over_cub(row);
            cells.push(ratio.map_or("-".into(), |ratio| format!("{ratio:.3}")));
        }
    }
    let ours = size.row(By::Warpfold).and_then(|row| row.gb_per_s);
    cells.push(ours.map_or("-".into(), |speed| format!("{speed:.0}")));
    cells
}

fn microseconds(row: &Row) -> String {
    match row.middle_ms {
        Some(ms) => format!("{:.2}", ms * 1e3),
        None => "WRONG".into(),
    }
}
