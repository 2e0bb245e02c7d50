//! A segmented reduction: the launches of its kernels, and the same of one segment by the single-pass kernel.

mod drawn;
mod rare;

pub use drawn::{Drawn, KINDS};
pub use rare::{combines, overlaps, partitions};

use std::fmt;

use cuda_sim::{Buffer, Failure, Simulator};
use kernels_gpu::entry::segments::PARTITION;
use kernels_gpu::entry::{Entry, Segments, SinglePass};
use kernels_gpu::grid::Storage;
use kernels_gpu::items::Items;
use kernels_gpu::segments::{Layout, Shape, THREADS, Work, most_staged};

use crate::case::{INPUTS, MARGIN};
use crate::data::{Data, DrawnItems};
use crate::launch::{Array, bytes_of, launch};

/// The contents of the bytes on both sides of the output, which no kernel may write.
pub(crate) const MARGIN_BYTE: u8 = 0xA5;

/// The bytes on each side, which keep the output aligned.
pub(crate) const MARGIN_BYTES: usize = 256;

/// Arrays in simulated memory.
pub struct Input {
    memories: Vec<Vec<u8>>,
    buffers: Vec<Buffer<u8>>,
    /// The first byte of each array in its memory.
    starts: Vec<usize>,
    /// The bytes of an element of each array.
    sizes: Vec<usize>,
    n: usize,
}

impl Input {
    /// `n` random items for an entry, from element `starts` of each array's memory.
    pub fn draw<I: DrawnItems>(
        entry: &Entry,
        data: Data,
        starts: [usize; 3],
        n: usize,
        seed: u64,
    ) -> Self {
        let (_, mut memories) = I::draw(data, starts, 0, n, seed);
        let sizes = entry.read_bytes.into_iter().filter(|size| *size > 0);
        let sizes: Vec<usize> = sizes.collect();
        // Without a margin behind the arrays, so that an access there is found.
        for (memory, size) in memories.iter_mut().zip(&sizes) {
            memory.truncate(memory.len() - MARGIN * size);
        }
        Self {
            buffers: memories.iter().map(Buffer::from).collect(),
            memories,
            starts: starts
                .iter()
                .zip(&sizes)
                .map(|(start, size)| start * size)
                .collect(),
            sizes,
            n,
        }
    }

    /// The items at these indices, one behind the other.
    pub fn gathered(&self, indices: &[usize]) -> Self {
        let arrays = self.memories.iter().zip(&self.starts).zip(&self.sizes);
        let memories = arrays.map(|((memory, start), size)| {
            let item = |index: &usize| &memory[start + index * size..][..*size];
            indices.iter().flat_map(item).copied().collect()
        });
        let memories: Vec<Vec<u8>> = memories.collect();
        Self {
            buffers: memories.iter().map(Buffer::from).collect(),
            memories,
            starts: vec![0; self.starts.len()],
            sizes: self.sizes.clone(),
            n: indices.len(),
        }
    }

    /// Whether no kernel has changed the memory.
    pub(crate) fn is_unchanged(&self) -> bool {
        let unchanged = |(buffer, memory): (&Buffer<u8>, &Vec<u8>)| buffer.to_vec() == *memory;
        self.buffers.iter().zip(&self.memories).all(unchanged)
    }

    /// The number of items.
    pub(crate) fn len(&self) -> usize {
        self.n
    }

    /// The `len` items from `first` on.
    pub(crate) fn arrays(&self, first: usize, len: usize) -> Vec<Array> {
        let names = INPUTS[usize::from(self.buffers.len() > 1)];
        let arrays = self.buffers.iter().zip(&self.starts).zip(&self.sizes);
        let arrays = arrays.zip(names).map(|(((buffer, start), size), name)| {
            let first = buffer.as_ptr().wrapping_add(start + first * size);
            Array::new(name, first, len)
        });
        arrays.collect()
    }
}

