//! Copies on a device by a kernel.

use std::sync::Arc;

use kernels_gpu::entry::{Entry, teaching};

use crate::backend::Queue;
use crate::buffer::Location;
use crate::device::Device;
use crate::element::Element;
use crate::error::Error;
use crate::input::Input;
use crate::launch::{Argument, Grid, Kernel};
use crate::memory::{Span, SpanMut};
use crate::pass::Pass;
use crate::plan::{Job, Plan};
use crate::view_mut::{LocationMut, Target};

/// The bytes that one instruction of a copy moves; see [`kernels_gpu::copy`].
///
/// On the CPU the choice has no effect.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CopyWidth {
    /// One element.
    Scalar,
    /// 8 bytes, if source and target have the same alignment.
    Vec2,
    /// 16 bytes, if source and target have the same alignment.
    #[default]
    Vec4,
}

impl CopyWidth {
    /// All widths.
    pub const ALL: [Self; 3] = [Self::Scalar, Self::Vec2, Self::Vec4];

    /// The kernel's name in `kernels-gpu`, such as `copy_vec4`.
    pub const fn kernel_name(self) -> &'static str {
        match self {
            Self::Scalar => "copy_scalar",
            Self::Vec2 => "copy_vec2",
            Self::Vec4 => "copy_vec4",
        }
    }

    /// The row for elements of this size. Structures are copied in words of their alignment.
    fn entry(self, bytes: usize) -> &'static Entry {
        let kernel = self.kernel_name();
        let matches = |entry: &&Entry| entry.kernel == kernel && entry.read_bytes[0] == bytes;
        let mut entries = teaching::COPIES.entries.iter();
        entries.find(matches).expect("every alignment has an entry")
    }
}

/// A copy on a GPU.
struct Launch<'a, T: Element> {
    queue: Arc<Queue>,
    kernel: Kernel,
    pass: Pass,
    from: Span<'a, T>,
    to: SpanMut<'a, T>,
}

impl Device {
    /// Prepares a copy of `from` to the elements of `to` from `at` on, by a kernel.
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
    /// [`Error::ViewRange`] if `to` has too few elements; [`Error::OtherDevice`], [`Error::Cuda`],
    /// [`Error::Deferred`].
    pub fn copy<'a, T: Element>(
        &self,
        from: impl Input<'a, T>,
        to: impl Target<'a, T>,
        at: usize,
        width: CopyWidth,
    ) -> Result<Plan<'a, ()>, Error> {
        let from = from.into_views();
        self.check_owner(&from)?;
        let to = to.into_view_mut().part(at..at.saturating_add(from.len()))?;
        self.backend().check_same(to.owner())?;
        let kernel = width.kernel_name();
        match (from.location(), to.into_location(), self.queue()) {
            (Location::Host(from), LocationMut::Host(to), _) => Ok(Plan::on_cpu(
                kernel,
                move || to.copy_from_slice(from),
                |()| (),
            )),
            (Location::Device(from), LocationMut::Device(to), Some(queue)) => {
                let entry = width.entry(align_of::<T>());
                let words = from.len() * (size_of::<T>() / align_of::<T>());
                let Some(pass) = pass(words, entry, queue.gpu().info.multiprocessors) else {
                    return Ok(Plan::on_cpu(kernel, || (), |()| ()));
                };
                let launch = Launch {
                    queue: Arc::clone(queue),
                    kernel: Kernel::find(queue.gpu(), entry)?,
                    pass,
                    from,
                    to,
                };
                Ok(Plan::new(kernel, vec![pass], launch))
            }
            _ => unreachable!("both are on this device"),
        }
    }
}

impl<T: Element> Job<()> for Launch<'_, T> {
    fn enqueue(&mut self) -> Result<(), Error> {
        self.queue.gpu().enter()?;
        let grid = Grid {
            blocks: self.pass.blocks,
            threads: self.pass.threads,
        };
        let arguments = [
            Argument::input(self.from).as_words(align_of::<T>()),
            Argument::output_span(self.to.reborrow()).as_words(align_of::<T>()),
        ];
        // SAFETY:
        // - The row is for words of the element's alignment, and the element's size is a multiple of a word.
        //   Any bit pattern is a valid element (`Plain`).
        // - The source is borrowed. The target has the same length, is inside its memory (`Device::copy`),
        //   and is borrowed mutably, so they do not overlap.
        // - The kernel is a grid-stride loop, which is right for any number of blocks of at least 32 threads.
        unsafe { self.kernel.launch(&self.queue, grid, &arguments) }
    }

    fn queue(&self) -> Option<&Queue> {
        Some(&self.queue)
    }

    fn result(&self) -> Result<(), Error> {
        self.queue.synchronize()
    }
}

/// The launch of a copy of `n` elements: one thread per access, up to the threads that the device runs at
/// once.
fn pass(n: usize, entry: &Entry, multiprocessors: u32) -> Option<Pass> {
    // As in the post that `kernels_gpu::copy` follows.
    const THREADS: u32 = 128;
    // The maximum of all devices so far: 2048 threads per multiprocessor.
    const BLOCKS_PER_MULTIPROCESSOR: u32 = 2048 / THREADS;
    if n == 0 {
        return None;
    }
    let accesses = n.div_ceil(entry.load_items());
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
                assert_eq!(width.entry(bytes).read_bytes[0], bytes);
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
    fn the_cpu_copies_and_checks_the_range() {
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
