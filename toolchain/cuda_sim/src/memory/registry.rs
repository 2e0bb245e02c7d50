//! The registry of all buffers of the process: finds the buffer of an address.

use std::alloc::{self, Layout};
use std::collections::BTreeMap;
use std::ptr::NonNull;
use std::sync::{Arc, PoisonError, RwLock};

use super::poison;
use crate::check::Initialised;

/// Alignment of memory from `cudaMalloc`.
const ALIGNMENT: usize = 256;

/// Guard bytes on each side of an allocation: an access there is out of bounds.
const MARGIN: usize = 256;

static ALLOCATIONS: RwLock<BTreeMap<usize, Arc<Allocation>>> = RwLock::new(BTreeMap::new());

/// Global memory between two margins.
pub(crate) struct Allocation {
    /// The start of the first margin.
    whole: NonNull<u8>,
    layout: Layout,
    bytes: usize,
    pub initialised: Initialised,
}

// SAFETY: the allocation owns the memory, and gives out only its address.
unsafe impl Send for Allocation {}
// SAFETY: as above; `Initialised` is made of atomics.
unsafe impl Sync for Allocation {}

impl Allocation {
    /// Allocates `bytes` uninitialised bytes; later launches can find them.
    pub fn new(bytes: usize) -> Arc<Self> {
        let layout = bytes
            .checked_add(2 * MARGIN)
            .and_then(|whole| Layout::from_size_align(whole, ALIGNMENT).ok())
            .expect("a buffer is smaller than the address space");
        // SAFETY: the layout is not empty, because it has margins.
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

    /// Hides it from later launches. The memory is freed when the last launch that uses it ends.
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

    /// The offset of an address, if it lies in the allocation or one of its margins.
    fn offset(&self, address: usize) -> Option<isize> {
        let offset = address.wrapping_sub(self.whole.addr().get());
        (offset < self.layout.size()).then_some(offset as isize - MARGIN as isize)
    }
}

impl Drop for Allocation {
    fn drop(&mut self) {
        // SAFETY: `new` allocated it with this layout, and no launch has the address any more.
        unsafe { alloc::dealloc(self.whole.as_ptr(), self.layout) };
    }
}

/// The allocations at the start of a launch, sorted by address.
pub(crate) struct Allocations(Vec<Arc<Allocation>>);

/// The result of looking up an access.
pub(crate) enum Found<'a> {
    /// Completely inside an allocation, at this offset.
    Inside(&'a Allocation, usize),
    /// Partly or completely in a margin, at this offset from the allocation's start.
    Beyond(&'a Allocation, isize),
    /// Outside all buffers.
    Elsewhere,
}

impl Allocations {
    pub fn now() -> Self {
        let allocations = ALLOCATIONS.read().unwrap_or_else(PoisonError::into_inner);
        Self(allocations.values().cloned().collect())
    }

    /// `last` caches the index of the last allocation found.
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
