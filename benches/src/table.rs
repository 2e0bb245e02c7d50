//! A report for people: header and tables.

use comfy_table::{CellAlignment, Table, presets};

use crate::report::{By, Cuda, Device, Peers, Report, Row};
pub use warpfold_results::words::thousands;

impl Report {
    /// Everything that holds for all rows, for people.
    pub fn header(&self) -> String {
        let mut lines = vec![
            format!(
                "warpfold-bench {}, commit {}, {}",
                self.version, self.commit, self.date
            ),
            format!("command  {}", self.command_line),
            format!("machine  {}", self.machine),
        ];
        match &self.device {
            Device::Cuda(cuda) => lines.extend(device_lines(cuda)),
            Device::Cpu { no_cuda, .. } => {
                lines.push(format!("device   no CUDA device was found: {no_cuda}"));
                lines.push("         the CPU reduces the same integers instead".into());
            }
        }
        lines.extend(self.peers.as_ref().map(peers_line));
        lines.push(format!(
            "data     {} random i32, {} bytes, seed {}, exact sum {} (wrapped to i32)",
            thousands(self.n as u64),
            thousands(self.bytes()),
            self.seed,
            self.answer
        ));
        if let Device::Cpu { asked_n, .. } = self.device
            && asked_n != self.n
        {
            lines.push(format!(
                "         {} were asked for; these are what a quarter of the free memory holds twice",
                thousands(asked_n as u64)
            ));
        }
        lines.extend(self.notes.iter().map(|note| format!("note     {note}")));
        lines.push(format!(
            "method   median of {} rounds after {} of warm-up, every row once a round, every answer checked",
            self.repeats, self.warmup
        ));
        lines.push(
            "         gain: time of the rung before / time (before reduce_0_modulo: reduce_0; before reduce_4_redux, reduce_5 and the first reduce_5_x: reduce_4; before _vec2 and _vec4: the narrower)"
                .into(),
        );
        lines.push("         ours/nvcc: time / time of nvcc's twin".into());
        lines.join("\n")
    }

    /// One table for each number of threads, or the one of a CPU.
    pub fn tables(&self) -> String {
        let groups = self.threads();
        if groups.is_empty() {
            return self.table(None).to_string();
        }
        let tables: Vec<_> = groups
            .iter()
            .map(|&t| self.table(Some(t)).to_string())
            .collect();
        tables.join("\n\n")
    }

    /// The rungs of one number of threads, then what does not depend on it: CUB and the ceiling.
    fn table(&self, threads: Option<u32>) -> Table {
        let rows: Vec<[String; COLUMNS.len()]> = self
            .rows_of(threads)
            .filter(|row| row.by != By::Nvcc)
            .chain(&self.ceiling)
            .map(|row| {
                let twin = self.rows.iter().find(|other| other.is_twin_of(row));
                COLUMNS.map(|(_, text)| text(row, twin).unwrap_or_default())
            })
            .collect();

        let used = |column: &usize| rows.iter().any(|row| !row[*column].is_empty());
        let used: Vec<_> = (0..COLUMNS.len()).filter(used).collect();
        let mut table = Table::new();
        table.load_style(presets::ASCII_MARKDOWN);
        table.set_header(used.iter().map(|&column| COLUMNS[column].0));
        table.add_rows(
            rows.iter()
                .map(|row| used.iter().map(|&column| &row[column])),
        );
        for column in table.column_iter_mut().skip(1) {
            column.set_cell_alignment(CellAlignment::Right);
        }
        table
    }
}

/// What a cell shows of a row and its twin; a column without any text is left out.
type Cell = fn(&Row, Option<&Row>) -> Option<String>;

