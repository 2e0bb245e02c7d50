//! Groups: reductions of all items with the same key, for keys of any value in any order.

mod launch;

use std::sync::OnceLock;

use kernels_gpu::element::Number;
use kernels_gpu::entry::groups::combine_of;
use kernels_gpu::entry::{Entry, Keyed, Segments};
use kernels_gpu::groups as kernels;

use crate::backend::{Backend, Queue};
use crate::buffer::{Buffer, Location, View};
use crate::cpu;
use crate::determinism::Determinism;
use crate::device::Device;
use crate::element::Element;
use crate::error::{Error, GroupsError};
use crate::host;
use crate::input::Input;
use crate::keyed::KeyedAlgorithm;
use crate::launch::Argument;
use crate::memory::{DeviceMemory, Span};
use crate::segments::{Parts, finish};
use crate::view_mut::{LocationMut, Target};
pub(crate) use launch::Storage;
use launch::{Combined, Keys};

/// A key of [`Device::group`] and [`Device::group_by`]: `u32`, `i32`, `u64` or `i64`, of any value.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a key of groups",
    label = "not a key of groups",
    note = "the keys of groups are integers of 32 or 64 bits: `u32`, `i32`, `u64` or `i64`"
)]
pub trait GroupKey: Number + Ord + sealed::Sealed {
    /// The unsigned type of the same size.
    #[doc(hidden)]
    type Word: kernels::GroupKey;

    /// The bits that are inverted so that unsigned numbers have the order of the keys.
    #[doc(hidden)]
    const FLIP: u64;

    /// The same bits.
    #[doc(hidden)]
    fn word(self) -> Self::Word;
}

mod sealed {
    pub trait Sealed {}
}

macro_rules! keys {
    ($($key:ident as $word:ident, $flip:expr;)*) => { $(
        impl sealed::Sealed for $key {}

        impl GroupKey for $key {
            type Word = $word;
            const FLIP: u64 = $flip;

            fn word(self) -> $word {
                self as $word
            }
        }
    )* };
}

keys! {
    u32 as u32, 0;
    i32 as u32, 1 << 31;
    u64 as u64, 0;
    i64 as u64, 1 << 63;
}

/// The most items of a call, whose indices have 32 bits.
const MOST_ITEMS: usize = u32::MAX as usize;

/// The slots of the first table, if there are not far fewer items: for up to 2^20 groups, in the L2 cache.
const SLOTS: usize = 1 << 21;

/// The groups of an array of keys: all items with the same key, made by [`Device::group`].
///
/// The key of each group, and the index of each item's group, are on the device. So any number of reductions share the
/// search for the groups; the order of the items, which [`reduce`](Self::reduce) needs, is computed once.
///
/// ```
/// use warpfold::{Device, Max, Sum};
///
/// let device = Device::auto()?;
/// let keys = device.upload(&[30u64, 10, 30, 20, 10])?;
/// let values = device.upload(&[1.0f32, 2.0, 4.0, 8.0, 16.0])?;
/// let groups = device.group(&keys)?.sort()?;
/// assert_eq!(groups.keys().download()?, [10, 20, 30]);
/// assert_eq!(groups.indices().download()?, [2, 0, 2, 1, 0]);
/// assert_eq!(groups.counts()?, [2, 1, 2]);
/// assert_eq!(groups.reduce(&values, Sum)?, [18.0, 8.0, 5.0]);
/// assert_eq!(groups.reduce(&values, Max)?, [Some(16.0), Some(8.0), Some(4.0)]);
/// # Ok::<(), warpfold::Error>(())
/// ```
pub struct Groups<K: GroupKey> {
    device: Device,
    keys: Buffer<K>,
    indices: Buffer<u32>,
    order: OnceLock<Order>,
}

/// The items of each group in their order, group after group, and where each group starts.
struct Order {
    items: Buffer<u32>,
    offsets: Buffer<u32>,
}

/// The result of [`Device::group_by`]: an element of each array for each group.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupBy<K, R> {
    /// The key of each group.
    pub keys: Vec<K>,
    /// The reduction of each group's values.
    pub results: Vec<R>,
}

