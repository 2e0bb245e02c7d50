//! Copies of an input, one for each launch of a batch.

use anyhow::Result;
use warpfold::{Buffer, Device, Element, View, ViewMut};

/// The maximum number of launches in a batch.
const MAX_LAUNCHES: usize = 16;

/// The maximum number of bytes that a batch reads, unless one launch reads more.
const BATCH_BYTES: usize = 128 << 20;

/// The device's page size. Copies share no page, so that none uses the address translation of another.
const PAGE_BYTES: usize = 2 << 20;

/// The number of launches in a batch for an input of this size: 16 up to 8 MiB, 1 from 128 MiB on.
pub fn launches(bytes: usize) -> usize {
    (BATCH_BYTES / bytes.max(1)).clamp(1, MAX_LAUNCHES)
}

/// Copies of the first elements of a buffer, one for each launch of a batch.
pub struct Copies<'a, T: Element> {
    original: &'a mut Buffer<T>,
    /// All copies, if there is more than one; otherwise `original` is used.
    copies: Option<Buffer<T>>,
    n: usize,
    /// Elements from one copy to the next.
    stride: usize,
    count: usize,
}

impl<'a, T: Element> Copies<'a, T> {
    /// Copies `values`, the first elements of `original`, as often as a batch has launches.
    pub fn of(gpu: &Device, original: &'a mut Buffer<T>, values: &[T]) -> Result<Self> {
        Self::with_count(gpu, original, values, launches(size_of_val(values)))
    }

    /// Makes `count` copies of `values`, the first elements of `original`.
    pub fn with_count(
        gpu: &Device,
        original: &'a mut Buffer<T>,
        values: &[T],
        count: usize,
    ) -> Result<Self> {
        let (n, bytes) = (values.len(), size_of_val(values));
        let stride = bytes.next_multiple_of(PAGE_BYTES).max(PAGE_BYTES) / size_of::<T>();
        let mut made = Self {
            original,
            copies: None,
            n,
            stride,
            count,
        };
        if count > 1 {
            let mut copies = gpu.alloc(stride * count)?;
            (0..count).try_for_each(|copy| copies.write(copy * stride, values))?;
            made.copies = Some(copies);
        }
        Ok(made)
    }

    /// Overwrites one element in all copies.
    pub fn set(&mut self, index: usize, value: T) -> Result<()> {
        match &mut self.copies {
            Some(copies) => (0..self.count)
                .try_for_each(|copy| Ok(copies.write(copy * self.stride + index, &[value])?)),
            None => Ok(self.original.write(index, &[value])?),
        }
    }

    pub fn count(&self) -> usize {
        self.count
    }

    pub fn view(&self, copy: usize) -> Result<View<'_, T>> {
        Ok(match &self.copies {
            Some(copies) => copies.view(copy * self.stride..copy * self.stride + self.n)?,
            None => self.original.view(..self.n)?,
        })
    }

    pub fn view_mut(&mut self, copy: usize) -> Result<ViewMut<'_, T>> {
        Ok(match &mut self.copies {
            Some(copies) => copies.view_mut(copy * self.stride..copy * self.stride + self.n)?,
            None => self.original.view_mut(..self.n)?,
        })
    }

    /// The address and the size in bytes of each copy.
    pub fn memory(&self) -> impl Iterator<Item = (u64, usize)> {
        (0..self.count).map(|copy| (self.address(copy), self.n * size_of::<T>()))
    }

    /// The first `n` elements of each copy.
    pub fn views(&self, n: usize) -> Result<Vec<View<'_, T>>> {
        let views = (0..self.count).map(|copy| Ok(self.view(copy)?.view(..n)?));
        views.collect()
    }

    pub fn address(&self, copy: usize) -> u64 {
        match &self.copies {
            Some(copies) => copies.as_device_ptr() + (copy * self.stride * size_of::<T>()) as u64,
            None => self.original.as_device_ptr(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_inputs_have_many_copies_and_large_ones_one() {
        let bytes = [0, 4096, 8 << 20, 16 << 20, 64 << 20, 128 << 20, usize::MAX];
        assert_eq!(bytes.map(launches), [16, 16, 16, 8, 2, 1, 1]);
    }

    #[test]
    fn every_copy_has_the_elements_on_its_own_pages() {
        let cpu = Device::cpu();
        let mut original = cpu.upload(&[1, 2, 3, 4]).unwrap();
        let mut copies = Copies::of(&cpu, &mut original, &[1, 2, 9]).unwrap();
        assert_eq!(copies.count(), 16);
        copies.set(2, 3).unwrap();
        let mut offsets = Vec::new();
        for (copy, view) in copies.views(3).unwrap().into_iter().enumerate() {
            assert_eq!(view.download().unwrap(), [1, 2, 3]);
            offsets.push(copies.address(copy) - copies.address(0));
        }
        let strides: Vec<_> = (0..16).map(|copy| copy * PAGE_BYTES as u64).collect();
        assert_eq!(offsets, strides);
        let large = vec![0u8; BATCH_BYTES];
        let mut original = cpu.upload(&large).unwrap();
        let address = original.as_device_ptr();
        let mut copies = Copies::of(&cpu, &mut original, &large).unwrap();
        assert_eq!(
            (copies.count(), copies.address(0)),
            (1, address),
            "nothing is copied"
        );
        copies.set(7, 1).unwrap();
        assert_eq!(original.view(6..9).unwrap().download().unwrap(), [0, 1, 0]);
    }
}
