//! Chunks: reductions of arrays that are larger than memory.

use std::ops::Range;

use kernels_gpu::entry::SinglePass;
use kernels_gpu::items::Items;
use kernels_gpu::op::Op;
use kernels_gpu::tile::{MOST_ITEMS, items_of_tile};

use crate::buffer::{Buffer, View};
use crate::device::Device;
use crate::element::Element;
use crate::error::Error;
use crate::input::Views;
use crate::pinned::Pinned;

/// Chunks of an array that are copied to a device one after another; made by [`Device::chunks`].
///
/// While the device works on one chunk, the next is copied, and the host fills the one after it.
///
/// ```
/// use warpfold::{Device, Sum};
///
/// let device = Device::auto()?;
/// let mut numbers = 1..=1000;
/// let mut chunks = device.chunks::<i32>(256)?;
/// let mut cells = device.cells(2, Sum)?;              // for even and for odd values
/// let mut remainders = device.chunks::<u32>(256)?;
/// let mut keys = vec![];
/// while let Some(values) = chunks.load(|chunk| {
///     keys.clear();
///     for (element, number) in chunk.iter_mut().zip(&mut numbers) {
///         *element = number;
///         keys.push(number as u32 % 2);
///     }
///     Ok((!keys.is_empty()).then_some(keys.len()))
/// })? {
///     let keys = remainders.load(|chunk| {
///         chunk[..keys.len()].copy_from_slice(&keys);
///         Ok(Some(keys.len()))
///     })?;
///     cells.combine(keys.expect("as many as values"), values)?;
/// }
/// assert_eq!(cells.download()?, [250_500, 250_000]);
/// # Ok::<(), warpfold::Error>(())
/// ```
///
/// On a GPU there are two chunks in pinned host memory and two on the device. On the CPU there is one, which
/// is reduced without a copy.
#[derive(Debug)]
pub struct Chunks<T: Element> {
    device: Device,
    /// The elements of a chunk.
    len: usize,
    slots: Vec<Slot<T>>,
    /// The slot of the last chunk.
    last: usize,
}

#[derive(Debug)]
struct Slot<T: Element> {
    pinned: Pinned<T>,
    /// The copy on the GPU, and its device.
    on_device: Option<(Device, Buffer<T>)>,
}

impl<T: Element> Chunks<T> {
    /// Calls `fill` to write the next chunk, and returns the chunk's elements on the device.
    ///
    /// `fill` writes from the chunk's start and returns the number of elements that it wrote; 0 is an empty
    /// chunk, `None` means the end. Use the returned view only for work that is enqueued on the same device
    /// before the next `load`. The call waits until the chunk before the last has been copied.
    ///
    /// # Errors
    ///
    /// The error of `fill`; [`Error::ViewRange`] if it returns more elements than a chunk has;
    /// [`Error::Cuda`], also for a fault in a kernel; [`Error::Deferred`].
    pub fn load(
        &mut self,
        fill: impl FnOnce(&mut [T]) -> Result<Option<usize>, Error>,
    ) -> Result<Option<View<'_, T>>, Error> {
        self.next(0..0)?;
        let len = self.len;
        match fill(self.slices(0..len)?)? {
            Some(n) => {
                check(n, 0..len)?;
                self.send(n).map(Some)
            }
            None => Ok(None),
        }
    }
}

/// A source of chunks: [`Chunks`] of one array, or a tuple of two or three that are reduced together.
pub trait ChunkSource {
    /// The items: the elements at one index.
    type Items: Items;

    /// A part of the next chunk of each array, which the caller fills.
    type Slices<'s>
    where
        Self: 's;

    /// The elements of a chunk.
    #[doc(hidden)]
    fn chunk_len(&self) -> usize;

    /// Waits until the next chunk can be filled. It begins with the elements `rest` of the last chunk.
    #[doc(hidden)]
    fn next(&mut self, rest: Range<usize>) -> Result<(), Error>;

    /// A part of the next chunk, which the caller fills.
    #[doc(hidden)]
    fn slices(&mut self, part: Range<usize>) -> Result<Self::Slices<'_>, Error>;

    /// Copies the first `n` elements of the chunk to the device.
    #[doc(hidden)]
    fn send(&mut self, n: usize) -> Result<<Self::Items as Items>::Of<Views<'_>>, Error>;
}

impl<T: Element> ChunkSource for Chunks<T> {
    type Items = T;
    type Slices<'s> = &'s mut [T];

    fn chunk_len(&self) -> usize {
        self.len
    }

