//! Copies on a device: what the caller asks for, checked, and turned into launches.

use std::sync::Arc;

use kernels_gpu::entry::copy::{self as table, CopyEntry};

use crate::algorithm::Pass;
use crate::buffer::{Buffer, Place, PlaceMut, View};
use crate::device::Device;
use crate::element::Element;
use crate::error::Error;
use crate::launch::CopyKernel;
use crate::memory::{DeviceMemory, Span};
use crate::stream::Stream;

/// How much one instruction of a copy moves; see [`kernels_gpu::copy`].
///
/// On the CPU device the choice has no effect.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CopyWidth {
    /// One element.
    Scalar,
    /// 8 bytes, where source and target lie alike.
    Vec2,
    /// 16 bytes, where source and target lie alike.
    #[default]
    Vec4,
}

impl CopyWidth {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Scalar, Self::Vec2, Self::Vec4];

    /// The kernel's name in `kernels-gpu`, as `copy_vec4`.
    pub const fn kernel_name(self) -> &'static str {
        match self {
            Self::Scalar => "copy_scalar",
            Self::Vec2 => "copy_vec2",
            Self::Vec4 => "copy_vec4",
        }
    }

    /// The entry for elements of a size; all of the sizes of [`Element`]s have one.
    fn entry(self, element_bytes: usize) -> &'static CopyEntry {
        let kernel = self.kernel_name();
        table::ENTRIES
            .iter()
            .find(|entry| entry.kernel == kernel && entry.element_bytes == element_bytes)
            .expect("every size is in the table")
    }
}

/// A copy prepared; see [`Device::copy`].
#[derive(Debug)]
pub struct CopyPlan<'a, T: Element> {
    work: Work<'a, T>,
}

enum Work<'a, T: Element> {
    Cpu {
        from: &'a [T],
        to: &'a mut [T],
    },
    Gpu {
        stream: Arc<Stream>,
        kernel: CopyKernel<T>,
        /// None for an empty source.
        pass: Option<Pass>,
        from: Span<'a, T>,
        to: &'a mut DeviceMemory<T>,
        at: usize,
    },
}

