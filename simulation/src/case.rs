//! A launch of an entry that reduces whole arrays: its data, its memory, and the check of its result.

pub mod shares;

use std::fmt;
use std::time::Duration;

use cuda_sim::{Buffer, Plain, Report, Simulator};
use kernels_gpu::element::Element;
use kernels_gpu::entry::{Entry, Parameter};
use kernels_gpu::grid::Storage;
use kernels_gpu::needs::ResultIn;
use kernels_gpu::op::Op;

use crate::checkers::{self, Checker, Given};
use crate::clock::cpu_time;
use crate::data::{Data, DrawnItems};
use crate::launch::{Array, bytes_of, launch};
use crate::wrong;
use shares::Shares;

/// Elements and words on both sides of each array, which no kernel may access.
pub const MARGIN: usize = 3;

/// The words on both sides of a single-pass reduction's partials.
const MARGIN_WORD: u64 = 0xA5A5_A5A5_A5A5_A5A5;

/// The arrays that are read, by parameter name.
pub(crate) const INPUTS: [[&str; 3]; 2] = [["input", "", ""], ["a", "b", "c"]];

/// The error of a launch.
pub type Wrong = wrong::Wrong<Case>;

/// A launch of an entry with random data: a rung, a Kepler kernel, a read ceiling, a reduction of triples or
/// a single-pass reduction.
///
/// To launch another function with the same parameters and the same result, use `Entry { function, ..entry
/// }`.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// The entry.
    pub entry: Entry,
    /// Threads per block.
    pub threads: u32,
    /// The number of items in the input; for triples, the number of triples.
    pub n: usize,
    /// The number of blocks: at least [`Needs::fewest_blocks`](kernels_gpu::needs::Needs), and at least one.
    pub blocks: u32,
    /// The offset of each array in its memory in elements; the memory is aligned to 256 bytes.
    pub starts: [usize; 3],
    /// An additional offset of each array, in multiples of its elements' alignment, which is smaller than the
    /// size of a structure.
    pub skew: usize,
    /// The kind of data.
    pub data: Data,
    /// The seed of the data.
    pub seed: u64,
}

/// Whether there is a check for the results of this entry.
pub fn has_checker(entry: &Entry) -> bool {
    checkers::has(entry)
}

/// A launch with the right result.
#[derive(Clone, Debug)]
pub struct Launched {
    /// The simulator's report.
    pub report: Report,
    /// The bytes of each block's partial, or of the result's cells.
    pub bytes: Vec<u8>,
    /// The CPU time of the launch, without generating data and checking the result.
    pub took: Duration,
}

impl Launched {
    /// The partial of each block, or the result's cells.
    ///
    /// # Panics
    ///
    /// If they have another size.
    pub fn outputs<A: Plain>(&self) -> Vec<A> {
        let outputs = self.bytes.chunks(size_of::<A>());
        let output = |bytes: &[u8]| {
            assert_eq!(bytes.len(), size_of::<A>());
            // SAFETY: there are that many bytes, and every bit pattern is a valid value.
            unsafe { bytes.as_ptr().cast::<A>().read_unaligned() }
        };
        outputs.map(output).collect()
    }
}

impl Case {
    /// A launch of the smallest grid, with random items from aligned addresses.
    ///
    /// # Panics
    ///
    /// If a grid cannot have enough blocks.
    pub fn new(entry: Entry, threads: u32, n: usize) -> Self {
        let blocks = entry.needs.fewest_blocks(n as u64, threads).max(1);
        Self {
            entry,
            threads,
            n,
            blocks: blocks
                .try_into()
                .expect("a grid has fewer than 2^32 blocks"),
            starts: [0; 3],
            skew: 0,
            data: Data::Rough,
            seed: 0,
        }
    }

    /// Launches the entry and checks the result. The simulator determines schedule, checks and counters.
    ///
    /// # Errors
    ///
    /// The error of the launch.
    pub fn run(&self, simulator: Simulator) -> Result<Report, Wrong> {
        self.launch(simulator).map(|launched| launched.report)
    }

    /// Does [`run`](Self::run), and returns the result.
    ///
    /// # Errors
    ///
    /// The error of the launch.
    pub fn launch(&self, simulator: Simulator) -> Result<Launched, Wrong> {
        checkers::run(self, simulator)
    }

