//! Runs of equal keys: their keys and lengths, and reductions of their values.

use kernels_gpu::entry::RunKey;
use kernels_gpu::runs::{THREADS, most_of_short, tiles_of};

use super::*;
use crate::buffer::Buffer;
use crate::element::{Element, name_of};
use crate::memory::Span;

/// The result of [`Device::count_runs`]: an element of each array for each run, in order.
#[derive(Clone, Debug, PartialEq)]
pub struct RunLengths<K> {
    /// The key of each run: its first element.
    pub keys: Vec<K>,
    /// The number of keys of each run, at least 1.
    pub lengths: Vec<u64>,
}

/// The result of [`Device::reduce_runs`]: an element of each array for each run, in order.
#[derive(Clone, Debug, PartialEq)]
pub struct Runs<K, R> {
    /// The key of each run: its first element.
    pub keys: Vec<K>,
    /// The number of keys of each run, at least 1.
    pub lengths: Vec<u64>,
    /// The reduction of each run's values.
    pub results: Vec<R>,
}

/// The runs of an array of keys, on the device.
struct Found<K: Element, T: Offset> {
    /// The key of each run; on a GPU there is room for more.
    unique: Buffer<K>,
    /// The start of each run, and the number of keys; on a GPU there is room for more.
    offsets: Buffer<T>,
    number: Number,
}

/// The number of runs, and the most keys of one, if that is known.
#[derive(Clone, Copy)]
struct Number {
    runs: usize,
    longest: Option<usize>,
}

impl<K: Element, T: Offset> Found<K, T> {
    /// Copies keys and lengths to the host.
    fn download(&self, backend: &Backend) -> Result<RunLengths<K>, Error> {
        let offsets = self
            .offsets
            .view(..=self.number.runs)?
            .download_on(backend)?;
        let starts = offsets.iter().zip(offsets.iter().skip(1));
        let mut lengths = host::zeroes(self.number.runs)?;
        for (length, (start, end)) in lengths.iter_mut().zip(starts) {
            *length = (end.value() - start.value()) as u64;
        }
        Ok(RunLengths {
            keys: self.unique.view(..self.number.runs)?.download_on(backend)?,
            lengths,
        })
    }
}

