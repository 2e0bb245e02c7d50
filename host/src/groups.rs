//! Groups: reductions of all items with the same key, for keys of any value in any order.

mod arranged;
mod found;
mod insert;
mod launch;
mod parts;

use std::sync::OnceLock;

use kernels_gpu::element::Number;
use kernels_gpu::entry::groups::{collect_of, combine_of};
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
use crate::launch::Argument;
use crate::memory::{DeviceMemory, Span};
use crate::segments::{Parts, finish};
use crate::view_mut::{LocationMut, Target};
pub use arranged::Arranged;
pub(crate) use launch::Storage;
use launch::{Combination, Combined, Keys};

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

/// The slots of the first table, if there are not far fewer items: for up to 2^21 groups, in the L2 cache.
const SLOTS: usize = 1 << 22;

/// The key and the accumulator of each group, on the device.
type KeysAndResults<K, A> = (Buffer<K>, Buffer<A>);

/// How the values of groups are combined.
#[derive(Clone, Copy)]
enum Way {
    /// By parts, if that is faster, otherwise in a table.
    Any,
    /// In a table that has so many slots at first.
    Table(usize),
    /// By parts of at most so many pairs.
    Parts(usize),
}

/// Why there are combined values.
const ALWAYS: &str = "a table can have a slot for every key";

