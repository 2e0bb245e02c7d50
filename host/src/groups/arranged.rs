//! Values in the order of their groups, for several reductions of them.

use super::*;
use crate::buffer::Buffer;

/// Values in the order of their groups, made by [`Groups::arrange`].
///
/// Each operator reads the values once more, as they are, at the speed of [segments](Device::reduce_segments). The counts
/// need no pass over the items.
pub struct Arranged<'g, T: Element> {
    device: &'g Device,
    values: Buffer<T>,
    offsets: View<'g, u32>,
}

impl<K: GroupKey> Groups<K> {
    /// Brings the values into the order of their groups, for several operators: value `i` belongs to item `i`.
    ///
    /// ```
    /// use warpfold::{Device, Max, Min, Sum};
    ///
    /// let device = Device::auto()?;
    /// let groups = device.group(&device.upload(&[7u32, 9, 7])?)?.sort()?;
    /// let values = groups.arrange(&device.upload(&[1.0f32, 2.0, 4.0])?)?;
    /// assert_eq!(values.counts()?, [2, 1]);
    /// assert_eq!(values.reduce(Sum)?, [5.0, 2.0]);
    /// assert_eq!(values.reduce(Min)?, [Some(1.0), Some(2.0)]);
    /// assert_eq!(values.reduce(Max)?, [Some(4.0), Some(2.0)]);
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    ///
    /// It takes memory for a copy of the values, and the order of the items, as [`reduce`](Self::reduce).
    ///
    /// # Errors
    ///
    /// [`Error::KeysAndValues`] unless there is a value for each item; otherwise as [`Device::group`].
    pub fn arrange<'a, T: Element>(
        &self,
        values: impl Input<'a, T>,
    ) -> Result<Arranged<'_, T>, Error> {
        let values: View<'_, T> = values.into_views();
        self.device.check_owner(&values)?;
        if values.len() != self.items() {
            return Err(Error::KeysAndValues {
                keys: self.items(),
                values: values.len(),
                arrays: 1,
            });
        }
        let Order { items, offsets } = self.order()?;
        let n = values.len();
        let arranged = match (values.location(), View::from(items).location()) {
            (Location::Host(values), Location::Host(items)) => {
                Buffer::host(self.device.backend(), cpu::gather(values, items)?)
            }
            (Location::Device(values), Location::Device(items)) => {
                let Backend::Gpu(queue) = self.device.backend() else {
                    unreachable!("the values are on this device");
                };
                let mut memory = DeviceMemory::<T>::allocate(queue, n)?;
                let (from, to) = (Argument::input(values), Argument::output(&mut memory));
                launch::gather(queue, from, items, to, size_of::<T>())?;
                Buffer::device(queue, n, memory)
            }
            _ => unreachable!("all arrays are on this device"),
        };
        Ok(Arranged {
            device: &self.device,
            values: arranged,
            offsets: offsets.into(),
        })
    }
}

impl<T: Element> Arranged<'_, T> {
    /// The number of groups.
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Whether there are no groups, because there are no items.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The values of each group in their order, group after group, on the device.
    pub fn values(&self) -> View<'_, T> {
        (&self.values).into()
    }

    /// Where each group starts in [`values`](Self::values), and their number behind the last start, on the device: the offsets of
    /// [`Device::reduce_segments`].
    pub fn offsets(&self) -> View<'_, u32> {
        self.offsets
    }

    /// The number of values of each group.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfHostMemory`], [`Error::Cuda`], [`Error::Deferred`].
    pub fn counts(&self) -> Result<Vec<u64>, Error> {
        lengths(self.offsets, self.device)
    }

    /// Reduces the values of each group by `op`, with the bits of [`Groups::reduce`].
    ///
    /// # Errors
    ///
    /// [`Error::Determinism`] for floats on a device of the level [`Exact`](crate::Determinism::Exact);
    /// [`Error::NotRegistered`], [`Error::GridTooLarge`], [`Error::OutOfMemory`], [`Error::OutOfHostMemory`],
    /// [`Error::Cuda`], [`Error::Deferred`].
    pub fn reduce<O: Segments<T>>(&self, op: O) -> Result<Vec<O::Output>, Error> {
        self.device.check_items::<T, O>(self.values())?;
        let mut output = identities::<T, O>(op, self.len(), self.device)?;
        self.store(op, output.all_mut().into_location())?;
        let accumulators = View::from(&output).download_on(self.device.backend())?;
        Ok(finish::<T, O>(op, accumulators, None))
    }

    /// Reduces the values of each group, as [`reduce`](Self::reduce), and stores the accumulators on the device, in the first
    /// elements of `output`.
    ///
    /// On a GPU it enqueues its launches and returns.
    ///
    /// # Errors
    ///
    /// [`Error::ViewRange`] if `output` has fewer elements than there are groups; otherwise as [`reduce`](Self::reduce).
    pub fn reduce_into<'b, O: Segments<T>>(
        &self,
        op: O,
        output: impl Target<'b, O::Acc>,
    ) -> Result<(), Error> {
        self.device.check_items::<T, O>(self.values())?;
        let output = output.into_view_mut().part(..self.len())?;
        self.device.backend().check_same(output.owner())?;
        self.store(op, output.into_location())
    }

    /// Stores the accumulators in `output`, which has one for each group. The arguments have been checked.
    fn store<O: Segments<T>>(&self, op: O, output: LocationMut<'_, O::Acc>) -> Result<(), Error> {
        let (parts, n) = (Parts::Offsets(self.offsets, None), self.values.len());
        self.device.with_storage(|storage| {
            let values = self.values();
            self.device
                .store_parts::<T, u32, O>(values, n, parts, op, output, storage)
        })
    }
}

impl<T: Element> std::fmt::Debug for Arranged<'_, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (values, groups) = (self.values.len(), self.len());
        write!(
            f,
            "Arranged({values} values, {groups} groups on {})",
            self.device
        )
    }
}

/// The lengths of the segments between offsets.
pub(super) fn lengths(offsets: View<'_, u32>, device: &Device) -> Result<Vec<u64>, Error> {
    let offsets = offsets.download_on(device.backend())?;
    let lengths = offsets.windows(2).map(|ends| u64::from(ends[1] - ends[0]));
    Ok(lengths.collect())
}

/// New memory of the device for the accumulators of so many groups.
pub(super) fn identities<T: Element, O: Segments<T>>(
    op: O,
    groups: usize,
    device: &Device,
) -> Result<Buffer<O::Acc>, Error> {
    match device.backend() {
        backend @ Backend::Cpu(_) => {
            Ok(Buffer::host(backend, host::filled(groups, op.identity())?))
        }
        Backend::Gpu(queue) => {
            let memory = DeviceMemory::filled(queue, groups, 0)?;
            Ok(Buffer::device(queue, groups, memory))
        }
    }
}
