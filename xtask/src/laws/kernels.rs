//! What each kernel promises about its machine code, for every operator and element.

/// How a kernel reads global memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loads {
    /// Single elements.
    Elements,
    /// Vectors, four in flight, then up to three; single elements before and after them.
    Vectors,
    /// Vectors in plain loops, four in flight, then one; single elements before and after them.
    Ceiling,
    /// Vectors of a tile, several in flight; granules, if they are shifted; single items.
    Tiles,
    /// Vectors of a group of rows, for each of several ways to add them; granules, if a pair's are shifted; single items.
    Ways,
    /// Each key and value of a thread, once; a key by a load for each width.
    KeysAndValues,
    /// Four keys and four values by the widest loads, or one by one; keys by loads for each width.
    Neighbours,
    /// Keys by loads of 16 bytes, four in flight, then one; and single keys.
    Keys {
        /// The loads of single keys.
        single: usize,
        /// The number of places where a key without a cell is noted.
        rejecting: usize,
    },
    /// Single keys of several rows, all of them in flight; and the key in front of them.
    Rows,
    /// Words, stored with the width of their loads.
    Words,
    /// Granules of 16 bytes, several in flight, on their way to shared memory; and those of a tile.
    Windows,
    /// Items of any strides, or vectors of adjacent ones, several in flight.
    Strided,
    /// Partials, offsets and other words that kernels leave for each other.
    Left,
}

/// What a kernel stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stores {
    /// A partial for each block, by one store of an accumulator.
    Partial,
    /// A partial for each block and each group of blocks, and the result. The arrival counters are the only atomics.
    PartialsAndResult,
    /// Only atomics on cells, without their results.
    Cells,
    /// Atomics on cells of 64 bits, without their results, and a zero in each cell of the next launch.
    CellsAndZeros,
    /// Atomics on words and cells, and the number of tiles of each warp, by one store of 32 bits.
    CellsAndRounds,
    /// One element for each that is read, without atomics.
    Copy,
    /// Results, partials, and words for the next kernel, which may be counted by atomics.
    Results,
}

/// How the warps of a block exchange values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Block {
    /// Neither shared memory nor barriers.
    None,
    /// Loads and stores of shared memory, with barriers.
    Memory,
    /// Loads and stores of shared memory, with one barrier.
    OneBarrier,
    /// Atomics on shared memory, with barriers.
    Atomics,
    /// Atomics on a warp's own part of shared memory, without barriers of the block.
    OfWarps,
}

/// How the lanes of a warp exchange values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Warp {
    /// No shuffles.
    None,
    /// This number of reductions, each with five `SHFL.DOWN`.
    Down(usize),
    /// Five `SHFL.BFLY`, so that all lanes have the result, then five `SHFL.DOWN`.
    AllReduce,
    /// `REDUX`.
    Redux,
    /// Five `SHFL.IDX` for each value, after `match.any` has found the lanes with the same key.
    Match,
    /// As [`Self::Match`], but with a search that shuffles the key.
    Ballot,
    /// `SHFL.UP`: the key once, a value twice.
    Runs,
    /// This number of `SHFL.DOWN`, for the words of 32 bits of the next lane's value.
    NextLane(usize),
    /// `SHFL`, as many as the compiler leaves of several reductions.
    Several,
    /// `SHFL` of keys that are compared, or of counts that are summed, as many as the compiler leaves.
    Others,
}

/// What a kernel promises.
#[derive(Clone, Copy, Debug)]
pub struct Kernel {
    /// The kernels that promise this.
    pub names: &'static [&'static str],
    /// Loads from global memory.
    pub loads: Loads,
    /// Stores to global memory.
    pub stores: Stores,
    /// The exchange within a block.
    pub block: Block,
    /// The exchange within a warp.
    pub warp: Warp,
}

const fn kernel(
    names: &'static [&'static str],
    loads: Loads,
    stores: Stores,
    block: Block,
    warp: Warp,
) -> Kernel {
    Kernel {
        names,
        loads,
        stores,
        block,
        warp,
    }
}

