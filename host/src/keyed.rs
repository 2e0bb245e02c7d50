//! Reduction by key: combines every value into the cell of its key.

use std::sync::Arc;

use kernels_gpu::entry::{Entry, Keyed};
use kernels_gpu::op::Op;

use crate::backend::Queue;
use crate::buffer::Location;
use crate::cpu;
use crate::device::Device;
use crate::element::{Element, name_of};
use crate::error::Error;
use crate::host;
use crate::input::Input;
use crate::launch::{Argument, Grid, Kernel};
use crate::memory::DeviceMemory;
use crate::pass::{CPU_MAX_THREADS, check_threads};

pub use kernels_gpu::keyed::Key;

/// How values are combined before the atomics on the cells.
///
/// Every algorithm gives the right result for any keys. The fastest one depends on the order of the keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum KeyedAlgorithm {
    /// Not combined: one atomic per value. For random keys.
    Atomic,
    /// Not combined, and the atomic is a loop around a compare-and-swap, as before compute capability 6.0.
    /// For comparison only; exists only for some sums, such as those of `f32` and `f64`.
    Cas,
    /// Within a warp; ballots find the lanes with equal keys.
    Ballot,
    /// Within a warp; `match.any` finds the lanes with equal keys.
    Match,
    /// Within a block, in a hash table in shared memory.
    Bins,
    /// Runs of neighbours with equal keys: four values per thread, then within a warp. For sorted keys.
    Runs,
}

impl KeyedAlgorithm {
    /// All algorithms.
    pub const ALL: [Self; 6] = [
        Self::Atomic,
        Self::Cas,
        Self::Ballot,
        Self::Match,
        Self::Bins,
        Self::Runs,
    ];

    /// The name of the kernel for one array of values, such as `"keyed_match"`.
    pub fn kernel_name(self) -> &'static str {
        match self {
            Self::Atomic => "keyed_atomic",
            Self::Cas => "keyed_cas",
            Self::Ballot => "keyed_ballot",
            Self::Match => "keyed_match",
            Self::Bins => "keyed_bins",
            Self::Runs => "keyed_runs",
        }
    }
}

/// The result of [`Device::reduce_by_key`].
#[derive(Clone, Debug, PartialEq)]
pub struct ByKey<T> {
    /// The combined value of each key. For a key without values, the operator's
    /// [`initial`](kernels_gpu::op::Op::initial) value: 0 for sums, infinity for minima of floats, the
    /// greatest integer for minima of integers.
    pub cells: Vec<T>,
    /// The number of elements whose key is out of range.
    pub rejected: u64,
}

/// Cells on a device: cell `k` holds the combined values of key `k`.
///
/// ```
/// use warpfold::{Determinism, Device, Sum};
///
/// let device = Device::auto()?.determinism(Determinism::Fast);
/// let keys = device.upload(&[2u32, 2, 0, 2, 7])?;
/// let values = device.upload(&[1.0f64, 2.0, 3.0, 4.0, 5.0])?;
///
/// let mut cells = device.cells(3, Sum)?;
/// cells.combine(&keys, &values)?;            // no wait
/// assert_eq!(cells.download()?, [3.0, 0.0, 7.0]);
/// assert_eq!(cells.rejected()?, 1);          // key 7
/// # Ok::<(), warpfold::Error>(())
/// ```
///
/// A float sum depends on the order in which the device's atomics arrive; its last bits differ from run to
/// run. So it needs a device of the [level](crate::Determinism) `Fast`. The CPU combines the values in the order of the elements. If there are many elements for few cells,
/// it does so within pieces of the array, and then combines the pieces. The pieces depend only on the numbers
/// of elements and cells, so the bits are the same on any number of threads.
pub struct Cells<T: Element, O: Op<T, Acc = T>> {
    device: Device,
    /// The cells of each array of values.
    len: usize,
    arrays: usize,
    algorithm: KeyedAlgorithm,
    threads: u32,
    state: State<T>,
    op: O,
}

enum State<T: Element> {
    Host {
        cells: Vec<T>,
        rejected: u64,
    },
    Device {
        stream: Arc<Queue>,
        cells: DeviceMemory<T>,
        /// The initial contents of the cells.
        initial: DeviceMemory<T>,
        rejected: DeviceMemory<u64>,
        zero: DeviceMemory<u64>,
    },
}

impl Device {
    /// Allocates `len` cells for keys from 0 to `len - 1`.
    ///
    /// Until the first value of its key, a cell holds the operator's
    /// [`initial`](kernels_gpu::op::Op::initial) value: 0 for sums, infinity for minima of floats, the
    /// greatest integer for minima of integers.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`], [`Error::OutOfHostMemory`], [`Error::Cuda`], [`Error::Deferred`].
    pub fn cells<T: Element, O: Op<T, Acc = T>>(
        &self,
        len: usize,
        op: O,
    ) -> Result<Cells<T, O>, Error> {
        self.cell_arrays(1, len, op)
    }

