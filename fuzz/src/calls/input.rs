//! Arguments out of bytes, good and bad ones.

use arbitrary::{Arbitrary, Unstructured};
use warpfold::{Buffer, Error, View};

use super::number::Number;

/// The most elements of an array: some more than two pieces of 2^16, in which the CPU works.
const MOST: usize = 140_000;

/// Threads per block: mostly a number that may be one.
#[derive(Arbitrary, Clone, Copy, Debug)]
enum Threads {
    PowerOfTwo(u8),
    Any(u32),
}

/// `None` where the call is to choose.
pub fn threads(source: &mut Unstructured<'_>) -> arbitrary::Result<Option<u32>> {
    Ok(source
        .arbitrary::<Option<Threads>>()?
        .map(|threads| match threads {
            Threads::PowerOfTwo(exponent) => 1 << (exponent % 12),
            Threads::Any(threads) => threads,
        }))
}

/// Whether a kernel can be launched with so many.
pub fn is_block_size(threads: Option<u32>) -> bool {
    threads.is_none_or(|threads| threads.is_power_of_two() && (32..=1024).contains(&threads))
}

/// What is left of the bytes, as elements: half of them again and again, then the others, so that
/// something may stand far behind that does not stand before.
pub fn elements<T: Number>(source: &mut Unstructured<'_>) -> arbitrary::Result<Vec<T>> {
    let times = 1usize << (source.arbitrary::<u8>()? % 16);
    let elements = T::of_bytes(source.bytes(source.len())?);
    let (again, once) = elements.split_at(elements.len() / 2);
    let n = again.len().saturating_mul(times).min(MOST);
    let again = again.iter().cycle().take(n);
    Ok(again.chain(once).copied().collect())
}

/// Where a view starts and ends; inside the buffer or not.
#[derive(Arbitrary, Clone, Copy, Debug)]
pub enum Range {
    All,
    Inside(u16, u16),
    Any(usize, usize),
}

impl Range {
    /// The view with its elements; `None` where the range is not inside, and says so.
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
