//! Handles: unique numbers that are passed as pointers.

use std::collections::BTreeMap;
use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering};

use cust_raw::CUresult;

/// The next handle of any kind. The driver reserves low numbers, such as 1 for the legacy stream.
static NEXT: AtomicUsize = AtomicUsize::new(0x1000);

/// A new, unique number.
pub fn unique() -> usize {
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// All objects of one kind, by handle.
pub struct Handles<T>(BTreeMap<usize, T>);

impl<T> Default for Handles<T> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<T> Handles<T> {
    /// Stores `value`, and returns a handle of the requested type.
    pub fn add<H>(&mut self, value: T) -> *mut H {
        let handle = unique();
        self.0.insert(handle, value);
        ptr::without_provenance_mut(handle)
    }

    pub fn get<H>(&self, handle: *mut H) -> Result<&T, CUresult> {
        self.0.get(&handle.addr()).ok_or(UNKNOWN)
    }

    pub fn get_mut<H>(&mut self, handle: *mut H) -> Result<&mut T, CUresult> {
        self.0.get_mut(&handle.addr()).ok_or(UNKNOWN)
    }

    pub fn remove<H>(&mut self, handle: *mut H) -> Result<T, CUresult> {
        self.0.remove(&handle.addr()).ok_or(UNKNOWN)
    }

    pub fn all_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.0.values_mut()
    }

    pub fn retain(&mut self, keep: impl Fn(&T) -> bool) {
        self.0.retain(|_, value| keep(value));
    }

    pub fn clear(&mut self) {
        self.0.clear();
    }
}

const UNKNOWN: CUresult = CUresult::CUDA_ERROR_INVALID_HANDLE;
