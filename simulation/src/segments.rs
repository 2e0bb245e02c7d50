//! A segmented reduction: the launches of its kernels, and the same of one segment by the single-pass kernel.

mod drawn;
mod rare;

pub use drawn::{Drawn, KINDS};
pub use rare::{combines, overlaps, partitions, parts, runs_of_parts};

use std::fmt;

use cuda_sim::{Buffer, Failure, Simulator};
use kernels_gpu::entry::segments::PARTITION;
use kernels_gpu::entry::{Entry, Segments, SinglePass};
use kernels_gpu::grid::Storage;
use kernels_gpu::items::Items;
use kernels_gpu::segments::by_part::{WARPS, blocks_of, places_of};
use kernels_gpu::segments::{Layout, Reports, Shape, THREADS, most_staged};

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
    /// Does all by itself.
    pub by_part: Entry,
}

impl Kernels {
    /// Those of the library.
    pub fn of<I: Items, O: Segments<I>>() -> Self {
        let [window, combine, by_part] = O::ENTRIES else {
            unreachable!("`Segments` has three rows");
        };
        Self {
            partition: PARTITION.entries[0],
            window: *window,
            combine: *combine,
            by_part: *by_part,
        }
    }
}

/// Reduces the segments by windows, and by a warp for each part of one; the bytes of each accumulator. `simulator` makes one for each
/// launch.
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
    let launches = Launches::new(kernels, input, parts, simulator);
    let by_windows = launches.by_windows::<I, O>(op);
    let by_part = |team: usize| launches.by_part::<I, O>(op, team);
    let by_part = by_part(1).and_then(|by_warps| match by_part(WARPS)? == by_warps {
        true => Ok(by_warps),
        false => Err(Wrong::Results(
            "a block for each part gives other bits than a warp".into(),
        )),
    });
    match (by_windows, by_part) {
        (Ok(by_windows), Ok(by_part)) if by_windows != by_part => Err(Wrong::Results(
            "a team for each part gives other bits than windows".into(),
        )),
        (Err(Wrong::BadOffset(one)), Err(Wrong::BadOffset(other))) if one == other => {
            Err(Wrong::BadOffset(one))
        }
        (Err(Wrong::BadOffset(one)), Ok(_)) => Err(Wrong::Results(format!(
            "{} does not find bad offset {one}",
            kernels.by_part.name
        ))),
        (Err(Wrong::BadOffset(one)), Err(Wrong::BadOffset(other))) => Err(Wrong::Results(format!(
            "{} finds bad offset {other}, not {one}",
            kernels.by_part.name
        ))),
        (Err(wrong), _) | (_, Err(wrong)) => Err(wrong),
        (by_windows, _) => by_windows,
    }
}

/// The number of the call.
const CALL: u64 = 5;

/// The launches for an input and its segments.
struct Launches<'a> {
    kernels: &'a Kernels,
    input: &'a Input,
    simulator: &'a dyn Fn() -> Simulator,
    segments: usize,
    row: usize,
    is_signed: bool,
    narrow: Buffer<u32>,
    wide: Buffer<u64>,
}

/// The memory of a reduction besides its input.
struct Memory {
    output: Buffer<u8>,
    partials: Buffer<u8>,
    work: Buffer<u64>,
    counts: Buffer<u32>,
}

impl<'a> Launches<'a> {
    fn new(
        kernels: &'a Kernels,
        input: &'a Input,
        parts: &Parts,
        simulator: &'a dyn Fn() -> Simulator,
    ) -> Self {
        let offsets: &[i64] = match parts {
            Parts::Rows(_) => &[],
            Parts::U32(offsets) | Parts::I32(offsets) | Parts::Wide(offsets) => offsets,
        };
        let (segments, row) = match parts {
            Parts::Rows(len) => (input.n / len, *len),
            _ => (offsets.len() - 1, 0),
        };
        let (narrow, wide): (Vec<u32>, Vec<u64>) = match parts {
            Parts::Wide(_) => (
                vec![],
                offsets.iter().map(|offset| *offset as u64).collect(),
            ),
            _ => (
                offsets.iter().map(|offset| *offset as u32).collect(),
                vec![],
            ),
        };
        Self {
            kernels,
            input,
            simulator,
            segments,
            row,
            is_signed: matches!(parts, Parts::I32(_)),
            narrow: Buffer::from(&narrow),
            wide: Buffer::from(&wide),
        }
    }

    /// Reduces the segments by windows.
    fn by_windows<I: Items, O: Copy>(&self, op: O) -> Result<Vec<Vec<u8>>, Wrong> {
        let (n, segments) = (self.input.n, self.segments);
        let layout = Layout::of::<I>(n, segments);
        let shape = Shape::new::<I>(n, segments, self.row, self.is_signed).of_call(CALL, 0);
        // An earlier launch has left its number of huge segments.
        let mut left = vec![0; layout.counters()];
        left[0] = 1;
        let memory = self.memory(layout.partials(), layout.words(), &left);
        if self.row == 0 {
            let blocks = (layout.windows + 1).div_ceil(THREADS as usize);
            let arrays = self.arrays(&memory, &shape);
            // SAFETY: the arrays exist and have the lengths of the layout; there is a thread for each edge of a window.
            unsafe { self.launch(&self.kernels.partition, blocks, (), &arrays) }?;
        }
        let (window, combining) = (&self.kernels.window, &self.kernels.combine);
        let arrays = self.arrays(&memory, &shape);
        // SAFETY: as above; the input's arrays have the types of the items, and the output is as long as the segments.
        unsafe { self.launch(window, layout.windows, op, &arrays) }?;
        let longest = if self.row > 0 { self.row } else { n };
        if longest > most_staged::<I>() {
            // SAFETY: as above, with any number of blocks.
            unsafe { self.launch(combining, 2, op, &arrays) }?;
        }
        self.results(&memory)
    }

