//! Reduction by key: combines every value into the cell of its key.

use std::sync::Arc;

use kernels_gpu::entry::{Entry, Keyed, count};
use kernels_gpu::keyed::{Rejected, count as counting};
use kernels_gpu::op::{Op, Sum};

use crate::backend::Queue;
use crate::buffer::{Location, View};
use crate::cpu;
use crate::device::Device;
use crate::element::{Element, name_of};
use crate::error::Error;
use crate::host;
use crate::input::Input;
use crate::launch::{Argument, Grid, Kernel};
use crate::memory::DeviceMemory;
use crate::pass::{CPU_MAX_THREADS, check_threads};

mod algorithm;
mod by_key;
mod counts;

pub use algorithm::KeyedAlgorithm;
pub use by_key::{ByKey, RejectedKey};
pub use kernels_gpu::keyed::Key;

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
    is_strict: bool,
    state: State<T>,
    op: O,
}

enum State<T: Element> {
    Host {
        cells: Vec<T>,
        rejected: [u64; Rejected::LEN],
    },
    Device {
        stream: Arc<Queue>,
        cells: DeviceMemory<T>,
        /// The initial contents of the cells.
        initial: DeviceMemory<T>,
        rejected: DeviceMemory<u64>,
        none_rejected: DeviceMemory<u64>,
    },
}

