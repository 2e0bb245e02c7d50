//! `warpfold-bench segments`, `axes`, `runs` and `groups`: the time of reductions of parts of an array beside that of a read.
//!
//! Each round reads as many bytes as the call has to (the read ceiling), and makes the call. All times are the device's own.
//! Every result is compared with the CPU's, bit for bit.

pub mod axes;
pub mod groups;
pub mod runs;
pub mod segments;

use std::fs;

use anyhow::{Context, Result, bail, ensure};
use rand::SeedableRng;
use rand::rngs::StdRng;
use rayon::prelude::*;
use serde::Serialize;
use warpfold::{Device, Element, Indexed};

use crate::exact::median;
use crate::machine::Started;
use crate::options::PartsOptions;
use crate::print_line;

/// The rounds of which the median is taken.
const ROUNDS: usize = 9;

#[derive(Serialize)]
struct Row {
    op: &'static str,
    element: &'static str,
    /// What is reduced: the lengths of segments, a shape, or the lengths of runs.
    parts: String,
    /// The number of items, and of results.
    n: usize,
    results: usize,
    /// The bytes that are read and written.
    bytes: usize,
    /// The median times in microseconds: of a read of these bytes, of the call, and of the call for rows of one length.
    read_us: f64,
    call_us: f64,
    rows_us: Option<f64>,
}

#[derive(Serialize)]
struct Record {
    #[serde(flatten)]
    started: Started,
    device: String,
    rounds: usize,
    rows: Vec<Row>,
}

impl Record {
    fn new(device: &Device, what: &str) -> Result<Self> {
        print_line(&format!(
            "{device}: microseconds, medians of {ROUNDS} rounds; shares of the read of {what}"
        ))?;
        print_line(
            "op      type parts                         results      read      call     share      rows     share",
        )?;
        Ok(Self {
            started: Started::now()?,
            device: device.name().into(),
            rounds: ROUNDS,
            rows: vec![],
        })
    }

    /// Adds the medians of the times in milliseconds of a read, of the call and of rows.
    fn push(&mut self, mut row: Row, times: [Vec<f64>; 3]) -> Result<()> {
        let [read, call, rows] = times.map(|times| median(times).map(|ms| ms * 1e3));
        row.read_us = read.context("there is a round")?;
        row.call_us = call.context("there is a round")?;
        row.rows_us = rows;
        print_row(&row)?;
        self.rows.push(row);
        Ok(())
    }

    fn write(&self, options: &PartsOptions) -> Result<()> {
        if let Some(file) = &options.json {
            let text = serde_json::to_string_pretty(self)?;
            fs::write(file, text + "\n")
                .with_context(|| format!("cannot write {}", file.display()))?;
        }
        Ok(())
    }
}

fn print_row(row: &Row) -> Result<()> {
    let share = |us: f64| row.read_us / us;
    let (rows, of_rows) = match row.rows_us {
        Some(us) => (format!("{us:.1}"), format!("{:.3}", share(us))),
        None => ("-".into(), "-".into()),
    };
    print_line(&format!(
        "{:7} {:>4} {:27} {:>9} {:>9.1} {:>9.1} {:>9.3} {rows:>9} {of_rows:>9}",
        row.op,
        row.element,
        row.parts,
        row.results,
        row.read_us,
        row.call_us,
        share(row.call_us),
    ))?;
    Ok(())
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