    fn next(&mut self, rest: Range<usize>) -> Result<(), Error> {
        let (before, last) = (self.last, (self.last + 1) % self.slots.len());
        self.last = last;
        match self.slots.get_disjoint_mut([before, last]) {
            Ok([before, last]) => {
                let to = last.pinned.wait()?;
                if !rest.is_empty() {
                    let n = rest.len();
                    to[..n].copy_from_slice(&before.pinned.wait()?[rest]);
                }
            }
            // The CPU has one slot.
            Err(_) => self.slots[last].pinned.wait()?.copy_within(rest, 0),
        }
        Ok(())
    }

    fn slices(&mut self, part: Range<usize>) -> Result<&mut [T], Error> {
        Ok(&mut self.slots[self.last].pinned.wait()?[part])
    }

    fn send(&mut self, n: usize) -> Result<View<'_, T>, Error> {
        let slot = &mut self.slots[self.last];
        match &mut slot.on_device {
            None => View::of_slice(self.device.backend(), slot.pinned.on_cpu()).view(..n),
            Some((stream, buffer)) => {
                // Wait for the work that still uses the previous chunk in this slot.
                stream.wait_for(&self.device)?;
                stream.enqueue_write(&mut slot.pinned, n, &mut *buffer, 0)?;
                self.device.wait_for(stream)?;
                buffer.view(..n)
            }
        }
    }
}

macro_rules! side_by_side {
    ($($element:ident $i:tt),+) => {
        impl<$($element: Element),+> ChunkSource for ($(Chunks<$element>),+) {
            type Items = ($($element),+);
            type Slices<'s> = ($(&'s mut [$element]),+);

            fn chunk_len(&self) -> usize {
                [$(self.$i.chunk_len()),+].into_iter().min().expect("several arrays")
            }

            fn next(&mut self, rest: Range<usize>) -> Result<(), Error> {
                $(self.$i.next(rest.clone())?;)+
                Ok(())
            }

            fn slices(&mut self, part: Range<usize>) -> Result<Self::Slices<'_>, Error> {
                Ok(($(self.$i.slices(part.clone())?),+))
            }

            fn send(&mut self, n: usize) -> Result<($(View<'_, $element>),+), Error> {
                Ok(($(self.$i.send(n)?),+))
            }
        }
    };
}

side_by_side!(T 0, U 1);
side_by_side!(T 0, U 1, V 2);

impl Device {
    /// Allocates chunks of `len` elements each, with memory for at least 4096.
    ///
    /// # Errors
    ///
    /// [`Error::ChunkLength`] if `len` is 0; [`Error::OutOfMemory`], [`Error::OutOfHostMemory`],
    /// [`Error::Cuda`], [`Error::Deferred`].
    pub fn chunks<T: Element>(&self, len: usize) -> Result<Chunks<T>, Error> {
        if len == 0 {
            return Err(Error::ChunkLength { len });
        }
        // Reductions of chunks need whole tiles, and a piece that begins in the last of them.
        let tiles = len.max(MOST_ITEMS);
        let slot = || {
            Ok(Slot {
                pinned: self.pinned(tiles + len)?,
                on_device: match self.is_gpu() {
                    true => Some((self.new_stream()?, self.alloc(tiles)?)),
                    false => None,
                },
            })
        };
        let slots = if self.is_gpu() { 2 } else { 1 };
        Ok(Chunks {
            device: self.clone(),
            len,
            slots: (0..slots).map(|_| slot()).collect::<Result<_, Error>>()?,
            last: 0,
        })
    }