impl Way {
    /// The slots of the first table.
    fn slots(self) -> usize {
        match self {
            Self::Table(slots) => slots,
            Self::Any | Self::Parts(_) => SLOTS,
        }
    }
}

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
                storage.list(queue, table, unique.all_mut(), true)?;
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
    /// Many groups of values and keys of 32 bits take 12 bytes of temporary storage for each item, if there is as much memory.
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
            results: finish::<T, O>(op, accumulators, None),
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
        let buffers = self.group_by_with(keys, values, op, Way::Any)?;
        Ok(buffers.expect(ALWAYS))
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
        let buffers = self.group_by_with(keys, values, op, Way::Table(slots))?;
        Ok(buffers.expect(ALWAYS))
    }

    /// [`group_by_buffers`](Self::group_by_buffers), by parts of at most `capacity` pairs on a GPU. `None` if that is not
    /// possible.
    #[doc(hidden)]
    pub fn group_by_in_parts<'a, 'b, K: GroupKey, T: Element, O: Segments<T>>(
        &self,
        keys: impl Input<'a, K>,
        values: impl Input<'b, T>,
        op: O,
        capacity: usize,
    ) -> Result<Option<KeysAndResults<K, O::Acc>>, Error> {
        self.group_by_with(keys, values, op, Way::Parts(capacity))
    }

    fn group_by_with<'a, 'b, K: GroupKey, T: Element, O: Segments<T>>(
        &self,
        keys: impl Input<'a, K>,
        values: impl Input<'b, T>,
        op: O,
        way: Way,
    ) -> Result<Option<KeysAndResults<K, O::Acc>>, Error> {
        let (keys, values) = (keys.into_views(), values.into_views());
        self.check_keys_and_values_of_groups::<K, T, O>(&keys, values)?;
        if let Some((queue, pairs)) = self.in_one_pass::<K, T, O>(&keys, values) {
            return with_storage(queue, |storage| {
                let Some(combination) = pairs.combine(queue, storage, op, way)? else {
                    return Ok(None);
                };
                let groups = combination.groups();
                let mut unique = DeviceMemory::<K>::allocate(queue, groups)?;
                let mut accumulators = DeviceMemory::<O::Acc>::allocate(queue, groups)?;
                storage.store(queue, combination, unique.all_mut(), accumulators.all_mut())?;
                Ok(Some((
                    Buffer::device(queue, groups, unique),
                    Buffer::device(queue, groups, accumulators),
                )))
            });
        }
        let groups = self.group_from(keys, way.slots())?;
        let accumulators = groups.accumulators::<T, O>(values, op)?;
        Ok(Some((groups.keys, accumulators)))
    }

    /// [`group_by`](Self::group_by) with keys and accumulators in the first elements of `unique` and `output`. Returns the
    /// number of groups.
    ///
    /// A GPU waits for the number of groups, and then enqueues what is left and returns. On a device of the level
    /// [`Fast`](crate::Determinism::Fast), sums, minima and maxima allocate nothing if the device has grouped as many keys in
    /// about as many groups before. Otherwise it allocates what [`group`](Self::group) and [`Groups::reduce_into`] need.
    ///
    /// ```
    /// use warpfold::{Device, Sum};
    ///
    /// let device = Device::auto()?;
    /// let (keys, values) = (device.upload(&[7u32, 7, 7])?, device.upload(&[1, 2, 4])?);
    /// let (mut unique, mut sums) = (device.alloc(3)?, device.alloc(3)?);
    /// let groups = device.group_by_into(&keys, &values, Sum, &mut unique, &mut sums)?;
    /// assert_eq!(groups, 1);
    /// assert_eq!(unique.view(..groups)?.download()?, [7]);
    /// assert_eq!(sums.view(..groups)?.download()?, [7]);
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::ViewRange`] if `unique` or `output` has fewer elements than there are groups, whose number is the end of the
    /// range; neither has changed then. Otherwise as [`group_by`](Self::group_by).
    pub fn group_by_into<'a, 'b, 'c, 'd, K: GroupKey, T: Element, O: Segments<T>>(
        &self,
        keys: impl Input<'a, K>,
        values: impl Input<'b, T>,
        op: O,
        unique: impl Target<'c, K>,
        output: impl Target<'d, O::Acc>,
    ) -> Result<usize, Error> {
        let (keys, values) = (keys.into_views(), values.into_views());
        self.check_keys_and_values_of_groups::<K, T, O>(&keys, values)?;
        let (unique, output) = (unique.into_view_mut(), output.into_view_mut());
        self.backend().check_same(unique.owner())?;
        self.backend().check_same(output.owner())?;
        let places = |groups| -> Result<_, Error> {
            let (unique, output) = (unique.part(..groups)?, output.part(..groups)?);
            Ok((unique.into_location(), output.into_location()))
        };
        if let Some((queue, pairs)) = self.in_one_pass::<K, T, O>(&keys, values) {
            return with_storage(queue, |storage| {
                let combination = pairs.combine(queue, storage, op, Way::Any)?;
                let combination = combination.expect(ALWAYS);
                let groups = combination.groups();
                let (LocationMut::Device(unique), LocationMut::Device(output)) = places(groups)?
                else {
                    unreachable!("the arrays are on this device");
                };
                storage.store(queue, combination, unique, output)?;
                Ok(groups)
            });
        }
        let groups = self.group(keys)?;
        let (unique, output) = places(groups.len())?;
        match (unique, groups.keys().location(), self.backend()) {
            (LocationMut::Host(to), Location::Host(keys), _) => to.copy_from_slice(keys),
            (LocationMut::Device(to), Location::Device(keys), Backend::Gpu(queue)) => {
                queue.gpu().enter()?;
                to.enqueue_copy(queue, keys)?;
            }
            _ => unreachable!("the arrays are on this device"),
        }
        groups.store::<T, O>(values, op, output)?;
        Ok(groups.len())
    }

    /// The pairs, if this device combines values by atomics while it finds the groups.
    fn in_one_pass<'a, K: GroupKey, T: Element, O: Segments<T>>(
        &self,
        keys: &View<'a, K>,
        values: View<'a, T>,
    ) -> Option<(&std::sync::Arc<Queue>, Pairs<'a, K, T>)> {
        let row = match self.level {
            Determinism::Fast => combine_of(&O::ENTRIES[0], size_of::<K>())?,
            _ => return None,
        };
        match (keys.location(), values.location(), self.backend()) {
            (Location::Device(keys), Location::Device(values), Backend::Gpu(queue))
                if keys.len() > 0 =>
            {
                Some((queue, Pairs { row, keys, values }))
            }
            _ => None,
        }
    }

    /// An error unless the keys and the values are on this device, there is a value for each key, and the keys can be
    /// numbered.
    fn check_keys_and_values_of_groups<K: GroupKey, T: Element, O: Segments<T>>(
        &self,
        keys: &View<'_, K>,
        values: View<'_, T>,
    ) -> Result<(), Error> {
        self.check_group_keys(keys)?;
        self.check_group_values::<T, O>(keys.len(), values)
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
    pub(crate) fn check_group_values<T: Element, O: Segments<T>>(
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

/// At least one key, a value for each, and the row that combines such values by atomics.
struct Pairs<'a, K: GroupKey, T: Element> {
    row: &'static Entry,
    keys: Span<'a, K>,
    values: Span<'a, T>,
}

impl<K: GroupKey, T: Element> Pairs<'_, K, T> {
    /// Finds the groups and combines their values by `op`, whose row it is. `None` if they cannot be combined by parts of the
    /// given capacity.
    fn combine<O: Segments<T>>(
        &self,
        queue: &Queue,
        storage: &mut Storage,
        op: O,
        way: Way,
    ) -> Result<Option<Combination>, Error> {
        let mut initial = [0; size_of::<u64>()];
        let first = [op.initial()];
        let bytes = host::bytes(&first);
        initial[..bytes.len()].copy_from_slice(bytes);
        let combined = Combined {
            row: self.row,
            values: Argument::input(self.values),
            op: Argument::operator(&op),
            initial: u64::from_le_bytes(initial),
            bytes: bytes.len(),
        };
        let keys = keys_of(self.keys);
        let collect = collect_of(self.row, keys.bytes);
        let sample = match (way, collect) {
            (Way::Any, Some(_)) => storage.sample(queue, keys)?,
            _ => None,
        };
        let capacity = match way {
            Way::Parts(capacity) => Some(capacity),
            Way::Any | Way::Table(_) => sample.and_then(|sample| sample.capacity),
        };
        let groups = match (collect, capacity) {
            (Some(row), Some(capacity)) => {
                storage.combine_parts(queue, keys, combined, row, capacity)?
            }
            _ => None,
        };
        match (groups, way) {
            (Some(groups), _) => Ok(Some(Combination::Parts(groups))),
            (None, Way::Parts(_)) => Ok(None),
            (None, Way::Any | Way::Table(_)) => {
                let slots = sample.map_or(way.slots(), |sample| sample.slots);
                let table = storage.insert(queue, keys, slots, Some(combined))?;
                Ok(Some(Combination::Table(table)))
            }
        }
    }
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