impl Device {
    /// Prepares a copy of `from` to the elements of `to` from `at` on, by the device's threads.
    ///
    /// ```
    /// use warpfold::{CopyWidth, Device};
    ///
    /// let device = Device::auto()?;
    /// let x = device.upload(&[1, 2, 3, 4, 5])?;
    /// let mut y = device.alloc::<i32>(6)?;
    /// device.copy(x.view(1..)?, &mut y, 2, CopyWidth::Vec4)?.run()?;
    /// assert_eq!(y.download()?, [0, 0, 2, 3, 4, 5]);
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::ViewRange`] when `to` has no room for it; [`Error::OtherDevice`],
    /// [`Error::Cuda`], [`Error::Deferred`].
    pub fn copy<'a, T: Element>(
        &self,
        from: impl Into<View<'a, T>>,
        to: &'a mut Buffer<T>,
        at: usize,
        width: CopyWidth,
    ) -> Result<CopyPlan<'a, T>, Error> {
        let from = from.into();
        self.check_owner(&from)?;
        let end = at.saturating_add(from.len());
        self.check_owner(&to.view(at..end)?)?;
        let work = match (from.place(), to.place_mut(), self.stream()) {
            (Place::Host(from), PlaceMut::Host(to), _) => {
                let to = &mut to[at..end];
                Work::Cpu { from, to }
            }
            (Place::Device(from), PlaceMut::Device(to), Some(stream)) => {
                let entry = width.entry(size_of::<T>());
                let kernel = CopyKernel::find(from.gpu(), entry)?;
                let pass = pass(from.len(), entry, from.gpu().info.multiprocessors);
                Work::Gpu {
                    stream: Arc::clone(stream),
                    kernel,
                    pass,
                    from,
                    to,
                    at,
                }
            }
            _ => unreachable!("both are on this device"),
        };
        Ok(CopyPlan { work })
    }
}

impl<T: Element> CopyPlan<'_, T> {
    /// Puts it on the device's stream and returns; no allocation, no wait. On the CPU device it
    /// is done here and now.
    ///
    /// # Errors
    ///
    /// [`Error::Cuda`] when the launch is refused; [`Error::Deferred`].
    pub fn enqueue(&mut self) -> Result<(), Error> {
        match &mut self.work {
            Work::Cpu { from, to } => to.copy_from_slice(from),
            Work::Gpu { pass: None, .. } => {}
            Work::Gpu {
                stream,
                kernel,
                pass: Some(pass),
                from,
                to,
                at,
            } => {
                stream.gpu().enter()?;
                kernel.launch(stream, pass, *from, to, *at)?;
            }
        }
        Ok(())
    }

    /// Does it and waits.
    ///
    /// # Errors
    ///
    /// Those of [`enqueue`](Self::enqueue); [`Error::Cuda`], also for a kernel's own fault.
    pub fn run(mut self) -> Result<(), Error> {
        self.enqueue()?;
        match &self.work {
            Work::Cpu { .. } => Ok(()),
            Work::Gpu { stream, .. } => stream.synchronize(),
        }
    }

    /// The launch; `None` for an empty source and on the CPU.
    pub fn pass(&self) -> Option<&Pass> {
        match &self.work {
            Work::Cpu { .. } => None,
            Work::Gpu { pass, .. } => pass.as_ref(),
        }
    }
}

impl<T: Element> std::fmt::Debug for Work<'_, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Work::Cpu { from, .. } => write!(f, "{} elements on the CPU", from.len()),
            Work::Gpu { pass, at, .. } => write!(f, "{pass:?} to element {at}"),
        }
    }
}

/// The launch of a copy of `n` elements: a thread for each access, but no more threads than the
/// device runs at once, which then stride.
fn pass(n: usize, entry: &CopyEntry, multiprocessors: u32) -> Option<Pass> {
    // The post's.
    const THREADS: u32 = 128;
    // Of all devices so far that of the largest: 2048 threads per multiprocessor.
    const BLOCKS_PER_MULTIPROCESSOR: u32 = 2048 / THREADS;
    if n == 0 {
        return None;
    }
    let accesses = (n * entry.element_bytes).div_ceil(entry.access_bytes);
    let most = multiprocessors * BLOCKS_PER_MULTIPROCESSOR;
    let blocks = accesses.div_ceil(THREADS as usize).min(most as usize);
    Some(Pass {
        blocks: blocks as u32,
        threads: THREADS,
        n: n as u64,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_width_has_an_entry_for_every_size() {
        for width in CopyWidth::ALL {
            for bytes in [1, 2, 4, 8] {
                assert_eq!(width.entry(bytes).element_bytes, bytes);
            }
        }
    }

    #[test]
    fn a_thread_for_each_access_until_the_device_is_full() {
        let blocks = |n, width: CopyWidth| pass(n, width.entry(4), 132).map(|pass| pass.blocks);
        assert_eq!(blocks(0, CopyWidth::Scalar), None);
        assert_eq!(blocks(1, CopyWidth::Vec4), Some(1));
        assert_eq!(blocks(128 * 100, CopyWidth::Scalar), Some(100));
        assert_eq!(blocks(128 * 100, CopyWidth::Vec2), Some(50));
        assert_eq!(blocks(128 * 100 + 1, CopyWidth::Vec4), Some(26));
        assert_eq!(blocks(1 << 30, CopyWidth::Vec4), Some(2112));
    }

    #[test]
    fn the_cpu_copies_and_refuses_alike() {
        let device = Device::cpu();
        let x = device.upload(&[1, 2, 3]).unwrap();
        let mut y = device.upload(&[9; 5]).unwrap();
        for width in CopyWidth::ALL {
            let copy = device.copy(x.view(1..).unwrap(), &mut y, 1, width);
            copy.unwrap().run().unwrap();
        }
        assert_eq!(y.download().unwrap(), [9, 2, 3, 9, 9]);
        let error = device.copy(&x, &mut y, 3, CopyWidth::Vec2).unwrap_err();
        assert_eq!(
            error,
            Error::ViewRange {
                start: 3,
                end: 6,
                len: 5
            }
        );
        assert!(
            device
                .copy(&x, &mut y, usize::MAX, CopyWidth::Vec2)
                .is_err()
        );
    }
}
