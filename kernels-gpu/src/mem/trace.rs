//! Reports of the handles' accesses to the simulator, which checks and counts them. Without the feature
//! `simulator`, and on the GPU, these functions do nothing and emit no instruction.

/// The kind of an access.
#[derive(Clone, Copy)]
pub(super) enum Access {
    Load,
    Store,
    /// The atomic operation itself reports the rest, through `cuda_std`.
    Atomic,
}

#[cfg(not(all(feature = "simulator", not(target_arch = "nvptx64"))))]
pub(super) use silent::{global, granule, shared, vector};
#[cfg(all(feature = "simulator", not(target_arch = "nvptx64")))]
pub(super) use traced::{global, granule, shared, vector};

#[cfg(not(all(feature = "simulator", not(target_arch = "nvptx64"))))]
mod silent {
    use super::Access;

    #[inline(always)]
    pub fn global<T>(_start: *const T, _len: usize, _index: usize, _access: Access) {}

    #[inline(always)]
    pub fn vector<T>(
        _start: *const T,
        _len: usize,
        _index: usize,
        _alignment: usize,
        _access: Access,
    ) {
    }

    #[inline(always)]
    pub fn granule<T>(_start: *const T, _end: usize, _at: usize, _size: usize, _access: Access) {}

    #[inline(always)]
    pub fn shared<T>(_start: *const T, _index: u32, _access: Access) {}
}

#[cfg(all(feature = "simulator", not(target_arch = "nvptx64")))]
mod traced {
    use super::Access;
    use cuda_sim::device::{self, Kind};

    impl From<Access> for Kind {
        #[inline(always)]
        fn from(access: Access) -> Self {
            match access {
                Access::Load => Self::Load,
                Access::Store => Self::Store,
                Access::Atomic => Self::Atomic,
            }
        }
    }

    #[inline(always)]
    #[track_caller]
    pub fn global<T>(start: *const T, len: usize, index: usize, access: Access) {
        let (size, alignment) = (size_of::<T>(), align_of::<T>());
        device::global(start.addr(), len, index, size, alignment, access.into());
    }

    /// An access by several instructions, each of which moves `alignment` bytes; the size is a multiple of
    /// `alignment`.
    #[inline(always)]
    #[track_caller]
    pub fn vector<T>(start: *const T, len: usize, index: usize, alignment: usize, access: Access) {
        let pieces = size_of::<T>() / alignment;
        for piece in 0..pieces {
            let index = index * pieces + piece;
            let len = len * pieces;
            device::global(
                start.addr(),
                len,
                index,
                alignment,
                alignment,
                access.into(),
            );
        }
    }

    /// An access to `size` bytes at address `at`, a multiple of `size`, of the array from `start` to `end`.
    #[inline(always)]
    #[track_caller]
    pub fn granule<T>(start: *const T, end: usize, at: usize, size: usize, access: Access) {
        let first = start.addr().next_multiple_of(size);
        let granules = (end - end % size).saturating_sub(first) / size;
        // Before the first granule, the number wraps and is out of bounds.
        let index = at.wrapping_sub(first) / size;
        device::global(first, granules, index, size, size, access.into());
    }

    #[inline(always)]
    #[track_caller]
    pub fn shared<T>(start: *const T, index: u32, access: Access) {
        device::shared(start.addr(), index as usize, size_of::<T>(), access.into());
    }
}
