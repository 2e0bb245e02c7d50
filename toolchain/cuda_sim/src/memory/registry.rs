//! All buffers of the process, so that an address leads to its buffer.

use std::alloc::{self, Layout};
use std::collections::BTreeMap;
use std::ptr::NonNull;
use std::sync::{Arc, PoisonError, RwLock};

use super::poison;
use crate::check::Initialised;

/// What `cudaMalloc` aligns to.
const ALIGNMENT: usize = 256;

/// Bytes on each side of an allocation that belong to nobody: an access there is out of bounds.
const MARGIN: usize = 256;

static ALLOCATIONS: RwLock<BTreeMap<usize, Arc<Allocation>>> = RwLock::new(BTreeMap::new());

/// Global memory between two margins.
pub(crate) struct Allocation {
    /// Where the first margin begins.
    whole: NonNull<u8>,
    layout: Layout,
    bytes: usize,
    pub initialised: Initialised,
}

// SAFETY: the memory belongs to the allocation, which gives out its address only.
unsafe impl Send for Allocation {}
// SAFETY: as above; `Initialised` is made of atomics.
unsafe impl Sync for Allocation {}

impl Allocation {
    /// `bytes` bytes that nobody has written, known to every launch from now on.
    pub fn new(bytes: usize) -> Arc<Self> {
        let layout = bytes
            .checked_add(2 * MARGIN)
            .and_then(|whole| Layout::from_size_align(whole, ALIGNMENT).ok())
            .expect("a buffer is smaller than the address space");
        // SAFETY: the layout has a size, that of the margins at least.
        let whole = unsafe { alloc::alloc(layout) };
        let Some(whole) = NonNull::new(whole) else {
            alloc::handle_alloc_error(layout)
        };
        // SAFETY: the allocation has that many bytes.
        unsafe { poison(whole.as_ptr(), layout.size()) };
        let allocation = Arc::new(Self {
            whole,
            layout,
            bytes,
            initialised: Initialised::new(bytes, false),
        });
        ALLOCATIONS
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(whole.addr().get(), Arc::clone(&allocation));
        allocation
    }

    /// Makes it unknown to later launches; the memory goes when the last of them has ended.
    pub fn forget(&self) {
        ALLOCATIONS
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(&self.whole.addr().get());
    }

    pub fn start(&self) -> *mut u8 {
        // SAFETY: the margin lies inside of the allocation.
        unsafe { self.whole.as_ptr().add(MARGIN) }
    }

    pub fn len(&self) -> usize {
        self.bytes
    }

    /// The access's offset, when it begins in the allocation or in one of its margins.
    fn offset(&self, address: usize) -> Option<isize> {
        let offset = address.wrapping_sub(self.whole.addr().get());
        (offset < self.layout.size()).then_some(offset as isize - MARGIN as isize)
    }
}

impl Drop for Allocation {
    fn drop(&mut self) {
        // SAFETY: `new` allocated it with this layout, and nobody has the address any more.
        unsafe { alloc::dealloc(self.whole.as_ptr(), self.layout) };
    }
}

/// The allocations at the time of a launch, by address.
pub(crate) struct Allocations(Vec<Arc<Allocation>>);

/// Where an access falls.
pub(crate) enum Found<'a> {
    /// Wholly into an allocation, at this offset.
    Inside(&'a Allocation, usize),
    /// Partly or wholly into a margin, at this offset from the allocation's start.
    Beyond(&'a Allocation, isize),
    /// Into memory of the program that is no buffer.
    Elsewhere,
}

impl Allocations {
    pub fn now() -> Self {
        let allocations = ALLOCATIONS.read().unwrap_or_else(PoisonError::into_inner);
        Self(allocations.values().cloned().collect())
    }

    /// `last` is where the caller's last access fell: a hint, which this keeps.
    pub fn find(&self, address: usize, size: usize, last: &mut usize) -> Found<'_> {
        let hinted = self
            .0
            .get(*last)
            .and_then(|a| Some((a, a.offset(address)?)));
        let found = hinted.or_else(|| {
            let after = self.0.partition_point(|a| a.whole.addr().get() <= address);
            *last = after.checked_sub(1)?;
            let allocation = &self.0[*last];
            Some((allocation, allocation.offset(address)?))
        });
        match found {
            None => Found::Elsewhere,
            Some((allocation, offset))
                if offset >= 0 && offset as usize + size <= allocation.bytes =>
            {
                Found::Inside(allocation, offset as usize)
            }
            Some((allocation, offset)) => Found::Beyond(allocation, offset),
        }
    }
}
