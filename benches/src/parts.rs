//! `warpfold-bench segments`, `axes`, `runs` and `groups`: the time of reductions of parts of an array beside that of a read.
//!
//! Each round reads as many bytes as the call has to (the read ceiling), and makes the call. All times are the device's own.
//! Every result is compared with the CPU's, bit for bit. With `--peers` the same data are reduced by other libraries, in
//! rounds of their own; the table has our time over theirs.

pub mod axes;
pub mod groups;
pub mod growth;
pub mod pages;
mod peers;
pub mod runs;
pub mod segments;

use std::fs;

use anyhow::{Context, Result, bail, ensure};
use rand::SeedableRng;
use rand::rngs::StdRng;
use rayon::prelude::*;
use warpfold::{Device, Element, Indexed};
use warpfold_results::parts::{Form, Parts, Row};
use warpfold_results::schema::By;

use crate::exact::median;
use crate::machine::Started;
use crate::options::PartsOptions;
use crate::print_line;

/// The rounds of which the median is taken.
const ROUNDS: usize = 9;

/// A record in progress.
struct Record {
    parts: Parts,
    /// What the results are compared with, in the order of the table.
    columns: Vec<(By, Form)>,
}

impl Record {
    /// Begins a record of times beside reads of `what`.
    fn new(device: &Device, what: &str) -> Result<Self> {
        print_line(&format!(
            "{device}: microseconds, medians of {ROUNDS} rounds; shares of the read of {what}"
        ))?;
        let started = Started::now()?;
        Ok(Self {
            parts: Parts {
                date: started.date,
                command_line: started.command_line,
                machine: started.machine,
                device: device.name().into(),
                peers: vec![],
                notes: vec![],
                rounds: ROUNDS,
                rows: vec![],
            },
            columns: vec![],
        })
    }

    /// Prints the heads of the table, with columns for the peers that were found.
    fn head(&mut self, forms: &[Form]) -> Result<()> {
        let peers = self.parts.peers.iter();
        let found = peers.filter(|peer| peer.version.is_some());
        let columns = found.flat_map(|peer| forms.iter().map(|form| (peer.by, *form)));
        self.columns = columns.collect();
        let heads = self.columns.iter().map(|(by, form)| {
            let title = match form {
                Form::Call => format!("/ {}", by.title()),
                Form::Rows => format!("/ {} rows", by.title()),
            };
            format!(" {title:>14}")
        });
        print_line(&format!(
            "op      type parts                         results      read      call     share      rows     share{}",
            heads.collect::<String>()
        ))?;
        Ok(())
    }

    /// Adds the medians of the times in milliseconds of a read, of the call and of rows.
    fn push(&mut self, mut row: Row, times: [Vec<f64>; 3]) -> Result<()> {
        let [read, call, rows] = times.map(|times| median(times).map(|ms| ms * 1e3));
        row.read_us = read.context("there is a round")?;
        row.call_us = call.context("there is a round")?;
        row.rows_us = rows;
        print_line(&line(&row, &self.columns))?;
        self.parts.rows.push(row);
        Ok(())
    }

    fn write(&self, options: &PartsOptions) -> Result<()> {
        if let Some(file) = &options.json {
            let text = serde_json::to_string_pretty(&self.parts)?;
            fs::write(file, text + "\n")
                .with_context(|| format!("cannot write {}", file.display()))?;
        }
        Ok(())
    }
}

/// The line of a row: our times, and their ratios to those of the peers.
fn line(row: &Row, columns: &[(By, Form)]) -> String {
    let number = |value: Option<f64>, decimals: usize| {
        value.map_or("-".into(), |value| format!("{value:.decimals$}"))
    };
    let share = |form| number(row.share(form), 3);
    let (rows, of_rows) = (number(row.rows_us, 1), share(Form::Rows));
    let ratios = columns
        .iter()
        .map(|(by, form)| format!(" {:>14}", number(row.ratio(*by, *form), 3)));
    format!(
        "{:7} {:>4} {:27} {:>9} {:>9.1} {:>9.1} {:>9} {rows:>9} {of_rows:>9}{}",
        row.op,
        row.element,
        row.parts,
        row.results,
        row.read_us,
        row.call_us,
        share(Form::Call),
        ratios.collect::<String>()
    )
}

/// Whether the options choose the parts with this title.
fn is_chosen(options: &PartsOptions, title: &str) -> bool {
    options
        .only
        .as_ref()
        .is_none_or(|only| title.contains(only))
}

