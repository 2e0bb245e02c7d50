//! Histograms: the number of elements of each key, for keys of 8 and 32 bits and three distributions, and CUB's
//! `DeviceHistogram`.

use std::cell::RefCell;
use std::ffi::c_void;
use std::rc::Rc;

use anyhow::{Context, Result, ensure};
use kernels_gpu::element::Number;
use kernels_gpu::keyed::Key;
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};
use rayon::prelude::*;
use warpfold::{Buffer, Cells, Sum};
use warpfold_results::schema::{By, Row, Suite};

use crate::peers::Peers;
use crate::sweep::data::CHUNK;
use crate::sweep::rounds::Verdict;
use crate::sweep::run::Sweep;
use crate::sweep::subject::Subject;
use crate::sweep::suites::Bench;

/// The name of the rows.
pub const KERNEL: &str = "count_by_key";

/// The bytes of the keys, unless a size is requested.
const DEFAULT_BYTES: usize = 1 << 28;
const QUICK_BYTES: usize = 1 << 22;

/// CUB's number of elements is an `int` here.
const CUB_MAX_N: usize = i32::MAX as usize;

/// The distribution of the keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Distribution {
    /// Every key is equally frequent.
    Uniform,
    /// All keys are equal.
    One,
    /// The frequency of a key is inversely proportional to its rank; ranks are scattered over the keys.
    Zipf,
}

impl Distribution {
    pub const ALL: [Self; 3] = [Self::Uniform, Self::One, Self::Zipf];

    fn name(self) -> &'static str {
        match self {
            Self::Uniform => "uniform",
            Self::One => "one value",
            Self::Zipf => "Zipf",
        }
    }
}

/// A type of keys that is counted.
pub trait Counted: Key + Number + TryFrom<usize> {
    /// The numbers of cells; powers of two.
    const CELLS: &'static [usize];
}

impl Counted for u8 {
    const CELLS: &'static [usize] = &[256];
}

impl Counted for u32 {
    const CELLS: &'static [usize] = &[256, 1 << 16, 1 << 20];
}

/// Keys below `cells`, a power of two; the same for the same seed.
fn draw<K: Counted>(
    n: usize,
    cells: usize,
    distribution: Distribution,
    seed: u64,
) -> Result<Vec<K>> {
    let key = |cell: usize| K::try_from(cell).ok().expect("a key for each cell");
    // The probability of the first ranks, without a factor.
    let mut sum = 0.0;
    let ranks = (1..=cells).map(|rank| 1.0 / rank as f64);
    let up_to: Vec<f64> = ranks
        .map(|one| {
            sum += one;
            sum
        })
        .collect();
    let mut keys = Vec::new();
    keys.try_reserve_exact(n)
        .with_context(|| format!("no host memory for {n} keys"))?;
    keys.resize(n, key(0));
    let chunks = keys.par_chunks_mut(CHUNK).enumerate();
    chunks.for_each(|(i, chunk)| {
        let rng = &mut SmallRng::seed_from_u64(seed.wrapping_add(i as u64));
        for to in chunk {
            *to = key(match distribution {
                Distribution::Uniform => rng.random_range(0..cells),
                Distribution::One => cells / 3,
                Distribution::Zipf => {
                    let at = rng.random_range(0.0..sum);
                    let rank = up_to.partition_point(|up_to| *up_to <= at).min(cells - 1);
                    // An odd factor: every rank has its own key.
                    rank.wrapping_mul(0x9E37_79B1) % cells
                }
            });
        }
    });
    Ok(keys)
}

/// The number of elements of each key.
fn counted<K: Counted>(keys: &[K], cells: usize) -> Vec<u64> {
    let mut counts = vec![0; cells];
    for key in keys {
        counts[key.cell()] += 1;
    }
    counts
}

/// The number of groups.
pub fn groups() -> usize {
    (u8::CELLS.len() + u32::CELLS.len()) * Distribution::ALL.len()
}

/// Times every type, number of cells and distribution.
pub fn run(bench: &Bench, sweep: &mut Sweep, peers: Option<&Peers>) -> Result<()> {
    time::<u8>(bench, sweep, peers)?;
    time::<u32>(bench, sweep, peers)
}

fn time<K: Counted>(bench: &Bench, sweep: &mut Sweep, peers: Option<&Peers>) -> Result<()> {
    let options = bench.options;
    let mut sizes = options.requested_sizes();
    if sizes.is_empty() {
        let bytes = if options.quick {
            QUICK_BYTES
        } else {
            DEFAULT_BYTES
        };
        sizes.push(bytes / size_of::<K>());
    }
    for n in sizes {
        for &cells in K::CELLS {
            for distribution in Distribution::ALL {
                if sweep.is_over() {
                    return Ok(());
                }
                let keys = draw::<K>(n, cells, distribution, sweep.seed())?;
                let counts = counted(&keys, cells);
                let keys = bench.gpu.upload(&keys)?;
                let to = RefCell::new(bench.gpu.cells::<u64, _>(cells, Sum)?);
                let group = Group {
                    bench,
                    keys: &keys,
                    counts: &counts,
                    distribution,
                };
                let mut subjects = vec![group.warpfold_subject(&to)];
                if let Some(peers) = peers.filter(|_| options.wants(By::Cub) && n <= CUB_MAX_N) {
                    subjects.push(group.cub_subject(peers)?);
                }
                let subjects: Vec<_> = subjects.into_iter().map(Rc::new).collect();
                let what = format!(
                    "{n} keys of {}, {} in {cells}",
                    K::NAME,
                    distribution.name()
                );
                sweep.group(&what, bench.device_rows(&subjects))?;
            }
        }
    }
    Ok(())
}

