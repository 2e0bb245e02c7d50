//! What each kernel promises of its machine code, whatever the operator and the element.

/// How a kernel reads global memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loads {
    /// By single elements.
    Elements,
    /// By vectors, four of them in flight at once and then up to three; the elements around them singly.
    Vectors,
    /// The same, but by plain loops: four vectors at once, then one at a time.
    Ceiling,
    /// By vectors, as many of them in flight as registers allow, and then fewer; the items around them singly.
    /// Item by item, four in flight, where the input may have no vectors. And partials, in a loop.
    VectorsAndPartials,
    /// Every key and every value that a thread brings, once.
    KeysAndValues,
    /// Four keys and four values by the widest loads, or singly.
    Neighbours,
    /// By words, each stored as it was loaded.
    Words,
}

/// Where a kernel leaves what it has combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leaves {
    /// One store of an accumulator: a partial for each block.
    Partial,
    /// A partial for each block, which draw arrival numbers from one counter; and the result.
    Whole,
    /// Atomics whose answer nobody needs, and no store.
    Cells,
    /// Stores alone.
    Copy,
}

/// How the warps of a block meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Block {
    /// Not at all: neither shared memory nor barrier.
    Apart,
    /// By loads and stores of shared memory.
    Memory,
    /// By as much, with a single barrier.
    OneBarrier,
    /// By atomics on shared memory.
    Atomics,
}

/// How the lanes of a warp meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Warp {
    /// Not at all.
    Apart,
    /// By so many reductions, each of five shuffles down.
    Down(usize),
    /// By the instruction made for it.
    Redux,
    /// Each value by a shuffle in each of five steps, behind a search for peers by `match.any`.
    Match,
    /// The same, behind a search that shuffles the key.
    Ballot,
    /// A key once and a value twice, up.
    Runs,
}

/// What a kernel promises.
#[derive(Clone, Copy, Debug)]
pub struct Kernel {
    /// The kernel, or several that promise the same.
    pub names: &'static [&'static str],
    /// Of global memory.
    pub loads: Loads,
    /// Of its result.
    pub leaves: Leaves,
    /// Of its blocks.
    pub block: Block,
    /// Of its warps.
    pub warp: Warp,
}

const fn kernel(
    names: &'static [&'static str],
    loads: Loads,
    leaves: Leaves,
    block: Block,
    warp: Warp,
) -> Kernel {
    Kernel {
        names,
        loads,
        leaves,
        block,
        warp,
    }
}

/// All kernels.
pub const KERNELS: &[Kernel] = &[
    kernel(
        &["reduce_naive"],
        Loads::Elements,
        Leaves::Cells,
        Block::Apart,
        Warp::Apart,
    ),
    kernel(
        &["reduce_shared_memory"],
        Loads::Elements,
        Leaves::Cells,
        Block::Atomics,
        Warp::Apart,
    ),
    kernel(
        &[
            "reduce_0",
            "reduce_0_modulo",
            "reduce_1",
            "reduce_2",
            "reduce_3",
        ],
        Loads::Elements,
        Leaves::Partial,
        Block::Memory,
        Warp::Apart,
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
        Leaves::Partial,
        Block::Memory,
        Warp::Down(1),
    ),
    kernel(
        &["reduce_4_redux"],
        Loads::Elements,
        Leaves::Partial,
        Block::Memory,
        Warp::Redux,
    ),
    kernel(
        &["read_ceiling"],
        Loads::Ceiling,
        Leaves::Partial,
        Block::OneBarrier,
        Warp::Down(2),
    ),
    kernel(
        &["stable", "stable_vec2", "stable_vec4"],
        Loads::Vectors,
        Leaves::Partial,
        Block::OneBarrier,
        Warp::Down(2),
    ),
    kernel(
        &["block_atomic", "block_atomic_vec2", "block_atomic_vec4"],
        Loads::Vectors,
        Leaves::Cells,
        Block::OneBarrier,
        Warp::Down(2),
    ),
    kernel(
        &["single_pass"],
        Loads::VectorsAndPartials,
        Leaves::Whole,
        Block::OneBarrier,
        Warp::Down(3),
    ),
    kernel(
        &["warp_atomic", "warp_atomic_vec2", "warp_atomic_vec4"],
        Loads::Vectors,
        Leaves::Cells,
        Block::Apart,
        Warp::Down(1),
    ),
    kernel(
        &["triple_interleaved", "triple_in_turn"],
        Loads::Elements,
        Leaves::Cells,
        Block::Apart,
        Warp::Down(3),
    ),
    kernel(
        &["copy_scalar", "copy_vec2", "copy_vec4"],
        Loads::Words,
        Leaves::Copy,
        Block::Apart,
        Warp::Apart,
    ),
    kernel(
        &["keyed_atomic", "keyed_cas"],
        Loads::KeysAndValues,
        Leaves::Cells,
        Block::Apart,
        Warp::Apart,
    ),
    kernel(
        &["keyed_match", "keyed_match_x2", "keyed_match_x3"],
        Loads::KeysAndValues,
        Leaves::Cells,
        Block::Apart,
        Warp::Match,
    ),
    kernel(
        &["keyed_ballot", "keyed_ballot_x3"],
        Loads::KeysAndValues,
        Leaves::Cells,
        Block::Apart,
        Warp::Ballot,
    ),
    kernel(
        &["keyed_bins"],
        Loads::KeysAndValues,
        Leaves::Cells,
        Block::Atomics,
        Warp::Apart,
    ),
    kernel(
        &["keyed_runs"],
        Loads::Neighbours,
        Leaves::Cells,
        Block::Apart,
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
    fn no_kernel_promises_twice() {
        let mut seen = BTreeSet::new();
        for name in KERNELS.iter().flat_map(|kernel| kernel.names) {
            assert!(seen.insert(name), "{name}");
        }
        assert_eq!(of("reduce_4_redux").unwrap().warp, Warp::Redux);
        assert!(of("reduce_9").is_none());
    }
}
