//! `results.csv`: the rows of `results.json` as a table, one line each.

use ::csv::{Error, Writer};
use serde::{Deserialize, Serialize};

use crate::relate::Related;
use crate::schema::{Backend, By, Cache, Results, Row, Suite, Timing};

/// One line. The units are those of [`crate::schema`]; a field that does not apply is empty.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Line {
    group: usize,
    suite: Suite,
    by: By,
    backend: Backend,
    kernel: String,
    variant: Option<String>,
    op: Option<String>,
    element: String,
    n: u64,
    bytes: u64,
    threads: Option<u32>,
    blocks: Option<u32>,
    chunks: Option<u32>,
    keys: Option<String>,
    cache: Cache,
    timing: Timing,
    samples: usize,
    median_us: Option<f64>,
    interval_low_us: Option<f64>,
    interval_high_us: Option<f64>,
    min_us: Option<f64>,
    max_us: Option<f64>,
    gb_per_s: Option<f64>,
    percent_of_ceiling: Option<f64>,
    over_nvcc: Option<f64>,
    over_cub: Option<f64>,
    over_torch: Option<f64>,
    over_cupy: Option<f64>,
    over_driver: Option<f64>,
    over_loop: Option<f64>,
    unstable: Option<bool>,
    wrong: Option<String>,
}

impl Line {
    fn new(row: &Row, related: &Related) -> Line {
        let time = row.time;
        let over = |peer| related.ratio(row, peer);
        Line {
            group: row.group,
            suite: row.suite,
            by: row.by,
            backend: row.backend,
            kernel: row.kernel.clone(),
            variant: row.variant.clone(),
            op: row.op.clone(),
            element: row.element.clone(),
            n: row.n,
            bytes: row.bytes,
            threads: row.threads,
            blocks: row.blocks,
            chunks: row.chunks,
            keys: row.keys.clone(),
            cache: row.cache,
            timing: row.timing,
            samples: row.samples_us.len(),
            median_us: row.median_us(),
            interval_low_us: time.map(|time| time.interval_us.0),
            interval_high_us: time.map(|time| time.interval_us.1),
            min_us: time.map(|time| time.min_us),
            max_us: time.map(|time| time.max_us),
            gb_per_s: row.gb_per_s(),
            percent_of_ceiling: related.of_ceiling(row).map(|part| part * 100.0),
            over_nvcc: over(By::Nvcc),
            over_cub: over(By::Cub),
            over_torch: over(By::Torch),
            over_cupy: over(By::Cupy),
            over_driver: over(By::Driver),
            over_loop: over(By::Loop),
            unstable: time.map(|time| time.unstable),
            wrong: row.wrong.as_ref().map(|wrong| {
                format!(
                    "{} of {} runs: got {}, expected {}",
                    wrong.runs, wrong.of, wrong.got, wrong.expected
                )
            }),
        }
    }
}

/// A heading, then a line for every row. `over_cub` and similar columns are our time over the peer's.
pub fn csv(results: &Results) -> Result<String, Error> {
    let related = Related::new(results);
    let mut writer = Writer::from_writer(Vec::new());
    for row in &results.rows {
        writer.serialize(Line::new(row, &related))?;
    }
    let bytes = writer.into_inner().map_err(|error| error.into_error())?;
    // Strings and numbers are always valid UTF-8.
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use ::csv::Reader;

    use super::*;
    use crate::example;

    fn read(csv: &str) -> Vec<Line> {
        let mut reader = Reader::from_reader(csv.as_bytes());
        reader.deserialize().map(Result::unwrap).collect()
    }

    #[test]
    fn every_row_can_be_read_back() {
        let results = example::results();
        let related = Related::new(&results);
        let lines: Vec<_> = results
            .rows
            .iter()
            .map(|row| Line::new(row, &related))
            .collect();
        assert_eq!(read(&csv(&results).unwrap()), lines);
        assert!(lines.iter().any(|line| line.unstable == Some(true)));
        assert!(lines.iter().any(|line| line.over_cub.is_some()));
        let wrong: Vec<_> = lines.iter().filter(|line| line.wrong.is_some()).collect();
        assert!(!wrong.is_empty());
        assert!(wrong.iter().all(|line| line.median_us.is_none()));
    }

    #[test]
    fn names_may_contain_any_character() {
        let mut results = example::results();
        results.rows[0].kernel = "a,\"b\"\r\nc".into();
        let lines = read(&csv(&results).unwrap());
        assert_eq!(lines.len(), results.rows.len());
        assert_eq!(lines[0].kernel, "a,\"b\"\r\nc");
    }

    #[test]
    fn no_rows() {
        let mut results = example::results();
        results.rows.clear();
        assert!(read(&csv(&results).unwrap()).is_empty());
    }
}
