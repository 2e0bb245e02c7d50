//! Tracking of initialised bytes.

use std::sync::atomic::{AtomicU64, Ordering};

/// The bytes that were written, one bit for each.
///
/// Blocks on several host threads may use it at the same time; each sees its own writes. A block may see
/// another block's writes too late only if the kernel has a race, which the race detector reports.
pub(crate) struct Initialised {
    words: Box<[AtomicU64]>,
}

impl Initialised {
    /// For `bytes` bytes, all of them initialised or none.
    pub fn new(bytes: usize, initialised: bool) -> Self {
        let word = if initialised { u64::MAX } else { 0 };
        Self {
            words: (0..bytes.div_ceil(64))
                .map(|_| AtomicU64::new(word))
                .collect(),
        }
    }

    /// Marks `len` bytes from `offset` as written.
    #[inline]
    pub fn write(&self, offset: usize, len: usize) {
        for (word, mask) in masks(offset, len) {
            let word = &self.words[word];
            if word.load(Ordering::Relaxed) & mask != mask {
                word.fetch_or(mask, Ordering::Relaxed);
            }
        }
    }

    /// The first byte of the range that was never written.
    #[inline]
    pub fn first_missing(&self, offset: usize, len: usize) -> Option<usize> {
        masks(offset, len).find_map(|(word, mask)| {
            let missing = mask & !self.words[word].load(Ordering::Relaxed);
            (missing != 0).then(|| word * 64 + missing.trailing_zeros() as usize)
        })
    }

    /// Marks all bytes as never written.
    pub fn clear(&self) {
        for word in &self.words {
            word.store(0, Ordering::Relaxed);
        }
    }
}

/// The words of the bit set that contain a range, and the range's bits in each.
#[inline]
fn masks(offset: usize, len: usize) -> impl Iterator<Item = (usize, u64)> {
    let end = offset + len;
    let words = if len == 0 { 0 } else { end.div_ceil(64) };
    (offset / 64..words).map(move |word| {
        let first = offset.saturating_sub(word * 64);
        let last = (end - word * 64).min(64);
        (word, u64::MAX >> (64 - (last - first)) << first)
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn each_byte_is_tracked() {
        let memory = Initialised::new(200, false);
        assert_eq!(memory.first_missing(0, 200), Some(0));
        assert_eq!(memory.first_missing(17, 0), None);
        memory.write(4, 4);
        assert_eq!(memory.first_missing(4, 4), None);
        assert_eq!(memory.first_missing(3, 4), Some(3));
        assert_eq!(memory.first_missing(4, 5), Some(8));
        memory.write(0, 200);
        assert_eq!(memory.first_missing(0, 200), None);
        memory.clear();
        assert_eq!(memory.first_missing(60, 16), Some(60));
    }

    #[test]
    fn memory_can_start_initialised() {
        let memory = Initialised::new(65, true);
        assert_eq!(memory.first_missing(0, 65), None);
        memory.clear();
        assert_eq!(memory.first_missing(64, 1), Some(64));
    }

    proptest! {
        #[test]
        fn agrees_with_one_flag_per_byte(
            ranges in prop::collection::vec((any::<bool>(), 0..300usize, 0..150usize), 1..40),
        ) {
            let memory = Initialised::new(450, false);
            let mut model = [false; 450];
            for (write, offset, len) in ranges {
                if write {
                    memory.write(offset, len);
                    model[offset..offset + len].fill(true);
                } else {
                    let missing = (offset..offset + len).find(|&byte| !model[byte]);
                    prop_assert_eq!(memory.first_missing(offset, len), missing);
                }
            }
        }
    }
}