impl<K: Ord, R> GroupBy<K, R> {
    /// The same groups in the order of their keys.
    pub fn sort(self) -> Self {
        let mut pairs: Vec<_> = self.keys.into_iter().zip(self.results).collect();
        pairs.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
        let (keys, results) = pairs.into_iter().unzip();
        Self { keys, results }
    }
}

impl Device {
    /// Finds the groups of equal keys.
    ///
    /// Keys may have any value and be in any order. The order of the groups is unspecified, and may differ from run to run
    /// on a GPU; [`Groups::sort`] orders them by key.
    ///
    /// A GPU finds them in a hash table, which grows if there are many groups. It takes 4 bytes for each item, and keeps
    /// temporary storage for the next call: at least 8 bytes for each group.
    ///
    /// # Errors
    ///
    /// [`Error::Groups`] for more than 2^32 - 1 items, or too many groups (about 1.8 * 10^9);
    /// [`Error::OtherDevice`], [`Error::OutOfMemory`], [`Error::OutOfHostMemory`], [`Error::Cuda`], [`Error::Deferred`].
    pub fn group<'a, K: GroupKey>(&self, keys: impl Input<'a, K>) -> Result<Groups<K>, Error> {
        self.group_from(keys, SLOTS)
    }

    /// [`group`](Self::group), with a first table of so many slots: a power of two, at least 2.
    #[doc(hidden)]
    pub fn group_from<'a, K: GroupKey>(
        &self,
        keys: impl Input<'a, K>,
        slots: usize,
    ) -> Result<Groups<K>, Error> {
        let keys = keys.into_views();
        self.check_group_keys(&keys)?;
        let (unique, indices) = match (keys.location(), self.backend()) {
            (Location::Host(keys), backend @ Backend::Cpu(_)) => {
                let (unique, indices) = cpu::find_groups(keys, K::word)?;
                (
                    Buffer::host(backend, unique),
                    Buffer::host(backend, indices),
                )
            }
            (Location::Device(_), Backend::Gpu(_)) if keys.is_empty() => {
                (self.alloc(0)?, self.alloc(0)?)
            }
            (Location::Device(span), Backend::Gpu(queue)) => with_storage(queue, |storage| {
                let keys = keys_of(span);
                let table = storage.insert(queue, keys, slots, None)?;
                let mut unique = DeviceMemory::<K>::allocate(queue, table.groups)?;
                storage.list(queue, table, &mut unique, true)?;
                let mut indices = DeviceMemory::allocate(queue, keys.len)?;
                storage.number(queue, table, keys, &mut indices)?;
                Ok((
                    Buffer::device(queue, table.groups, unique),
                    Buffer::device(queue, keys.len, indices),
                ))
            })?,
            _ => unreachable!("the keys are on this device"),
        };
        Ok(Groups {
            device: self.clone(),
            keys: unique,
            indices,
            order: OnceLock::new(),
        })
    }

    /// Reduces all values with the same key by `op`: value `i` belongs to key `i`.
    ///
    /// Keys may have any value and be in any order. The order of the groups is unspecified; [`GroupBy::sort`] orders them by
    /// key. The bits of each result are those of [`reduce`](Self::reduce) for the group's values in their order. On a device
    /// of the level [`Fast`](crate::Determinism::Fast), sums, minima and maxima are combined by atomics while the groups are
    /// found: several times as fast, but the last bits of float sums may differ from run to run.
    ///
    /// ```
    /// use warpfold::{Device, Sum};
    ///
    /// let device = Device::auto()?;
    /// let keys = device.upload(&[30i32, -10, 30, 20, -10])?;
    /// let values = device.upload(&[1.0f64, 2.0, 4.0, 8.0, 16.0])?;
    /// let sums = device.group_by(&keys, &values, Sum)?.sort();
    /// assert_eq!(sums.keys, [-10, 20, 30]);
    /// assert_eq!(sums.results, [18.0, 8.0, 5.0]);
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::KeysAndValues`] unless there is a value for each key; [`Error::Determinism`] for floats on a device of the
    /// level [`Exact`](crate::Determinism::Exact); [`Error::NotRegistered`]; otherwise as [`group`](Self::group).
    pub fn group_by<'a, 'b, K: GroupKey, T: Element, O: Segments<T>>(
        &self,
        keys: impl Input<'a, K>,
        values: impl Input<'b, T>,
        op: O,
    ) -> Result<GroupBy<K, O::Output>, Error> {
        let (keys, accumulators) = self.group_by_buffers(keys, values, op)?;
        let accumulators = View::from(&accumulators).download_on(self.backend())?;
        Ok(GroupBy {
            keys: View::from(&keys).download_on(self.backend())?,
            results: finish::<T, O>(op, accumulators, |_| false),
        })
    }

    /// [`group_by`](Self::group_by) with keys and accumulators in new memory of the device.
    ///
    /// ```
    /// use warpfold::{Device, Sum};
    ///
    /// let device = Device::auto()?;
    /// let (keys, values) = (device.upload(&[7u32, 7])?, device.upload(&[1, 2])?);
    /// let (keys, sums) = device.group_by_buffers(&keys, &values, Sum)?;
    /// assert_eq!((keys.download()?, sums.download()?), (vec![7], vec![3]));
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`group_by`](Self::group_by).
    pub fn group_by_buffers<'a, 'b, K: GroupKey, T: Element, O: Segments<T>>(
        &self,
        keys: impl Input<'a, K>,
        values: impl Input<'b, T>,
        op: O,
    ) -> Result<(Buffer<K>, Buffer<O::Acc>), Error> {
        self.group_by_from(keys, values, op, SLOTS)
    }

    /// [`group_by_buffers`](Self::group_by_buffers), with a first table of so many slots: a power of two, at least 2.
    #[doc(hidden)]
    pub fn group_by_from<'a, 'b, K: GroupKey, T: Element, O: Segments<T>>(
        &self,
        keys: impl Input<'a, K>,
        values: impl Input<'b, T>,
        op: O,
        slots: usize,
    ) -> Result<(Buffer<K>, Buffer<O::Acc>), Error> {
        let (keys, values) = (keys.into_views(), values.into_views());
        self.check_group_keys(&keys)?;
        self.check_group_values::<T, O>(keys.len(), values)?;
        let row = match self.level {
            Determinism::Fast => combine_of(&O::ENTRIES[0], size_of::<K>()),
            _ => None,
        };
        if let (Some(row), Location::Device(keys), Location::Device(values), Backend::Gpu(queue)) =
            (row, keys.location(), values.location(), self.backend())
            && keys.len() > 0
        {
            return with_storage(queue, |storage| {
                combine_in_one_pass(queue, storage, row, keys, values, op, slots)
            });
        }
        let groups = self.group_from(keys, slots)?;
        let accumulators = groups.accumulators::<T, O>(values, op)?;
        Ok((groups.keys, accumulators))
    }

    /// An error unless the keys are on this device and can be numbered.
    fn check_group_keys<K: GroupKey>(&self, keys: &View<'_, K>) -> Result<(), Error> {
        self.check_owner(keys)?;
        match keys.len() <= MOST_ITEMS {
            true => Ok(()),
            false => Err(GroupsError::Items {
                items: keys.len(),
                most: MOST_ITEMS,
            }
            .into()),
        }
    }

    /// An error unless there is a value on this device for each of the keys, and their kernel is registered.
    fn check_group_values<T: Element, O: Segments<T>>(
        &self,
        keys: usize,
        values: View<'_, T>,
    ) -> Result<(), Error> {
        match self.check_items::<T, O>(values)? == keys {
            true => Ok(()),
            false => Err(Error::KeysAndValues {
                keys,
                values: values.len(),
                arrays: 1,
            }),
        }
    }
}

