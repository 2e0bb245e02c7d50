//! One array, or three of the same length, on the host and on the device.

use anyhow::Result;
use warpfold::{Buffer, Device, Element, Input, Items, View};

use super::cases::Case;

/// The items of a case.
pub type ItemsOf<C> = <<C as Case>::Arrays as Arrays>::Items;

/// The buffers of a case.
pub type BuffersOf<C> = <<C as Case>::Arrays as Arrays>::Buffers;

/// Arrays of the same length on the host.
pub trait Arrays: Sized + 'static {
    /// The item at an index.
    type Items: Items;

    /// The arrays on the device.
    type Buffers;

    /// A view of the first items.
    type View<'a>: Input<'a, Self::Items> + Copy;

    /// Copies all items to the device.
    fn upload(&self, gpu: &Device) -> Result<Self::Buffers> {
        self.upload_first(gpu, self.len())
    }

    /// Copies the first `n` items to the device.
    fn upload_first(&self, gpu: &Device, n: usize) -> Result<Self::Buffers>;

    fn len(&self) -> usize;

    /// The first `n` items.
    fn view(buffers: &Self::Buffers, n: usize) -> Result<Self::View<'_>>;

    /// The device addresses of the arrays; 0 for a missing array.
    fn addresses(buffers: &Self::Buffers) -> [u64; 3];
}

impl<T: Element> Arrays for Vec<T> {
    type Items = T;
    type Buffers = Buffer<T>;
    type View<'a> = View<'a, T>;

    fn upload_first(&self, gpu: &Device, n: usize) -> Result<Buffer<T>> {
        Ok(gpu.upload(&self[..n])?)
    }

    fn len(&self) -> usize {
        Vec::len(self)
    }

    fn view(buffers: &Buffer<T>, n: usize) -> Result<View<'_, T>> {
        Ok(buffers.view(..n)?)
    }

    fn addresses(buffers: &Buffer<T>) -> [u64; 3] {
        [buffers.as_device_ptr(), 0, 0]
    }
}

impl<T: Element> Arrays for [Vec<T>; 3] {
    type Items = (T, T, T);
    type Buffers = [Buffer<T>; 3];
    type View<'a> = (View<'a, T>, View<'a, T>, View<'a, T>);

    fn upload_first(&self, gpu: &Device, n: usize) -> Result<[Buffer<T>; 3]> {
        let [a, b, c] = self.each_ref().map(|array| gpu.upload(&array[..n]));
        Ok([a?, b?, c?])
    }

    fn len(&self) -> usize {
        self[0].len()
    }

    fn view(buffers: &[Buffer<T>; 3], n: usize) -> Result<Self::View<'_>> {
        let [a, b, c] = buffers;
        Ok((a.view(..n)?, b.view(..n)?, c.view(..n)?))
    }

    fn addresses(buffers: &[Buffer<T>; 3]) -> [u64; 3] {
        buffers.each_ref().map(Buffer::as_device_ptr)
    }
}
