//! The algorithms, and the shapes of their launches.

use kernels_gpu::entry::{self, teaching};
use kernels_gpu::needs::{Needs, ResultIn};

use crate::error::Error;
use crate::pass::{Pass, check_threads};
use crate::policy::Policy;

/// The maximum number of blocks of a grid-stride kernel: the second pass has one block, and each of its
/// threads loads one partial.
const GRID_STRIDE_BLOCKS: u32 = 1024;

/// The threads of the block that reduces those partials.
const SECOND_PASS_THREADS: u32 = 1024;

/// How a reduction is computed on the GPU: single-pass, by a rung of the ladder, or by shuffles and atomics.
///
/// Each rung of the ladder fixes a fault of the rung before. See [`kernels_gpu::single_pass`],
/// [`kernels_gpu::harris`] and [`kernels_gpu::kepler`]. On the CPU the choice is checked and has no effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Algorithm {
    /// One launch: shuffles, a partial per block, and a last block that combines the partials. The default of
    /// [`Device::reduce`](crate::Device::reduce).
    SinglePass,
    /// One atomic per element on one cell of global memory. Sums of `f32` treat subnormal numbers as zero,
    /// like the hardware's atomic addition; so do sums by `SharedMemory`.
    Naive,
    /// One atomic per element on a cell of shared memory, and one per block on global memory.
    SharedMemory,
    /// A tree in shared memory, with interleaved addressing and divergent warps.
    Reduce0,
    /// The same with a modulo that the compiler cannot replace by a mask.
    Reduce0Modulo,
    /// Interleaved addressing with adjacent threads: no divergence, but bank conflicts.
    Reduce1,
    /// Sequential addressing: no bank conflicts.
    Reduce2,
    /// The same, with the last warp unrolled in shared memory, as before shuffles.
    Reduce2Warp,
    /// The first addition while loading: two elements per thread.
    Reduce3,
    /// The last 32 values are combined by shuffles.
    Reduce4,
    /// The last 32 values are combined by the `redux.sync` instruction; only `i32` and `u32`.
    Reduce4Redux,
    /// Several elements per thread, in a loop.
    Reduce5Loop {
        /// The number of elements per thread; 1 or more.
        chunks: u32,
    },
    /// Several elements per thread, fully unrolled.
    Reduce5 {
        /// The number of elements per thread: 1, 2, 4, 8 or 16.
        chunks: u32,
    },
    /// Shuffles, then a partial for each of at most 1024 blocks, then one block for the partials.
    Stable {
        /// The elements per load: 1, 2 or 4.
        vector: u32,
    },
    /// [`Stable`](Self::Stable) with one element per load, in which all threads of a block get the block's partial.
    StableAll,
    /// Shuffles, then one atomic per warp. As with [`Naive`](Self::Naive), an atomic addition treats a
    /// subnormal `f32` as zero.
    WarpAtomic {
        /// The elements per load: 1, 2 or 4.
        vector: u32,
    },
    /// Shuffles, then one atomic per block, with the same exception.
    BlockAtomic {
        /// The elements per load: 1, 2 or 4.
        vector: u32,
    },
}

