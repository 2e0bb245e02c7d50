//! `warpfold-bench segments`: the time of segmented reductions beside that of a read.
//!
//! Each round reads as many bytes as the segments have (the read ceiling), reduces them by offsets of 32 bits and, if all have
//! the same length, as rows. All times are the device's own. Every result is compared with the CPU's, bit for bit.

use std::fs;

use anyhow::{Context, Result, bail, ensure};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use rayon::prelude::*;
use serde::Serialize;
use warpfold::{ArgMax, Device, Element, Indexed, Number, Segments, Sum};

use crate::exact::median;
use crate::machine::Started;
use crate::options::SegmentsOptions;
use crate::print_line;

/// The rounds of which the median is taken.
const ROUNDS: usize = 9;

/// The lengths of the segments.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Lengths {
    /// All the same.
    Of(usize),
    /// Uniformly distributed, from 0 to one less than this.
    Uniform(usize),
    /// In proportion to a power of their rank, and in random order; a mean of 64.
    PowerLaw(f64),
    /// One has half of the items, the others have eight each.
    Half,
}

/// Those that are timed.
const LENGTHS: [Lengths; 19] = [
    Lengths::Of(1),
    Lengths::Of(4),
    Lengths::Of(8),
    Lengths::Of(16),
    Lengths::Of(32),
    Lengths::Of(64),
    Lengths::Of(256),
    Lengths::Of(1 << 10),
    Lengths::Of(1 << 12),
    Lengths::Of(1 << 16),
    Lengths::Of(1 << 18),
    Lengths::Of(1 << 20),
    Lengths::Of(1 << 24),
    Lengths::Of(1 << 28),
    Lengths::Uniform(32),
    Lengths::Uniform(1 << 10),
    Lengths::PowerLaw(1.1),
    Lengths::PowerLaw(0.6),
    Lengths::Half,
];

impl Lengths {
    fn title(self) -> String {
        match self {
            Self::Of(len) => format!("of {len}"),
            Self::Uniform(end) => format!("uniform 0..{end}"),
            Self::PowerLaw(alpha) => format!("power law {alpha}"),
            Self::Half => "half in one, half in eights".into(),
        }
    }

    /// The offsets of the segments of `n` items.
    fn offsets(self, n: usize) -> Vec<u32> {
        let random = &mut StdRng::seed_from_u64(7);
        let mut offsets = vec![0];
        let mut at = 0;
        let mut push = |len: usize| {
            at = (at + len).min(n);
            offsets.push(at as u32);
            at < n
        };
        match self {
            Self::Of(len) => while push(len) {},
            Self::Uniform(end) => while push(random.random_range(0..end)) {},
            Self::PowerLaw(alpha) => {
                let count = (n / 64).max(1);
                let weight = |rank: usize| (rank as f64).powf(-alpha);
                let all: f64 = (1..=count).map(weight).sum();
                let len = |rank| (weight(rank) / all * n as f64) as usize;
                let mut lens: Vec<usize> = (1..=count).map(len).collect();
                lens[0] += n - lens.iter().sum::<usize>();
                for i in (1..count).rev() {
                    lens.swap(i, random.random_range(0..=i));
                }
                lens.into_iter().for_each(|len| {
                    push(len);
                });
            }
            Self::Half => {
                if push(n / 2) {
                    while push(8) {}
                }
            }
        }
        offsets
    }
}

