//! Reductions of an array that is spread over ranks.

use std::fmt;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use kernels_gpu::entry::SinglePass;
use kernels_gpu::exact::Accumulator;
use kernels_gpu::tile::items_of_tile;

use super::communicator::Communicator;
use super::layout::{self, Layout, join};
use super::message::{fits, gather, gather_behind};
use super::nccl::Nccl;
use super::partials::{Share, accumulator};
use crate::backend::Queue;
use crate::determinism::Determinism;
use crate::device::Device;
use crate::element::Element;
use crate::error::{Error, RanksError};
use crate::exact;
use crate::host;
use crate::input::{self, Input, Items, Views};
use crate::reduced_by::ReducedBy;
use crate::single_pass;

/// A rank with its device: its calls reduce an array that is spread over all ranks.
///
/// All ranks make the same calls in the same order, and all have the result. The input is this rank's part of the array, on
/// [`device`](Self::device); it may be empty. See the [module](crate::many) for the order of the parts and the cost.
///
/// Cheap to clone; clones are the same rank, and their calls run one after another.
///
/// ```
/// use warpfold::many::{Distributed, Threads};
/// use warpfold::{Device, Dot};
///
/// let parts = [(vec![1.0f32, 2.0], vec![3.0f32, 4.0]), (vec![5.0], vec![6.0])];
/// Threads::run(2, |ranks| {
///     let all = Distributed::new(Device::cpu(), ranks);
///     let (a, b) = &parts[all.rank()];
///     let (a, b) = (all.device().upload(a)?, all.device().upload(b)?);
///     assert_eq!(all.reduce((&a, &b), Dot)?, 41.0);
///     Ok(())
/// })?;
/// # Ok::<(), warpfold::Error>(())
/// ```
#[derive(Clone)]
pub struct Distributed {
    device: Device,
    shared: Arc<Shared>,
}

/// What clones share.
struct Shared {
    ranks: Box<dyn Communicator>,
    /// Locked for a whole call: other ranks expect calls one after another.
    state: Mutex<State>,
}

#[derive(Default)]
pub(super) struct State {
    /// The ranks' items in the last reduction in the canonical order: most programs have the same next time.
    layout: Option<Layout>,
    /// Why no further call is possible.
    broken: Option<RanksError>,
}

impl Distributed {
    /// A rank that reduces on `device`.
    pub fn new(device: Device, communicator: impl Communicator + 'static) -> Self {
        Self {
            device,
            shared: Arc::new(Shared {
                ranks: Box::new(communicator),
                state: Mutex::default(),
            }),
        }
    }

    /// The number of this rank.
    pub fn rank(&self) -> usize {
        self.communicator().rank()
    }

    /// The number of ranks.
    pub fn size(&self) -> usize {
        self.communicator().size()
    }

    /// The device of this rank.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// The ranks, for messages of your own. Between two calls of this type all ranks make the same calls of it.
    pub fn communicator(&self) -> &dyn Communicator {
        &*self.shared.ranks
    }

    /// The same rank, whose calls promise as much as `level` says; see [`Device::determinism`].
    pub fn determinism(&self, level: Determinism) -> Self {
        self.on(self.device.determinism(level))
    }

    /// The same rank on another device, or on this one with another stream or with [more kernels](Device::with).
    pub fn on(&self, device: Device) -> Self {
        Self {
            device,
            shared: Arc::clone(&self.shared),
        }
    }

    /// The part of an array of `n` elements that this rank should have: the parts are of nearly equal length, and cut the
    /// array where no elements must travel. The ranks of an array that is shorter than 4096 elements for each may get none.
    ///
    /// ```
    /// use warpfold::Device;
    /// use warpfold::many::{Distributed, Single};
    ///
    /// let all = Distributed::new(Device::auto()?, Single);
    /// assert_eq!(all.share(1000), 0..1000);
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    pub fn share(&self, n: u64) -> Range<u64> {
        layout::share(n, self.rank(), self.size())
    }