impl Algorithm {
    /// Every rung, in the order of the ladder.
    pub const LADDER: &'static [Self] = &[
        Self::Naive,
        Self::SharedMemory,
        Self::Reduce0,
        Self::Reduce0Modulo,
        Self::Reduce1,
        Self::Reduce2,
        Self::Reduce2Warp,
        Self::Reduce3,
        Self::Reduce4,
        Self::Reduce4Redux,
        Self::Reduce5Loop { chunks: 4 },
        Self::Reduce5 { chunks: 1 },
        Self::Reduce5 { chunks: 2 },
        Self::Reduce5 { chunks: 4 },
        Self::Reduce5 { chunks: 8 },
        Self::Reduce5 { chunks: 16 },
    ];

    /// The algorithms with shuffles and atomics, for every number of elements per load.
    pub const KEPLER: &'static [Self] = &[
        Self::Stable { vector: 1 },
        Self::Stable { vector: 2 },
        Self::Stable { vector: 4 },
        Self::StableAll,
        Self::WarpAtomic { vector: 1 },
        Self::WarpAtomic { vector: 2 },
        Self::WarpAtomic { vector: 4 },
        Self::BlockAtomic { vector: 1 },
        Self::BlockAtomic { vector: 2 },
        Self::BlockAtomic { vector: 4 },
    ];

    /// All algorithms: single-pass, the ladder, then shuffles and atomics.
    pub fn all() -> impl Iterator<Item = Self> {
        let rest = Self::LADDER.iter().chain(Self::KEPLER).copied();
        [Self::SinglePass].into_iter().chain(rest)
    }

    /// The kernel's name in `kernels-gpu`, such as `reduce_5_x4`.
    ///
    /// Without a kernel for the number of chunks or elements per load, the name is `reduce_5_xC` or similar,
    /// and planning it is [`Error::Chunks`] or [`Error::Vector`].
    pub const fn kernel_name(self) -> &'static str {
        match self {
            Self::SinglePass => "single_pass",
            Self::Naive => "reduce_naive",
            Self::SharedMemory => "reduce_shared_memory",
            Self::Reduce0 => "reduce_0",
            Self::Reduce0Modulo => "reduce_0_modulo",
            Self::Reduce1 => "reduce_1",
            Self::Reduce2 => "reduce_2",
            Self::Reduce2Warp => "reduce_2_warp",
            Self::Reduce3 => "reduce_3",
            Self::Reduce4 => "reduce_4",
            Self::Reduce4Redux => "reduce_4_redux",
            Self::Reduce5Loop { .. } => "reduce_5",
            Self::Reduce5 { chunks: 1 } => "reduce_5_x1",
            Self::Reduce5 { chunks: 2 } => "reduce_5_x2",
            Self::Reduce5 { chunks: 4 } => "reduce_5_x4",
            Self::Reduce5 { chunks: 8 } => "reduce_5_x8",
            Self::Reduce5 { chunks: 16 } => "reduce_5_x16",
            Self::Reduce5 { .. } => "reduce_5_xC",
            Self::Stable { vector: 1 } => "stable",
            Self::Stable { vector: 2 } => "stable_vec2",
            Self::Stable { vector: 4 } => "stable_vec4",
            Self::Stable { .. } => "stable_vecN",
            Self::StableAll => "stable_all",
            Self::WarpAtomic { vector: 1 } => "warp_atomic",
            Self::WarpAtomic { vector: 2 } => "warp_atomic_vec2",
            Self::WarpAtomic { vector: 4 } => "warp_atomic_vec4",
            Self::WarpAtomic { .. } => "warp_atomic_vecN",
            Self::BlockAtomic { vector: 1 } => "block_atomic",
            Self::BlockAtomic { vector: 2 } => "block_atomic_vec2",
            Self::BlockAtomic { vector: 4 } => "block_atomic_vec4",
            Self::BlockAtomic { .. } => "block_atomic_vecN",
        }
    }

    /// The shape of a launch; not for [`SinglePass`](Self::SinglePass).
    pub(crate) fn shape(self) -> Result<Shape, Error> {
        let kernel = self.kernel_name();
        let refused = |chunks, allowed| {
            Err(Error::Chunks {
                kernel,
                chunks,
                allowed,
            })
        };
        match self {
            Self::Reduce5Loop { chunks: 0 } => refused(0, "1 or more"),
            Self::Reduce5 { chunks } if !matches!(chunks, 1 | 2 | 4 | 8 | 16) => {
                refused(chunks, "1, 2, 4, 8 or 16")
            }
            Self::Reduce5Loop { chunks } => Ok(Shape::of(kernel, chunks)),
            Self::StableAll => Ok(Shape::limited(kernel, 1)),
            Self::Stable { vector }
            | Self::WarpAtomic { vector }
            | Self::BlockAtomic { vector } => match vector {
                1 | 2 | 4 => Ok(Shape::limited(kernel, vector)),
                _ => Err(Error::Vector { kernel, vector }),
            },
            _ => Ok(Shape::of(kernel, 1)),
        }
    }
}

/// The shape of a kernel's launches; threads per block and n are still free.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    pub(crate) kernel: &'static str,
    pub(crate) items_per_thread: u32,
    pub(crate) needs: Needs,
    /// For a grid-stride kernel: its limited grid.
    pub(crate) limited: Option<Limited>,
}

/// A grid of limited size, and the kernel that reduces its partials in one block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Limited {
    pub(crate) blocks: u32,
    pub(crate) second: &'static str,
    pub(crate) second_threads: u32,
}

impl Algorithm {
    /// The default threads per block.
    pub(crate) const fn threads(self) -> u32 {
        match self {
            Self::SinglePass => Policy::SINGLE_PASS_THREADS,
            Self::Stable { .. }
            | Self::StableAll
            | Self::WarpAtomic { .. }
            | Self::BlockAtomic { .. } => Policy::KEPLER_THREADS,
            _ => Policy::LADDER_THREADS,
        }
    }
}