impl Device {
    /// Counts the keys of each run: of each part of the array in which all keys are equal.
    ///
    /// Keys are compared with their neighbours, so equal keys that are apart are several runs; of sorted keys, there is one
    /// run for each value. Two keys are equal if `==` says so: -0.0 equals 0.0, and a key with a NaN is a run alone. Empty
    /// input has no runs.
    ///
    /// Keys may be `u32`, `i32`, `u64`, `i64`, or elements of yours that a list of kernels [names](RunKey).
    ///
    /// ```
    /// use warpfold::Device;
    ///
    /// let device = Device::auto()?;
    /// let runs = device.count_runs(&device.upload(&[7u32, 7, 3, 7, 7, 7])?)?;
    /// assert_eq!((runs.keys, runs.lengths), (vec![7, 3, 7], vec![2, 1, 3]));
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    ///
    /// On a GPU it allocates memory for as many runs as there are keys, because their number is not known before.
    ///
    /// # Errors
    ///
    /// [`Error::NotRegistered`], [`Error::OtherDevice`], [`Error::GridTooLarge`], [`Error::OutOfMemory`],
    /// [`Error::OutOfHostMemory`], [`Error::Cuda`], [`Error::Deferred`].
    pub fn count_runs<'a, K: RunKey>(
        &self,
        keys: impl Input<'a, K>,
    ) -> Result<RunLengths<K>, Error> {
        let keys = keys.into_views();
        self.check_keys(&keys)?;
        match keys.len() as u64 <= u32::MOST {
            true => self.count_runs_by::<K, u32>(keys),
            false => self.count_runs_by::<K, u64>(keys),
        }
    }

    /// Reduces the values of each run of equal keys by `op`: value `i` belongs to key `i`.
    ///
    /// [`count_runs`](Self::count_runs) says what a run is. The bits of each result are those of [`reduce`](Self::reduce)
    /// for a view of the run's values, so they are reproducible. Indices, such as those of [`ArgMax`](crate::ArgMax), count
    /// from the run's start.
    ///
    /// ```
    /// use warpfold::{Device, Sum};
    ///
    /// let device = Device::auto()?;
    /// let keys = device.upload(&[7u32, 7, 3, 7, 7, 7])?;
    /// let values = device.upload(&[1.0f64, 2.0, 4.0, 8.0, 16.0, 32.0])?;
    /// let runs = device.reduce_runs(&keys, &values, Sum)?;
    /// assert_eq!(runs.keys, [7, 3, 7]);
    /// assert_eq!(runs.lengths, [2, 1, 3]);
    /// assert_eq!(runs.results, [3.0, 4.0, 56.0]);
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::KeysAndValues`] unless there is a value for each key; [`Error::Determinism`] for floats on a device of the
    /// level [`Exact`](crate::Determinism::Exact); [`Error::Lengths`] for values of several arrays; otherwise as
    /// [`count_runs`](Self::count_runs).
    pub fn reduce_runs<'a, 'b, K: RunKey, I: Items, O: Segments<I>>(
        &self,
        keys: impl Input<'a, K>,
        values: impl Input<'b, I>,
        op: O,
    ) -> Result<Runs<K, O::Output>, Error> {
        let (keys, values) = (keys.into_views(), values.into_views());
        self.check_keys_and_values::<K, I, O>(&keys, values)?;
        match keys.len() as u64 <= u32::MOST {
            true => self.reduce_runs_by::<K, u32, I, O>(keys, values, op),
            false => self.reduce_runs_by::<K, u64, I, O>(keys, values, op),
        }
    }

    /// Finds the runs of equal keys, as [`count_runs`](Self::count_runs), stores their keys and starts on the device, and
    /// returns their number.
    ///
    /// `unique` requires room for as many runs as there are keys, `offsets` for one more: the number of keys is stored behind
    /// the last start. So the first `runs + 1` offsets are segments for
    /// [`reduce_segments_into`](Self::reduce_segments_into), for any number of arrays of values and operators. The contents
    /// of the remaining elements are unspecified.
    ///
    /// On a GPU it waits for the number of runs, not for the stores of all keys and offsets, which the stream completes before
    /// later work. It allocates nothing if the scratch has been used before for as many keys.
    ///
    /// ```
    /// use warpfold::{Device, Max, Sum};
    ///
    /// let device = Device::auto()?;
    /// let keys = device.upload(&[7u32, 7, 3])?;
    /// let (x, y) = (device.upload(&[1, 2, 4])?, device.upload(&[0.5, 0.25, 8.0])?);
    /// let (mut unique, mut offsets) = (device.alloc::<u32>(3)?, device.alloc::<u32>(4)?);
    /// let mut scratch = device.segment_scratch()?;
    /// let runs = device.count_runs_into(&keys, &mut unique, &mut offsets, &mut scratch)?;
    /// let offsets = offsets.view(..=runs)?;
    /// assert_eq!(device.reduce_segments(&x, offsets, Sum)?, [3, 4]);
    /// assert_eq!(device.reduce_segments(&y, offsets, Max)?, [Some(0.5), Some(8.0)]);
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::ViewRange`] if `unique` or `offsets` has too few elements; [`Error::OffsetType`] for more keys than the type
    /// of the offsets can number; [`Error::OtherStream`] if `scratch` belongs to another stream; otherwise as
    /// [`count_runs`](Self::count_runs).
    pub fn count_runs_into<'a, 'b, 'c, K: RunKey, T: Offset>(
        &self,
        keys: impl Input<'a, K>,
        unique: impl Target<'b, K>,
        offsets: impl Target<'c, T>,
        scratch: &mut SegmentScratch,
    ) -> Result<usize, Error> {
        let keys = keys.into_views();
        self.check_keys(&keys)?;
        let (unique, offsets) = self.room_for_runs(keys.len(), unique, offsets)?;
        let storage = scratch.of(self.backend())?;
        let (number, _) = self.store_runs(keys, unique, offsets, storage)?;
        Ok(number.runs)
    }

    /// Reduces the values of each run of equal keys, as [`reduce_runs`](Self::reduce_runs), stores keys, starts and
    /// accumulators on the device, and returns the number of runs.
    ///
    /// `unique` and `offsets` are those of [`count_runs_into`](Self::count_runs_into), and `output` requires an element for
    /// each run. On a GPU it waits for the number of runs, and then enqueues the reduction and returns.
    ///
    /// ```
    /// use warpfold::{Device, Sum};
    ///
    /// let device = Device::auto()?;
    /// let (keys, values) = (device.upload(&[7i64, 7, 3])?, device.upload(&[1, 2, 4])?);
    /// let (mut unique, mut offsets) = (device.alloc::<i64>(3)?, device.alloc::<u64>(4)?);
    /// let (mut sums, mut scratch) = (device.alloc::<i32>(3)?, device.segment_scratch()?);
    /// let runs =
    ///     device.reduce_runs_into(&keys, &values, Sum, &mut unique, &mut offsets, &mut sums, &mut scratch)?;
    /// assert_eq!(unique.view(..runs)?.download()?, [7, 3]);
    /// assert_eq!(sums.view(..runs)?.download()?, [3, 4]);
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::ViewRange`] if `unique` or `offsets` has too few elements, or if there are more runs than elements of
    /// `output`; otherwise as [`count_runs_into`](Self::count_runs_into) and [`reduce_runs`](Self::reduce_runs).
    #[expect(clippy::too_many_arguments, reason = "three destinations")]
    pub fn reduce_runs_into<'a, 'b, 'c, 'd, 'e, K: RunKey, I: Items, T: Offset, O: Segments<I>>(
        &self,
        keys: impl Input<'a, K>,
        values: impl Input<'b, I>,
        op: O,
        unique: impl Target<'c, K>,
        offsets: impl Target<'d, T>,
        output: impl Target<'e, O::Acc>,
        scratch: &mut SegmentScratch,
    ) -> Result<usize, Error> {
        let (keys, values) = (keys.into_views(), values.into_views());
        self.check_keys_and_values::<K, I, O>(&keys, values)?;
        let n = keys.len();
        let (unique, offsets) = self.room_for_runs(n, unique, offsets)?;
        let output = output.into_view_mut();
        self.backend().check_same(output.owner())?;
        let mut storage = scratch.of(self.backend())?;
        let (number, offsets) = self.store_runs(keys, unique, offsets, storage.as_deref_mut())?;
        let Number { runs, longest } = number;
        let output = output.part(..runs)?.into_location();
        let offsets = match &offsets {
            LocationMut::Host(offsets) => View::of_slice(self.backend(), offsets),
            LocationMut::Device(offsets) => View::of_span(self.backend(), offsets.all()),
        };
        let parts = Parts::Offsets(offsets.view(..=runs)?, longest);
        self.store_parts::<I, T, O>(values, n, parts, op, output, storage)?;
        Ok(runs)
    }

    /// An error unless the keys are on this device, which has their kernel registered.
    fn check_keys<K: RunKey>(&self, keys: &View<'_, K>) -> Result<(), Error> {
        self.check_knows(K::ENTRY)?;
        self.check_owner(keys)
    }

    /// The same, also for the values, one for each key.
    fn check_keys_and_values<K: RunKey, I: Items, O: Segments<I>>(
        &self,
        keys: &View<'_, K>,
        values: I::Of<Views<'_>>,
    ) -> Result<(), Error> {
        self.check_keys(keys)?;
        let n = self.check_items::<I, O>(values)?;
        match n == keys.len() {
            true => Ok(()),
            false => Err(Error::KeysAndValues {
                keys: keys.len(),
                values: n,
                arrays: 1,
            }),
        }
    }

    /// The destinations for the runs of `n` keys.
    fn room_for_runs<'a, 'b, K: RunKey, T: Offset>(
        &self,
        n: usize,
        unique: impl Target<'a, K>,
        offsets: impl Target<'b, T>,
    ) -> Result<(LocationMut<'a, K>, LocationMut<'b, T>), Error> {
        if n as u64 > T::MOST {
            return Err(Error::OffsetType {
                items: n,
                offset: name_of::<T>(),
                most: T::MOST,
            });
        }
        let unique = unique.into_view_mut().part(..n)?;
        let offsets = offsets.into_view_mut().part(..=n)?;
        self.backend().check_same(unique.owner())?;
        self.backend().check_same(offsets.owner())?;
        Ok((unique.into_location(), offsets.into_location()))
    }

    fn count_runs_by<K: RunKey, T: Offset>(
        &self,
        keys: View<'_, K>,
    ) -> Result<RunLengths<K>, Error> {
        let found = self.with_storage(|storage| self.find_runs::<K, T>(keys, storage))?;
        found.download(self.backend())
    }

    fn reduce_runs_by<K: RunKey, T: Offset, I: Items, O: Segments<I>>(
        &self,
        keys: View<'_, K>,
        values: I::Of<Views<'_>>,
        op: O,
    ) -> Result<Runs<K, O::Output>, Error> {
        let (found, output) = self.with_storage(|mut storage| {
            let found = self.find_runs::<K, T>(keys, storage.as_deref_mut())?;
            let Number { runs, longest } = found.number;
            let mut output = match self.backend() {
                backend @ Backend::Cpu(_) => {
                    Buffer::host(backend, host::filled(runs, op.identity())?)
                }
                Backend::Gpu(queue) => {
                    Buffer::device(queue, runs, DeviceMemory::filled(queue, runs, 0)?)
                }
            };
            let parts = Parts::Offsets(found.offsets.view(..=runs)?, longest);
            let to = output.all_mut().into_location();
            self.store_parts::<I, T, O>(values, keys.len(), parts, op, to, storage)?;
            Ok((found, output))
        })?;
        let RunLengths { keys, lengths } = found.download(self.backend())?;
        let accumulators = View::from(&output).download_on(self.backend())?;
        let results = finish::<I, O>(op, accumulators, None);
        Ok(Runs {
            keys,
            lengths,
            results,
        })
    }

    /// Calls `run` with the stream's storage for blocking calls; none on the CPU.
    pub(crate) fn with_storage<R>(
        &self,
        run: impl FnOnce(Option<&mut Storage>) -> Result<R, Error>,
    ) -> Result<R, Error> {
        let Some(queue) = self.queue() else {
            return run(None);
        };
        let mut storage = queue.segments();
        match &mut *storage {
            Some(storage) => run(Some(storage)),
            empty => run(Some(empty.insert(Storage::new(queue)?))),
        }
    }

    /// Finds the runs, in new memory.
    fn find_runs<K: RunKey, T: Offset>(
        &self,
        keys: View<'_, K>,
        storage: Option<&mut Storage>,
    ) -> Result<Found<K, T>, Error> {
        let n = keys.len();
        match (self.backend(), keys.location()) {
            (backend @ Backend::Cpu(_), Location::Host(keys)) => {
                let counts = cpu::count_runs(keys);
                let runs = counts.iter().sum();
                let (mut unique, mut offsets) = (host::zeroes(runs)?, host::zeroes(runs + 1)?);
                on_cpu(keys, &counts, &mut unique, &mut offsets);
                Ok(Found {
                    unique: Buffer::host(backend, unique),
                    offsets: Buffer::host(backend, offsets),
                    number: Number::of(runs),
                })
            }
            (Backend::Gpu(queue), _) => {
                let unique = DeviceMemory::filled(queue, n, 0)?;
                let offsets = DeviceMemory::filled(queue, n + 1, 0)?;
                let (mut unique, mut offsets) = (
                    Buffer::device(queue, n, unique),
                    Buffer::device(queue, n + 1, offsets),
                );
                let (number, _) = self.store_runs(
                    keys,
                    unique.all_mut().into_location(),
                    offsets.all_mut().into_location(),
                    storage,
                )?;
                Ok(Found {
                    unique,
                    offsets,
                    number,
                })
            }
            _ => unreachable!("the keys are on this device"),
        }
    }

    /// Finds the runs, stores their keys and offsets, and returns their [`Number`], and the offsets. The destinations are those of
    /// [`room_for_runs`](Self::room_for_runs).
    fn store_runs<'b, K: RunKey, T: Offset>(
        &self,
        keys: View<'_, K>,
        unique: LocationMut<'_, K>,
        offsets: LocationMut<'b, T>,
        storage: Option<&mut Storage>,
    ) -> Result<(Number, LocationMut<'b, T>), Error> {
        match (keys.location(), unique, offsets, self.backend()) {
            (
                Location::Host(keys),
                LocationMut::Host(unique),
                LocationMut::Host(offsets),
                Backend::Cpu(_),
            ) => {
                let counts = cpu::count_runs(keys);
                let runs = counts.iter().sum();
                on_cpu(keys, &counts, &mut unique[..runs], &mut offsets[..=runs]);
                Ok((Number::of(runs), LocationMut::Host(offsets)))
            }
            (
                Location::Device(keys),
                LocationMut::Device(unique),
                LocationMut::Device(mut offsets),
                Backend::Gpu(queue),
            ) => {
                if keys.len() == 0 {
                    offsets.reborrow().write(queue, &[T::of_index(0)])?;
                    return Ok((Number::of(0), LocationMut::Device(offsets)));
                }
                let storage = storage.ok_or(Error::OtherStream)?;
                storage.find_runs(queue, keys, unique, offsets.reborrow())?;
                let count = storage.search.wait(queue)?;
                let number = Number {
                    runs: count.number() as usize,
                    longest: (!count.is_sparse()).then_some(most_of_short::<K>()),
                };
                Ok((number, LocationMut::Device(offsets)))
            }
            _ => unreachable!("the keys and the destinations are on this device"),
        }
    }
}

impl Number {
    fn of(runs: usize) -> Self {
        let longest = None;
        Self { runs, longest }
    }
}

/// Finds the runs on the CPU; `counts` are those of [`cpu::count_runs`].
fn on_cpu<K: RunKey, T: Offset>(keys: &[K], counts: &[usize], unique: &mut [K], offsets: &mut [T]) {
    let (last, starts) = offsets.split_last_mut().expect("one more than runs");
    *last = T::of_index(keys.len());
    cpu::find_runs(keys, counts, unique, starts, T::of_index);
}

impl Storage {
    /// Enqueues the launch that finds the runs of at least one key, and returns.
    pub(crate) fn find_runs<K: RunKey, T: Offset>(
        &mut self,
        queue: &Queue,
        keys: Span<'_, K>,
        unique: SpanMut<'_, K>,
        offsets: SpanMut<'_, T>,
    ) -> Result<(), Error> {
        let entry = K::ENTRY;
        let gpu = queue.gpu();
        let tiles = tiles_of::<K>(keys.len());
        let limit = gpu.info.max_blocks;
        let blocks = u32::try_from(tiles).ok();
        let blocks = blocks
            .filter(|blocks| *blocks <= limit)
            .ok_or(Error::GridTooLarge {
                kernel: entry.kernel,
                blocks: tiles as u64,
                threads: THREADS,
                limit,
            })?;
        let epoch = self.search.begin(queue, tiles)?;
        let address = self.search.address();
        let kernel = Kernel::find(gpu, entry)?;
        let (narrow, wide) = match size_of::<T>() == size_of::<u64>() {
            true => (
                Argument::no_output(size_of::<u32>(), gpu),
                Argument::output_span(offsets),
            ),
            false => (
                Argument::output_span(offsets),
                Argument::no_output(size_of::<u64>(), gpu),
            ),
        };
        let arguments = [
            Argument::input(keys),
            Argument::output_span(unique),
            narrow,
            wide,
            Argument::room(&mut self.search.tiles, tiles, size_of::<u64>()),
            Argument::output(&mut self.search.arrivals),
            Argument::words_at(address, 1, gpu),
            Argument::number(epoch),
        ];
        let grid = Grid {
            blocks,
            threads: THREADS,
        };
        // SAFETY:
        // - The row is that of these keys, or of keys of this size that are equal if their bits are (`RunKey`, which is
        //   unsafe to implement).
        // - The view borrows live memory of this device. The destinations are borrowed mutably, so they do not overlap
        //   the keys or each other, and have room (`room_for_runs`). The storage belongs to this stream, whose launches do
        //   not overlap; no word has the epoch (`Search::begin`), and the counter is 0 after each launch. The number of
        //   runs is pinned memory, which is freed only after a wait for all streams.
        // - A block for each tile, of `THREADS` threads, with the shared memory that the row asks for.
        unsafe { kernel.launch(queue, grid, &arguments) }
    }
}