/// The segments of a launch.
#[derive(Clone, Debug)]
pub enum Parts {
    /// Of this length.
    Rows(usize),
    /// Between offsets, as unsigned numbers of 32 bits.
    U32(Vec<i64>),
    /// As signed numbers of 32 bits.
    I32(Vec<i64>),
    /// As numbers of 64 bits.
    Wide(Vec<i64>),
}

/// Why there are no right results.
#[derive(Debug)]
pub enum Wrong {
    /// The simulator's findings in a kernel.
    Findings(&'static str, Failure),
    /// The first bad offset that the kernels found.
    BadOffset(u64),
    /// The first bad offset, which they did not find.
    Missed(u64),
    /// A kernel changed memory that is not its own.
    Changed(&'static str),
    /// Other results than the oracle's.
    Results(String),
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Findings(kernel, failure) => write!(f, "{kernel}: {failure}"),
            Self::BadOffset(index) => write!(f, "offset {index} is bad"),
            Self::Missed(index) => write!(f, "bad offset {index} was not found"),
            Self::Changed(what) => write!(f, "{what} changed"),
            Self::Results(what) => f.write_str(what),
        }
    }
}

/// The kernels of a segmented reduction.
#[derive(Clone, Copy, Debug)]
pub struct Kernels {
    /// Finds the first segment of each window.
    pub partition: Entry,
    /// Reduces a window.
    pub window: Entry,
    /// Combines the partials of long segments.
    pub combine: Entry,
}

impl Kernels {
    /// Those of the library.
    pub fn of<I: Items, O: Segments<I>>() -> Self {
        let [window, combine] = O::ENTRIES else {
            unreachable!("`Segments` has two rows");
        };
        Self {
            partition: PARTITION.entries[0],
            window: *window,
            combine: *combine,
        }
    }
}

/// Reduces the segments; the bytes of each accumulator. `simulator` makes one for each launch.
///
/// # Errors
///
/// What is wrong, or bad offsets.
pub fn reduce<I: Items, O: Copy>(
    kernels: &Kernels,
    op: O,
    input: &Input,
    parts: &Parts,
    simulator: &dyn Fn() -> Simulator,
) -> Result<Vec<Vec<u8>>, Wrong> {
    let offsets: &[i64] = match parts {
        Parts::Rows(_) => &[],
        Parts::U32(offsets) | Parts::I32(offsets) | Parts::Wide(offsets) => offsets,
    };
    let (segments, row) = match parts {
        Parts::Rows(len) => (input.n / len, *len),
        _ => (offsets.len() - 1, 0),
    };
    let (narrow, wide) = match parts {
        Parts::Wide(_) => (
            vec![],
            offsets.iter().map(|offset| *offset as u64).collect(),
        ),
        _ => (
            offsets.iter().map(|offset| *offset as u32).collect(),
            vec![],
        ),
    };
    let (narrow, wide): (Buffer<u32>, Buffer<u64>) = (Buffer::from(&narrow), Buffer::from(&wide));
    let layout = Layout::of::<I>(input.n, segments);
    let is_signed = matches!(parts, Parts::I32(_));
    let shape = Shape::new::<I>(input.n, segments, row, is_signed);
    let acc = kernels.window.acc_bytes;
    let margin = [MARGIN_BYTE; MARGIN_BYTES];
    let mut output: Buffer<u8> = Buffer::uninitialised(segments * acc + 2 * MARGIN_BYTES);
    output.write_from(0, &margin);
    output.write_from(MARGIN_BYTES + segments * acc, &margin);
    let partials: Buffer<u8> = Buffer::uninitialised(layout.partials() * acc);
    let mut work: Buffer<u64> = Buffer::uninitialised(layout.words());
    work.write_from(0, &[Work::NONE; Work::BAD_BEFORE + 1]);
    // An earlier launch has left its number of huge segments.
    let mut left = vec![0; layout.counters()];
    left[0] = 1;
    let counts: Buffer<u32> = Buffer::from(&left);

    let arrays = |shape: &Shape| {
        let output = output.as_ptr().wrapping_add(MARGIN_BYTES);
        let mut arrays = input.arrays(0, input.n);
        arrays.extend([
            Array::new("shape", std::ptr::from_ref(shape), 1),
            Array::new("narrow", narrow.as_ptr(), narrow.len()),
            Array::new("wide", wide.as_ptr(), wide.len()),
            Array::new("output", output, segments),
            Array::new("partials", partials.as_ptr(), layout.partials()),
            Array::new("work", work.as_ptr(), layout.words()),
            Array::new("counts", counts.as_ptr(), counts.len()),
        ]);
        arrays
    };
    let of_blocks = |blocks: usize| simulator().grid(blocks as u32).block(THREADS);
    let findings = |entry: &Entry| {
        let name = entry.name;
        move |failure| Wrong::Findings(name, failure)
    };
    if row == 0 {
        let entry = &kernels.partition;
        let grid = of_blocks((layout.windows + 1).div_ceil(THREADS as usize));
        // SAFETY: the arrays exist and have the lengths of the layout; there is a thread for each edge of a window.
        unsafe { launch(entry, grid, (), &arrays(&shape)) }.map_err(findings(entry))?;
    }
    let (window, combining) = (&kernels.window, &kernels.combine);
    let shared = window.needs.shared_bytes(THREADS, acc);
    let grid = of_blocks(layout.windows).dynamic_shared_memory(shared);
    // SAFETY: as above; the input's arrays have the types of the items, and the output is as long as the segments.
    unsafe { launch(window, grid, op, &arrays(&shape)) }.map_err(findings(window))?;
    let longest = if row > 0 { row } else { input.n };
    if longest > most_staged::<I>() {
        // SAFETY: as above, with any number of blocks.
        unsafe { launch(combining, of_blocks(2), op, &arrays(&shape)) }
            .map_err(findings(combining))?;
    }
    // SAFETY: the buffer has that many words, and the first ones were written above.
    let bad = unsafe { work.as_ptr().add(Work::BAD).read() };
    if bad != Work::NONE {
        return Err(Wrong::BadOffset(bad));
    }
    if !input.is_unchanged() {
        return Err(Wrong::Changed("an input"));
    }
    let bytes = output.to_vec();
    let (before, rest) = bytes.split_at(MARGIN_BYTES);
    let (accumulators, behind) = rest.split_at(segments * acc);
    if before != margin || behind != margin {
        return Err(Wrong::Changed("memory beside the output"));
    }
    Ok(accumulators.chunks(acc).map(<[u8]>::to_vec).collect())
}