    /// Allocates `len` cells for each of several arrays of values that share their keys.
    ///
    /// The kernel finds equal keys once for all arrays. The values of one array follow those of another, and
    /// so do their cells. There are kernels for two arrays ([`KeyedAlgorithm::Match`]) and for three
    /// ([`Match`](KeyedAlgorithm::Match), [`Ballot`](KeyedAlgorithm::Ballot)).
    ///
    /// # Errors
    ///
    /// As [`Device::cells`].
    pub fn cell_arrays<T: Element, O: Op<T, Acc = T>>(
        &self,
        arrays: usize,
        len: usize,
        op: O,
    ) -> Result<Cells<T, O>, Error> {
        let all = host::filled(len.saturating_mul(arrays), op.initial())?;
        let state = match self.queue() {
            None => State::Host {
                cells: all,
                rejected: 0,
            },
            Some(stream) => State::Device {
                cells: DeviceMemory::upload(stream, &all)?,
                initial: DeviceMemory::upload(stream, &all)?,
                rejected: DeviceMemory::filled(stream, 1, 0)?,
                zero: DeviceMemory::filled(stream, 1, 0)?,
                stream: Arc::clone(stream),
            },
        };
        Ok(Cells {
            device: self.clone(),
            len,
            arrays,
            algorithm: KeyedAlgorithm::Match,
            threads: 256,
            state,
            op,
        })
    }

    /// Combines the values of each key from 0 to `cells - 1` by `op`, and waits for the result.
    ///
    /// # Errors
    ///
    /// Those of [`Device::cells`], [`Cells::combine`] and [`Cells::download`].
    pub fn reduce_by_key<'a, K: Key, T: Element, O: Keyed<K, T>>(
        &self,
        keys: impl Input<'a, K>,
        values: impl Input<'a, T>,
        cells: usize,
        op: O,
    ) -> Result<ByKey<T>, Error> {
        let mut cells = self.cells(cells, op)?;
        cells.combine(keys, values)?;
        Ok(ByKey {
            rejected: cells.rejected()?,
            cells: cells.download()?,
        })
    }
}

impl<T: Element, O: Op<T, Acc = T>> Cells<T, O> {
    /// Sets how values are combined; the default is [`KeyedAlgorithm::Match`].
    pub fn algorithm(mut self, algorithm: KeyedAlgorithm) -> Self {
        self.algorithm = algorithm;
        self
    }

    /// Sets the threads per block: a power of two from 32 to the kernel's limit on the device (1024 on all
    /// devices so far). The default is 256.
    pub fn threads(mut self, threads: u32) -> Self {
        self.threads = threads;
        self
    }

    /// [`algorithm`](Self::algorithm) and [`threads`](Self::threads) for cells that are in use.
    #[doc(hidden)]
    pub fn choose(&mut self, algorithm: KeyedAlgorithm, threads: u32) {
        (self.algorithm, self.threads) = (algorithm, threads);
    }

