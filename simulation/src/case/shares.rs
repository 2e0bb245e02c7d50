//! Assigns elements to blocks.
//!
//! All kernels of the table follow one rule: the grid's threads take the loads in turn until none are left.
//! The remaining elements before and after the loads are distributed in the same way.

use kernels_gpu::needs::Load;
use kernels_gpu::tile::ROWS;

use super::Case;

/// The loads of a launch, assigned to blocks.
#[derive(Clone, Copy, Debug)]
pub struct Shares {
    /// The number of elements.
    pub n: usize,
    /// Threads per block.
    pub threads: usize,
    /// The number of blocks.
    pub blocks: usize,
    /// The number of elements in a load.
    pub width: usize,
    /// The number of elements before the first load.
    pub head: usize,
}

impl Shares {
    /// The loads of a case.
    pub fn of(case: &Case) -> Self {
        let head = match case.entry.needs.load {
            Load::Element | Load::Bytes(_) => 0,
            Load::Elements(elements) => {
                // The case's memory is aligned; a load requires an alignment of its size, but at most 16.
                let step = elements.min(16 / case.entry.read_bytes[0]).max(1);
                (case.starts[0].next_multiple_of(step) - case.starts[0]).min(case.n)
            }
        };
        Self {
            n: case.n,
            threads: case.threads as usize,
            blocks: case.blocks as usize,
            width: case.entry.load_items(),
            head,
        }
    }

    /// The number of loads.
    fn loads(self) -> usize {
        (self.n - self.head) / self.width
    }

    /// The elements of each block.
    pub fn split<T: Copy>(self, values: &[T]) -> Vec<Vec<T>> {
        let mut shares = vec![Vec::new(); self.blocks];
        let (head, rest) = values.split_at(self.head);
        let (loads, tail) = rest.split_at(self.loads() * self.width);
        let around = [head, tail].concat();
        for (part, width) in [(loads, self.width), (&around, 1)] {
            for (turn, of_block) in part.chunks(self.threads * width).enumerate() {
                shares[turn % self.blocks].extend_from_slice(of_block);
            }
        }
        shares
    }

    /// The largest number of additions between an element and its block's partial: those of its thread, and
    /// those of a tree over the threads.
    pub fn longest_path(self) -> usize {
        let grid = self.threads * self.blocks;
        let loads = self.loads().div_ceil(grid) * self.width;
        let rest = (self.n - self.loads() * self.width).div_ceil(grid);
        loads + rest + self.threads.ilog2() as usize
    }

    /// The largest number of additions between an element and the result of a single-pass reduction. They are
    /// those of a lane, with one accumulator, and those of a binary tree over all lanes.
    pub fn longest_path_of_grid(self) -> usize {
        let of_lane = ROWS * self.width;
        of_lane + (self.threads * self.blocks).next_power_of_two().ilog2() as usize
    }

    /// The largest number of additions between an element and the single cell, in any order.
    pub fn longest_queue(self) -> usize {
        self.n + self.blocks
    }
}
