//! Entry points by name, and their launch.

use std::collections::BTreeMap;
use std::ffi::c_void;
use std::sync::{LazyLock, Mutex, PoisonError};

use cuda_sim::Simulator;
use cust_raw::CUresult;
#[cfg(feature = "teaching")]
use kernels_gpu::entry::teaching;
use kernels_gpu::entry::{Entry, Kernels, Parameter, count, groups, library, segments};

use crate::memory::Memory;

/// The maximum number of threads in a block.
pub const MAX_THREADS: u32 = 1024;

/// The maximum numbers of blocks in a grid, in x, y and z.
pub const MAX_BLOCKS: [u32; 3] = [0x7FFF_FFFF, 65535, 65535];

/// Shared memory of a block, in bytes.
pub const SHARED_BYTES: u32 = 48 * 1024;

/// The entries of all lists, by name.
static ENTRIES: LazyLock<Mutex<BTreeMap<&str, &Entry>>> = LazyLock::new(|| {
    const LISTS: &[&Kernels] = &[
        &library::KERNELS,
        &segments::PARTITION,
        &count::COUNTS,
        &groups::GROUPS,
        #[cfg(feature = "teaching")]
        &teaching::KERNELS,
        #[cfg(feature = "teaching")]
        &teaching::COPIES,
        #[cfg(feature = "teaching")]
        &teaching::LANES,
    ];
    let entries = LISTS.iter().flat_map(|list| list.entries);
    Mutex::new(entries.map(|entry| (entry.name, entry)).collect())
});

/// Adds the entries of a list.
pub fn register(kernels: &'static Kernels) {
    let mut all = ENTRIES.lock().unwrap_or_else(PoisonError::into_inner);
    for entry in kernels.entries {
        assert!(
            entry.function.is_some(),
            "`{}` has no function: build kernels-gpu with the feature `simulator`",
            entry.name
        );
        all.insert(entry.name, entry);
    }
}

/// The entry with this name.
pub fn named(name: &str) -> Option<&'static Entry> {
    let all = ENTRIES.lock().unwrap_or_else(PoisonError::into_inner);
    all.get(name).copied()
}

/// An entry with the arguments of a launch.
#[derive(Clone)]
pub struct Launch {
    pub entry: &'static Entry,
    pub grid: [u32; 3],
    pub block: [u32; 3],
    pub shared_bytes: u32,
    /// The bytes of each argument. An array has two arguments: its address and its length.
    pub values: Vec<Vec<u8>>,
}

impl Launch {
    /// Copies the arguments from the caller's memory.
    ///
    /// # Safety
    ///
    /// `values` has a pointer to a value for each of the kernel's parameters.
    pub unsafe fn read(entry: &Entry, values: *const *mut c_void) -> Vec<Vec<u8>> {
        const WORD: usize = size_of::<u64>();
        let sizes = entry
            .parameters
            .iter()
            .flat_map(|parameter| match parameter {
                Parameter::Input(..) | Parameter::Output(..) => vec![WORD, WORD],
                Parameter::Cell(..) | Parameter::Number(_) => vec![WORD],
                Parameter::Value(0) => vec![],
                Parameter::Value(bytes) | Parameter::Plain(_, bytes) => vec![*bytes],
            });
        let read = |(i, bytes)| {
            let mut value = vec![0; bytes];
            // SAFETY: by the contract, a pointer to a value of this size.
            unsafe {
                let from = (*values.add(i)).cast::<u8>();
                from.copy_to_nonoverlapping(value.as_mut_ptr(), bytes);
            }
            value
        };
        sizes.enumerate().map(read).collect()
    }

    /// Checks the shape against the device's limits.
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

    /// Runs the kernel; returns the finding's text if there is one.
    pub fn run(&self, memory: &Memory) -> Result<(), String> {
        let name = self.entry.name;
        self.check(memory)
            .map_err(|wrong| format!("kernel `{name}`: {wrong}"))?;
        let function = self.entry.function.expect("registered with its function");
        let values: Vec<*const ()> = self.values.iter().map(|v| v.as_ptr().cast()).collect();
        let simulator = Simulator::new()
            .kernel(name)
            .grid(self.grid)
            .block(self.block)
            .dynamic_shared_memory(self.shared_bytes as usize)
            .check_all();
        // SAFETY: `values` has the address of each argument (`read`), and the arrays exist (`check`). The
        // simulator checks the kernel's other requirements on arguments and grid.
        let launched = simulator.run(|| unsafe { function(values.as_ptr()) });
        launched.map(|_| ()).map_err(|failure| failure.to_string())
    }

