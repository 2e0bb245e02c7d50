//! Decodes valid and invalid arguments from bytes.

use arbitrary::{Arbitrary, Unstructured};
use warpfold::{Buffer, Error, View};

use super::number::Number;

/// The maximum length of an array: more than two pieces of 2^16 elements, in which the CPU reduces.
const MOST: usize = 140_000;

/// Threads per block: often a power of two.
#[derive(Arbitrary, Clone, Copy, Debug)]
enum Threads {
    PowerOfTwo(u8),
    Any(u32),
}

/// Threads per block; `None` for the default.
pub fn threads(source: &mut Unstructured<'_>) -> arbitrary::Result<Option<u32>> {
    Ok(source
        .arbitrary::<Option<Threads>>()?
        .map(|threads| match threads {
            Threads::PowerOfTwo(exponent) => 1 << (exponent % 12),
            Threads::Any(threads) => threads,
        }))
}

/// Whether a kernel can be launched with this number of threads.
pub fn is_block_size(threads: Option<u32>) -> bool {
    threads.is_none_or(|threads| threads.is_power_of_two() && (32..=1024).contains(&threads))
}

/// Decodes the remaining bytes as elements: repeats the first half, then appends the second. So a value may
/// occur only near the end of a long array.
pub fn elements<T: Number>(source: &mut Unstructured<'_>) -> arbitrary::Result<Vec<T>> {
    let times = 1usize << (source.arbitrary::<u8>()? % 16);
    let elements = T::of_bytes(source.bytes(source.len())?);
    let (repeated, once) = elements.split_at(elements.len() / 2);
    let n = repeated.len().saturating_mul(times).min(MOST);
    let repeated = repeated.iter().cycle().take(n);
    Ok(repeated.chain(once).copied().collect())
}

/// The range of a view, inside the buffer or not.
#[derive(Arbitrary, Clone, Copy, Debug)]
pub enum Range {
    All,
    Inside(u16, u16),
    Any(usize, usize),
}

impl Range {
    /// The view and its elements; `None` if the range is not inside, after a check of the error.
    pub fn of<'a, T: Number>(
        self,
        buffer: &'a Buffer<T>,
        elements: &'a [T],
    ) -> Option<(View<'a, T>, &'a [T])> {
        let len = elements.len();
        let range = match self {
            Self::All => 0..len,
            Self::Inside(start, skipped) => {
                let start = usize::from(start) % (len + 1);
                start..len - usize::from(skipped) % (len - start + 1)
            }
            Self::Any(start, end) => start..end,
        };
        match (buffer.view(range.clone()), elements.get(range.clone())) {
            (Ok(view), Some(elements)) => {
                assert_eq!(
                    (view.len(), view.is_empty()),
                    (elements.len(), elements.is_empty())
                );
                Some((view, elements))
            }
            (Err(error), None) => {
                let (start, end) = (range.start, range.end);
                assert_eq!(error, Error::ViewRange { start, end, len });
                None
            }
            (view, _) => panic!("{range:?} of {len}: {view:?}"),
        }
    }
}