/// Keys on the device, and their counts.
#[derive(Clone, Copy)]
struct Group<'a, K: Counted> {
    bench: &'a Bench<'a>,
    keys: &'a Buffer<K>,
    counts: &'a [u64],
    distribution: Distribution,
}

impl<'a, K: Counted> Group<'a, K> {
    /// The bytes are those of the keys and of the counts, once.
    fn row(&self, by: By, kernel: &str, count_bytes: usize) -> Row {
        let n = self.keys.len();
        Row {
            by,
            op: Some("count".into()),
            bytes: (n * size_of::<K>() + self.counts.len() * count_bytes) as u64,
            variant: Some(format!("{} cells", self.counts.len())),
            keys: Some(self.distribution.name().into()),
            ..Row::new(Suite::Keyed, kernel, K::NAME, n)
        }
    }

    fn warpfold_subject(self, cells: &'a RefCell<Cells<u64, Sum>>) -> Subject<'a> {
        Subject {
            copies: 1,
            row: self.row(By::Warpfold, KERNEL, size_of::<u64>()),
            overwrite: Box::new(|| Ok(cells.borrow_mut().clear()?)),
            enqueue: Box::new(move |_, _| Ok(cells.borrow_mut().count(self.keys)?)),
            check: Box::new(move |_| {
                let cells = cells.borrow();
                ensure!(cells.rejected()? == 0, "at least one key was rejected");
                Ok(self.check(cells.download()?))
            }),
        }
    }

    /// CUB's histogram, which also sets its counts to 0.
    fn cub_subject(self, peers: &Peers) -> Result<Subject<'a>> {
        let gpu = self.bench.gpu;
        // SAFETY: keyed.cu defines `cub_histogram_u8` and `cub_histogram_u32` with this signature.
        let cub = unsafe { peers.function::<CubFn<K>>(&format!("cub_histogram_{}", K::NAME)) }?;
        let (n, cells) = (self.keys.len() as i32, self.counts.len() as i32);
        let mut bytes = 0;
        let none = std::ptr::null_mut();
        let (keys, stream) = (self.keys.as_device_ptr() as *const K, gpu.stream_ptr());
        // SAFETY: with null storage the call only writes `bytes`, a local variable.
        let status = unsafe { cub(none, &mut bytes, keys, n, none.cast(), cells, stream) };
        cub.check(status, NAME)?;
        let temp = gpu.alloc::<u8>(bytes.max(1))?;
        let counts = Rc::new(gpu.alloc::<u32>(self.counts.len())?);
        let overwritten = Rc::clone(&counts);
        let to = counts.as_device_ptr() as *mut u32;
        Ok(Subject {
            copies: 1,
            row: self.row(By::Cub, NAME, size_of::<u32>()),
            overwrite: Box::new(move || self.bench.timer.overwrite(&overwritten)),
            enqueue: Box::new(move |_, stream| {
                let (temp, mut bytes) = (temp.as_device_ptr() as *mut c_void, bytes);
                // SAFETY: keys and counts are live buffers of this device, with a count for each key (`draw`), and
                // `temp` is as large as CUB requires. The context is current (`Subject::enqueue`), and all enqueued
                // work is waited for (`Timer::time`).
                let status = unsafe { cub(temp, &mut bytes, keys, n, to, cells, stream) };
                cub.check(status, NAME)
            }),
            check: Box::new(move |_| {
                let got = counts.download()?.into_iter().map(u64::from);
                Ok(self.check(got.collect()))
            }),
        })
    }

    fn check(&self, got: Vec<u64>) -> Verdict {
        super::group::equal(&got, self.counts)
    }
}

const NAME: &str = "DeviceHistogram::HistogramEven";

type CubFn<K> =
    unsafe extern "C" fn(*mut c_void, *mut usize, *const K, i32, *mut u32, i32, *mut c_void) -> i32;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_for_each_rank() {
        let keys: Vec<u32> = draw(1 << 20, 256, Distribution::Zipf, 1).unwrap();
        let mut counts = counted(&keys, 256);
        counts.sort_unstable();
        // The harmonic number of 256 is 6.12.
        let most = counts[255] as f64 / (1 << 20) as f64;
        assert!((0.16..0.167).contains(&most), "{most}");
        assert!(counts[0] > 0, "every key occurs");
        let keys: Vec<u8> = draw(1000, 256, Distribution::One, 1).unwrap();
        assert_eq!(counted(&keys, 256)[85], 1000);
    }
}
