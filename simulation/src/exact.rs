//! A launch of an entry that sums exactly: its data, its memory, and the check of its cells.

pub mod floats;

use std::fmt;

use cuda_sim::{Buffer, Plain, Report, Simulator};
use kernels_gpu::element::{bf16, f16};
use kernels_gpu::entry::{Entry, Parameter};
use kernels_gpu::exact::{Accumulator, Flags, Float};

use crate::launch::{Array, bytes_of, launch};
use crate::wrong::Wrong;
pub use floats::Floats;

/// Cells on both sides of the cells, which no kernel may access.
const MARGIN: usize = 3;

/// The contents of these cells.
const MARGIN_CELL: u64 = 0xA5A5_A5A5_A5A5_A5A5;

/// The arrays that are read, by parameter name.
const INPUTS: [&[&str]; 2] = [&["input"], &["a", "b"]];

/// A launch of an exact sum of random floats.
#[derive(Clone, Copy, Debug)]
pub struct Exact {
    /// The entry. For a mutant, `Entry { function, ..entry }`.
    pub entry: Entry,
    /// Threads per block.
    pub threads: u32,
    /// The number of blocks.
    pub blocks: u32,
    /// The number of items.
    pub n: usize,
    /// The offset of each array in its memory in elements; the memory is aligned to 256 bytes.
    pub starts: [usize; 2],
    /// The kind of data.
    pub floats: Floats,
    /// The seed of the data.
    pub seed: u64,
}

/// The error of a launch.
pub type WrongExact = Wrong<Exact>;

/// A launch with the right result.
#[derive(Clone, Debug)]
pub struct Launched {
    /// The simulator's report.
    pub report: Report,
    /// The cells: the digits, and the flags.
    pub cells: Vec<u64>,
}

impl Exact {
    /// A launch of one block, with random floats from aligned addresses.
    pub fn new(entry: Entry, threads: u32, n: usize) -> Self {
        Self {
            entry,
            threads,
            blocks: 1,
            n,
            starts: [0; 2],
            floats: Floats::Near,
            seed: 0,
        }
    }

    /// Launches the entry and checks the result.
    ///
    /// # Errors
    ///
    /// The error of the launch.
    pub fn run(&self, simulator: Simulator) -> Result<Report, WrongExact> {
        self.launch(simulator).map(|launched| launched.report)
    }

    /// Does [`run`](Self::run), and returns the cells.
    ///
    /// # Errors
    ///
    /// The error of the launch.
    pub fn launch(&self, simulator: Simulator) -> Result<Launched, WrongExact> {
        let element = self.entry.items.split('_').next();
        match element.expect("there is at least one part") {
            "f16" => self.launch_as::<f16>(simulator),
            "bf16" => self.launch_as::<bf16>(simulator),
            "f32" => self.launch_as::<f32>(simulator),
            "f64" => self.launch_as::<f64>(simulator),
            _ => Err(self.no_oracle()),
        }
    }

    fn no_oracle(&self) -> WrongExact {
        WrongExact::NoOracle {
            entry: self.entry.name,
        }
    }

