//! Arrays larger than the memory that is to hold them, chunk by chunk.

use kernels_gpu::entry::SinglePass;
use kernels_gpu::items::Items;

use crate::buffer::{Buffer, View};
use crate::device::Device;
use crate::element::Element;
use crate::error::Error;
use crate::input::Views;
use crate::pinned::Pinned;

/// Chunks of an array on their way to a device: while the device works on one, the next is copied, and
/// the one after it is filled by the host. Made by [`Device::chunks`].
///
/// ```
/// use warpfold::{Device, Sum};
///
/// let device = Device::auto()?;
/// let mut numbers = 1..=1000;
/// let mut chunks = device.chunks::<i32>(256)?;
/// let mut cells = device.cells(2, Sum)?;              // of the even and of the odd ones
/// let mut remainders = device.chunks::<u32>(256)?;
/// loop {
///     let mut keys = vec![];
///     let values = chunks.load(|chunk| {
///         let mut n = 0;
///         for (place, number) in chunk.iter_mut().zip(&mut numbers) {
///             *place = number;
///             keys.push(number as u32 % 2);
///             n += 1;
///         }
///         Ok(n)
///     })?;
///     if values.is_empty() {
///         break;
///     }
///     let keys = remainders.load(|chunk| {
///         chunk[..keys.len()].copy_from_slice(&keys);
///         Ok(keys.len())
///     })?;
///     cells.combine(keys, values)?;
/// }
/// assert_eq!(cells.download()?, [250_500, 250_000]);
/// # Ok::<(), warpfold::Error>(())
/// ```
///
/// On a GPU it has two chunks in pinned host memory and two on the device; on the CPU one, which is used
/// in place.
#[derive(Debug)]
pub struct Chunks<T: Element> {
    device: Device,
    slots: Vec<Slot<T>>,
    /// The slot of the last chunk.
    last: usize,
}

#[derive(Debug)]
struct Slot<T: Element> {
    pinned: Pinned<T>,
    /// Where it is copied to, on the GPU, and by which stream.
    on_device: Option<(Device, Buffer<T>)>,
}

impl<T: Element> Chunks<T> {
    /// Lets `fill` fill the next chunk, of as many elements as were asked for, from its start, and say
    /// how many. The elements on the device: for what is enqueued on the device that these chunks were
    /// made with, before the next chunk.
    ///
    /// It waits until the chunk before the last has been copied. A view of nothing when `fill` says 0.
    ///
    /// # Errors
    ///
    /// Those of `fill`; [`Error::ViewRange`] when it says more than there are; [`Error::Cuda`], also for
    /// a kernel's own fault; [`Error::Deferred`].
    pub fn load(
        &mut self,
        fill: impl FnOnce(&mut [T]) -> Result<usize, Error>,
    ) -> Result<View<'_, T>, Error> {
        let n = fill(self.next()?)?;
        self.send(n)
    }
}

/// Where chunks come from: [`Chunks`] of one array, or of two or three that are reduced side by side.
pub trait ChunkSource {
    /// What is at one index.
    type Items: Items;

    /// The next chunk of each array, to be filled.
    type Slices<'s>
    where
        Self: 's;

    /// Waits until the next chunk can be filled.
    #[doc(hidden)]
    fn next(&mut self) -> Result<Self::Slices<'_>, Error>;

    /// The first `n` elements of the chunk, on the device.
    #[doc(hidden)]
    fn send(&mut self, n: usize) -> Result<<Self::Items as Items>::Of<Views<'_>>, Error>;
}

impl<T: Element> ChunkSource for Chunks<T> {
    type Items = T;
    type Slices<'s> = &'s mut [T];

    fn next(&mut self) -> Result<&mut [T], Error> {
        self.last = (self.last + 1) % self.slots.len();
        self.slots[self.last].pinned.wait()
    }