    /// Reduces the array of all ranks by `op`: an operator of the library or your own, over one array or several.
    ///
    /// The result is that of [`Device::reduce`] for the whole array on one device, with the same bits. Indices count from
    /// the first item of rank 0.
    ///
    /// # Errors
    ///
    /// [`Error::Ranks`] if another rank fails, ends, does not arrive in time or makes another call; on the rank that fails,
    /// the error of [`Reduction::run`](crate::Reduction::run).
    pub fn reduce<'a, I: ReducedBy<O>, O>(
        &self,
        input: impl Input<'a, I>,
        op: O,
    ) -> Result<<I as ReducedBy<O>>::Output, Error> {
        self.reduce_views::<I, I::By>(input.into_views(), I::by(op))
    }

    /// The exact sum of the array of all ranks, before it is rounded; see
    /// [`Reduction::accumulate`](crate::Reduction::accumulate).
    ///
    /// # Errors
    ///
    /// [`Error::Determinism`] if the operator is no sum of floats; otherwise as [`reduce`](Self::reduce).
    pub fn accumulate<'a, I: ReducedBy<O>, O>(
        &self,
        input: impl Input<'a, I>,
        op: O,
    ) -> Result<Accumulator, Error> {
        self.accumulate_views::<I, I::By>(input.into_views(), I::by(op))
    }

    pub(super) fn reduce_views<I: Items, O: SinglePass<I>>(
        &self,
        views: I::Of<Views<'_>>,
        op: O,
    ) -> Result<O::Output, Error> {
        if O::ANY_ORDER {
            return self.in_any_order::<I, O>(views, op);
        }
        if self.device.level() == Determinism::Exact {
            let sum = self.accumulate_views::<I, O>(views, op)?;
            return Ok(match sum.is_empty() {
                true => op.empty(),
                false => op.of_exact(&sum).expect("the operator has an exact kernel"),
            });
        }
        self.in_canonical_order::<I, O>(views, op)
    }

    /// [`accumulate`](Self::accumulate) for views.
    pub(super) fn accumulate_views<I: Items, O: SinglePass<I>>(
        &self,
        views: I::Of<Views<'_>>,
        op: O,
    ) -> Result<Accumulator, Error> {
        /// Stands before the bytes of an accumulator; the number of items, before the cells of a sum.
        const BYTES: u64 = u64::MAX;
        self.call(|ranks, _| {
            let call = format!("exact {}", O::ENTRY.name);
            let own = self.device.check_input::<I>(views, O::ENTRY);
            let device = self.device.determinism(Determinism::Exact);
            let own = own.and_then(|n| Ok((n, device.exact_sum_entry::<I, O>()?)));
            let cells = own.as_ref().map_or(0, |(_, entry)| exact::cells_of(entry));
            let bytes = cells * size_of::<u64>();
            let gathered = match (&own, self.behind(ranks)) {
                (Ok((n, entry)), Some((nccl, queue)))
                    if *n > 0 && fits(size_of::<u64>() + bytes) =>
                {
                    let (head, mut enqueued) = ((*n as u64).to_le_bytes(), None);
                    let gathered = gather_behind(nccl, &call, &head, bytes, |address| {
                        // SAFETY: the address is that of pinned memory with as many words as the sum has cells
                        // (`gather_behind`), which nobody else uses until the gather has waited for the stream.
                        let cells =
                            unsafe { exact::enqueue_at::<I>(queue, views, *n, entry, address) };
                        enqueued = Some(cells?);
                        Ok(())
                    })?;
                    if let Some(cells) = enqueued {
                        cells.give_back(queue);
                    }
                    gathered
                }
                _ => {
                    let sum = own.clone().and_then(|_| {
                        let reduction = self.device.reduce_views::<I, O>(views, op);
                        reduction.accumulate()
                    });
                    let data = sum.map(|sum| [&BYTES.to_le_bytes()[..], &sum.to_bytes()].concat());
                    gather(ranks, &call, data)?
                }
            };
            let (_, entry) = own?;
            let mut sum = Accumulator::new();
            for data in gathered {
                sum.merge(&match number(&data) {
                    (BYTES, data) => Accumulator::from_bytes(data).map_err(Error::other)?,
                    (items, data) => exact::sum_of(&host::of_bytes(data), entry, items),
                });
            }
            Ok(sum)
        })
    }

    /// Each rank's accumulator, combined one after another.
    fn in_any_order<I: Items, O: SinglePass<I>>(
        &self,
        views: I::Of<Views<'_>>,
        op: O,
    ) -> Result<O::Output, Error> {
        self.call(|ranks, _| {
            let own = self.device.check_input::<I>(views, O::ENTRY);
            let own = own.map(|n| Own {
                head: (n as u64).to_le_bytes().to_vec(),
                parts: (n > 0).then_some(0..n).into_iter().collect(),
            });
            let mut combined = None;
            let mut start = 0u64;
            for data in self.gather_accumulators::<I, O>(ranks, views, op, own)? {
                let (len, data) = number(&data);
                if let [partial] = host::of_bytes::<O::Acc>(data)[..] {
                    let partial = op.offset(partial, start);
                    combined = Some(match combined {
                        None => partial,
                        Some(before) => op.combine(before, partial),
                    });
                }
                let end = start.checked_add(len);
                start = end.ok_or(RanksError::TooLong { size: ranks.size() })?;
            }
            Ok(combined.map_or_else(|| op.empty(), |all| op.finish(all)))
        })
    }

    /// Partials of subtrees of the canonical order, combined in the order of the tree.
    fn in_canonical_order<I: Items, O: SinglePass<I>>(
        &self,
        views: I::Of<Views<'_>>,
        op: O,
    ) -> Result<O::Output, Error> {
        let tile = items_of_tile::<I>() as u64;
        self.call(|ranks, state| {
            let rank = ranks.rank();
            let share = |layout| Share::<I> {
                device: &self.device,
                views,
                rank,
                layout,
            };
            let n = self.device.check_input::<I>(views, O::ENTRY);
            // The partials, if all ranks have as many items as in the last call.
            let last = state.layout.take().filter(|last| {
                let items = last.items(rank);
                n == Ok((items.end - items.start) as usize) && last.cuts_no_tile(tile)
            });
            let own = n.clone().map(|n| {
                let (start, total, parts) = match &last {
                    Some(last) => (last.items(rank).start, last.total(), share(last).subtrees()),
                    None => (0, u64::MAX, vec![]),
                };
                let head = [n as u64, start, total].map(u64::to_le_bytes).concat();
                Own { head, parts }
            });
            let gathered = self.gather_accumulators::<I, O>(ranks, views, op, own)?;
            let mut lens = vec![];
            let mut assumed = vec![];
            let mut partials = vec![];
            for data in &gathered {
                let (len, data) = number(data);
                let (start, data) = number(data);
                let (total, data) = number(data);
                lens.push(len);
                assumed.push((start, total));
                partials.push(data);
            }
            let layout = &*state.layout.insert(Layout::of(&lens)?);
            if layout.total() == 0 {
                return Ok(op.empty());
            }
            let right = |rank| (layout.items(rank).start, layout.total());
            let again = !(0..ranks.size()).all(|rank| assumed[rank] == right(rank));
            let second;
            if again {
                let share = share(layout);
                let own = match share.exchange(ranks) {
                    Ok(cut) => share.partials(op, cut),
                    Err(Error::Ranks(error)) if error.is_final() => return Err(error.into()),
                    Err(error) => Err(error),
                };
                let own = own.map(|partials| host::bytes(&partials).to_vec());
                second = gather(ranks, &format!("tree of {}", O::ENTRY.name), own)?;
                partials = second.iter().map(Vec::as_slice).collect();
            }
            // Those of the first gather count indices from their first item.
            let start = |node| {
                if again {
                    0
                } else {
                    share(layout).items(node).start
                }
            };
            let subtrees = partials.iter().enumerate().flat_map(|(rank, partials)| {
                let partials = host::of_bytes::<O::Acc>(partials).into_iter();
                let nodes = layout.nodes(rank, tile).zip(partials);
                nodes.map(|(node, partial)| (node, op.offset(partial, start(node))))
            });
            let all = join(subtrees, |a, b| op.combine(a, b));
            Ok(op.finish(all.expect("the array has items")))
        })
    }

    /// NCCL, if it gathers on the stream of the device.
    fn behind<'r>(&self, ranks: &'r dyn Communicator) -> Option<(&'r Nccl, &Arc<Queue>)> {
        let queue = self.device.queue()?;
        let nccl = ranks.nccl()?;
        nccl.is_on(queue).then_some((nccl, queue))
    }

    /// Gathers what each rank has, with the accumulators of its parts behind it.
    ///
    /// NCCL on the stream of the device gathers them behind the kernels that store them.
    fn gather_accumulators<I: Items, O: SinglePass<I>>(
        &self,
        ranks: &dyn Communicator,
        views: I::Of<Views<'_>>,
        op: O,
        own: Result<Own, Error>,
    ) -> Result<Vec<Vec<u8>>, Error> {
        const { assert!(align_of::<O::Acc>() <= 16) };
        let (call, bytes) = (O::ENTRY.name, size_of::<O::Acc>());
        if let Ok(Own { head, parts }) = &own
            && let Some((nccl, queue)) = self.behind(ranks)
            && fits(head.len() + parts.len() * bytes)
        {
            return gather_behind(nccl, call, head, parts.len() * bytes, |mut address| {
                for part in parts {
                    let views = input::part::<I>(views, part.clone());
                    // SAFETY: the address is that of pinned memory with `bytes` bytes for each part, aligned to 16 bytes
                    // at the first one (`gather_behind`), which nobody else uses until the gather has waited for the stream.
                    unsafe {
                        single_pass::enqueue_at::<I, O>(queue, views, part.len(), op, address)
                    }?;
                    address += bytes as u64;
                }
                Ok(())
            });
        }
        let data = own.and_then(|Own { mut head, parts }| {
            for part in parts {
                let partial = accumulator::<I, O>(&self.device, views, op, part)?;
                head.extend_from_slice(host::bytes(&[partial]));
            }
            Ok(head)
        });
        gather(ranks, call, data)
    }

    /// Makes a call of all ranks.
    pub(super) fn call<R>(
        &self,
        call: impl FnOnce(&dyn Communicator, &mut State) -> Result<R, Error>,
    ) -> Result<R, Error> {
        let mut state = { self.shared.state.lock() }.unwrap_or_else(PoisonError::into_inner);
        if let Some(error) = &state.broken {
            return Err(error.clone().into());
        }
        let result = call(&*self.shared.ranks, &mut state);
        if let Err(Error::Ranks(error)) = &result
            && error.is_final()
        {
            state.broken = Some(error.clone());
        }
        result
    }

    /// The number of items of all ranks.
    pub(super) fn len<I: Items>(&self, views: I::Of<Views<'_>>) -> Result<u64, Error> {
        self.total("len", Ok(input::len::<I>(views) as u64))
    }

    /// The sum of a number of each rank.
    pub(super) fn total(&self, call: &str, own: Result<u64, Error>) -> Result<u64, Error> {
        let own = own.map(|own| own.to_le_bytes().to_vec());
        let lens = self.gather(call, own)?;
        let lens: Vec<u64> = lens.iter().map(|data| number(data).0).collect();
        Ok(Layout::of(&lens)?.total())
    }

    /// Gathers bytes of all ranks, of any lengths, in the order of the ranks; an error of one rank is an error of all.
    ///
    /// `call` names the work, and is the same on all ranks.
    ///
    /// ```
    /// use warpfold::Device;
    /// use warpfold::many::{Distributed, Single};
    ///
    /// let all = Distributed::new(Device::auto()?, Single);
    /// let text = std::fs::read("no such file").map_err(warpfold::Error::other);
    /// assert!(all.gather("read", text).is_err()); // of the other ranks too
    /// assert_eq!(all.gather("names", Ok(b"zero".to_vec()))?, [b"zero"]);
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The error of `data`; [`Error::Ranks`] if another rank fails, ends, does not arrive in time or makes another call.
    pub fn gather(&self, call: &str, data: Result<Vec<u8>, Error>) -> Result<Vec<Vec<u8>>, Error> {
        self.call(|ranks, _| gather(ranks, call, data))
    }

    /// Gathers elements of all ranks, as [`gather`](Self::gather) does bytes.
    ///
    /// ```
    /// use warpfold::Device;
    /// use warpfold::many::{Distributed, Threads};
    ///
    /// let all = Threads::run(2, |ranks| {
    ///     let all = Distributed::new(Device::cpu(), ranks);
    ///     all.gather_elements("halves", Ok(vec![0.5; all.rank()]))
    /// })?;
    /// assert_eq!(all, [[vec![], vec![0.5]], [vec![], vec![0.5]]]);
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`gather`](Self::gather).
    pub fn gather_elements<T: Element>(
        &self,
        call: &str,
        data: Result<Vec<T>, Error>,
    ) -> Result<Vec<Vec<T>>, Error> {
        let all = self.gather(call, data.map(|data| host::bytes(&data).to_vec()))?;
        Ok(all.iter().map(|bytes| host::of_bytes(bytes)).collect())
    }
}

impl fmt::Debug for Distributed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (rank, size) = (self.rank(), self.size());
        write!(f, "Distributed(rank {rank} of {size} on {})", self.device)
    }
}

/// What a rank adds to a gather of accumulators.
struct Own {
    /// Numbers before the accumulators.
    head: Vec<u8>,
    /// The items of each accumulator, at least one, as indices in the rank's views.
    parts: Vec<Range<usize>>,
}

/// The exact sum of all ranks.
pub(super) fn merge(
    ranks: &dyn Communicator,
    call: &str,
    own: Result<Accumulator, Error>,
) -> Result<Accumulator, Error> {
    let mut sum = Accumulator::new();
    for bytes in gather(ranks, call, own.map(|sum| sum.to_bytes().into()))? {
        sum.merge(&Accumulator::from_bytes(&bytes).map_err(Error::other)?);
    }
    Ok(sum)
}

/// The number at the start of a message, and the rest of it.
pub(super) fn number(data: &[u8]) -> (u64, &[u8]) {
    let (number, rest) = data
        .split_first_chunk()
        .expect("a rank of the same version");
    (u64::from_le_bytes(*number), rest)
}
