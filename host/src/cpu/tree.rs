//! Combines the blocks of an input in a binary tree, on all cores.

use kernels_gpu::items::Items;

use super::parallel::join;
use super::rows::{Of, len, part};

/// Bytes of a block: large enough that the time for combining blocks is negligible.
const BLOCK_BYTES: usize = 32 << 10;

/// Below this many bytes one thread reduces the whole input, because waking another takes 10 to 40 µs.
///
/// Evidence: sums of `f32` on 2 cores of an AMD EPYC of family 26, 2026-11-22. 1 MiB: 15 µs on one thread, 20
/// to 60 on two. 4 MiB: 70 and 50.
const PARALLEL_BYTES: usize = 2 << 20;

/// Maximum bytes of a rayon task.
const TASK_BYTES: usize = 256 << 10;

/// A tree of blocks: how a block is reduced, and how two results are combined.
pub(super) struct Tree<L, C> {
    /// Items per block.
    block: usize,
    /// Items per task.
    task: usize,
    /// Reduces the items of a block; the second argument is the index of the first item.
    leaf: L,
    combine: C,
}

impl<L, C> Tree<L, C> {
    /// A tree whose blocks consist of rows of `width` items.
    pub(super) fn new<I: Items>(width: usize, leaf: L, combine: C) -> Self {
        let rows = (BLOCK_BYTES / I::BYTES / width).max(1);
        Self {
            // A power of two, so that blocks of tiles are subtrees.
            block: (rows + 1).next_power_of_two() / 2 * width,
            task: TASK_BYTES / I::BYTES,
            leaf,
            combine,
        }
    }

    /// Reduces `items`. A single block, also an empty one, is a leaf.
    pub(super) fn reduce<I, A>(&self, items: Of<'_, I>) -> A
    where
        I: Items,
        A: Send,
        L: Fn(Of<'_, I>, usize) -> A + Sync,
        C: Fn(A, A) -> A + Sync,
    {
        let is_parallel =
            len::<I>(items) * I::BYTES >= PARALLEL_BYTES && rayon::current_num_threads() > 1;
        let task = if is_parallel { self.task } else { usize::MAX };
        self.part::<I, A>(items, 0, task)
    }

    /// Reduces the part that starts at item `start`, by tasks of at most `task` items.
    fn part<I, A>(&self, items: Of<'_, I>, start: usize, task: usize) -> A
    where
        I: Items,
        A: Send,
        L: Fn(Of<'_, I>, usize) -> A + Sync,
        C: Fn(A, A) -> A + Sync,
    {
        let len = len::<I>(items);
        if len <= self.block {
            return (self.leaf)(items, start);
        }
        // The largest power of two of blocks that leaves some: adjacent blocks form a binary tree.
        let middle = len.div_ceil(self.block).next_power_of_two() / 2 * self.block;
        let (low, high) = (part::<I>(items, 0, middle), part::<I>(items, middle, len));
        let low = || self.part::<I, A>(low, start, task);
        let high = || self.part::<I, A>(high, start + middle, task);
        let (low, high) = if len > task {
            join(low, high)
        } else {
            (low(), high())
        };
        (self.combine)(low, high)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The start and end of the elements, the depth of the tree, and a hash that identifies its shape.
    type Shape = (usize, usize, u32, u64);

    fn shape(n: usize, width: usize, task: usize) -> Shape {
        let leaf = |values: &[u64], start| (start, start + values.len(), 0, start as u64);
        let combine = |low: Shape, high: Shape| {
            assert_eq!(low.1, high.0, "parts follow one another");
            let hash = low.3.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ high.3.rotate_left(17);
            (low.0, high.1, low.2.max(high.2) + 1, hash)
        };
        Tree::new::<u64>(width, leaf, combine).part::<u64, Shape>(&vec![0; n], 0, task)
    }

    proptest! {
        #[test]
        fn the_shape_depends_only_on_n(n in 0usize..100_000, task in 1usize..50_000, threads in 1usize..5) {
            let expected = shape(n, 128, usize::MAX);
            prop_assert_eq!((expected.0, expected.1), (0, n));
            let blocks = n.div_ceil(4096).max(1);
            prop_assert_eq!(expected.2, blocks.next_power_of_two().ilog2());
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            prop_assert_eq!(pool.install(|| shape(n, 128, task)), expected);
        }
    }

    #[test]
    fn blocks_are_powers_of_two_of_rows() {
        // 4096 values, of which 64 rows of 48 are a power of two.
        for (n, width, depth) in [(4096, 32, 0), (4097, 32, 1), (3072, 48, 0), (3073, 48, 1)] {
            assert_eq!(shape(n, width, 1).2, depth, "{n} in rows of {width}");
        }
    }
}