/// Random items.
fn drawn<T: Element>(n: usize, draw: impl Fn(&mut StdRng) -> T + Sync) -> Vec<T> {
    const CHUNK: usize = 1 << 16;
    let mut items = vec![draw(&mut StdRng::seed_from_u64(0)); n];
    let chunks = items.par_chunks_mut(CHUNK).enumerate();
    chunks.for_each(|(i, chunk)| {
        let random = &mut StdRng::seed_from_u64(i as u64);
        chunk.iter_mut().for_each(|item| *item = draw(random));
    });
    items
}

/// The bits of an accumulator.
trait Bits: Element {
    fn bits(self) -> (u64, u64);
}

impl Bits for u32 {
    fn bits(self) -> (u64, u64) {
        (self.into(), 0)
    }
}

impl Bits for f32 {
    fn bits(self) -> (u64, u64) {
        (self.to_bits().into(), 0)
    }
}

impl Bits for f64 {
    fn bits(self) -> (u64, u64) {
        (self.to_bits(), 0)
    }
}

impl Bits for Indexed<f32> {
    fn bits(self) -> (u64, u64) {
        (self.value().to_bits().into(), self.index())
    }
}

/// An error unless the accumulators have the same bits.
fn is_right<A: Bits>(got: &[A], expected: &[A], title: &str) -> Result<()> {
    ensure!(
        got.len() == expected.len(),
        "{title}: {} results",
        got.len()
    );
    let differs = |(got, expected): (&A, &A)| got.bits() != expected.bits();
    if let Some(i) = got.iter().zip(expected).position(differs) {
        bail!(
            "{title}: result {i} is {:?} instead of {:?}",
            got[i],
            expected[i]
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs a command on the simulated device.
    fn record(run: fn(&PartsOptions) -> Result<()>, n: usize, peers: bool) -> Parts {
        crate::driver::simulated();
        let file = tempfile::NamedTempFile::new().unwrap();
        let options = PartsOptions {
            n,
            only: None,
            peers,
            json: Some(file.path().into()),
        };
        run(&options).unwrap();
        serde_json::from_str(&fs::read_to_string(file.path()).unwrap()).unwrap()
    }

    #[test]
    fn the_record_says_why_peers_have_no_times() {
        // CUB would take the simulator's handles for CUDA's.
        let without_cub = crate::peers::find_nvcc().is_err();
        for (run, n, rows, peers, first) in [
            (
                segments::run as fn(&PartsOptions) -> Result<()>,
                300,
                48,
                without_cub,
                By::Cub,
            ),
            (axes::run, 1 << 10, 20, true, By::Torch),
            (runs::run, 300, 4, without_cub, By::Cub),
        ] {
            let parts = record(run, n, peers);
            assert_eq!(parts.rows.len(), rows, "{parts:?}");
            assert_eq!(
                parts.peers.first().map(|peer| peer.by),
                peers.then_some(first)
            );
            for peer in &parts.peers {
                let is_timed = |row: &Row| row.peer_us(peer.by, Form::Call).is_some();
                let is_absent = peer.version.is_none();
                assert_eq!(is_absent, peer.absent.is_some(), "{peer:?}");
                assert!(!is_absent || !parts.rows.iter().any(is_timed), "{parts:?}");
            }
        }
    }

    #[test]
    fn a_line_has_the_ratios_of_the_peers() {
        let timed = |by, form, us| warpfold_results::parts::Timed { by, form, us };
        let row = Row {
            op: "sum".into(),
            element: "f32".into(),
            parts: "of 4".into(),
            n: 8,
            results: 2,
            bytes: 52,
            read_us: 1.0,
            call_us: 2.0,
            rows_us: Some(1.25),
            peers: vec![
                timed(By::Cub, Form::Call, 4.0),
                timed(By::Torch, Form::Rows, 1.0),
            ],
        };
        let columns = [By::Cub, By::Torch].map(|by| [(by, Form::Call), (by, Form::Rows)]);
        let line = line(&row, columns.as_flattened());
        let cells: Vec<_> = line.split_whitespace().collect();
        let right = [
            "sum", "f32", "of", "4", "2", "1.0", "2.0", "0.500", "1.2", "0.615", "0.500", "-", "-",
            "1.250",
        ];
        assert_eq!(cells, right);
    }
}
