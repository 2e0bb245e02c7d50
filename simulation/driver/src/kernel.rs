//! Entry points by their names: what their parameters are, and launching them.

use std::collections::BTreeMap;
use std::ffi::c_void;
use std::ptr;
use std::sync::LazyLock;

use cuda_sim::Simulator;
use cust_raw::CUresult;
use kernels_gpu::entry::copy::{self, CopyEntry};
use kernels_gpu::entry::single_pass::{self, Arguments, Reads, SinglePassEntry};
use kernels_gpu::entry::triple::{self, TripleEntry};
use kernels_gpu::entry::{self, Entry, keyed};

use crate::memory::Memory;

/// The most threads of a block.
pub const MAX_THREADS: u32 = 1024;

/// The most blocks of a grid, in x, y and z.
pub const MAX_BLOCKS: [u32; 3] = [0x7FFF_FFFF, 65535, 65535];

/// Shared memory of a block, in bytes.
pub const SHARED_BYTES: u32 = 48 * 1024;

/// A row of one of the tables.
#[derive(Clone, Copy)]
pub enum Kernel {
    Reduction(&'static Entry),
    Keyed(&'static keyed::Entry),
    Copy(&'static CopyEntry),
    Triple(&'static TripleEntry),
    SinglePass(&'static SinglePassEntry),
}

/// One or two of a kernel's parameters, by what they say.
#[derive(Clone, Copy)]
enum Parameter {
    /// An address and a number of elements of so many bytes, which are read only.
    Input(&'static str, usize),
    /// The same of elements that are written.
    Output(&'static str, usize),
    /// The address of so many bytes.
    Cell(&'static str, usize),
    /// So many bytes.
    Value(usize),
}

impl Kernel {
    pub fn named(name: &str) -> Option<Self> {
        static INDEX: LazyLock<BTreeMap<&'static str, Kernel>> = LazyLock::new(|| {
            let reductions = entry::ENTRIES.iter().map(Kernel::Reduction);
            let keyed = keyed::ENTRIES.iter().map(Kernel::Keyed);
            let copies = copy::ENTRIES.iter().map(Kernel::Copy);
            let triples = triple::ENTRIES.iter().map(Kernel::Triple);
            let passes = single_pass::ENTRIES.iter().map(Kernel::SinglePass);
            let all = reductions.chain(keyed).chain(copies).chain(triples);
            let all = all.chain(passes);
            all.map(|kernel| (kernel.name(), kernel)).collect()
        });
        INDEX.get(name).copied()
    }

    fn name(self) -> &'static str {
        match self {
            Self::Reduction(entry) => entry.name,
            Self::Keyed(entry) => entry.name,
            Self::Copy(entry) => entry.name,
            Self::Triple(entry) => entry.name,
            Self::SinglePass(entry) => entry.name,
        }
    }

    fn parameters(self) -> Vec<Parameter> {
        use Parameter::{Cell, Input, Output, Value};
        match self {
            Self::Reduction(entry) => vec![
                Input("input", entry.element_bytes),
                Output("output", entry.acc_bytes),
            ],
            Self::Copy(entry) => vec![
                Input("input", entry.element_bytes),
                Output("output", entry.element_bytes),
            ],
            Self::Triple(entry) => {
                let bytes = bytes_of(entry.element);
                vec![Input("input", bytes), Output("output", bytes)]
            }
            Self::Keyed(entry) => {
                let bytes = bytes_of(entry.element);
                vec![
                    Input("keys", bytes_of(entry.key)),
                    Input("values", bytes),
                    Output("cells", bytes),
                    Output("rejected", size_of::<u64>()),
                ]
            }
            Self::SinglePass(entry) => {
                let read = match entry.reads {
                    Reads::One => vec![Input("input", entry.element_bytes)],
                    Reads::Two => ["a", "b"].map(|x| Input(x, entry.element_bytes)).into(),
                    Reads::OneAndValue => vec![
                        Input("input", entry.element_bytes),
                        Value(entry.element_bytes),
                    ],
                };
                let meeting = [
                    Output("partials", entry.partial_bytes()),
                    Cell("tickets", size_of::<u32>()),
                    Cell("result", entry.acc_bytes),
                ];
                [read, meeting.into()].concat()
            }
        }
    }

    /// Calls it in a thread of the simulator's.
    ///
    /// # Safety
    ///
    /// The words are the values of its parameters, and as [`Launch::check`] asks.
    unsafe fn call(self, words: &[u64]) {
        let input = |i: usize| ptr::with_exposed_provenance::<()>(words[i] as usize);
        let output = |i: usize| ptr::with_exposed_provenance_mut::<()>(words[i] as usize);
        let len = |i: usize| words[i] as usize;
        // SAFETY: the caller has these arrays, of the entry's types; what the generic bodies ask of
        // them besides, and of the grid, the simulator checks.
        unsafe {
            match self {
                Self::Reduction(Entry { function, .. })
                | Self::Copy(CopyEntry { function, .. })
                | Self::Triple(TripleEntry { function, .. }) => {
                    function(input(0), len(1), output(2), len(3))
                }
                Self::Keyed(entry) => (entry.function)(
                    (input(0), len(1)),
                    (input(2), len(3)),
                    (output(4), len(5)),
                    (output(6).cast(), len(7)),
                ),
                Self::SinglePass(entry) => {
                    let meeting = words.len() - 4;
                    (entry.function)(&Arguments {
                        input: input(0),
                        other: input(2),
                        len: len(1),
                        value: (&raw const words[2]).cast(),
                        partials: output(meeting).cast(),
                        partials_len: len(meeting + 1),
                        tickets: output(meeting + 2).cast(),
                        result: output(meeting + 3),
                    })
                }
            }
        }
    }
}

/// The size of a primitive by its name: `i32` has 4 bytes.
fn bytes_of(name: &str) -> usize {
    let bits = name.trim_start_matches(|c: char| !c.is_ascii_digit());
    bits.parse::<usize>()
        .expect("a primitive's name has its bits")
        / 8
}

/// A kernel with all that it is launched with.
#[derive(Clone)]
pub struct Launch {
    pub kernel: Kernel,
    pub grid: [u32; 3],
    pub block: [u32; 3],
    pub shared_bytes: u32,
    /// The parameters' values, a word for each.
    pub words: Vec<u64>,
}

impl Launch {
    /// Reads the parameters' values where the launch's caller has them.
    ///
    /// # Safety
    ///
    /// There is a pointer for each of the kernel's parameters, to its value.
    pub unsafe fn read(kernel: Kernel, values: *const *mut c_void) -> Vec<u64> {
        let mut words = vec![];
        let sizes = kernel.parameters().into_iter().flat_map(|parameter| {
            const WORD: usize = size_of::<u64>();
            match parameter {
                Parameter::Input(..) | Parameter::Output(..) => [WORD, WORD].to_vec(),
                Parameter::Cell(..) => vec![WORD],
                Parameter::Value(bytes) => vec![bytes],
            }
        });
        for (i, bytes) in sizes.enumerate() {
            let mut word = [0; size_of::<u64>()];
            // SAFETY: the caller's pointer to the value, which has so many bytes.
            unsafe {
                let value = (*values.add(i)).cast::<u8>();
                value.copy_to_nonoverlapping(word.as_mut_ptr(), bytes);
            }
            words.push(u64::from_ne_bytes(word));
        }
        words
    }

    /// Whether a device takes it.
    pub fn check_shape(&self) -> Result<(), CUresult> {
        let threads: u64 = self.block.iter().map(|&n| u64::from(n)).product();
        let mut blocks = self.grid.iter().zip(MAX_BLOCKS);
        let fits = (1..=MAX_THREADS.into()).contains(&threads)
            && self.block[2] <= 64
            && blocks.all(|(&blocks, most)| (1..=most).contains(&blocks))
            && self.shared_bytes <= SHARED_BYTES;
        match fits {
            true => Ok(()),
            false => Err(CUresult::CUDA_ERROR_INVALID_VALUE),
        }
    }

    /// Runs it. What is wrong with it, in words.
    pub fn run(&self, memory: &Memory) -> Result<(), String> {
        let name = self.kernel.name();
        self.check(memory)
            .map_err(|wrong| format!("kernel `{name}`: {wrong}"))?;
        let simulator = Simulator::new()
            .kernel(name)
            .grid(self.grid)
            .block(self.block)
            .dynamic_shared_memory(self.shared_bytes as usize)
            .check_all();
        let launched = simulator.run(|| {
            // SAFETY: the words are the parameters' values (`read`), checked above.
            unsafe { self.kernel.call(&self.words) }
        });
        launched.map(|_| ()).map_err(|failure| failure.to_string())
    }

    /// Whether each array is all in one allocation; those that are read must also be where a slice can
    /// be, without elements too.
    fn check(&self, memory: &Memory) -> Result<(), String> {
        let reads_two =
            matches!(self.kernel, Kernel::SinglePass(entry) if entry.reads == Reads::Two);
        if reads_two && self.words[1] != self.words[3] {
            return Err("`a` and `b` are not as long as one another".into());
        }
        let mut words = self.words.iter().copied();
        let mut word = || words.next().expect("a word for each parameter");
        for parameter in self.kernel.parameters() {
            let (name, address, bytes) = match parameter {
                Parameter::Input(name, size) | Parameter::Output(name, size) => {
                    let (address, len) = (word(), word());
                    let alignment = size.min(align_of::<u64>()) as u64;
                    let is_slice = address > 0 && address.is_multiple_of(alignment);
                    if matches!(parameter, Parameter::Input(..)) && !is_slice {
                        return Err(format!(
                            "`{name}` is at {address:#x}, where no slice can be"
                        ));
                    }
                    (name, address, len.saturating_mul(size as u64))
                }
                Parameter::Cell(name, bytes) => (name, word(), bytes as u64),
                Parameter::Value(_) => {
                    word();
                    continue;
                }
            };
            if bytes == 0 {
                continue;
            }
            let place = memory.place(address);
            if place.is_some_and(|(len, offset)| bytes <= (len - offset) as u64) {
                continue;
            }
            let there = match place {
                None => "in no allocation".into(),
                Some((len, offset)) => format!("at byte {offset} of an allocation of {len}"),
            };
            return Err(format!("out of bounds: `{name}` is {bytes} bytes, {there}"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_entry_of_every_family_is_known() {
        for family in entry::FAMILIES {
            for symbol in family.symbols {
                let known = Kernel::named(symbol.name).map(Kernel::name);
                assert_eq!(known, Some(symbol.name), "of {}", family.name);
            }
        }
    }

    #[test]
    fn names_say_sizes() {
        let sizes = ["u8", "bf16", "f32", "i64"].map(bytes_of);
        assert_eq!(sizes, [1, 2, 4, 8]);
    }
}
