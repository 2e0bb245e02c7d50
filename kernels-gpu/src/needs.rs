//! Requirements of kernels on their launch.
//!
//! Every kernel requires a one-dimensional grid and a one-dimensional block of `threads`, a power of two from
//! 32 to 1024. The other requirements are in [`Needs`], which is a field of the kernel's row in the
//! [table](crate::entry).

use crate::tile::ROWS;

/// The requirements of one kernel on its launch; threads per block and n are still free.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Needs {
    /// The maximum number of elements that a thread loads; `None` for a grid-stride loop, for which any number
    /// of blocks is right.
    pub per_thread: Option<u32>,
    /// The dynamic shared memory of a block.
    pub scratch: Scratch,
    /// The result's location.
    pub result: ResultIn,
    /// The width of a load.
    pub load: Load,
}

/// The width of a load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Load {
    /// One element.
    Element,
    /// This many bytes; the input must start at a multiple of it.
    Bytes(usize),
    /// This many elements. The input may start anywhere: the elements around the [whole
    /// vectors](crate::mem::Global::vectors_at) are loaded one by one.
    Elements(usize),
}

/// The dynamic shared memory of a block, in elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scratch {
    /// None at all.
    None,
    /// A single element.
    One,
    /// An element for each warp of the block.
    PerWarp,
    /// An element for each thread of the block.
    PerThread,
    /// This many bytes.
    Bytes(u32),
}

/// The location of a kernel's result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResultIn {
    /// One partial per block: `output[block]`.
    Partials,
    /// Everything is combined into `output[0]`, which holds the operator's identity before the launch.
    OneCell,
    /// Combined into the cells that the caller provides.
    Cells,
}

impl Needs {
    /// One thread per element; all elements are combined into one cell.
    pub const fn one_cell(scratch: Scratch) -> Self {
        Self {
            per_thread: Some(1),
            scratch,
            result: ResultIn::OneCell,
            load: Load::Element,
        }
    }

    /// `per_thread` elements per thread, a tree over the block, and a partial for each block.
    pub const fn tree(per_thread: u32) -> Self {
        Self {
            per_thread: Some(per_thread),
            scratch: Scratch::PerThread,
            result: ResultIn::Partials,
            load: Load::Element,
        }
    }

    /// Any number of blocks, and a partial for each block.
    pub const fn any_grid(scratch: Scratch, load: Load) -> Self {
        Self {
            per_thread: None,
            scratch,
            result: ResultIn::Partials,
            load,
        }
    }

    /// The same, with vectors of `elements` elements.
    pub const fn by_vectors(scratch: Scratch, elements: usize) -> Self {
        Self::any_grid(scratch, Load::Elements(elements))
    }

    /// A warp for each tile, with vectors of `elements` elements; all elements are combined into one cell.
    pub const fn tiles(elements: usize) -> Self {
        Self {
            per_thread: Some((ROWS * elements) as u32),
            ..Self::by_vectors(Scratch::PerWarp, elements).into_cell()
        }
    }

    /// Any number of warps, each of which takes several tiles.
    pub const fn several_tiles(elements: usize) -> Self {
        Self::by_vectors(Scratch::PerWarp, elements).into_cell()
    }

    /// By key: `per_thread` elements per thread, combined into the caller's cells.
    pub const fn keyed(per_thread: u32) -> Self {
        Self {
            per_thread: Some(per_thread),
            scratch: Scratch::None,
            result: ResultIn::Cells,
            load: Load::Element,
        }
    }

    /// By key, without values: any number of blocks, with vectors of `elements` keys.
    pub const fn counts(elements: usize) -> Self {
        Self {
            per_thread: None,
            load: Load::Elements(elements),
            ..Self::keyed(1)
        }
    }

    /// The same, with one cell for the result.
    pub const fn into_cell(self) -> Self {
        Self {
            result: ResultIn::OneCell,
            ..self
        }
    }

    /// The minimum number of blocks that load all of `n` elements; 0 for empty input.
    pub fn fewest_blocks(&self, n: u64, threads: u32) -> u64 {
        match self.per_thread {
            Some(elements) => n.div_ceil(u64::from(elements) * u64::from(threads)),
            None => n.min(1),
        }
    }

    /// The number of elements of `output`.
    pub fn outputs(&self, blocks: u32) -> usize {
        match self.result {
            ResultIn::Partials => blocks as usize,
            ResultIn::OneCell => 1,
            ResultIn::Cells => 0,
        }
    }

    /// The dynamic shared memory of a block in bytes, for elements of `size` bytes.
    pub fn shared_bytes(&self, threads: u32, size: usize) -> usize {
        let elements = match self.scratch {
            Scratch::None => 0,
            Scratch::One => 1,
            Scratch::PerWarp => threads / crate::warp::WARP_SIZE,
            Scratch::PerThread => threads,
            Scratch::Bytes(bytes) => return bytes as usize,
        };
        elements as usize * size
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fewest_blocks_load_all_elements() {
        let pairs = Needs::tree(2);
        for (n, blocks) in [(0, 0), (1, 1), (512, 1), (513, 2), (u64::MAX, 1 << 55)] {
            assert_eq!(pairs.fewest_blocks(n, 256), blocks, "{n}");
        }
        let any = Needs::any_grid(Scratch::PerWarp, Load::Bytes(16));
        assert_eq!(
            (any.fewest_blocks(0, 32), any.fewest_blocks(1 << 40, 32)),
            (0, 1)
        );
    }

    #[test]
    fn memory_is_counted_in_bytes_and_cells() {
        let bytes = |needs: Needs| needs.shared_bytes(256, 8);
        assert_eq!(bytes(Needs::one_cell(Scratch::None)), 0);
        assert_eq!(bytes(Needs::one_cell(Scratch::One)), 8);
        assert_eq!(bytes(Needs::any_grid(Scratch::PerWarp, Load::Element)), 64);
        assert_eq!(bytes(Needs::tree(1)), 2048);
        assert_eq!(Needs::tree(1).outputs(7), 7);
        assert_eq!(Needs::one_cell(Scratch::One).outputs(7), 1);
        let any = Needs::any_grid(Scratch::None, Load::Elements(4));
        assert_eq!((any.outputs(7), any.into_cell().outputs(7)), (7, 1));
    }
}
