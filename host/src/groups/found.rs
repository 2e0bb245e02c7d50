//! Groups that have been found: their keys and items, and reductions of these.

use super::*;
use crate::keyed::KeyedAlgorithm;

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
        if let Some(order) = self.order.get() {
            return arranged::lengths(View::from(&order.offsets), &self.device);
        }
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
    /// for the next calls: 4 bytes for each item. Each call brings the values into that order; for several operators of the
    /// same values, [`arrange`](Self::arrange) does it once.
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
        Ok(finish::<T, O>(op, accumulators, None))
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
    pub(crate) fn accumulators<T: Element, O: Segments<T>>(
        &self,
        values: View<'_, T>,
        op: O,
    ) -> Result<Buffer<O::Acc>, Error> {
        self.device
            .check_group_values::<T, O>(self.items(), values)?;
        let mut output = arranged::identities::<T, O>(op, self.len(), &self.device)?;
        self.store::<T, O>(values, op, output.all_mut().into_location())?;
        Ok(output)
    }

    /// Stores the accumulators in `output`, which has one for each group. The arguments have been checked.
    pub(super) fn store<T: Element, O: Segments<T>>(
        &self,
        values: View<'_, T>,
        op: O,
        output: LocationMut<'_, O::Acc>,
    ) -> Result<(), Error> {
        if self.is_empty() {
            return Ok(());
        }
        let Order { items, offsets } = self.order()?;
        let parts = Parts::Offsets(View::from(offsets), None);
        let n = self.items();
        match (values.location(), View::from(items).location()) {
            (Location::Host(values), Location::Host(items)) => {
                let sorted = cpu::gather(values, items)?;
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

    /// The order of the items, which the first call computes.
    pub(super) fn order(&self) -> Result<&Order, Error> {
        if let Some(order) = self.order.get() {
            return Ok(order);
        }
        let order = match (self.indices().location(), self.device.backend()) {
            _ if self.is_empty() => Order {
                items: self.device.alloc(0)?,
                offsets: self.device.upload(&[0])?,
            },
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
