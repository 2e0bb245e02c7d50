//! What programs hold of the driver: numbers that look like pointers.

use std::collections::BTreeMap;
use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering};

use cust_raw::CUresult;

/// The next handle, of whatever; below are those that the driver gives a meaning, as to stream 1.
static NEXT: AtomicUsize = AtomicUsize::new(0x1000);

/// A number that no other handle has.
pub fn unique() -> usize {
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// Everything of a kind that programs have handles of.
pub struct Handles<T>(BTreeMap<usize, T>);

impl<T> Default for Handles<T> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<T> Handles<T> {
    /// Keeps `value`; a handle to it, whatever the driver calls its type.
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