    fn launch_as<T: Float + Plain>(&self, simulator: Simulator) -> Result<Launched, WrongExact> {
        let inputs = self.entry.parameters.iter();
        let inputs = inputs.filter(|one| matches!(one, Parameter::Input(..)));
        let names = INPUTS[inputs.count() - 1];
        let draw = |array: usize, n, seed| self.floats.draw::<T>(n, array, seed);
        let items: Vec<Vec<T>> = (0..names.len())
            .map(|array| draw(array, self.n, self.seed))
            .collect();
        let (first, last) = (&items[0], &items[names.len() - 1]);
        let Some(right) = self.right(first, last) else {
            return Err(self.no_oracle());
        };
        // No margin after the arrays, so that an access there is found.
        let memory = |array: usize| {
            [
                draw(array, self.starts[array], !self.seed),
                items[array].clone(),
            ]
            .concat()
        };
        let memories: Vec<Vec<T>> = (0..names.len()).map(memory).collect();

        let buffers: Vec<Buffer<T>> = memories.iter().map(Buffer::from).collect();
        let cells = self.entry.acc_bytes / size_of::<u32>();
        let with_margins =
            |cells: &[u64]| [&[MARGIN_CELL; MARGIN], cells, &[MARGIN_CELL; MARGIN]].concat();
        let cell_buffer = Buffer::from(&with_margins(&vec![0; cells]));
        let next_buffer = Buffer::from(&with_margins(&vec![!0; cells]));
        let copy_buffer = Buffer::from(&with_margins(&vec![!0; cells]));
        let arrivals = Buffer::from(&[0_u32]);
        let mut arrays = vec![
            Array::new("copy", copy_buffer.as_ptr().wrapping_add(MARGIN), cells),
            Array::new("arrivals", arrivals.as_ptr(), 1),
            Array::new("cells", cell_buffer.as_ptr().wrapping_add(MARGIN), cells),
            Array::new("next", next_buffer.as_ptr().wrapping_add(MARGIN), cells),
        ];
        for ((name, buffer), start) in names.iter().zip(&buffers).zip(self.starts) {
            arrays.push(Array::new(
                name,
                buffer.as_ptr().wrapping_add(start),
                self.n,
            ));
        }
        let needs = self.entry.needs;
        let simulator = simulator
            .grid(self.blocks)
            .block(self.threads)
            .dynamic_shared_memory(needs.shared_bytes(self.threads, self.entry.acc_bytes));
        let case = Box::new(*self);
        // SAFETY: the arrays exist and have the entry's types, which `launch` selects by name; `cells` and `next` have
        // a cell for each of the scratch of a warp, and the launch satisfies the row's needs.
        let launched = unsafe { launch(&self.entry, simulator, (), &arrays) };
        let report = match launched {
            Ok(report) => report,
            Err(failure) => return Err(WrongExact::Findings { case, failure }),
        };
        let after = cell_buffer.to_vec();
        let cells = &after[MARGIN..][..cells];
        let changed = |(buffer, memory): (&Buffer<T>, &Vec<T>)| {
            bytes_of(&buffer.to_vec()) != bytes_of(memory)
        };
        let checked = if after != with_margins(cells) {
            Err("a cell before or after the cells changed".into())
        } else if next_buffer.to_vec() != with_margins(&vec![0; cells.len()]) {
            Err("the next launch's cells are not 0, or a cell around them changed".into())
        } else if copy_buffer.to_vec() != after {
            Err("the copy of the cells differs, or a cell around it changed".into())
        } else if arrivals.to_vec() != [0] {
            Err("the counter is not 0".into())
        } else if buffers.iter().zip(&memories).any(changed) {
            Err("an input changed".into())
        } else {
            self.check(cells, &right)
        };
        match checked {
            Ok(()) => Ok(Launched {
                report,
                cells: cells.to_vec(),
            }),
            Err(what) => Err(WrongExact::Answer { case, what }),
        }
    }

    /// The exact sum of the items of the first array, or of both, item by item; `None` for an unknown operator.
    fn right<T: Float>(&self, first: &[T], last: &[T]) -> Option<Accumulator> {
        let mut sum = Accumulator::new();
        for (a, b) in first.iter().zip(last) {
            match self.entry.op {
                "sum" => sum.add(*a),
                "sum_abs" => sum.add_abs(*a),
                "sum_squares" => sum.add_square(*a),
                "dot" => sum.add_product(*a, *b),
                _ => return None,
            }
        }
        Some(sum)
    }

    /// Compares the cells with the right sum: all bits, and the flags.
    fn check(&self, cells: &[u64], right: &Accumulator) -> Result<(), String> {
        let (flags, digits) = cells.split_last().expect("the last cell has the flags");
        let known = u32::try_from(*flags).ok().and_then(Flags::from_bits);
        let known = known.ok_or_else(|| format!("the flags are {flags:#x}"))?;
        let digits: Vec<i64> = digits.iter().map(|digit| *digit as i64).collect();
        let mut got = Accumulator::new();
        got.add_digits(&digits, self.entry.lowest);
        got.add_flags(known);
        got.count_items(self.n as u64);
        if got == *right {
            return Ok(());
        }
        let mut bytes = got.to_bytes().into_iter().zip(right.to_bytes());
        let first = bytes.position(|(got, right)| got != right);
        Err(format!(
            "{got:?} instead of {right:?}; as bytes, they differ from byte {} on",
            first.expect("they differ")
        ))
    }
}

impl fmt::Display for Exact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            entry,
            threads,
            blocks,
            n,
            starts,
            floats,
            seed,
        } = self;
        write!(
            f,
            "{}, {blocks} blocks of {threads} threads, n = {n} from {starts:?}, {floats:?} of seed {seed}",
            entry.name
        )
    }
}
