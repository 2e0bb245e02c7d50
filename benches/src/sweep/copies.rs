//! Copies of an input, which the launches of a batch read one after the other.

use anyhow::Result;
use warpfold::{Buffer, Device, Element, View, ViewMut};

/// Launches between two events, at most.
const MOST_LAUNCHES: usize = 16;

/// Bytes that the launches of a batch read together, at most, unless one alone reads more.
const BATCH_BYTES: usize = 128 << 20;

/// The device's pages: no two copies share one, so that none finds the address translation of another.
const PAGE_BYTES: usize = 2 << 20;

/// Launches of a batch, over inputs of so many bytes: 16 up to 8 MiB, one from 128 MiB on.
pub fn launches(bytes: usize) -> usize {
    (BATCH_BYTES / bytes.max(1)).clamp(1, MOST_LAUNCHES)
}

/// The first elements of a buffer, as often as a batch has launches.
pub struct Copies<'a, T: Element> {
    given: &'a mut Buffer<T>,
    /// Of more than one.
    own: Option<Buffer<T>>,
    n: usize,
    /// Elements from one copy to the next.
    stride: usize,
    count: usize,
}

impl<'a, T: Element> Copies<'a, T> {
    /// Of `values`, with which `given` begins, as many as fit.
    pub fn of(gpu: &Device, given: &'a mut Buffer<T>, values: &[T]) -> Result<Self> {
        Self::so_many(gpu, given, values, launches(size_of_val(values)))
    }

    /// So many of `values`, with which `given` begins.
    pub fn so_many(
        gpu: &Device,
        given: &'a mut Buffer<T>,
        values: &[T],
        count: usize,
    ) -> Result<Self> {
        let (n, bytes) = (values.len(), size_of_val(values));
        let stride = bytes.next_multiple_of(PAGE_BYTES).max(PAGE_BYTES) / size_of::<T>();
        let mut copies = Self {
            given,
            own: None,
            n,
            stride,
            count,
        };
        if count > 1 {
            let mut own = gpu.alloc(stride * count)?;
            (0..count).try_for_each(|copy| own.write(copy * stride, values))?;
            copies.own = Some(own);
        }
        Ok(copies)
    }

    /// Overwrites an element of all of them.
    pub fn set(&mut self, at: usize, value: T) -> Result<()> {
        match &mut self.own {
            Some(own) => (0..self.count)
                .try_for_each(|copy| Ok(own.write(copy * self.stride + at, &[value])?)),
            None => Ok(self.given.write(at, &[value])?),
        }
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.count
    }

    /// One of them.
    pub fn view(&self, copy: usize) -> Result<View<'_, T>> {
        Ok(match &self.own {
            Some(own) => own.view(copy * self.stride..copy * self.stride + self.n)?,
            None => self.given.view(..self.n)?,
        })
    }

    /// One of them, to be written.
    pub fn view_mut(&mut self, copy: usize) -> Result<ViewMut<'_, T>> {
        Ok(match &mut self.own {
            Some(own) => own.view_mut(copy * self.stride..copy * self.stride + self.n)?,
            None => self.given.view_mut(..self.n)?,
        })
    }

    /// The address and the bytes of each of them.
    pub fn memory(&self) -> impl Iterator<Item = (u64, usize)> {
        (0..self.count).map(|copy| (self.address(copy), self.n * size_of::<T>()))
    }

    /// The first elements of all of them.
    pub fn views(&self, n: usize) -> Result<Vec<View<'_, T>>> {
        let views = (0..self.count).map(|copy| Ok(self.view(copy)?.view(..n)?));
        views.collect()
    }

    /// The device address of one of them.
    pub fn address(&self, copy: usize) -> u64 {
        match &self.own {
            Some(own) => own.as_device_ptr() + (copy * self.stride * size_of::<T>()) as u64,
            None => self.given.as_device_ptr(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_inputs_have_many_copies_and_large_ones_one() {
        let of = [0, 4096, 8 << 20, 16 << 20, 64 << 20, 128 << 20, usize::MAX];
        assert_eq!(of.map(launches), [16, 16, 16, 8, 2, 1, 1]);
    }

    #[test]
    fn every_copy_has_the_elements_and_pages_of_its_own() {
        let cpu = Device::cpu();
        let mut given = cpu.upload(&[1, 2, 3, 4]).unwrap();
        let mut copies = Copies::of(&cpu, &mut given, &[1, 2, 9]).unwrap();
        assert_eq!(copies.count(), 16);
        copies.set(2, 3).unwrap();
        let mut pages = Vec::new();
        for (copy, view) in copies.views(3).unwrap().into_iter().enumerate() {
            assert_eq!(view.download().unwrap(), [1, 2, 3]);
            pages.push(copies.address(copy) - copies.address(0));
        }
        let strides: Vec<_> = (0..16).map(|copy| copy * PAGE_BYTES as u64).collect();
        assert_eq!(pages, strides);
        let large = vec![0u8; BATCH_BYTES];
        let mut given = cpu.upload(&large).unwrap();
        let address = given.as_device_ptr();
        let mut copies = Copies::of(&cpu, &mut given, &large).unwrap();
        assert_eq!(
            (copies.count(), copies.address(0)),
            (1, address),
            "nothing is copied"
        );
        copies.set(7, 1).unwrap();
        assert_eq!(given.view(6..9).unwrap().download().unwrap(), [0, 1, 0]);
    }
}