/// The bytes of the accumulator of the `len` items from `first` on, by the single-pass kernel.
///
/// # Errors
///
/// The simulator's findings.
pub fn whole<I: Items, O: SinglePass<I>>(
    op: O,
    input: &Input,
    first: usize,
    len: usize,
) -> Result<Vec<u8>, Failure> {
    const THREADS: u32 = 64;
    let entry = O::ENTRY;
    // The first tile may begin up to a vector before the items.
    let most = (len + I::VECTOR - 1) as u64;
    let blocks = entry.needs.fewest_blocks(most, THREADS).max(1) as u32;
    let sizes = Storage::of_grid(blocks, THREADS, entry.acc_bytes);
    let words = sizes.partials * entry.partial_bytes() / size_of::<u64>();
    let words: Buffer<u64> = Buffer::from(&vec![0; words]);
    let arrivals: Buffer<u32> = Buffer::from(&vec![0; sizes.arrivals]);
    let result: Buffer<u8> = Buffer::uninitialised(size_of::<O::Acc>());
    let mut arrays = input.arrays(first, len);
    arrays.extend([
        Array::new("partials", words.as_ptr(), sizes.partials),
        Array::new("arrivals", arrivals.as_ptr(), sizes.arrivals),
        Array::new("result", result.as_ptr(), 1),
    ]);
    let simulator = Simulator::new()
        .grid(blocks)
        .block(THREADS)
        .dynamic_shared_memory(entry.needs.shared_bytes(THREADS, entry.acc_bytes));
    // SAFETY: the arrays exist, and have the types and lengths that the row asks for.
    unsafe { launch(entry, simulator, op, &arrays) }?;
    Ok(bytes_of(&result.to_vec()))
}