    /// The items, and the memory of each array: the elements before its start, its own, and a margin.
    pub fn draw<I: DrawnItems>(&self) -> (Vec<I>, Vec<Vec<u8>>) {
        let n = self.fields() * self.n;
        I::draw(self.data, self.starts, self.skew, n, self.seed)
    }

    /// Does [`launch`](Self::launch) with known types.
    pub(crate) fn launch_as<I: DrawnItems, O: Op<I>>(
        &self,
        simulator: Simulator,
        operator: fn(&[I]) -> O,
        checker: Checker<I, O>,
    ) -> Result<Launched, Wrong> {
        assert_eq!(self.entry.acc_bytes, size_of::<O::Acc>());
        let (items, memories) = self.draw::<I>();
        let op = operator(&items);
        let inputs: Vec<Buffer<u8>> = memories.iter().map(Buffer::from).collect();
        let output = Output::new(self, op.identity());
        let mut arrays = output.arrays();
        for (i, (input, start)) in inputs.iter().zip(self.start_bytes::<I>()).enumerate() {
            let name = INPUTS[usize::from(inputs.len() > 1)][i];
            let start = input.as_ptr().wrapping_add(start);
            arrays.push(Array::new(name, start, items.len()));
        }
        let case = Box::new(*self);
        let shared_bytes = self
            .entry
            .needs
            .shared_bytes(self.threads, size_of::<O::Acc>());
        let simulator = simulator
            .grid(self.blocks)
            .block(self.threads)
            .dynamic_shared_memory(shared_bytes);
        let began = cpu_time();
        // SAFETY: all arrays exist and have the types of the entry's items and accumulators (`checkers`
        // selects them by name). Partials and the arrival counter are 0, and the launch satisfies the
        // kernel's `Needs`.
        let launched = unsafe { launch(&self.entry, simulator, op, &arrays) };
        let took = cpu_time() - began;
        let report = match launched {
            Ok(report) => report,
            Err(failure) => return Err(Wrong::Findings { case, failure }),
        };
        let outputs = output.read();
        let checked = self
            .check(&op, &items, &outputs, checker)
            .and_then(|()| output.untouched())
            .and_then(|()| {
                let changed = |(input, memory): (&Buffer<u8>, &Vec<u8>)| input.to_vec() != *memory;
                match inputs.iter().zip(&memories).position(changed) {
                    None => Ok(()),
                    Some(array) => Err(format!("input {array} changed")),
                }
            });
        match checked {
            Ok(()) => Ok(Launched {
                report,
                bytes: bytes_of(&outputs),
                took,
            }),
            Err(what) => Err(Wrong::Answer { case, what }),
        }
    }

    /// Compares the kernel's result with the right one.
    fn check<I: DrawnItems, O: Op<I>>(
        &self,
        op: &O,
        items: &[I],
        got: &[O::Acc],
        checker: Checker<I, O>,
    ) -> Result<(), String> {
        let shares = Shares::of(self);
        match self.entry.needs.result {
            ResultIn::Partials => {
                for (block, share) in shares.split(items).iter().enumerate() {
                    checker(op, self.given(share, shares.longest_path()), got[block])
                        .map_err(|wrong| format!("the partial of block {block}: {wrong}"))?;
                }
                Ok(())
            }
            _ => {
                let additions = match self.is_single_pass() {
                    true => shares.longest_path_of_grid(),
                    false => shares.longest_queue(),
                };
                for (field, got) in got.iter().enumerate() {
                    let of_field = items.iter().skip(field).step_by(self.fields());
                    let of_field: Vec<I> = of_field.copied().collect();
                    checker(op, self.given(&of_field, additions), *got)?;
                }
                Ok(())
            }
        }
    }

