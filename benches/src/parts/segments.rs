//! `warpfold-bench segments`: by offsets of 32 bits and, if all segments have the same length, as rows.

use anyhow::{Result, bail};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use warpfold::{ArgMax, Device, Number, Segments, Sum};

use super::{Bits, ROUNDS, Record, Row, drawn, is_chosen, is_right};
use crate::options::PartsOptions;

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

pub fn run(options: &PartsOptions) -> Result<()> {
    let device = Device::first()?;
    if options.n > u32::MAX as usize {
        bail!("{} items; offsets of 32 bits allow 2^32 - 1", options.n);
    }
    let mut record = Record::new(&device, "items, offsets and results")?;
    let draw = |random: &mut StdRng| random.random_range(-1.0..1.0);
    let narrow = |random: &mut StdRng| draw(random) as f32;
    time::<f32, _>(&device, options, Sum, "sum", narrow, &mut record)?;
    time::<f64, _>(&device, options, Sum, "sum", draw, &mut record)?;
    time::<f32, _>(&device, options, ArgMax, "arg_max", narrow, &mut record)?;
    record.write(options)
}

/// Times an operator over all lengths.
fn time<T: Number, O: Segments<T, Acc: Bits> + Copy>(
    device: &Device,
    options: &PartsOptions,
    op: O,
    name: &'static str,
    draw: impl Fn(&mut StdRng) -> T + Sync,
    record: &mut Record,
) -> Result<()> {
    let (n, cpu) = (options.n, Device::cpu());
    let items = drawn(n, draw);
    let x = device.upload(&items)?;
    for lengths in LENGTHS {
        let title = lengths.title();
        if !is_chosen(options, &title) || matches!(lengths, Lengths::Of(len) if len > n) {
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
            times[0].push(device.time(|| read.enqueue())?);
            let by_offsets =
                || device.reduce_segments_into(&x, &offsets, op, &mut output, &mut scratch);
            times[1].push(device.time(by_offsets)?);
            if round == 0 {
                scratch.check(&offsets)?;
                is_right(&output.download()?, &expected, &title)?;
            }
            if let Some(len) = row_len {
                let by_rows = || device.reduce_rows_into(&x, len, op, &mut output, &mut scratch);
                times[2].push(device.time(by_rows)?);
                if round == 0 {
                    is_right(&output.download()?, &expected, &title)?;
                }
            }
            if round == 0 {
                times.iter_mut().for_each(Vec::clear);
            }
        }
        let row = Row {
            op: name,
            element: T::NAME,
            parts: title,
            n,
            results: count,
            bytes,
            read_us: 0.0,
            call_us: 0.0,
            rows_us: None,
        };
        record.push(row, times)?;
    }
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