impl<K: GroupKey> Groups<K> {
    /// The number of groups.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Whether there are no groups, because there are no items.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// The number of items.
    pub fn items(&self) -> usize {
        self.indices.len()
    }

    /// The key of each group, on the device.
    pub fn keys(&self) -> View<'_, K> {
        (&self.keys).into()
    }

    /// The index of each item's group, on the device: item `i` has the key `keys[indices[i]]`.
    pub fn indices(&self) -> View<'_, u32> {
        (&self.indices).into()
    }

    /// The number of items of each group.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`], [`Error::OutOfHostMemory`], [`Error::Cuda`], [`Error::Deferred`].
    pub fn counts(&self) -> Result<Vec<u64>, Error> {
        let counts = self.device.count_by_key(self.indices(), self.len())?;
        Ok(counts.cells)
    }

    /// The same groups in the order of their keys.
    ///
    /// # Errors
    ///
    /// As [`counts`](Self::counts).
    pub fn sort(self) -> Result<Self, Error> {
        let Self {
            device,
            keys,
            indices,
            ..
        } = self;
        let (groups, n) = (keys.len(), indices.len());
        let (sorted, numbered) = match (View::from(&keys).location(), device.backend()) {
            _ if groups < 2 => (keys, indices),
            (Location::Host(keys), backend @ Backend::Cpu(_)) => {
                let Location::Host(old) = View::from(&indices).location() else {
                    unreachable!("both arrays are on the CPU");
                };
                let mut order: Vec<u32> = (0..groups as u32).collect();
                order.sort_unstable_by_key(|group| keys[*group as usize]);
                let mut ranks = host::zeroes(groups)?;
                for (rank, group) in order.iter().enumerate() {
                    ranks[*group as usize] = rank as u32;
                }
                let sorted = order.iter().map(|group| keys[*group as usize]).collect();
                let numbered = old.iter().map(|group| ranks[*group as usize]).collect();
                (
                    Buffer::host(backend, sorted),
                    Buffer::host(backend, numbered),
                )
            }
            (Location::Device(old), Backend::Gpu(queue)) => {
                let Location::Device(old_indices) = View::from(&indices).location() else {
                    unreachable!("both arrays are on the GPU");
                };
                let mut order = DeviceMemory::<u32>::allocate(queue, groups)?;
                let mut ranks = DeviceMemory::<u32>::allocate(queue, groups)?;
                let mut sorted = DeviceMemory::<K>::allocate(queue, groups)?;
                let mut numbered = DeviceMemory::<u32>::allocate(queue, n)?;
                with_storage(queue, |storage| {
                    let shifts: Vec<u32> = (0..8 * size_of::<K>() as u32).step_by(8).collect();
                    storage.sort(queue, keys_of(old), K::FLIP, &shifts, order.all_mut())?;
                    launch::invert(queue, order.all(), ranks.all_mut())?;
                    let to = Argument::output(&mut sorted);
                    launch::gather(queue, Argument::input(old), order.all(), to, size_of::<K>())?;
                    let (from, to) = (
                        Argument::input(ranks.all()),
                        Argument::output(&mut numbered),
                    );
                    launch::gather(queue, from, old_indices, to, size_of::<u32>())
                })?;
                (
                    Buffer::device(queue, groups, sorted),
                    Buffer::device(queue, n, numbered),
                )
            }
            _ => unreachable!("the groups are on this device"),
        };
        Ok(Self {
            device,
            keys: sorted,
            indices: numbered,
            order: OnceLock::new(),
        })
    }

    /// Reduces the values of each group by `op`: value `i` belongs to item `i`.
    ///
    /// The bits of each result are those of [`Device::reduce`] for the group's values in their order, so they are
    /// reproducible. Indices, such as those of [`ArgMax`](crate::ArgMax), count the items of the group.
    ///
    /// The first call sorts the items by their groups, in as many passes as the number of groups has bytes. The order is kept
    /// for the next calls: 4 bytes for each item.
    ///
    /// # Errors
    ///
    /// [`Error::KeysAndValues`] unless there is a value for each item; [`Error::Determinism`] for floats on a device of the
    /// level [`Exact`](crate::Determinism::Exact); [`Error::NotRegistered`]; otherwise as [`Device::group`].
    pub fn reduce<'a, T: Element, O: Segments<T>>(
        &self,
        values: impl Input<'a, T>,
        op: O,
    ) -> Result<Vec<O::Output>, Error> {
        let accumulators = self.accumulators::<T, O>(values.into_views(), op)?;
        let accumulators = View::from(&accumulators).download_on(self.device.backend())?;
        Ok(finish::<T, O>(op, accumulators, |_| false))
    }

    /// Reduces the values of each group, as [`reduce`](Self::reduce), and stores the accumulators on the device, in the first
    /// elements of `output`.
    ///
    /// On a GPU it enqueues its launches and returns, if the order of the items is known.
    ///
    /// # Errors
    ///
    /// [`Error::ViewRange`] if `output` has fewer elements than there are groups; otherwise as [`reduce`](Self::reduce).
    pub fn reduce_into<'a, 'b, T: Element, O: Segments<T>>(
        &self,
        values: impl Input<'a, T>,
        op: O,
        output: impl Target<'b, O::Acc>,
    ) -> Result<(), Error> {
        let values = values.into_views();
        self.device
            .check_group_values::<T, O>(self.items(), values)?;
        let output = output.into_view_mut().part(..self.len())?;
        self.device.backend().check_same(output.owner())?;
        self.store::<T, O>(values, op, output.into_location())
    }

    /// Combines the values of each group by atomics: value `i` belongs to item `i`.
    ///
    /// Faster than [`reduce`](Self::reduce), which sorts; but the last bits of float sums may differ from run to run.
    ///
    /// ```
    /// use warpfold::{Determinism, Device, Sum};
    ///
    /// let device = Device::auto()?.determinism(Determinism::Fast);
    /// let groups = device.group(&device.upload(&[7u32, 9, 7])?)?.sort()?;
    /// assert_eq!(groups.combine(&device.upload(&[1.0f32, 2.0, 4.0])?, Sum)?, [5.0, 2.0]);
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::KeysAndValues`] unless there is a value for each item; [`Error::Determinism`] for a float sum on a device of
    /// another level than [`Fast`](crate::Determinism::Fast); [`Error::NotRegistered`]; otherwise as [`Device::group`].
    pub fn combine<'a, T: Element, O: Keyed<u32, T>>(
        &self,
        values: impl Input<'a, T>,
        op: O,
    ) -> Result<Vec<O::Output>, Error> {
        /// With at most so many groups, most of a block's values are combined in its bins.
        const FEW: usize = kernels_gpu::keyed::bins::BINS;
        let algorithm = match self.len() <= FEW {
            true => KeyedAlgorithm::Bins,
            false => KeyedAlgorithm::Match,
        };
        let mut cells = self.device.cells(self.len(), op)?.algorithm(algorithm);
        let values: View<'_, T> = values.into_views();
        cells.combine(self.indices(), values)?;
        let cells = cells.download()?;
        Ok(cells.into_iter().map(|cell| op.finish(cell)).collect())
    }

    /// The accumulators of each group's values, in new memory.
    fn accumulators<T: Element, O: Segments<T>>(
        &self,
        values: View<'_, T>,
        op: O,
    ) -> Result<Buffer<O::Acc>, Error> {
        self.device
            .check_group_values::<T, O>(self.items(), values)?;
        let mut output = match self.device.backend() {
            backend @ Backend::Cpu(_) => {
                Buffer::host(backend, host::filled(self.len(), op.identity())?)
            }
            Backend::Gpu(queue) => {
                let memory = DeviceMemory::filled(queue, self.len(), 0)?;
                Buffer::device(queue, self.len(), memory)
            }
        };
        self.store::<T, O>(values, op, output.all_mut().into_location())?;
        Ok(output)
    }

    /// Stores the accumulators in `output`, which has one for each group. The arguments have been checked.
    fn store<T: Element, O: Segments<T>>(
        &self,
        values: View<'_, T>,
        op: O,
        output: LocationMut<'_, O::Acc>,
    ) -> Result<(), Error> {
        if self.is_empty() {
            return Ok(());
        }
        let Order { items, offsets } = self.order()?;
        let parts = Parts::Offsets(View::from(offsets));
        let n = self.items();
        match (values.location(), View::from(items).location()) {
            (Location::Host(values), Location::Host(items)) => {
                let mut sorted = host::copy(values)?;
                for (to, item) in sorted.iter_mut().zip(items) {
                    *to = values[*item as usize];
                }
                let sorted = View::of_slice(self.device.backend(), &sorted);
                self.device
                    .store_parts::<T, u32, O>(sorted, n, parts, op, output, None)
            }
            (Location::Device(values), Location::Device(items)) => {
                let Backend::Gpu(queue) = self.device.backend() else {
                    unreachable!("the values are on this device");
                };
                with_storage(queue, |storage| {
                    let sorted = storage.gather(queue, values, items)?;
                    let sorted = View::of_span(self.device.backend(), sorted);
                    self.device.with_storage(|storage| {
                        self.device
                            .store_parts::<T, u32, O>(sorted, n, parts, op, output, storage)
                    })
                })
            }
            _ => unreachable!("all arrays are on this device"),
        }
    }

    /// The order of the items, which the first call computes. There is at least one item.
    fn order(&self) -> Result<&Order, Error> {
        if let Some(order) = self.order.get() {
            return Ok(order);
        }
        let order = match (self.indices().location(), self.device.backend()) {
            (Location::Host(indices), backend @ Backend::Cpu(_)) => {
                let (items, offsets) = cpu::order_of_groups(indices, self.len())?;
                Order {
                    items: Buffer::host(backend, items),
                    offsets: Buffer::host(backend, offsets),
                }
            }
            (Location::Device(indices), Backend::Gpu(queue)) => {
                with_storage(queue, |storage| self.sort_items(queue, storage, indices))?
            }
            _ => unreachable!("the groups are on this device"),
        };
        Ok(self.order.get_or_init(|| order))
    }

    /// Sorts the items by the indices of their groups.
    fn sort_items(
        &self,
        queue: &std::sync::Arc<Queue>,
        storage: &mut Storage,
        indices: Span<'_, u32>,
    ) -> Result<Order, Error> {
        let (n, groups) = (indices.len(), self.len());
        // Indices of more bits than these do not occur; one group has none.
        let bits = usize::BITS - (groups - 1).leading_zeros();
        let shifts: Vec<u32> = (0..bits.max(1)).step_by(8).collect();
        let mut items = DeviceMemory::<u32>::allocate(queue, n)?;
        let room = storage.sort(queue, keys_of(indices), 0, &shifts, items.all_mut())?;
        // Every group has items, so the runs of the sorted indices are the groups.
        let mut unique = DeviceMemory::<u32>::allocate(queue, groups)?;
        let mut offsets = DeviceMemory::<u32>::allocate(queue, groups + 1)?;
        self.device.with_storage(|runs| {
            runs.ok_or(Error::OtherStream)?.find_runs::<u32, u32>(
                queue,
                storage.sorted(room, n),
                unique.all_mut(),
                offsets.all_mut(),
            )
        })?;
        Ok(Order {
            items: Buffer::device(queue, n, items),
            offsets: Buffer::device(queue, groups + 1, offsets),
        })
    }
}

impl<K: GroupKey> std::fmt::Debug for Groups<K> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "Groups({} items, {} groups on {})",
            self.items(),
            self.len(),
            self.device
        )
    }
}

/// The keys as an argument.
fn keys_of<K: Element>(keys: Span<'_, K>) -> Keys<'_> {
    Keys {
        argument: Argument::input(keys),
        len: keys.len(),
        bytes: size_of::<K>(),
    }
}

/// Finds the groups of at least one key and combines their values by atomics. There is a value for each key, and the row
/// is that of the operator over these values and keys.
fn combine_in_one_pass<K: GroupKey, T: Element, O: Segments<T>>(
    queue: &std::sync::Arc<Queue>,
    storage: &mut Storage,
    row: &'static Entry,
    keys: Span<'_, K>,
    values: Span<'_, T>,
    op: O,
    slots: usize,
) -> Result<(Buffer<K>, Buffer<O::Acc>), Error> {
    let mut initial = [0; size_of::<u64>()];
    let first = [op.initial()];
    let bytes = host::bytes(&first);
    initial[..bytes.len()].copy_from_slice(bytes);
    let combined = Combined {
        row,
        values: Argument::input(values),
        op: Argument::operator(&op),
        initial: u64::from_le_bytes(initial),
        bytes: bytes.len(),
    };
    let table = storage.insert(queue, keys_of(keys), slots, Some(combined))?;
    let mut unique = DeviceMemory::<K>::allocate(queue, table.groups)?;
    storage.list(queue, table, &mut unique, false)?;
    let mut accumulators = DeviceMemory::<O::Acc>::allocate(queue, table.groups)?;
    storage.cells(queue, table, accumulators.all_mut())?;
    Ok((
        Buffer::device(queue, table.groups, unique),
        Buffer::device(queue, table.groups, accumulators),
    ))
}

/// Calls `run` with the stream's memory of groups, for one blocking call.
fn with_storage<R>(
    queue: &Queue,
    run: impl FnOnce(&mut Storage) -> Result<R, Error>,
) -> Result<R, Error> {
    let mut storage = queue.groups();
    match &mut *storage {
        Some(storage) => run(storage),
        empty => run(empty.insert(Storage::new(queue)?)),
    }
}