impl Shape {
    /// The shape of a kernel of the table; `chunks` is the number of elements per thread, if the kernel has a
    /// loop.
    pub(crate) fn of(kernel: &'static str, chunks: u32) -> Self {
        let row = entry::find(teaching::KERNELS.entries, kernel);
        let needs = row.expect("every rung has a kernel").needs;
        Self {
            kernel,
            items_per_thread: needs.per_thread.unwrap_or(chunks),
            needs,
            limited: None,
        }
    }

    /// The shape of a grid-stride kernel with a limited grid, and `vector` elements per load.
    fn limited(kernel: &'static str, vector: u32) -> Self {
        Self {
            limited: Some(Limited {
                blocks: GRID_STRIDE_BLOCKS,
                second: "stable",
                second_threads: SECOND_PASS_THREADS,
            }),
            ..Self::of(kernel, vector)
        }
    }

    /// The kernel of every pass except the first.
    pub(crate) fn second(&self) -> &'static str {
        self.limited.map_or(self.kernel, |limited| limited.second)
    }

    /// An error unless the kernel supports this number of threads per block on the device.
    pub(crate) fn check_threads(&self, threads: u32, limit: u32) -> Result<(), Error> {
        check_threads(self.kernel, threads, limit)
    }

    /// The passes that reduce `n` elements to one value. The same kernel reduces the partials until one is
    /// left, or one block reduces all of them. Empty for empty input.
    pub(crate) fn passes(&self, n: u64, threads: u32, max_blocks: u32) -> Result<Vec<Pass>, Error> {
        if let Some(limited) = self.limited {
            return Ok(self.two_passes(n, threads, limited));
        }
        let tile = u64::from(self.items_per_thread) * u64::from(threads);
        let mut passes = Vec::new();
        let mut n = n;
        while n > 0 {
            let blocks = n.div_ceil(tile);
            let Some(grid) = u32::try_from(blocks)
                .ok()
                .filter(|grid| *grid <= max_blocks)
            else {
                return Err(Error::GridTooLarge {
                    kernel: self.kernel,
                    blocks,
                    threads,
                    limit: max_blocks,
                });
            };
            passes.push(Pass {
                blocks: grid,
                threads,
                n,
            });
            let last = blocks == 1 || self.needs.result == ResultIn::OneCell;
            n = if last { 0 } else { blocks };
        }
        Ok(passes)
    }

    /// The two passes of a limited grid, which has no more partials than a block has threads.
    fn two_passes(&self, n: u64, threads: u32, limited: Limited) -> Vec<Pass> {
        let tile = u64::from(self.items_per_thread) * u64::from(threads);
        let blocks = n.div_ceil(tile).min(limited.blocks.into()) as u32;
        let first = Pass { blocks, threads, n };
        let second = Pass {
            blocks: 1,
            threads: limited.second_threads,
            n: blocks.into(),
        };
        match (blocks, self.needs.result) {
            (0, _) => vec![],
            (1, _) | (_, ResultIn::OneCell | ResultIn::Cells) => vec![first],
            (_, ResultIn::Partials) => vec![first, second],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAX_BLOCKS: u32 = i32::MAX as u32;

    fn blocks(algorithm: Algorithm, n: u64, threads: u32) -> Vec<u32> {
        let passes = algorithm.shape().unwrap().passes(n, threads, MAX_BLOCKS);
        passes.unwrap().iter().map(|pass| pass.blocks).collect()
    }

    #[test]
    fn partials_are_reduced_until_one_is_left() {
        assert_eq!(
            blocks(Algorithm::Reduce2, 400_000_000, 256),
            [1_562_500, 6104, 24, 1]
        );
        assert_eq!(
            blocks(Algorithm::Reduce3, 400_000_000, 256),
            [781_250, 1526, 3, 1]
        );
        let reduce_5 = Algorithm::Reduce5 { chunks: 8 };
        assert_eq!(blocks(reduce_5, 400_000_000, 256), [195_313, 96, 1]);
        assert_eq!(blocks(Algorithm::Reduce2Warp, 100_000_000, 256)[0], 390_625);
        assert_eq!(blocks(Algorithm::Reduce2, 1, 32), [1]);
        assert_eq!(blocks(Algorithm::Reduce2, 33, 32), [2, 1]);
    }

    #[test]
    fn one_cell_needs_one_pass() {
        assert_eq!(blocks(Algorithm::Naive, 400_000_000, 256), [1_562_500]);
        assert_eq!(blocks(Algorithm::SharedMemory, 257, 256), [2]);
    }

    #[test]
    fn a_limited_grid_has_one_block_of_partials() {
        let passes = |algorithm: Algorithm, n| {
            let passes = algorithm.shape().unwrap().passes(n, 512, MAX_BLOCKS);
            let passes = passes.unwrap().into_iter();
            let shapes = passes.map(|pass| (pass.blocks, pass.threads, pass.n));
            shapes.collect::<Vec<_>>()
        };
        for vector in [1, 2, 4] {
            let stable = Algorithm::Stable { vector };
            let n = 400_000_000;
            assert_eq!(passes(stable, n), [(1024, 512, n), (1, 1024, 1024)]);
            let tile = 512 * u64::from(vector);
            assert_eq!(passes(stable, tile), [(1, 512, tile)]);
            assert_eq!(passes(stable, tile + 1), [(2, 512, tile + 1), (1, 1024, 2)]);
            for atomic in [
                Algorithm::WarpAtomic { vector },
                Algorithm::BlockAtomic { vector },
            ] {
                assert_eq!(passes(atomic, n), [(1024, 512, n)]);
                assert_eq!(passes(atomic, u64::MAX), [(1024, 512, u64::MAX)]);
            }
        }
    }

    #[test]
    fn widths_without_a_kernel_are_errors() {
        for vector in [0, 3, 8, u32::MAX] {
            for algorithm in [
                Algorithm::Stable { vector },
                Algorithm::WarpAtomic { vector },
                Algorithm::BlockAtomic { vector },
            ] {
                let kernel = algorithm.kernel_name();
                assert_eq!(algorithm.shape(), Err(Error::Vector { kernel, vector }));
            }
        }
    }

    #[test]
    fn empty_input_needs_no_pass() {
        for &algorithm in Algorithm::LADDER.iter().chain(Algorithm::KEPLER) {
            assert_eq!(blocks(algorithm, 0, 256), []);
        }
    }

    #[test]
    fn a_grid_has_a_limit() {
        let shape = Algorithm::Naive.shape().unwrap();
        let largest = u64::from(MAX_BLOCKS) * 32;
        assert!(shape.passes(largest, 32, MAX_BLOCKS).is_ok());
        let error = shape.passes(largest + 1, 32, MAX_BLOCKS).unwrap_err();
        assert_eq!(
            error.to_string(),
            "reduce_naive: 2147483648 blocks of 32 threads; a grid has at most 2147483647 blocks"
        );
        assert!(matches!(
            shape.passes(u64::MAX, 32, MAX_BLOCKS),
            Err(Error::GridTooLarge { .. })
        ));
    }

    #[test]
    fn threads_are_a_power_of_two_from_a_warp_to_the_limit() {
        let shape = Algorithm::Reduce2.shape().unwrap();
        for threads in [32, 64, 128, 256, 512, 1024] {
            assert_eq!(shape.check_threads(threads, 1024), Ok(()));
        }
        for threads in [0, 1, 16, 31, 33, 48, 96, 2048, u32::MAX] {
            let error = shape.check_threads(threads, 1024).unwrap_err();
            assert_eq!(
                error,
                Error::BlockSize {
                    kernel: "reduce_2",
                    threads,
                    limit: 1024
                }
            );
        }
        assert!(shape.check_threads(1024, 512).is_err());
    }

    #[test]
    fn chunks_without_a_kernel_are_errors() {
        assert!(matches!(
            Algorithm::Reduce5Loop { chunks: 0 }.shape(),
            Err(Error::Chunks {
                kernel: "reduce_5",
                chunks: 0,
                ..
            })
        ));
        assert!(Algorithm::Reduce5Loop { chunks: 3 }.shape().is_ok());
        for chunks in [0, 3, 5, 32, u32::MAX] {
            let error = Algorithm::Reduce5 { chunks }.shape().unwrap_err();
            assert!(
                matches!(
                    error,
                    Error::Chunks {
                        kernel: "reduce_5_xC",
                        ..
                    }
                ),
                "{error}"
            );
        }
    }

    #[test]
    fn every_row_has_an_algorithm() {
        let names: Vec<&str> = Algorithm::all().map(|a| a.kernel_name()).collect();
        let entries = teaching::KERNELS.entries;
        for name in &names {
            assert!(
                *name == "single_pass" || entry::find(entries, name).is_some(),
                "{name}"
            );
        }
        for entry in entries {
            let other = entry.kernel == "read_ceiling" || entry.kernel.starts_with("triple_");
            assert!(
                other || names.contains(&entry.kernel),
                "{} has no Algorithm",
                entry.kernel
            );
        }
    }
}