    /// Reduces the segments by a team of `team` warps for each part of one.
    fn by_part<I: Items, O: Copy>(&self, op: O, team: usize) -> Result<Vec<Vec<u8>>, Wrong> {
        const EPOCH: u64 = 7;
        let (n, segments) = (self.input.n, self.segments);
        let shape = Shape::new::<I>(n, segments, self.row, self.is_signed);
        let shape = shape.by_part::<I>(team).of_call(CALL, EPOCH);
        let places = places_of::<I>(n, segments, team);
        let memory = self.memory(places, Reports::WORDS, &[]);
        // Counts of earlier epochs, which are not complete.
        let left = (0..places as u64).map(|place| place * ((EPOCH << 56) / (places as u64)));
        let arrivals: Buffer<u64> = Buffer::from(&left.collect::<Vec<_>>());
        let mut arrays = self.arrays(&memory, &shape);
        arrays.pop();
        arrays.push(Array::new("arrivals", arrivals.as_ptr(), arrivals.len()));
        let blocks = blocks_of::<I>(n, segments, team);
        // SAFETY: the arrays exist and have the lengths that the kernel requires; there is a team for each segment and chunk.
        unsafe { self.launch(&self.kernels.by_part, blocks, op, &arrays) }?;
        self.results(&memory)
    }

    fn memory(&self, partials: usize, words: usize, counts: &[u32]) -> Memory {
        let acc = self.kernels.window.acc_bytes;
        let margin = [MARGIN_BYTE; MARGIN_BYTES];
        let mut output: Buffer<u8> = Buffer::uninitialised(self.segments * acc + 2 * MARGIN_BYTES);
        output.write_from(0, &margin);
        output.write_from(MARGIN_BYTES + self.segments * acc, &margin);
        let mut work: Buffer<u64> = Buffer::uninitialised(words);
        // An earlier launch has left that it had a bad offset.
        work.write_from(0, &[Reports::NONE, 0]);
        Memory {
            output,
            partials: Buffer::uninitialised(partials * acc),
            work,
            counts: Buffer::from(counts),
        }
    }

    fn arrays(&self, memory: &Memory, shape: &Shape) -> Vec<Array> {
        let acc = self.kernels.window.acc_bytes;
        let output = memory.output.as_ptr().wrapping_add(MARGIN_BYTES);
        let partials = memory.partials.len() / acc;
        let mut arrays = self.input.arrays(0, self.input.n);
        arrays.extend([
            Array::new("shape", std::ptr::from_ref(shape), 1),
            Array::new("narrow", self.narrow.as_ptr(), self.narrow.len()),
            Array::new("wide", self.wide.as_ptr(), self.wide.len()),
            Array::new("output", output, self.segments),
            Array::new("partials", memory.partials.as_ptr(), partials),
            Array::new("work", memory.work.as_ptr(), memory.work.len()),
            Array::new("counts", memory.counts.as_ptr(), memory.counts.len()),
        ]);
        arrays
    }

    /// # Safety
    ///
    /// That of [`launch`].
    unsafe fn launch<O: Copy>(
        &self,
        entry: &Entry,
        blocks: usize,
        op: O,
        arrays: &[Array],
    ) -> Result<(), Wrong> {
        let acc = self.kernels.window.acc_bytes;
        let grid = (self.simulator)()
            .grid(blocks as u32)
            .block(THREADS)
            .dynamic_shared_memory(entry.needs.shared_bytes(THREADS, acc));
        // SAFETY: the caller's contract.
        let launched = unsafe { launch(entry, grid, op, arrays) };
        launched
            .map(drop)
            .map_err(|failure| Wrong::Findings(entry.name, failure))
    }

    /// The bytes of each accumulator, or the first bad offset.
    fn results(&self, memory: &Memory) -> Result<Vec<Vec<u8>>, Wrong> {
        let acc = self.kernels.window.acc_bytes;
        // SAFETY: the buffer has this word, and it was written.
        let told = unsafe { memory.work.as_ptr().add(Reports::FIRST).read() };
        if told != Reports::NONE {
            let index = told.wrapping_sub(CALL << Reports::INDEX_BITS);
            return Err(Wrong::BadOffset(index));
        }
        if !self.input.is_unchanged() {
            return Err(Wrong::Changed("an input"));
        }
        let margin = [MARGIN_BYTE; MARGIN_BYTES];
        let bytes = memory.output.to_vec();
        let (before, rest) = bytes.split_at(MARGIN_BYTES);
        let (accumulators, behind) = rest.split_at(self.segments * acc);
        if before != margin || behind != margin {
            return Err(Wrong::Changed("memory beside the output"));
        }
        Ok(accumulators.chunks(acc).map(<[u8]>::to_vec).collect())
    }
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