    /// Combines each value into the cell of its key, and counts the elements whose key is out of range.
    ///
    /// On a GPU it enqueues a launch and returns.
    ///
    /// # Errors
    ///
    /// [`Error::KeysAndValues`], [`Error::OtherDevice`], [`Error::NoKeyedKernel`], [`Error::CellsOfKey`],
    /// [`Error::BlockSize`], [`Error::NotRegistered`], [`Error::Cuda`], [`Error::Deferred`];
    /// [`Error::Determinism`] for a float sum on a device of another level than
    /// [`Fast`](crate::Determinism::Fast); on the CPU [`Error::OutOfHostMemory`], because each piece has its own cells.
    pub fn combine<'a, K: Key>(
        &mut self,
        keys: impl Input<'a, K>,
        values: impl Input<'a, T>,
    ) -> Result<(), Error>
    where
        O: Keyed<K, T>,
    {
        let (keys, values) = (keys.into_views(), values.into_views());
        self.device.check_owner(&keys)?;
        self.device.check_owner(&values)?;
        if Some(values.len()) != keys.len().checked_mul(self.arrays) {
            return Err(Error::KeysAndValues {
                keys: keys.len(),
                values: values.len(),
                arrays: self.arrays,
            });
        }
        check_cells::<K>(self.len)?;
        let entry = self.entry::<K>()?;
        self.device.allow_any_order::<T, O>(entry)?;
        match (&mut self.state, keys.location(), values.location()) {
            (State::Host { cells, rejected }, Location::Host(keys), Location::Host(values)) => {
                check_threads(entry.kernel, self.threads, CPU_MAX_THREADS)?;
                *rejected += cpu::reduce_by_key::<K, T, O>(self.op, keys, values, cells, self.len)?;
                Ok(())
            }
            (
                State::Device {
                    stream,
                    cells,
                    rejected,
                    ..
                },
                Location::Device(keys),
                Location::Device(values),
            ) => {
                let kernel = Kernel::find(stream.gpu(), entry)?;
                check_threads(entry.kernel, self.threads, kernel.max_threads())?;
                let n = keys.len() as u64;
                if n == 0 {
                    return Ok(());
                }
                let (threads, limit) = (self.threads, stream.gpu().info.max_blocks);
                let blocks = entry.needs.fewest_blocks(n, threads);
                let grid = u32::try_from(blocks).ok().filter(|grid| *grid <= limit);
                let blocks = grid.ok_or(Error::GridTooLarge {
                    kernel: entry.kernel,
                    blocks,
                    threads,
                    limit,
                })?;
                stream.gpu().enter()?;
                let arguments = [
                    Argument::input(keys),
                    Argument::input(values),
                    Argument::operator(&self.op),
                    Argument::output(cells),
                    Argument::output(rejected),
                ];
                // SAFETY:
                // - The row is this operator's over these elements and keys (`Keyed`, which is unsafe to
                //   implement).
                // - The views borrow live memory of this device, with as many values for each key as the
                //   entry requires (checked above). The cells are borrowed mutably, so they do not overlap
                //   the inputs. The kernel ignores keys that are out of range; `check_cells` ensures that
                //   negative keys are.
                // - Whole warps (`check_threads`), and enough blocks for all elements.
                unsafe { kernel.launch(stream, Grid { blocks, threads }, &arguments) }
            }
            _ => unreachable!("`check_owner` has compared the devices"),
        }
    }

    /// The table row of the algorithm for keys `K` and this number of arrays. `keyed_match_x3` is
    /// `keyed_match` for three.
    fn entry<K: Key>(&self) -> Result<&'static Entry, Error>
    where
        O: Keyed<K, T>,
    {
        let kernel = self.algorithm.kernel_name();
        let matches = |entry: &&Entry| {
            let suffix = entry.kernel.strip_prefix(kernel);
            let is_kernel = suffix.is_some_and(|rest| rest.is_empty() || rest.starts_with("_x"));
            is_kernel && entry.arrays == self.arrays
        };
        let entry = O::ENTRIES
            .iter()
            .find(matches)
            .ok_or(Error::NoKeyedKernel {
                kernel,
                op: O::ENTRIES[0].op,
                element: name_of::<T>(),
                key: name_of::<K>(),
                arrays: self.arrays,
            })?;
        self.device.check_knows(entry)?;
        Ok(entry)
    }

    /// Sets all cells to the operator's [`initial`](kernels_gpu::op::Op::initial) value, and the count of
    /// rejected elements to 0.
    ///
    /// # Errors
    ///
    /// [`Error::Cuda`], [`Error::Deferred`].
    pub fn clear(&mut self) -> Result<(), Error> {
        match &mut self.state {
            State::Host { cells, rejected } => {
                cells.fill(self.op.initial());
                *rejected = 0;
                Ok(())
            }
            State::Device {
                stream,
                cells,
                initial,
                rejected,
                zero,
            } => {
                stream.gpu().enter()?;
                cells.enqueue_copy(stream, initial)?;
                rejected.enqueue_copy(stream, zero)
            }
        }
    }

    /// Copies the cells to the host, array after array, and waits.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfHostMemory`]; [`Error::Cuda`], also for a fault in a kernel;
    /// [`Error::Deferred`].
    pub fn download(&self) -> Result<Vec<T>, Error> {
        match &self.state {
            State::Host { cells, .. } => host::copy(cells),
            State::Device { stream, cells, .. } => cells.all().download(stream),
        }
    }

    /// The number of elements with a key out of range since the cells were made or cleared. Waits.
    ///
    /// # Errors
    ///
    /// As [`download`](Self::download).
    pub fn rejected(&self) -> Result<u64, Error> {
        match &self.state {
            State::Host { rejected, .. } => Ok(*rejected),
            State::Device {
                stream, rejected, ..
            } => Ok(rejected.all().download(stream)?[0]),
        }
    }

    /// The number of cells of each array of values.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no cells.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The address of the first cell, for a benchmark whose peer must write the same cells; 0 on the CPU.
    #[doc(hidden)]
    pub fn as_device_ptr(&self) -> u64 {
        match &self.state {
            State::Host { .. } => 0,
            State::Device { cells, .. } => cells.address(),
        }
    }
}

/// An error if a cell could have the index of a negative key.
fn check_cells<K: Key>(cells: usize) -> Result<(), Error> {
    match cells as u64 <= K::MOST_CELLS {
        true => Ok(()),
        false => Err(Error::CellsOfKey {
            cells,
            key: name_of::<K>(),
            limit: K::MOST_CELLS,
        }),
    }
}

impl<T: Element, O: Op<T, Acc = T>> std::fmt::Debug for Cells<T, O> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { len, arrays, .. } = self;
        write!(
            f,
            "Cells<{}>({arrays} x {len} on {})",
            name_of::<T>(),
            self.device
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn negative_keys_have_no_cell() {
        let most = 1 << 31;
        assert_eq!(check_cells::<i32>(most), Ok(()));
        assert!(-1i32 as u32 as usize >= most && i32::MIN as u32 as usize >= most);
        let error = Error::CellsOfKey {
            cells: most + 1,
            key: "i32",
            limit: most as u64,
        };
        assert_eq!(check_cells::<i32>(most + 1), Err(error));
        assert_eq!(check_cells::<u32>(most + 1), Ok(()));
        assert_eq!(check_cells::<i64>(most + 1), Ok(()));
    }
}
