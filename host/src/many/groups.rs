//! Groups of all ranks: keys travel by their hash, so that each group is on one rank.

use std::collections::HashMap;

use kernels_gpu::element::Element;
use kernels_gpu::entry::Segments;

use super::communicator::Communicator;
use super::distributed::Distributed;
use super::message::gather;
use crate::buffer::View;
use crate::determinism::Determinism;
use crate::error::Error;
use crate::groups::{GroupBy, GroupKey};
use crate::host;
use crate::input::Input;
use crate::segments::finish;

/// What a rank sends to each other: columns of the same length, as bytes.
type Parcel = Vec<u8>;

/// The keys, counts and accumulators of groups.
type Columns<K, A> = (Vec<K>, Vec<u64>, Vec<A>);

impl Distributed {
    /// Reduces all values with the same key by `op`, wherever they are: value `i` of a rank belongs to its key `i`.
    ///
    /// The result stays spread: each group is on one rank, which follows from a hash of the key, in the order of the keys. The
    /// items of a group have the order of the ranks, and on each rank that of the items, and each result has the bits of
    /// [`Device::group_by`](crate::Device::group_by) for the array of all ranks.
    ///
    /// | results | what travels, in one exchange |
    /// |---|---|
    /// | that are the same in any order (integers, extrema), or on a device of the level [`Fast`](Determinism::Fast) | a key, a count and an accumulator of each rank's groups |
    /// | other floats | the items, because their order determines the bits |
    ///
    /// ```
    /// use warpfold::many::{Distributed, Threads};
    /// use warpfold::{Device, Sum};
    ///
    /// let groups = Threads::run(2, |ranks| {
    ///     let all = Distributed::new(Device::cpu(), ranks);
    ///     let (keys, values) = [([7u32, 3, 7], [1, 2, 4]), ([3, 5, 3], [8, 16, 32])][all.rank()];
    ///     let (keys, values) = (all.device().upload(&keys)?, all.device().upload(&values)?);
    ///     all.group_by(&keys, &values, Sum)
    /// })?;
    /// let pairs = groups.into_iter().flat_map(|groups| groups.keys.into_iter().zip(groups.results));
    /// let mut pairs: Vec<(u32, i32)> = pairs.collect();
    /// pairs.sort();
    /// assert_eq!(pairs, [(3, 42), (5, 16), (7, 5)]);
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Ranks`] as [`reduce`](Self::reduce); on the rank that fails, the error of
    /// [`Device::group_by`](crate::Device::group_by).
    pub fn group_by<'a, 'b, K: GroupKey, T: Element, O: Segments<T>>(
        &self,
        keys: impl Input<'a, K>,
        values: impl Input<'b, T>,
        op: O,
    ) -> Result<GroupBy<K, O::Output>, Error> {
        let (keys, values) = (keys.into_views(), values.into_views());
        let name = O::ENTRIES[0].name;
        match O::ANY_ORDER || self.device().level() == Determinism::Fast {
            true => self.call(|ranks, _| {
                let own = self.parcels_of_groups::<K, T, O>(ranks.size(), keys, values, op);
                let received = deliver(ranks, &format!("groups: {name}"), own)?;
                Ok(merge::<K, T, O>(op, &received))
            }),
            false => {
                let own = self.device().check_group_values::<T, O>(keys.len(), values);
                let own = own.and_then(|()| self.parcels_of_items(self.size(), keys, values));
                let (keys, values) = self.deliver_items(&format!("items: {name}"), own)?;
                let device = self.device();
                let local = || {
                    let (keys, values) = (device.upload(&keys)?, device.upload(&values)?);
                    Ok(device.group_by(&keys, &values, op)?.sort())
                };
                // A rank that fails here is an error of all, too.
                let (result, told) = match local() {
                    Ok(result) => (Some(result), Ok(vec![])),
                    Err(error) => (None, Err(error)),
                };
                self.call(|ranks, _| gather(ranks, "groups of items", told))?;
                Ok(result.expect("there is no error"))
            }
        }
    }

    /// For each rank the keys, counts and accumulators of those of this rank's groups that belong there.
    fn parcels_of_groups<K: GroupKey, T: Element, O: Segments<T>>(
        &self,
        size: usize,
        keys: View<'_, K>,
        values: View<'_, T>,
        op: O,
    ) -> Result<Vec<Parcel>, Error> {
        let groups = self.device().group(keys)?;
        let accumulators = groups.accumulators::<T, O>(values, op)?.download()?;
        let (counts, keys) = (groups.counts()?, groups.keys().download()?);
        let mut parts: Vec<Columns<K, O::Acc>> = vec![Default::default(); size];
        for ((key, count), accumulator) in keys.into_iter().zip(counts).zip(accumulators) {
            let (keys, counts, accumulators) = &mut parts[rank_of(key, size)];
            keys.push(key);
            counts.push(count);
            accumulators.push(accumulator);
        }
        let parcel = |(keys, counts, accumulators): Columns<K, O::Acc>| {
            [
                host::bytes(&keys),
                host::bytes(&counts),
                host::bytes(&accumulators),
            ]
            .concat()
        };
        Ok(parts.into_iter().map(parcel).collect())
    }

    /// Moves each key and its value to the rank of the key, which follows from a hash of it: afterwards all items of a key are on
    /// one rank, in the order of the ranks and of the items on each.
    ///
    /// So what one device does with groups, such as several operators of the same ones, each rank can do with its keys.
    ///
    /// ```
    /// use warpfold::many::{Distributed, Threads};
    /// use warpfold::Device;
    ///
    /// let items = Threads::run(2, |ranks| {
    ///     let all = Distributed::new(Device::cpu(), ranks);
    ///     let (keys, values) = [([7u32, 3], [1, 2]), ([3, 7], [3, 4])][all.rank()];
    ///     all.spread_by_key(&all.device().upload(&keys)?, &all.device().upload(&values)?)
    /// })?;
    /// let of_key = |key: u32| {
    ///     let items = items.iter().flat_map(|(keys, values)| keys.iter().zip(values));
    ///     items.filter(|item| *item.0 == key).map(|item| *item.1).collect::<Vec<i32>>()
    /// };
    /// assert_eq!((of_key(3), of_key(7)), (vec![2, 3], vec![1, 4]));
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Ranks`] as [`reduce`](Self::reduce); on the rank that fails, [`Error::KeysAndValues`] unless there is a value
    /// for each key, [`Error::OtherDevice`], [`Error::OutOfHostMemory`], [`Error::Cuda`], [`Error::Deferred`].
    pub fn spread_by_key<'a, 'b, K: GroupKey, T: Element>(
        &self,
        keys: impl Input<'a, K>,
        values: impl Input<'b, T>,
    ) -> Result<(Vec<K>, Vec<T>), Error> {
        let own = self.parcels_of_items(self.size(), keys.into_views(), values.into_views());
        self.deliver_items("items by key", own)
    }

    /// The keys and values of all ranks that belong to this one.
    fn deliver_items<K: GroupKey, T: Element>(
        &self,
        call: &str,
        own: Result<Vec<Parcel>, Error>,
    ) -> Result<(Vec<K>, Vec<T>), Error> {
        let received = self.call(|ranks, _| deliver(ranks, call, own))?;
        let (mut keys, mut values) = (vec![], vec![]);
        for parcel in received {
            let items = parcel.len() / (size_of::<K>() + size_of::<T>());
            let (of_keys, of_values) = parcel.split_at(items * size_of::<K>());
            keys.extend(host::of_bytes::<K>(of_keys));
            values.extend(host::of_bytes::<T>(of_values));
        }
        Ok((keys, values))
    }

    /// For each rank the keys and values of those items of this rank that belong there, in their order.
    fn parcels_of_items<K: GroupKey, T: Element>(
        &self,
        size: usize,
        keys: View<'_, K>,
        values: View<'_, T>,
    ) -> Result<Vec<Parcel>, Error> {
        self.device().check_owner(&keys)?;
        self.device().check_owner(&values)?;
        if keys.len() != values.len() {
            return Err(Error::KeysAndValues {
                keys: keys.len(),
                values: values.len(),
                arrays: 1,
            });
        }
        let (keys, values) = (
            self.device().download(keys)?,
            self.device().download(values)?,
        );
        let mut parts: Vec<(Vec<K>, Vec<T>)> = vec![Default::default(); size];
        for (key, value) in keys.into_iter().zip(values) {
            let (keys, values) = &mut parts[rank_of(key, size)];
            keys.push(key);
            values.push(value);
        }
        let parcel =
            |(keys, values): (Vec<K>, Vec<T>)| [host::bytes(&keys), host::bytes(&values)].concat();
        Ok(parts.into_iter().map(parcel).collect())
    }
}

/// The bits of a key.
fn word_of<K: GroupKey>(key: K) -> u64 {
    let mut word = [0; size_of::<u64>()];
    word[..size_of::<K>()].copy_from_slice(host::bytes(&[key]));
    u64::from_le_bytes(word)
}

/// The rank of a key's group.
fn rank_of<K: GroupKey>(key: K, size: usize) -> usize {
    // Neighbouring keys, and keys with a common factor, go to different ranks: a multiplication by the golden ratio.
    let hash = u128::from(word_of(key).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    ((hash * size as u128) >> 64) as usize
}

/// Sends a parcel to each rank, and returns those of all ranks to this one.
fn deliver(
    ranks: &dyn Communicator,
    call: &str,
    own: Result<Vec<Parcel>, Error>,
) -> Result<Vec<Parcel>, Error> {
    let lens = own.as_ref().map(|parcels| {
        parcels
            .iter()
            .flat_map(|parcel| (parcel.len() as u64).to_le_bytes())
            .collect::<Vec<u8>>()
    });
    let all_lens = gather(ranks, call, lens.map_err(Clone::clone))?;
    let own = own?;
    let here = 8 * ranks.rank();
    let len_of = |lens: &Vec<u8>| {
        let bytes = lens[here..here + 8]
            .try_into()
            .expect("a number for each rank");
        u64::from_le_bytes(bytes) as usize
    };
    let mut received: Vec<Parcel> = all_lens.iter().map(|lens| vec![0; len_of(lens)]).collect();
    // Nothing is sent where there is nothing.
    let sends: Vec<(usize, &[u8])> = { own.iter().enumerate() }
        .map(|(to, parcel)| (to, &parcel[..]))
        .filter(|(to, parcel)| !parcel.is_empty() && *to != ranks.rank())
        .collect();
    let mut receives: Vec<(usize, &mut [u8])> = { received.iter_mut().enumerate() }
        .map(|(from, parcel)| (from, &mut parcel[..]))
        .filter(|(from, parcel)| !parcel.is_empty() && *from != ranks.rank())
        .collect();
    ranks.exchange(&sends, &mut receives)?;
    received[ranks.rank()].clone_from(&own[ranks.rank()]);
    Ok(received)
}

/// The groups of all parcels, in the order of the keys; accumulators of a group are combined in the order of the ranks.
fn merge<K: GroupKey, T: Element, O: Segments<T>>(
    op: O,
    received: &[Parcel],
) -> GroupBy<K, O::Output> {
    let mut groups: HashMap<u64, (K, u64, O::Acc)> = HashMap::new();
    for parcel in received {
        let groups_here = parcel.len() / (size_of::<K>() + size_of::<u64>() + size_of::<O::Acc>());
        let (keys, rest) = parcel.split_at(groups_here * size_of::<K>());
        let (counts, accumulators) = rest.split_at(groups_here * size_of::<u64>());
        let (keys, counts) = (host::of_bytes::<K>(keys), host::of_bytes::<u64>(counts));
        let accumulators = host::of_bytes::<O::Acc>(accumulators);
        for ((key, count), accumulator) in keys.into_iter().zip(counts).zip(accumulators) {
            let group = groups.entry(word_of(key));
            group
                .and_modify(|(_, before, combined)| {
                    *combined = op.combine(*combined, op.offset(accumulator, *before));
                    *before += count;
                })
                .or_insert((key, count, accumulator));
        }
    }
    let mut groups: Vec<(K, u64, O::Acc)> = groups.into_values().collect();
    groups.sort_unstable_by_key(|(key, ..)| *key);
    let (keys, accumulators) = groups.into_iter().map(|(key, _, acc)| (key, acc)).unzip();
    GroupBy {
        keys,
        results: finish::<T, O>(op, accumulators, None),
    }
}