/// All kernels.
pub const KERNELS: &[Kernel] = &[
    kernel(
        &["reduce_naive"],
        Loads::Elements,
        Stores::Cells,
        Block::None,
        Warp::None,
    ),
    kernel(
        &["reduce_shared_memory"],
        Loads::Elements,
        Stores::Cells,
        Block::Atomics,
        Warp::None,
    ),
    kernel(
        &[
            "reduce_0",
            "reduce_0_modulo",
            "reduce_1",
            "reduce_2",
            "reduce_2_warp",
            "reduce_3",
        ],
        Loads::Elements,
        Stores::Partial,
        Block::Memory,
        Warp::None,
    ),
    kernel(
        &[
            "reduce_4",
            "reduce_5",
            "reduce_5_x1",
            "reduce_5_x2",
            "reduce_5_x4",
            "reduce_5_x8",
            "reduce_5_x16",
        ],
        Loads::Elements,
        Stores::Partial,
        Block::Memory,
        Warp::Down(1),
    ),
    kernel(
        &["reduce_4_redux"],
        Loads::Elements,
        Stores::Partial,
        Block::Memory,
        Warp::Redux,
    ),
    kernel(
        &["read_ceiling"],
        Loads::Ceiling,
        Stores::Partial,
        Block::OneBarrier,
        Warp::Down(2),
    ),
    kernel(
        &["stable", "stable_vec2", "stable_vec4"],
        Loads::Vectors,
        Stores::Partial,
        Block::OneBarrier,
        Warp::Down(2),
    ),
    kernel(
        &["stable_all"],
        Loads::Vectors,
        Stores::Partial,
        Block::Memory,
        Warp::AllReduce,
    ),
    kernel(
        &["block_atomic", "block_atomic_vec2", "block_atomic_vec4"],
        Loads::Vectors,
        Stores::Cells,
        Block::OneBarrier,
        Warp::Down(2),
    ),
    kernel(
        &["single_pass"],
        Loads::Tiles,
        Stores::PartialsAndResult,
        Block::Memory,
        Warp::Down(4),
    ),
    kernel(
        &["warp_atomic", "warp_atomic_vec2", "warp_atomic_vec4"],
        Loads::Vectors,
        Stores::Cells,
        Block::None,
        Warp::Down(1),
    ),
    kernel(
        &["triple_interleaved", "triple_in_turn"],
        Loads::Elements,
        Stores::Cells,
        Block::None,
        Warp::Down(3),
    ),
    kernel(
        &["exact"],
        Loads::Ways,
        Stores::CellsAndZeros,
        Block::Atomics,
        Warp::None,
    ),
    kernel(
        &["segments"],
        Loads::Windows,
        Stores::Results,
        Block::Atomics,
        Warp::Several,
    ),
    kernel(
        &["segments_by_part"],
        Loads::Windows,
        Stores::Results,
        Block::OneBarrier,
        Warp::Several,
    ),
    kernel(
        &["segments_combine"],
        Loads::Left,
        Stores::Results,
        Block::None,
        Warp::Several,
    ),
    kernel(
        &["segments_partition"],
        Loads::Left,
        Stores::Results,
        Block::None,
        // Three words of 64 bits.
        Warp::NextLane(6),
    ),
    kernel(
        &["find_runs"],
        Loads::Rows,
        Stores::Results,
        Block::Memory,
        Warp::Several,
    ),
    // The words of the table and the cells are found by hashes, so no loads are adjacent but those of keys and values.
    kernel(
        &["group_insert", "group_combine"],
        Loads::Left,
        Stores::CellsAndRounds,
        Block::Atomics,
        Warp::Others,
    ),
    kernel(
        &["group_sample"],
        Loads::Left,
        Stores::Results,
        Block::Atomics,
        // Three numbers.
        Warp::Down(3),
    ),
    kernel(
        &["group_split", "group_collect"],
        Loads::Left,
        Stores::Results,
        Block::Atomics,
        Warp::Others,
    ),
    kernel(
        &["group_list", "sort_scan", "sort_scatter"],
        Loads::Left,
        Stores::Results,
        Block::Memory,
        Warp::Others,
    ),
    kernel(
        &["sort_count"],
        Loads::Left,
        Stores::Results,
        Block::Atomics,
        Warp::None,
    ),
    kernel(
        &[
            "group_rehash",
            "group_number",
            "gather",
            "scatter",
            "invert",
            "fill",
        ],
        Loads::Left,
        Stores::Results,
        Block::None,
        Warp::None,
    ),
    kernel(
        &["axes"],
        Loads::Strided,
        Stores::Results,
        Block::Memory,
        Warp::Several,
    ),
    kernel(
        &["axes_combine"],
        Loads::Left,
        Stores::Results,
        Block::Memory,
        Warp::Several,
    ),
    kernel(
        &["copy_scalar", "copy_vec2", "copy_vec4"],
        Loads::Words,
        Stores::Copy,
        Block::None,
        Warp::None,
    ),
    kernel(
        &["find_peers_match"],
        Loads::Elements,
        Stores::Copy,
        Block::None,
        Warp::None,
    ),
    kernel(
        &["find_peers_ballot"],
        Loads::Elements,
        Stores::Copy,
        Block::None,
        Warp::Others,
    ),
    kernel(
        &["find_peers_hash"],
        Loads::Elements,
        Stores::Copy,
        Block::OfWarps,
        Warp::None,
    ),
    kernel(
        &["all_reduce_peers"],
        Loads::Left,
        Stores::Copy,
        Block::None,
        Warp::Others,
    ),
    kernel(
        // No shuffles: ptxas does not aggregate its atomics.
        &["filter_atomic"],
        Loads::Elements,
        Stores::Results,
        Block::None,
        Warp::None,
    ),
    kernel(
        &["filter_warp"],
        Loads::Elements,
        Stores::Results,
        Block::None,
        Warp::Others,
    ),
    kernel(
        &["keyed_atomic", "keyed_cas"],
        Loads::KeysAndValues,
        Stores::Cells,
        Block::None,
        Warp::None,
    ),
    kernel(
        &["keyed_match", "keyed_match_x2", "keyed_match_x3"],
        Loads::KeysAndValues,
        Stores::Cells,
        Block::None,
        Warp::Match,
    ),
    kernel(
        &["keyed_ballot", "keyed_ballot_x3"],
        Loads::KeysAndValues,
        Stores::Cells,
        Block::None,
        Warp::Ballot,
    ),
    kernel(
        &["keyed_bins"],
        Loads::KeysAndValues,
        Stores::Cells,
        Block::Atomics,
        Warp::None,
    ),
    kernel(
        &["count_few"],
        // Before and after the vectors, and to find the first key without a cell.
        Loads::Keys {
            single: 2 + 3,
            rejecting: 3,
        },
        Stores::Cells,
        Block::Atomics,
        Warp::None,
    ),
    kernel(
        &["count_many"],
        Loads::Keys {
            single: 2,
            rejecting: 1,
        },
        Stores::Cells,
        Block::Atomics,
        Warp::None,
    ),
    kernel(
        &["keyed_runs"],
        Loads::Neighbours,
        Stores::Cells,
        Block::None,
        Warp::Runs,
    ),
];

/// What the kernel of this name promises.
pub fn of(name: &str) -> Option<&'static Kernel> {
    KERNELS.iter().find(|kernel| kernel.names.contains(&name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn each_kernel_is_listed_once() {
        let mut seen = BTreeSet::new();
        for name in KERNELS.iter().flat_map(|kernel| kernel.names) {
            assert!(seen.insert(name), "{name}");
        }
        assert_eq!(of("reduce_4_redux").unwrap().warp, Warp::Redux);
        assert!(of("reduce_9").is_none());
    }
}