/// The number of rejected elements, and the index of the first, before any is rejected.
const NONE_REJECTED: [u64; Rejected::LEN] = [0, Rejected::NONE];

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
                rejected: NONE_REJECTED,
            },
            Some(stream) => State::Device {
                cells: DeviceMemory::upload(stream, &all)?,
                initial: DeviceMemory::upload(stream, &all)?,
                rejected: DeviceMemory::upload(stream, &NONE_REJECTED)?,
                none_rejected: DeviceMemory::upload(stream, &NONE_REJECTED)?,
                stream: Arc::clone(stream),
            },
        };
        Ok(Cells {
            device: self.clone(),
            len,
            arrays,
            algorithm: KeyedAlgorithm::Match,
            threads: 256,
            is_strict: false,
            state,
            op,
        })
    }

    /// Combines the values of each key from 0 to `cells - 1` by `op`, and waits for the result.
    ///
    /// Elements with other keys are ignored; [`ByKey::strict`] makes them an error.
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
        let keys = keys.into_views();
        let mut cells = self.cells(cells, op)?;
        cells.combine(keys, values)?;
        cells.by_key(keys)
    }

    /// Counts the elements of each key from 0 to `cells - 1`, and waits for the result: a histogram.
    ///
    /// ```
    /// use warpfold::Device;
    ///
    /// let device = Device::auto()?;
    /// let counts = device.count_by_key(&device.upload(b"hello")?, 256)?;
    /// assert_eq!((counts.cells[usize::from(b'l')], counts.rejected), (2, 0));
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    ///
    /// Other keys are ignored; [`ByKey::strict`] makes them an error.
    ///
    /// # Errors
    ///
    /// Those of [`Device::cells`], [`Cells::count`] and [`Cells::download`].
    pub fn count_by_key<'a, K: Key>(
        &self,
        keys: impl Input<'a, K>,
        cells: usize,
    ) -> Result<ByKey<u64>, Error> {
        let keys = keys.into_views();
        let mut cells = self.cells::<u64, Sum>(cells, Sum)?;
        cells.count(keys)?;
        cells.by_key(keys)
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

    /// Makes a key that is out of range an error of [`combine`](Self::combine) and [`count`](Self::count), which
    /// therefore wait for their kernel.
    ///
    /// ```
    /// use warpfold::{Device, Error, Max};
    ///
    /// let device = Device::auto()?;
    /// let (keys, values) = (device.upload(&[1i8, -3, 0])?, device.upload(&[5, 6, 7])?);
    /// let mut cells = device.cells(2, Max)?.strict();
    /// let error = cells.combine(&keys, &values).unwrap_err();
    /// assert!(matches!(error, Error::KeyWithoutCell { index: 1, key: -3, .. }));
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// After the error, the cells contain the elements whose key has a cell.
    pub fn strict(mut self) -> Self {
        self.is_strict = true;
        self
    }

    /// [`algorithm`](Self::algorithm) and [`threads`](Self::threads) for cells that are in use.
    #[doc(hidden)]
    pub fn choose(&mut self, algorithm: KeyedAlgorithm, threads: u32) {
        (self.algorithm, self.threads) = (algorithm, threads);
    }

    /// Combines each value into the cell of its key, and counts the elements whose key is out of range.
    ///
    /// On a GPU it enqueues a launch and returns, unless the cells are [strict](Self::strict).
    ///
    /// # Errors
    ///
    /// [`Error::KeysAndValues`], [`Error::OtherDevice`], [`Error::NoKeyedKernel`],
    /// [`Error::BlockSize`], [`Error::NotRegistered`], [`Error::Cuda`], [`Error::Deferred`];
    /// [`Error::KeyWithoutCell`] if the cells are strict;
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
        let entry = self.entry::<K>()?;
        self.device.allow_any_order::<T, O>(entry)?;
        self.begin_strict()?;
        match (&mut self.state, keys.location(), values.location()) {
            (State::Host { cells, rejected }, Location::Host(keys), Location::Host(values)) => {
                check_threads(entry.kernel, self.threads, CPU_MAX_THREADS)?;
                cpu::reduce_by_key::<K, T, O>(self.op, keys, values, cells, self.len, rejected)?;
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
                let below = below::<K>(self.len);
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
                    Argument::input(keys).as_words(1),
                    Argument::input(values),
                    Argument::operator(&self.op),
                    Argument::output(cells),
                    Argument::output(rejected),
                    Argument::number(size_of::<K>() as u64),
                    Argument::number(below),
                ];
                // SAFETY:
                // - The row is this operator's over these elements and keys (`Keyed`, which is unsafe to
                //   implement).
                // - The views borrow live memory of this device, with as many values for each key as the
                //   entry requires (checked above). The cells are borrowed mutably, so they do not overlap
                //   the inputs. The keys have as many bytes as the kernel is told. It ignores those that are not
                //   `below`, which is at most the number of cells.
                // - Whole warps (`check_threads`), and enough blocks for all elements.
                unsafe { kernel.launch(stream, Grid { blocks, threads }, &arguments) }?;
            }
            _ => unreachable!("`check_owner` has compared the devices"),
        }
        self.end_strict(keys)
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
                *rejected = NONE_REJECTED;
                Ok(())
            }
            State::Device {
                stream,
                cells,
                initial,
                rejected,
                none_rejected,
            } => {
                stream.gpu().enter()?;
                cells.enqueue_copy(stream, initial)?;
                rejected.enqueue_copy(stream, none_rejected)
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
        let [rejected, _] = self.all_rejected()?;
        Ok(rejected)
    }

    /// The number of rejected elements, and the index of the first.
    fn all_rejected(&self) -> Result<[u64; Rejected::LEN], Error> {
        match &self.state {
            State::Host { rejected, .. } => Ok(*rejected),
            State::Device {
                stream, rejected, ..
            } => {
                let rejected = rejected.all().download(stream)?;
                Ok([rejected[0], rejected[1]])
            }
        }
    }

    /// The number of rejected elements, and the first of them, if only these keys have been combined since its
    /// index was forgotten.
    fn first_rejected<K: Key>(
        &self,
        keys: View<'_, K>,
    ) -> Result<(u64, Option<RejectedKey>), Error> {
        let [rejected, index] = self.all_rejected()?;
        if index == Rejected::NONE {
            return Ok((rejected, None));
        }
        let at = usize::try_from(index).expect("the kernels note indices of keys");
        let key = keys.view(at..=at)?.download()?[0].number();
        Ok((rejected, Some(RejectedKey { index, key })))
    }

    /// Forgets the index of the first rejected element, for the error of a strict call.
    fn begin_strict(&mut self) -> Result<(), Error> {
        if !self.is_strict {
            return Ok(());
        }
        match &mut self.state {
            State::Host { rejected, .. } => rejected[1] = Rejected::NONE,
            State::Device {
                stream, rejected, ..
            } => {
                let (_, index) = rejected.all_mut().split_at(1);
                index.write(stream, &[Rejected::NONE])?;
            }
        }
        Ok(())
    }

    /// The error of a strict call for these keys.
    fn end_strict<K: Key>(&self, keys: View<'_, K>) -> Result<(), Error> {
        if !self.is_strict {
            return Ok(());
        }
        match self.first_rejected(keys)? {
            (_, None) => Ok(()),
            (rejected, Some(first)) => Err(first.error(self.len, rejected)),
        }
    }

    /// The result, if only these keys have been combined.
    fn by_key<K: Key>(&self, keys: View<'_, K>) -> Result<ByKey<T>, Error> {
        let (rejected, first_rejected) = self.first_rejected(keys)?;
        Ok(ByKey {
            cells: self.download()?,
            rejected,
            first_rejected,
        })
    }

    /// The number of cells of each array of values.
    pub fn len(&self) -> usize {
        self.len
    }

    /// The number of cells of all arrays of values.
    pub(crate) fn of_all_arrays(&self) -> usize {
        self.len * self.arrays
    }

    /// The operator.
    pub(crate) fn op(&self) -> O {
        self.op
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

/// The first key that has none of `cells` cells, read as unsigned; all later keys have none either.
fn below<K: Key>(cells: usize) -> u64 {
    K::MOST_CELLS.min(cells as u64)
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
        assert_eq!((below::<i8>(100), below::<i8>(1000)), (100, 1 << 7));
        assert!(u64::from(-1i8 as u8) >= below::<i8>(1000));
        assert!(u64::from(i8::MIN as u8) >= below::<i8>(1000));
        assert_eq!(below::<i32>(usize::MAX), 1 << 31);
        assert_eq!(below::<u32>(1 << 40), 1 << 32);
        assert_eq!(below::<u64>(usize::MAX), u64::MAX);
    }
}