    fn given<'a, I>(&self, items: &'a [I], additions: usize) -> Given<'a, I> {
        Given {
            items,
            chain: additions as f64,
            whole: self.data == Data::Whole,
        }
    }

    fn is_single_pass(&self) -> bool {
        self.entry.kernel == "single_pass"
    }

    /// How many numbers an item consists of, and how many cells the result has.
    fn fields(&self) -> usize {
        if self.entry.kernel.starts_with("triple") {
            3
        } else {
            1
        }
    }

    /// The offset of each array in its memory, in bytes.
    fn start_bytes<I: DrawnItems>(&self) -> impl Iterator<Item = usize> {
        let sizes = self.entry.read_bytes.into_iter().zip(self.starts);
        let alignments = sizes.zip(I::ALIGNMENTS);
        let skew = self.skew;
        alignments.map(move |((size, start), alignment)| size * start + skew * alignment)
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            entry,
            threads,
            n,
            blocks,
            starts,
            skew,
            data,
            seed,
        } = self;
        let inputs = |parameter: &&Parameter| matches!(parameter, Parameter::Input(..));
        let starts = &starts[..entry.parameters.iter().filter(inputs).count()];
        write!(
            f,
            "{}, {blocks} blocks of {threads} threads, n = {n} from {starts:?} shifted by {skew}, {data:?} of \
             seed {seed}",
            entry.name
        )
    }
}

/// The memory that a kernel writes to.
struct Output<A> {
    memory: Buffer<A>,
    cells: usize,
    before: Vec<u8>,
    storage: Option<Temporary>,
}

/// The temporary storage of a single-pass reduction.
struct Temporary {
    words: Buffer<u64>,
    before: Vec<u64>,
    sizes: Storage,
    arrivals: Buffer<u32>,
}

impl<A: Element> Output<A> {
    /// Uninitialised cells, so that a kernel that reads its output is found. If the kernel combines values
    /// into a cell, the cell contains the identity.
    fn new(case: &Case, identity: A) -> Self {
        let cells = case.entry.needs.outputs(case.blocks) * case.fields();
        let mut memory = Buffer::uninitialised(MARGIN + cells + MARGIN);
        let mut before = memory.to_vec();
        let storage = case.is_single_pass().then(|| Temporary::new(case));
        if storage.is_none() && case.entry.needs.result == ResultIn::OneCell {
            before[MARGIN..][..cells].fill(identity);
            memory.write(&before);
        }
        Self {
            memory,
            cells,
            before: bytes_of(&before),
            storage,
        }
    }

    fn arrays(&self) -> Vec<Array> {
        let start = self.memory.as_mut_ptr().wrapping_add(MARGIN);
        let Some(storage) = &self.storage else {
            return vec![Array::new("output", start, self.cells)];
        };
        let words = storage.words.as_mut_ptr().wrapping_add(MARGIN);
        let Storage { partials, arrivals } = storage.sizes;
        vec![
            Array::new("partials", words, partials),
            Array::new("arrivals", storage.arrivals.as_mut_ptr(), arrivals),
            Array::new("result", start, 1),
        ]
    }

    fn read(&self) -> Vec<A> {
        self.memory.to_vec()[MARGIN..][..self.cells].to_vec()
    }

    /// Checks that only the cells were written, and that the temporary storage is reset.
    fn untouched(&self) -> Result<(), String> {
        let (after, margin) = (bytes_of(&self.memory.to_vec()), MARGIN * size_of::<A>());
        let end = after.len() - margin;
        for i in (0..margin).chain(end..after.len()) {
            if after[i] != self.before[i] {
                let element = (i / size_of::<A>()) as isize - MARGIN as isize;
                return Err(format!(
                    "element {element} of {} outputs was written",
                    self.cells
                ));
            }
        }
        self.storage.as_ref().map_or(Ok(()), Temporary::untouched)
    }
}

impl Temporary {
    fn new(case: &Case) -> Self {
        let sizes = Storage::of_grid(case.blocks, case.threads, case.entry.acc_bytes);
        let words = sizes.partials * case.entry.partial_bytes() / size_of::<u64>();
        let mut before = vec![MARGIN_WORD; MARGIN + words + MARGIN];
        before[MARGIN..][..words].fill(0);
        Self {
            words: Buffer::from(&before),
            before,
            sizes,
            arrivals: Buffer::from(&vec![0; sizes.arrivals]),
        }
    }

    fn untouched(&self) -> Result<(), String> {
        if let Some(arrivals) = self
            .arrivals
            .to_vec()
            .iter()
            .find(|arrivals| **arrivals > 0)
        {
            return Err(format!(
                "an arrival counter is {arrivals} after the launch; it must be 0"
            ));
        }
        match self.words.to_vec() == self.before {
            true => Ok(()),
            false => Err("the partials' words are not 0 after the launch".into()),
        }
    }
}
