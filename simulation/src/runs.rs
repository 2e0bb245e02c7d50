//! Runs of equal keys: the launch that finds them, and the check of its results.

mod drawn;
mod look_back;

pub use drawn::{Drawn, KINDS, check, keys};
pub use look_back::look_back;

use std::fmt;

use cuda_sim::{Buffer, Failure, Simulator};
use kernels_gpu::element::Element;
use kernels_gpu::entry::Entry;
use kernels_gpu::runs::{Count, THREADS, Work, most_of_short, tiles_of};

use crate::launch::{Array, bytes_of, launch};

/// The contents of the bytes on both sides of the results, which the kernel may not write.
const MARGIN_BYTE: u8 = 0xA5;

/// The epoch of a launch. A bit of it differs from the epoch before.
pub(crate) const EPOCH: u64 = 0x5555;

/// The bytes on each side, which keep the results aligned.
const MARGIN_BYTES: usize = 256;

/// The runs of an array of keys.
#[derive(Clone, Debug, PartialEq)]
pub struct Runs<K> {
    /// The first key of each run.
    pub keys: Vec<K>,
    /// The start of each run, and the number of keys.
    pub offsets: Vec<u64>,
}

/// Why there are no right results.
#[derive(Debug)]
pub enum Wrong {
    /// The simulator's findings.
    Findings(Failure),
    /// More runs than keys.
    Runs(u64),
    /// The kernel changed memory that is not its own, or left a counter that the next launch cannot use.
    Changed(&'static str),
    /// Other results than the oracle's.
    Results(String),
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Findings(failure) => write!(f, "{failure}"),
            Self::Runs(runs) => write!(f, "{runs} runs"),
            Self::Changed(what) => write!(f, "{what} changed"),
            Self::Results(what) => f.write_str(what),
        }
    }
}

/// Results between two margins.
pub(crate) struct Guarded {
    bytes: Buffer<u8>,
    len: usize,
}

impl Guarded {
    /// Uninitialised elements of `size` bytes each.
    pub(crate) fn new(len: usize, size: usize) -> Self {
        let mut bytes: Buffer<u8> = Buffer::uninitialised(len * size + 2 * MARGIN_BYTES);
        let margin = [MARGIN_BYTE; MARGIN_BYTES];
        bytes.write_from(0, &margin);
        bytes.write_from(MARGIN_BYTES + len * size, &margin);
        Self { bytes, len }
    }

    pub(crate) fn start<T>(&self) -> *const T {
        self.bytes.as_ptr().wrapping_add(MARGIN_BYTES).cast()
    }

    /// The first elements; nothing may have changed on both sides.
    pub(crate) fn read<T: Element>(&self, len: usize) -> Result<Vec<T>, Wrong> {
        let margin = |at: usize| {
            let start = self.bytes.as_ptr().wrapping_add(at);
            // SAFETY: `new` has initialised the margins, which are in the buffer.
            unsafe { std::slice::from_raw_parts(start, MARGIN_BYTES) }
        };
        let behind = MARGIN_BYTES + self.len * size_of::<T>();
        let is_margin = |bytes: &[u8]| bytes.iter().all(|byte| *byte == MARGIN_BYTE);
        if !is_margin(margin(0)) || !is_margin(margin(behind)) {
            return Err(Wrong::Changed("memory beside the results"));
        }
        if len > self.len {
            return Err(Wrong::Results(format!(
                "{len} results in memory for {}",
                self.len
            )));
        }
        let element = |i| {
            // SAFETY: the buffer has this element; every bit pattern is one (`Plain`). A wrong kernel may have left it
            // uninitialised in the simulator's sense; the buffer's bytes have values all the same.
            unsafe { self.start::<T>().add(i).read_unaligned() }
        };
        Ok((0..len).map(element).collect())
    }
}

/// Finds the runs of the keys from `start` on with this entry; `wide` asks for offsets of 64 bits.
///
/// # Errors
///
/// What is wrong.
pub fn find<K: Element>(
    entry: &Entry,
    keys: &[K],
    start: usize,
    wide: bool,
    simulator: Simulator,
) -> Result<Runs<K>, Wrong> {
    let memory: Buffer<K> = Buffer::from(keys);
    let n = keys.len() - start;
    let tiles = tiles_of::<K>(n);
    let unique = Guarded::new(n, size_of::<K>());
    let offsets = Guarded::new(n + 1, if wide { 8 } else { 4 });
    // Some words are those of an earlier launch.
    let word = |tile: usize| [0, Work::SUM | (EPOCH - 1) << Work::EPOCH_BIT | 1][tile % 2];
    let words: Buffer<u64> = Buffer::from(&(0..tiles).map(word).collect::<Vec<_>>());
    let arrivals: Buffer<u32> = Buffer::from(&[0]);
    let number: Buffer<u64> = Buffer::from(&[0]);
    let of_width = |is_own: bool| if is_own { n + 1 } else { 0 };
    let arrays = [
        Array::new("keys", memory.as_ptr().wrapping_add(start), n),
        Array::new("unique", unique.start::<K>(), n),
        Array::new("narrow", offsets.start::<u32>(), of_width(!wide)),
        Array::new("wide", offsets.start::<u64>(), of_width(wide)),
        Array::new("tiles", words.as_ptr(), words.len()),
        Array::new("arrivals", arrivals.as_ptr(), arrivals.len()),
        Array::new("runs", number.as_ptr(), number.len()),
        Array::number("epoch", EPOCH),
    ];
    let simulator = simulator
        .grid(tiles as u32)
        .block(THREADS)
        .dynamic_shared_memory(entry.needs.shared_bytes(THREADS, entry.acc_bytes));
    // SAFETY: the arrays exist, and have the types and lengths that the kernel requires; there is a block for each tile.
    unsafe { launch(entry, simulator, (), &arrays) }.map_err(Wrong::Findings)?;
    if bytes_of(&memory.to_vec()) != bytes_of(keys) {
        return Err(Wrong::Changed("the keys"));
    }
    if arrivals.to_vec() != [0] {
        return Err(Wrong::Changed("the arrival counter"));
    }
    let word = number.to_vec()[0];
    let all = Count::of_word(word);
    let len = usize::try_from(all.number()).ok();
    let len = len.filter(|runs| *runs <= n && word >> Work::EPOCH_BIT == EPOCH);
    let len = len.ok_or(Wrong::Runs(word))?;
    let offsets = match wide {
        true => offsets.read::<u64>(len + 1)?,
        false => {
            let offsets = offsets.read::<u32>(len + 1)?;
            offsets.into_iter().map(u64::from).collect()
        }
    };
    let lengths = offsets.iter().zip(&offsets[1..]);
    let longest = lengths.map(|(start, end)| end.wrapping_sub(*start)).max();
    // A group has half as many keys, and a run without a whole group in it leaves no group without a start.
    let (most, longest) = (most_of_short::<K>() as u64, longest.unwrap_or(0));
    let is_right = match all.is_sparse() {
        true => longest > most / 2,
        false => longest <= most,
    };
    if !is_right {
        return Err(Wrong::Results(format!(
            "a run has {longest} keys, and a group without start: {}",
            all.is_sparse()
        )));
    }
    let keys = unique.read(len)?;
    Ok(Runs { keys, offsets })
}