    fn send(&mut self, n: usize) -> Result<View<'_, T>, Error> {
        let slot = &mut self.slots[self.last];
        match &mut slot.on_device {
            None => View::of_slice(slot.pinned.on_cpu()).view(..n),
            Some((stream, buffer)) => {
                // What was enqueued with the chunk that was here before.
                stream.wait_for(&self.device)?;
                stream.enqueue_write(&mut slot.pinned, n, buffer, 0)?;
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

            fn next(&mut self) -> Result<Self::Slices<'_>, Error> {
                Ok(($(self.$i.next()?),+))
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
    /// Chunks of `len` elements each.
    ///
    /// # Errors
    ///
    /// [`Error::ChunkLength`] of none; [`Error::OutOfMemory`], [`Error::OutOfHostMemory`],
    /// [`Error::Cuda`], [`Error::Deferred`].
    pub fn chunks<T: Element>(&self, len: usize) -> Result<Chunks<T>, Error> {
        if len == 0 {
            return Err(Error::ChunkLength { len });
        }
        let slot = || {
            Ok(Slot {
                pinned: self.pinned(len)?,
                on_device: match self.is_gpu() {
                    true => Some((self.new_stream()?, self.alloc(len)?)),
                    false => None,
                },
            })
        };
        let slots = if self.is_gpu() { 2 } else { 1 };
        Ok(Chunks {
            device: self.clone(),
            slots: (0..slots).map(|_| slot()).collect::<Result<_, Error>>()?,
            last: 0,
        })
    }

    /// Reduces by `op` an array that comes in chunks of at most `len` elements: `fill` fills the next
    /// from its start and says how many it has put there, 0 at the end. Places count from the first
    /// chunk's first element. For empty input the operator's identity.
    ///
    /// On a GPU the next chunk is filled while this one is copied and the last one reduced. The chunks'
    /// results are combined in their order: the same bits from run to run, for the same lengths.
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
    /// Those of `fill`, of [`chunks`](Self::chunks), [`Chunks::load`] and
    /// [`reduce_into`](Self::reduce_into).
    pub fn reduce_chunks<T: Element, O: SinglePass<T>>(
        &self,
        op: O,
        len: usize,
        fill: impl FnMut(&mut [T]) -> Result<usize, Error>,
    ) -> Result<O::Output, Error> {
        self.reduce_chunks_of(op, self.chunks(len)?, fill)
    }

    /// The same by [`chunks`](Self::chunks) that there are already: of one array, or of two or three side by
    /// side, which `fill` fills with as many elements each.
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
    ///     Ok(n)
    /// })?;
    /// assert_eq!(dot, 2000.0);
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`reduce_chunks`](Self::reduce_chunks); [`Error::OtherDevice`] of chunks of another device.
    pub fn reduce_chunks_of<C: ChunkSource, O: SinglePass<C::Items>>(
        &self,
        op: O,
        mut chunks: C,
        mut fill: impl FnMut(C::Slices<'_>) -> Result<usize, Error>,
    ) -> Result<O::Output, Error> {
        /// Chunks whose results wait on the device to be combined.
        const WAITING: usize = 256;
        let mut results = self.alloc::<O::Acc>(WAITING)?;
        let mut scratch = self.scratch()?;

        let mut combined = op.identity();
        // Where the chunks begin whose results wait.
        let mut starts = Vec::with_capacity(WAITING);
        let mut start = 0u64;
        loop {
            let n = fill(chunks.next()?)?;
            if n > 0 {
                let chunk = chunks.send(n)?;
                let at = starts.len();
                self.reduce_views_into::<C::Items, O>(chunk, op, &mut results, at, &mut scratch)?;
                starts.push(start);
                start += n as u64;
            }
            if n == 0 || starts.len() == WAITING {
                let waiting = self.download(results.view(..starts.len())?)?;
                for (result, start) in waiting.into_iter().zip(starts.drain(..)) {
                    combined = op.combine(combined, op.offset(result, start));
                }
            }
            if n == 0 {
                return Ok(op.finish(combined));
            }
        }
    }
}
