//! `warpfold-bench segments`: by offsets of 32 bits and, if all segments have the same length, as rows.

use std::ffi::c_void;
use std::ptr;

use anyhow::{Context, Result, bail};
use outside_kernels::SquaresAbout;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use warpfold::{ArgMax, Buffer, Device, Number, Segments, Sum};
use warpfold_results::parts::{Form, Row};
use warpfold_results::schema::By;

use super::peers::{Asked, Compared, Right, chain_of_cub, time_cub};
use super::{Bits, ROUNDS, Record, drawn, is_chosen, is_right};
use crate::KERNELS;
use crate::options::PartsOptions;
use crate::peers::Function;
use crate::sweep::python::Python;

const SOURCE: &str = include_str!("../../peers/segments.cu");

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
    let device = Device::first()?.with(&KERNELS)?;
    if options.n > u32::MAX as usize {
        bail!("{} items; offsets of 32 bits allow 2^32 - 1", options.n);
    }
    let mut record = Record::new(&device, "items, offsets and results")?;
    let cub = match options.peers {
        true => record.found(By::Cub, Cub::build(&device))?,
        false => None,
    };
    if cub.as_ref().is_some_and(|cub| !cub.has_rows) {
        record.note("CUB: no rows; CUB 3.1 and later have segments of one length".into())?;
    }
    let draw = |random: &mut StdRng| random.random_range(-1.0..1.0);
    let narrow = |random: &mut StdRng| draw(random) as f32;
    let (narrow, wide) = (drawn(options.n, narrow), || drawn(options.n, draw));
    let mut peers = Peers {
        python: match options.peers {
            true => record.start_python(&device, &narrow)?,
            false => vec![],
        },
        cub,
    };
    record.head(&[Form::Call, Form::Rows])?;
    let (record, peers) = (&mut record, &mut peers);
    time(&device, options, (Sum, "sum"), &narrow, record, peers)?;
    time(&device, options, (Sum, "sum"), &wide(), record, peers)?;
    time(
        &device,
        options,
        (ArgMax, "arg_max"),
        &narrow,
        record,
        peers,
    )?;
    // An operator of a user, which only this library has.
    let op = SquaresAbout { centre: 0.25 };
    let peers = &mut Peers::default();
    time(
        &device,
        options,
        (op, "squares_about"),
        &narrow,
        record,
        peers,
    )?;
    record.write(options)
}

/// Times an operator over all lengths.
fn time<T: Number, O: Segments<T, Acc: Bits + Compared> + Copy>(
    device: &Device,
    options: &PartsOptions,
    (op, name): (O, &str),
    items: &[T],
    record: &mut Record,
    peers: &mut Peers,
) -> Result<()> {
    let (n, cpu) = (options.n, Device::cpu().with(&KERNELS)?);
    let x = device.upload(items)?;
    for lengths in LENGTHS {
        let title = lengths.title();
        if !is_chosen(options, &title) || matches!(lengths, Lengths::Of(len) if len > n) {
            continue;
        }
        let of_host = lengths.offsets(n);
        let count = of_host.len() - 1;
        let bytes = n * size_of::<T>() + size_of_val(&of_host[..]) + count * size_of::<O::Acc>();
        let expected = {
            let (mut expected, mut scratch) = (cpu.alloc::<O::Acc>(count)?, cpu.segment_scratch()?);
            let (x, offsets) = (cpu.view_host(items)?, cpu.view_host(&of_host)?);
            cpu.reduce_segments_into(x, offsets, op, &mut expected, &mut scratch)?;
            expected.download()?
        };
        let ceiling = device.alloc::<f32>(bytes / size_of::<f32>())?;
        let mut read = device.read_ceiling(&ceiling)?;
        let offsets = device.upload(&of_host)?;
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
        let mut row = Row {
            op: name.into(),
            element: T::NAME.into(),
            parts: title,
            n,
            results: count,
            bytes,
            read_us: 0.0,
            call_us: 0.0,
            rows_us: None,
            peers: vec![],
        };
        drop(output);
        let right = Right {
            results: &expected,
            len: &|i| (of_host[i + 1] - of_host[i]) as usize,
        };
        peers.time(
            device,
            record,
            &mut row,
            (&x, &offsets, row_len),
            &right,
            &of_host,
        )?;
        record.push(row, times)?;
    }
    Ok(())
}