const COLUMNS: [(&str, Cell); 13] = [
    ("kernel", |row, _| Some(row.label())),
    ("threads", |row, _| Some(row.threads?.to_string())),
    ("blocks", |row, _| Some(row.blocks?.to_string())),
    ("passes", |row, _| Some(row.passes?.to_string())),
    ("ms", |row, _| row.median()),
    ("min", |row, _| {
        Some(format!("{:.4}", row.time?.summary.min_ms))
    }),
    ("max", |row, _| {
        Some(format!("{:.4}", row.time?.summary.max_ms))
    }),
    ("GB/s", |row, _| Some(format!("{:.1}", row.time?.gb_per_s))),
    ("% ceiling", |row, _| {
        Some(format!("{:.1}", row.time?.of_ceiling? * 100.0))
    }),
    ("gain", |row, _| Some(format!("{:.2}x", row.time?.gain?))),
    ("nvcc ms", |_, twin| twin?.median()),
    ("ours/nvcc", |row, _| {
        Some(format!("{:.3}", row.time?.over_twin?))
    }),
    ("correct", |row, _| Some(row.verdict())),
];

/// What was compared with.
pub fn peers_line(peers: &Peers) -> String {
    match peers {
        Peers::Built(built) => format!(
            "peers    nvcc {} ({}), {}; CUB {}, default policy",
            built.nvcc_version,
            built.nvcc.display(),
            built.nvcc_flags.join(" "),
            built.cub_version
        ),
        Peers::Absent(reason) => format!("peers    none: {reason}"),
    }
}

/// The device, for people.
pub fn device_lines(cuda: &Cuda) -> [String; 2] {
    let Cuda {
        index,
        name,
        multiprocessors,
        driver,
        ptx_arch,
        stream,
        ..
    } = cuda;
    let (major, minor) = cuda.compute_capability;
    let memory = gib(cuda.memory_bytes);
    let (clock, memory_clock) = (cuda.clock_khz / 1000, cuda.memory_clock_khz / 1000);
    [
        format!(
            "device   {index}: {name}, compute capability {major}.{minor}, {multiprocessors} multiprocessors, {memory:.1} GiB"
        ),
        format!(
            "         driver for CUDA {driver}, kernels from PTX for {ptx_arch}, {stream} stream, highest clocks: {clock} MHz, memory {memory_clock} MHz"
        ),
    ]
}

impl Row {
    /// The kernel's name, with what tells it from rows of the same kernel.
    pub fn label(&self) -> String {
        match (self.by, self.chunks) {
            (By::Cub, _) => format!("cub::{}", self.kernel),
            (_, Some(chunks)) => format!("{}, {chunks} chunks", self.kernel),
            _ => self.kernel.clone(),
        }
    }

    fn median(&self) -> Option<String> {
        match &self.wrong {
            Some(_) => Some("WRONG".into()),
            None => Some(format!("{:.4}", self.median_ms()?)),
        }
    }

    fn verdict(&self) -> String {
        match &self.wrong {
            None => "yes".into(),
            Some(wrong) => format!(
                "NO: {} of {} runs, first {}",
                wrong.runs, wrong.of, wrong.got
            ),
        }
    }
}

/// Bytes in GiB.
pub fn gib(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 30)
}

#[cfg(test)]
mod tests {
    use crate::report::tests::{report, right, samples};
    use crate::timing::Wrong;

    #[test]
    fn a_table_for_each_number_of_threads() {
        let tables = right().tables();
        assert_eq!(tables.matches("| kernel").count(), 2);
        assert_eq!(tables.matches("cub::DeviceReduce::Sum").count(), 2);
        assert_eq!(tables.matches("read_ceiling").count(), 2);
        assert_eq!(
            tables.matches("| reduce_3").count(),
            2,
            "twins are columns, not lines"
        );
    }

    #[test]
    fn a_wrong_row_shows_no_time() {
        let mut samples: Vec<_> = [1.0; 10].map(samples).into();
        samples[1].wrong = Some(Wrong {
            runs: 1,
            of: 4,
            got: 77,
        });
        let tables = report(samples).tables();
        let line = tables
            .lines()
            .find(|line| line.contains("reduce_2"))
            .unwrap();
        assert!(
            line.contains("WRONG") && line.contains("1 of 4 runs, first 77"),
            "{line}"
        );
        assert_eq!(line.matches("1.0000").count(), 1, "only its twin's: {line}");
    }

    #[test]
    fn the_header_says_what_was_used_and_what_was_not() {
        let header = right().header();
        for part in [
            "no CUDA device",
            "a test",
            "1,000,000 random i32",
            "seed 1",
            "exact sum 5",
        ] {
            assert!(header.contains(part), "{part} is not in:\n{header}");
        }
    }
}