#[derive(Serialize)]
struct Row {
    op: &'static str,
    element: &'static str,
    lengths: String,
    n: usize,
    segments: usize,
    /// The bytes of items, offsets and results.
    bytes: usize,
    /// The median time of each in microseconds: a read of these bytes, by offsets, and by rows of one length.
    read_us: f64,
    offsets_us: f64,
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

pub fn run(options: &SegmentsOptions) -> Result<()> {
    let device = Device::first()?;
    let mut record = Record {
        started: Started::now()?,
        device: device.name().into(),
        rounds: ROUNDS,
        rows: vec![],
    };
    if options.n > u32::MAX as usize {
        bail!("{} items; offsets of 32 bits allow 2^32 - 1", options.n);
    }
    print_line(&format!(
        "{device}: microseconds, medians of {ROUNDS} rounds; shares of the read of items, offsets and results"
    ))?;
    print_line(
        "op      type segments                      number      read   offsets     share      rows     share",
    )?;
    let rows = &mut record.rows;
    let draw = |random: &mut StdRng| random.random_range(-1.0..1.0);
    time::<f32, _>(&device, options, Sum, "sum", |r| draw(r) as f32, rows)?;
    time::<f64, _>(&device, options, Sum, "sum", draw, rows)?;
    time::<f32, _>(
        &device,
        options,
        ArgMax,
        "arg_max",
        |r| draw(r) as f32,
        rows,
    )?;
    if let Some(file) = &options.json {
        let text = serde_json::to_string_pretty(&record)?;
        fs::write(file, text + "\n").with_context(|| format!("cannot write {}", file.display()))?;
    }
    Ok(())
}

/// Times an operator over all lengths.
fn time<T: Number, O: Segments<T, Acc: Bits> + Copy>(
    device: &Device,
    options: &SegmentsOptions,
    op: O,
    name: &'static str,
    draw: impl Fn(&mut StdRng) -> T + Sync,
    rows: &mut Vec<Row>,
) -> Result<()> {
    const CHUNK: usize = 1 << 16;
    let (n, cpu) = (options.n, Device::cpu());
    let mut items = vec![draw(&mut StdRng::seed_from_u64(0)); n];
    items
        .par_chunks_mut(CHUNK)
        .enumerate()
        .for_each(|(i, chunk)| {
            let random = &mut StdRng::seed_from_u64(i as u64);
            chunk.iter_mut().for_each(|item| *item = draw(random));
        });
    let x = device.upload(&items)?;
    for lengths in LENGTHS {
        let title = lengths.title();
        let is_chosen = options
            .only
            .as_ref()
            .is_none_or(|only| title.contains(only));
        if !is_chosen || matches!(lengths, Lengths::Of(len) if len > n) {
            continue;
        }
        let offsets = lengths.offsets(n);
        let count = offsets.len() - 1;
        let bytes = n * size_of::<T>() + size_of_val(&offsets[..]) + count * size_of::<O::Acc>();
        let expected = {
            let (mut expected, mut scratch) = (cpu.alloc::<O::Acc>(count)?, cpu.segment_scratch()?);
            let (x, offsets) = (cpu.view_host(&items)?, cpu.view_host(&offsets)?);
            cpu.reduce_segments_into(x, offsets, op, &mut expected, &mut scratch)?;
            expected.download()?
        };
        let ceiling = device.alloc::<f32>(bytes / size_of::<f32>())?;
        let mut read = device.read_ceiling(&ceiling)?;
        let offsets = device.upload(&offsets)?;
        let (mut output, mut scratch) = (device.alloc::<O::Acc>(count)?, device.segment_scratch()?);
        let row_len = match lengths {
            Lengths::Of(len) if n.is_multiple_of(len) => Some(len),
            _ => None,
        };
        let mut times = [vec![], vec![], vec![]];
        // The first round loads the kernels and makes room.
        for round in 0..=ROUNDS {
            times[0].push(device.time(|| read.enqueue())? * 1e3);
            let by_offsets =
                || device.reduce_segments_into(&x, &offsets, op, &mut output, &mut scratch);
            times[1].push(device.time(by_offsets)? * 1e3);
            if round == 0 {
                scratch.check(&offsets)?;
                is_right(&output.download()?, &expected, &title)?;
            }
            if let Some(len) = row_len {
                let by_rows = || device.reduce_rows_into(&x, len, op, &mut output, &mut scratch);
                times[2].push(device.time(by_rows)? * 1e3);
                if round == 0 {
                    is_right(&output.download()?, &expected, &title)?;
                }
            }
            if round == 0 {
                times.iter_mut().for_each(Vec::clear);
            }
        }
        let [read_us, offsets_us, rows_us] = times.map(median);
        let row = Row {
            op: name,
            element: T::NAME,
            lengths: title,
            n,
            segments: count,
            bytes,
            read_us: read_us.context("a round")?,
            offsets_us: offsets_us.context("a round")?,
            rows_us,
        };
        print_row(&row)?;
        rows.push(row);
    }
    Ok(())
}

/// The bits of an accumulator.
trait Bits: Element {
    fn bits(self) -> (u64, u64);
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
            "{title}: segment {i} is {:?} instead of {:?}",
            got[i],
            expected[i]
        );
    }
    Ok(())
}

fn print_row(row: &Row) -> Result<()> {
    let share = |us: f64| row.read_us / us;
    let (rows, of_rows) = match row.rows_us {
        Some(us) => (format!("{us:.1}"), format!("{:.3}", share(us))),
        None => ("-".into(), "-".into()),
    };
    print_line(&format!(
        "{:7} {:>4} {:27} {:>10} {:>9.1} {:>9.1} {:>9.3} {rows:>9} {of_rows:>9}",
        row.op,
        row.element,
        row.lengths,
        row.segments,
        row.read_us,
        row.offsets_us,
        share(row.offsets_us),
    ))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_cover_all_items() {
        for n in [1, 8, 63, 1000, 65_536] {
            for lengths in LENGTHS {
                let offsets = lengths.offsets(n);
                assert!(offsets.is_sorted(), "{lengths:?}, {n}");
                assert_eq!(
                    (offsets[0], *offsets.last().unwrap() as usize),
                    (0, n),
                    "{lengths:?}"
                );
            }
        }
        assert_eq!(Lengths::Half.offsets(32), [0, 16, 24, 32]);
        assert_eq!(Lengths::Of(3).offsets(7), [0, 3, 6, 7]);
    }
}