    /// Checks that each array is inside one allocation. Input arrays must have an address that is valid for a
    /// slice, even if they are empty; those of a single-pass reduction or an exact sum must have the same length.
    fn check(&self, memory: &Memory) -> Result<(), String> {
        let mut values = self.values.iter();
        let mut next = || values.next().expect("there is a value for each parameter");
        let word = |value: &Vec<u8>| {
            let bytes = value[..].try_into();
            u64::from_ne_bytes(bytes.expect("addresses and lengths are 64-bit words"))
        };
        let mut first_input: Option<(&str, u64)> = None;
        let has_one_length = ["single_pass", "exact"].contains(&self.entry.kernel);
        for parameter in self.entry.parameters {
            let (name, address, bytes) = match *parameter {
                Parameter::Value(0) => continue,
                Parameter::Value(_) | Parameter::Plain(..) | Parameter::Number(_) => {
                    next();
                    continue;
                }
                Parameter::Cell(name, bytes) => (name, word(next()), bytes as u64),
                Parameter::Output(name, size) => {
                    let (address, len) = (word(next()), word(next()));
                    (name, address, len.saturating_mul(size as u64))
                }
                Parameter::Input(name, size) => {
                    let (address, len) = (word(next()), word(next()));
                    if address == 0 || !address.is_multiple_of(self.alignment(size)) {
                        return Err(format!(
                            "`{name}` has the address {address:#x}, which is not valid for a slice"
                        ));
                    }
                    let (first, first_len) = *first_input.get_or_insert((name, len));
                    if has_one_length && len != first_len {
                        return Err(format!(
                            "`{first}` and `{name}` must have the same length, but have {first_len} and \
                             {len} elements"
                        ));
                    }
                    (name, address, len.saturating_mul(size as u64))
                }
            };
            if bytes == 0 {
                continue;
            }
            let location = memory.locate(address);
            if location.is_some_and(|(len, offset)| bytes <= (len - offset) as u64) {
                continue;
            }
            let location = match location {
                None => "in no allocation".into(),
                Some((len, offset)) => format!("at byte {offset} of an allocation of {len}"),
            };
            return Err(format!(
                "out of bounds: `{name}` is {bytes} bytes, {location}"
            ));
        }
        Ok(())
    }

    /// The alignment of elements of `size` bytes: for numbers the size; for structures, whose alignment the
    /// entry's name does not contain, 1.
    fn alignment(&self, size: usize) -> u64 {
        let is_number = |name: &str| {
            let digits = name.trim_start_matches(['b', 'f', 'i', 'u']);
            digits.len() < name.len() && ["8", "16", "32", "64"].contains(&digits)
        };
        // The name of an entry that counts keys contains no items.
        match self.entry.items.is_empty() || self.entry.items.split('_').all(is_number) {
            true => size as u64,
            false => 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_entry_can_be_called() {
        let all = ENTRIES.lock().unwrap();
        assert!(all.len() > 300, "{}", all.len());
        assert!(all.values().all(|entry| entry.function.is_some()));
        assert!(all.contains_key("single_pass_dot_f32_f32"));
        for name in ["reduce_2_sum_i32", "copy_vec4_b32"] {
            assert_eq!(all.contains_key(name), cfg!(feature = "teaching"), "{name}");
        }
    }

    #[test]
    fn the_alignment_of_numbers_is_their_size() {
        for (name, size, alignment) in [
            ("single_pass_sum_f16", 2, 2),
            ("single_pass_dot_f64_f64", 8, 8),
            ("copy_vec2_b64", 8, 8),
            ("single_pass_arg_min_indexed_f64", 16, 1),
        ] {
            let launch = Launch {
                entry: named(name).unwrap(),
                grid: [1; 3],
                block: [32, 1, 1],
                shared_bytes: 0,
                values: vec![],
            };
            assert_eq!(launch.alignment(size), alignment, "{name}");
        }
    }
}
