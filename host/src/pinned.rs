//! Pinned host memory: the device copies from and to it while the host continues.

use std::fmt;

use crate::buffer::Location;
use crate::device::Device;
use crate::driver;
use crate::element::{Element, name_of};
use crate::error::Error;
use crate::host;
use crate::input::Input;
use crate::memory::PinnedMemory;
use crate::stream::{Event, Stream};
use crate::view_mut::{LocationMut, Target};

/// An array in pinned (page-locked) host memory, whose copies to and from a device run in the background;
/// made by [`Device::pinned`].
///
/// ```
/// use warpfold::{Device, Sum};
///
/// let device = Device::auto()?;
/// let mut pinned = device.pinned::<i32>(3)?;
/// let mut x = device.alloc::<i32>(3)?;
/// pinned.wait()?.copy_from_slice(&[1, 2, 3]);
/// device.enqueue_write(&mut pinned, 3, &mut x, 0)?;   // returns at once
/// assert_eq!(device.sum(&x)?, 6);
/// pinned.wait()?.fill(0);                             // after the copy
/// # Ok::<(), warpfold::Error>(())
/// ```
///
/// Pinned memory cannot be paged out, which takes memory from all programs: use a few chunks of it. Dropping
/// it waits for all streams of the device.
pub struct Pinned<T: Element> {
    device: Device,
    location: Locked<T>,
}

enum Locked<T: Element> {
    /// Ordinary memory, on the CPU.
    Host(Vec<T>),
    Gpu {
        memory: PinnedMemory<T>,
        /// Recorded after the last copy.
        copied: Event,
    },
}

impl<T: Element> Pinned<T> {
    /// The number of elements.
    pub fn len(&self) -> usize {
        match &self.location {
            Locked::Host(data) => data.len(),
            Locked::Gpu { memory, .. } => memory.len(),
        }
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The elements, after a wait for the copies from and to them.
    ///
    /// # Errors
    ///
    /// [`Error::Cuda`], also for a fault in a kernel; [`Error::Deferred`].
    pub fn wait(&mut self) -> Result<&mut [T], Error> {
        match &mut self.location {
            Locked::Host(data) => Ok(data),
            Locked::Gpu { memory, copied } => {
                memory.gpu().enter()?;
                copied.wait()?;
                // SAFETY: all copies are complete: `copied` was recorded after the last of them, and each
                // waits for the one before. A new copy would need `self`.
                Ok(unsafe { memory.elements() })
            }
        }
    }

    /// The elements on the CPU.
    ///
    /// # Panics
    ///
    /// On a GPU.
    pub(crate) fn on_cpu(&self) -> &[T] {
        match &self.location {
            Locked::Host(data) => data,
            Locked::Gpu { .. } => panic!("the memory belongs to a GPU"),
        }
    }

    /// An error if there are fewer than `len` elements.
    fn check(&self, len: usize) -> Result<(), Error> {
        match len <= self.len() {
            true => Ok(()),
            false => Err(Error::ViewRange {
                start: 0,
                end: len,
                len: self.len(),
            }),
        }
    }
}

impl Device {
    /// Allocates `len` elements of pinned host memory, all bytes zero. On the CPU, allocates ordinary memory.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfHostMemory`]; [`Error::Cuda`], [`Error::Deferred`].
    pub fn pinned<T: Element>(&self, len: usize) -> Result<Pinned<T>, Error> {
        let location = match self.queue() {
            None => Locked::Host(host::zeroes(len)?),
            Some(stream) => Locked::Gpu {
                memory: PinnedMemory::new(stream.gpu(), len)?,
                copied: Event::without_time(stream.gpu())?,
            },
        };
        let device = self.clone();
        Ok(Pinned { device, location })
    }

    /// Overwrites the elements of `to` from `start` on with the first `len` elements of `from`.
    ///
    /// On a GPU it enqueues the copy and returns; [`Pinned::wait`] waits for the copy.
    ///
    /// # Errors
    ///
    /// [`Error::ViewRange`] if either has too few elements; [`Error::OtherDevice`]; [`Error::Cuda`],
    /// [`Error::Deferred`].
    pub fn enqueue_write<'a, T: Element>(
        &self,
        from: &mut Pinned<T>,
        len: usize,
        to: impl Target<'a, T>,
        start: usize,
    ) -> Result<(), Error> {
        from.check(len)?;
        let to = to.into_view_mut().part(start..start.saturating_add(len))?;
        self.backend().check_same(to.owner())?;
        self.backend().check_same(from.device.backend())?;
        match (&mut from.location, to.into_location(), self.queue()) {
            (Locked::Host(from), LocationMut::Host(to), _) => {
                to.copy_from_slice(&from[..len]);
                Ok(())
            }
            (Locked::Gpu { memory, copied }, LocationMut::Device(to), Some(stream)) => {
                let (to, bytes) = (to.all().address(), len * size_of::<T>());
                copy_between(stream, copied, bytes, || {
                    // SAFETY: both are `bytes` long (checked above) and freed only after a wait for all
                    // streams (their Drop). The host does not use `memory` before the copy is complete
                    // (`Pinned::wait`).
                    unsafe {
                        driver::copy_to_device(to, memory.as_ptr().cast(), bytes, stream.handle())
                    }
                })
            }
            _ => unreachable!("the devices have been compared"),
        }
    }

    /// Overwrites the first elements of `to` with those of `from`, after all work on this device's stream.
    ///
    /// On a GPU it enqueues the copy and returns; [`Pinned::wait`] waits for the copy.
    ///
    /// # Errors
    ///
    /// As [`enqueue_write`](Self::enqueue_write).
    pub fn enqueue_read<'a, T: Element>(
        &self,
        from: impl Input<'a, T>,
        to: &mut Pinned<T>,
    ) -> Result<(), Error> {
        let from = from.into_views();
        to.check(from.len())?;
        self.check_owner(&from)?;
        self.backend().check_same(to.device.backend())?;
        match (from.location(), &mut to.location, self.queue()) {
            (Location::Host(from), Locked::Host(to), _) => {
                to[..from.len()].copy_from_slice(from);
                Ok(())
            }
            (Location::Device(from), Locked::Gpu { memory, copied }, Some(stream)) => {
                let bytes = from.len() * size_of::<T>();
                copy_between(stream, copied, bytes, || {
                    // SAFETY: as in `enqueue_write`; the source too is freed only after a wait.
                    unsafe {
                        let to = memory.as_ptr().cast();
                        driver::copy_to_host(to, from.address(), bytes, stream.handle())
                    }
                })
            }
            _ => unreachable!("the devices have been compared"),
        }
    }
}

/// Enqueues a copy from or to pinned memory after the event `copied`, and records the event again after it.
fn copy_between(
    stream: &Stream,
    copied: &Event,
    bytes: usize,
    copy: impl FnOnce() -> Result<(), Error>,
) -> Result<(), Error> {
    stream.gpu().enter()?;
    if bytes == 0 {
        return Ok(());
    }
    stream.wait_for_event(copied)?;
    let enqueued = copy();
    copied.record(stream).and(enqueued)
}

impl<T: Element> fmt::Debug for Pinned<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "Pinned<{}>({} for {})",
            name_of::<T>(),
            self.len(),
            self.device
        )
    }
}