    /// Reduces by `op` an array that an iterator yields in pieces, such as files or messages.
    ///
    /// A piece may have any length, and an error of the iterator ends the reduction. Indices count from the
    /// first element of the first piece. The result has the same bits as that of [`Device::reduce`] for the whole array.
    ///
    /// ```
    /// use warpfold::{Device, Sum};
    ///
    /// let device = Device::auto()?;
    /// let lines = ["1 2", "", "3"];
    /// let parse = |line: &str| line.split(' ').filter(|word| !word.is_empty()).map(str::parse).collect();
    /// let pieces = lines.iter().map(|line| -> Result<Vec<i32>, std::num::ParseIntError> { parse(line) });
    /// assert_eq!(device.reduce_iter(Sum, pieces)?, 6);
    ///
    /// let lines = ["1", "x"];
    /// let pieces = lines.iter().map(|line| line.parse::<i32>().map(|number| [number]));
    /// let error = device.reduce_iter(Sum, pieces).unwrap_err();
    /// assert_eq!(error.to_string(), "invalid digit found in string");
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The iterator's error, as [`Error::Other`], or unchanged if it is an [`Error`]; those of
    /// [`reduce_chunks`](Self::reduce_chunks).
    pub fn reduce_iter<T, O, P, E>(
        &self,
        op: O,
        pieces: impl IntoIterator<Item = Result<P, E>>,
    ) -> Result<O::Output, Error>
    where
        T: Element,
        O: SinglePass<T>,
        P: AsRef<[T]>,
        E: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        /// Bytes of a chunk, enough for copies to a GPU at full speed.
        const BYTES: usize = 4 << 20;
        let mut pieces = pieces.into_iter().fuse();
        let mut piece: Option<P> = None;
        // The number of elements of the piece that have been copied into chunks.
        let mut used = 0;
        self.reduce_chunks(op, BYTES / size_of::<T>().max(1), |chunk| {
            let mut filled = 0;
            while filled < chunk.len() {
                let left = piece
                    .as_ref()
                    .map_or(&[][..], |piece| &piece.as_ref()[used..]);
                let n = left.len().min(chunk.len() - filled);
                chunk[filled..filled + n].copy_from_slice(&left[..n]);
                (filled, used) = (filled + n, used + n);
                if filled == chunk.len() {
                    break;
                }
                match pieces.next() {
                    Some(next) => (piece, used) = (Some(next.map_err(Error::other)?), 0),
                    None => break,
                }
            }
            Ok((filled > 0).then_some(filled))
        })
    }

    /// Reduces by `op` an array that comes in pieces of at most `len` elements.
    ///
    /// `fill` writes the next piece from the slice's start and returns the number of elements, or `None` at the end.
    /// An empty piece is not the end. Indices count from the first element of the first chunk. For empty
    /// input the result is the operator's [`empty`](kernels_gpu::op::Op::empty) result.
    ///
    /// The pieces are gathered into chunks of a power of two of [tiles](kernels_gpu::tile), the largest up to `len`, whose
    /// results are combined as the kernels combine tiles. So the result has the same bits as that of [`reduce`](Self::reduce) for the whole array,
    /// for any lengths of pieces and chunks. On a GPU the host fills a chunk while the previous chunk is copied and the
    /// one before that is reduced.
    ///
    /// ```
    /// use warpfold::file::Elements;
    /// use warpfold::{Device, SumWide};
    /// # let path = std::env::temp_dir().join(format!("warpfold-chunks-{}", std::process::id()));
    /// # std::fs::write(&path, [1u8; 1000])?;
    ///
    /// let device = Device::auto()?;
    /// let mut file = Elements::<u8>::open_raw(&path)?;
    /// let sum = device.reduce_chunks(SumWide, 300, |chunk| file.read(chunk))?;
    /// assert_eq!(sum, 1000);
    /// # std::fs::remove_file(&path)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The error of `fill` ([`Error::other`] converts any error into an [`Error`]); those of
    /// [`chunks`](Self::chunks), [`Chunks::load`] and [`reduce_into`](Self::reduce_into).
    pub fn reduce_chunks<T: Element, O: SinglePass<T>>(
        &self,
        op: O,
        len: usize,
        fill: impl FnMut(&mut [T]) -> Result<Option<usize>, Error>,
    ) -> Result<O::Output, Error> {
        self.reduce_chunks_of(op, self.chunks(len)?, fill)
    }

    /// [`reduce_chunks`](Self::reduce_chunks) with existing [`chunks`](Self::chunks), of one array, or of two
    /// or three that are reduced together.
    ///
    /// `fill` must write the same number of elements into the slice of each array.
    ///
    /// ```
    /// use warpfold::{Device, Dot};
    ///
    /// let device = Device::auto()?;
    /// let (a, b) = (vec![0.5f32; 1000], vec![4.0f32; 1000]);
    /// let mut start = 0;
    /// let chunks = (device.chunks::<f32>(300)?, device.chunks::<f32>(300)?);
    /// let dot = device.reduce_chunks_of(Dot, chunks, |(to_a, to_b)| {
    ///     let n = to_a.len().min(a.len() - start);
    ///     to_a[..n].copy_from_slice(&a[start..start + n]);
    ///     to_b[..n].copy_from_slice(&b[start..start + n]);
    ///     start += n;
    ///     Ok((n > 0).then_some(n))
    /// })?;
    /// assert_eq!(dot, 2000.0);
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`reduce_chunks`](Self::reduce_chunks); [`Error::OtherDevice`] if the chunks belong to another
    /// device.
    pub fn reduce_chunks_of<C: ChunkSource, O: SinglePass<C::Items>>(
        &self,
        op: O,
        mut chunks: C,
        mut fill: impl FnMut(C::Slices<'_>) -> Result<Option<usize>, Error>,
    ) -> Result<O::Output, Error> {
        if self.exact_entry::<C::Items, O>()?.is_some() {
            let sum = self.accumulate_chunks_of(op, chunks, fill)?;
            return Ok(match sum.is_empty() {
                true => op.empty(),
                false => op.of_exact(&sum).expect("the operator has an exact kernel"),
            });
        }
        let (all, _) = self.combine_chunks(op, &mut chunks, u64::MAX, &mut fill)?;
        Ok(all.map_or_else(|| op.empty(), |all| op.finish(all)))
    }

    /// Combines at most `most` items; returns the accumulator, `None` for no items, and the number of items.
    pub(crate) fn combine_chunks<C: ChunkSource, O: SinglePass<C::Items>>(
        &self,
        op: O,
        chunks: &mut C,
        most: u64,
        fill: &mut impl FnMut(C::Slices<'_>) -> Result<Option<usize>, Error>,
    ) -> Result<(Option<O::Acc>, u64), Error> {
        /// The number of chunk results that stay on the device before they are combined.
        const MAX_PENDING: usize = 256;
        let mut results = self.alloc::<O::Acc>(MAX_PENDING)?;
        let mut scratch = self.scratch()?;

        // The largest power of two of tiles for which there is memory.
        let tile = items_of_tile::<C::Items>();
        let chunk = tile << (chunks.chunk_len().max(MOST_ITEMS) / tile).ilog2();
        let mut tree = Tree::new(op);
        // The start indices of the chunks whose results have not been combined.
        let mut starts = Vec::with_capacity(MAX_PENDING);
        let mut start = 0u64;
        // What the last piece had too many for its chunk.
        let mut rest = 0..0;
        let mut is_end = false;
        while !is_end {
            chunks.next(rest.clone())?;
            let mut filled = rest.len();
            while filled < chunk && !is_end {
                let left = most - start - filled as u64;
                if left == 0 {
                    is_end = true;
                    break;
                }
                let len = chunks
                    .chunk_len()
                    .min(usize::try_from(left).unwrap_or(usize::MAX));
                let part = filled..filled + len;
                match fill(chunks.slices(part.clone())?)? {
                    Some(n) => {
                        check(n, part)?;
                        filled += n;
                    }
                    None => is_end = true,
                }
            }
            let whole = filled.min(chunk);
            rest = whole..filled;
            if whole > 0 {
                let views = chunks.send(whole)?;
                let (at, cells) = (starts.len(), results.all_mut());
                self.reduce_views_into::<C::Items, O>(views, op, cells, at, &mut scratch)?;
                starts.push(start);
                start += whole as u64;
            }
            if is_end || starts.len() == MAX_PENDING {
                let pending = self.download(results.view(..starts.len())?)?;
                for (result, start) in pending.into_iter().zip(starts.drain(..)) {
                    tree.push(op.offset(result, start));
                }
            }
        }
        Ok(((start > 0).then(|| tree.combined()), start))
    }
}

/// An error if `fill` returned more elements than the part has.
pub(crate) fn check(n: usize, part: Range<usize>) -> Result<(), Error> {
    match n <= part.len() {
        true => Ok(()),
        false => Err(Error::ViewRange {
            start: 0,
            end: n,
            len: part.len(),
        }),
    }
}

/// Combines the results of adjacent chunks as a binary tree, while they arrive. Each chunk but the last has the same power
/// of two of tiles.
struct Tree<I: Items, O: Op<I>> {
    op: O,
    /// Subtrees of chunks that wait for the adjacent one, the largest first: one for each bit of `chunks`.
    waiting: Vec<O::Acc>,
    chunks: u64,
}

impl<I: Items, O: Op<I>> Tree<I, O> {
    fn new(op: O) -> Self {
        Self {
            op,
            waiting: vec![],
            chunks: 0,
        }
    }

    /// Adds the next chunk's result, and combines the subtrees that are complete.
    fn push(&mut self, mut subtree: O::Acc) {
        for _ in 0..self.chunks.trailing_ones() {
            let adjacent = self.waiting.pop().expect("one for each bit");
            subtree = self.op.combine(adjacent, subtree);
        }
        self.waiting.push(subtree);
        self.chunks += 1;
    }

    /// Combines all subtrees, the smallest first.
    fn combined(self) -> O::Acc {
        let all = self.waiting.into_iter().rev();
        all.reduce(|right, left| self.op.combine(left, right))
            .unwrap_or(self.op.identity())
    }
}
