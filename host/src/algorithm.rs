//! The rungs of the ladder, and the shape of their launches.

use kernels_gpu::entry;
use kernels_gpu::needs::{Needs, ResultIn};

use crate::error::Error;

/// How a sum, minimum or maximum is computed on the GPU: one rung of the ladder, each
/// mending what the one before got wrong. The kernels say how; see
/// [`kernels_gpu::harris`].
///
/// On the CPU device the choice is checked and has no effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Algorithm {
    /// One atomic per element on one cell of global memory. Sums of `f32` take subnormal numbers
    /// for zero there, as the hardware's atomic addition does; so do those of the next rung.
    Naive,
    /// One atomic per element on a cell of shared memory, one per block on global memory.
    SharedMemory,
    /// A tree in shared memory, interleaved, with divergent warps.
    Reduce0,
    /// The same with a modulo that the compiler cannot turn into a mask.
    Reduce0Modulo,
    /// Interleaved with adjacent threads: no divergence, bank conflicts.
    Reduce1,
    /// Sequential addressing: no bank conflicts.
    Reduce2,
    /// The first addition while loading: two elements per thread.
    Reduce3,
    /// The last 32 values by shuffles down.
    Reduce4,
    /// The last 32 values by the `redux.sync` instruction; `i32` and `u32`.
    Reduce4Redux,
    /// Several elements per thread, in a loop.
    Reduce5Loop {
        /// How many; 1 or more.
        chunks: u32,
    },
    /// Several elements per thread, the loop unrolled.
    Reduce5 {
        /// How many: 1, 2, 4, 8 or 16.
        chunks: u32,
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

    /// The kernel's name in `kernels-gpu`, as `reduce_5_x4`. For a number of chunks that
    /// there is no kernel for, `reduce_5_xC`; planning it is [`Error::Chunks`].
    pub const fn kernel_name(self) -> &'static str {
        match self {
            Self::Naive => "reduce_naive",
            Self::SharedMemory => "reduce_shared_memory",
            Self::Reduce0 => "reduce_0",
            Self::Reduce0Modulo => "reduce_0_modulo",
            Self::Reduce1 => "reduce_1",
            Self::Reduce2 => "reduce_2",
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
        }
    }

    /// What a launch of the kernel has to look like.
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
            _ => Ok(Shape::of(kernel, 1)),
        }
    }
}

/// What a launch of one kernel has to look like; threads per block and n are still free.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    pub(crate) kernel: &'static str,
    pub(crate) items_per_thread: u32,
    pub(crate) needs: Needs,
}

/// One launch of a plan: `blocks` blocks of `threads` threads over `n` elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Pass {
    /// The blocks of the grid.
    pub blocks: u32,
    /// The threads of each block.
    pub threads: u32,
    /// The elements that this pass reads: the input, or the partials of the pass before.
    pub n: u64,
}

impl Shape {
    /// The shape of a kernel of the table; `chunks` elements per thread where it leaves that open.
    pub(crate) fn of(kernel: &'static str, chunks: u32) -> Self {
        let needs = entry::needs(kernel).expect("every rung is in the table");
        Self {
            kernel,
            items_per_thread: needs.per_thread.unwrap_or(chunks),
            needs,
        }
    }

    /// Checks the threads per block against what the kernel can have on the device.
    pub(crate) fn check_threads(&self, threads: u32, limit: u32) -> Result<(), Error> {
        if threads.is_power_of_two() && (32..=limit).contains(&threads) {
            return Ok(());
        }
        let kernel = self.kernel;
        Err(Error::BlockSize {
            kernel,
            threads,
            limit,
        })
    }

    /// The passes that turn `n` elements into one value: the partials are reduced by the
    /// same kernel until one is left. None for an empty input.
    pub(crate) fn passes(&self, n: u64, threads: u32, max_blocks: u32) -> Result<Vec<Pass>, Error> {
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
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernels_gpu::entry::ENTRIES;

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
        assert_eq!(blocks(Algorithm::Reduce2, 1, 32), [1]);
        assert_eq!(blocks(Algorithm::Reduce2, 33, 32), [2, 1]);
    }

    #[test]
    fn one_cell_needs_one_pass() {
        assert_eq!(blocks(Algorithm::Naive, 400_000_000, 256), [1_562_500]);
        assert_eq!(blocks(Algorithm::SharedMemory, 257, 256), [2]);
    }

    #[test]
    fn nothing_needs_no_pass() {
        for algorithm in Algorithm::LADDER {
            assert_eq!(blocks(*algorithm, 0, 256), []);
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
    fn chunks_without_a_kernel_are_refused() {
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
    fn the_ladder_is_the_kernels_of_the_table() {
        let names: Vec<&str> = Algorithm::LADDER.iter().map(|a| a.kernel_name()).collect();
        for name in &names {
            assert!(ENTRIES.iter().any(|entry| entry.kernel == *name), "{name}");
        }
        for entry in ENTRIES {
            let known = names.contains(&entry.kernel) || entry.kernel == "read_ceiling";
            assert!(known, "{} has no Algorithm", entry.kernel);
        }
    }
}