type SegmentsFn = unsafe extern "C" fn(
    i32,
    *mut c_void,
    *mut usize,
    *const c_void,
    *const u32,
    i32,
    i64,
    *mut c_void,
    *mut c_void,
) -> i32;
type NumberFn = unsafe extern "C" fn() -> i32;

/// CUB's `DeviceSegmentedReduce`.
struct Cub {
    segments: Function<SegmentsFn>,
    /// Whether it has segments of one length.
    has_rows: bool,
}

impl Cub {
    fn build(device: &Device) -> Result<(Self, String)> {
        let capability = device.info().context("CUB needs a GPU")?.compute_capability;
        let peers = crate::peers::Peers::build(&[("segments.cu", SOURCE)], capability)?;
        // SAFETY: segments.cu defines these functions with these signatures.
        let (segments, has_rows): (_, Function<NumberFn>) = unsafe {
            (
                peers.function("cub_segments")?,
                peers.function("cub_has_rows")?,
            )
        };
        let cub = Self {
            segments,
            // SAFETY: the function only returns a constant.
            has_rows: unsafe { has_rows() } != 0,
        };
        Ok((cub, peers.built.version()))
    }

    /// The times in microseconds of segments by offsets, or of rows of a length.
    fn time<T: Number, A: Compared>(
        &self,
        device: &Device,
        op: &str,
        (x, offsets, row_len): (&Buffer<T>, &Buffer<u32>, Option<usize>),
        right: &Right<A>,
    ) -> Result<Vec<f64>> {
        // The numbers of the operators in segments.cu, and the words of a result.
        let (op, words) = match (op, T::NAME) {
            ("sum", "f32") => (0, 1),
            ("sum", "f64") => (1, 2),
            ("arg_max", "f32") => (2, 2),
            _ => bail!("no {op} of {}", T::NAME),
        };
        if op == 2 {
            i32::try_from(x.len()).context("CUB's indices are an int")?;
        }
        let len = i32::try_from(row_len.unwrap_or(0)).context("CUB's length is an int")?;
        let offsets = match row_len {
            Some(_) => ptr::null(),
            None => offsets.as_device_ptr() as *const u32,
        };
        let count = right.results.len();
        let results = device.alloc::<u32>(count * words)?;
        let times = time_cub(device, |temp, bytes| {
            // SAFETY:
            // - Without temporary storage the call only writes the storage's size, to a local variable of `time_cub`.
            // - Otherwise the storage has that size, and `time_cub` waits for the stream while it is live.
            // - The arrays are live memory of the stream's device: the items have the type that `op` says; the offsets
            //   are in order, one more than the segments, and not above the number of items, or `count * len` is the
            //   number of items (the caller, `time`); `results` has room for all results.
            let status = unsafe {
                (self.segments)(
                    op,
                    temp,
                    bytes,
                    x.as_device_ptr() as *const c_void,
                    offsets,
                    len,
                    count as i64,
                    results.as_device_ptr() as *mut c_void,
                    device.stream_ptr(),
                )
            };
            self.segments.check(status, "cub::DeviceSegmentedReduce")
        })?;
        right.check(&results.download()?, chain_of_cub)?;
        Ok(times)
    }
}

/// The peers that were found.
#[derive(Default)]
struct Peers {
    cub: Option<Cub>,
    python: Vec<(By, Python)>,
}

impl Peers {
    /// Adds the peers' times to a row.
    fn time<T: Number, A: Compared>(
        &mut self,
        device: &Device,
        record: &mut Record,
        row: &mut Row,
        (x, offsets, row_len): (&Buffer<T>, &Buffer<u32>, Option<usize>),
        right: &Right<A>,
        of_host: &[u32],
    ) -> Result<()> {
        let forms = [(Form::Call, None), (Form::Rows, row_len)];
        let has_rows = |(form, len): &(Form, Option<usize>)| *form == Form::Call || len.is_some();
        for (form, len) in forms.into_iter().filter(has_rows) {
            if let Some(cub) = self
                .cub
                .as_ref()
                .filter(|cub| form == Form::Call || cub.has_rows)
            {
                let times = cub.time(device, &row.op, (x, offsets, len), right);
                record.timed(row, By::Cub, form, times)?;
            }
            // Their array has f32.
            if T::NAME == "f32" {
                let shape = len.map(|len| [row.results, len]);
                let asked = match &shape {
                    Some(shape) => Asked::Axes(shape, &[1]),
                    None => Asked::Offsets(of_host),
                };
                record.time_python(&mut self.python, row, form, &asked, right)?;
            }
        }
        Ok(())
    }
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
