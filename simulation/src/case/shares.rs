//! Which block brings which elements.
//!
//! One rule holds for every kernel of the table: the grid's threads take the loads in turn, until
//! there are none left. What is left behind the last whole load is taken in turn again.

use super::Case;

/// The loads of a launch, dealt out.
#[derive(Clone, Copy)]
pub struct Shares {
    n: usize,
    threads: usize,
    blocks: usize,
    /// Elements of one load.
    width: usize,
}

impl Shares {
    /// Of a case.
    pub fn of(case: &Case) -> Self {
        Self {
            n: case.n,
            threads: case.threads as usize,
            blocks: case.blocks as usize,
            width: case.entry.load_elements(),
        }
    }

    /// The elements of each block.
    pub fn split<T: Copy>(self, values: &[T]) -> Vec<Vec<T>> {
        let mut shares = vec![Vec::new(); self.blocks];
        let (loads, rest) = values.split_at(self.n / self.width * self.width);
        for (part, width) in [(loads, self.width), (rest, 1)] {
            for (turn, of_block) in part.chunks(self.threads * width).enumerate() {
                shares[turn % self.blocks].extend_from_slice(of_block);
            }
        }
        shares
    }

    /// The most additions between an element and its block's partial: those of its thread, and
    /// those of a tree over the threads.
    pub fn longest_path(self) -> usize {
        let grid = self.threads * self.blocks;
        let loads = (self.n / self.width).div_ceil(grid) * self.width;
        let rest = (self.n % self.width).div_ceil(grid);
        loads + rest + self.threads.ilog2() as usize
    }

    /// The most additions between an element and the one cell, whatever queues there are.
    pub fn longest_queue(self) -> usize {
        self.n + self.blocks
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shares(n: usize, blocks: usize, width: usize) -> Vec<Vec<usize>> {
        let shares = Shares {
            n,
            threads: 2,
            blocks,
            width,
        };
        shares.split(&(0..n).collect::<Vec<_>>())
    }

    #[test]
    fn blocks_take_turns() {
        assert_eq!(shares(3, 2, 1), [vec![0, 1], vec![2]]);
        assert_eq!(shares(9, 2, 1), [vec![0, 1, 4, 5, 8], vec![2, 3, 6, 7]]);
        assert_eq!(shares(0, 1, 1), [vec![]]);
        // Two loads of three each, three elements in the next turn, and one behind.
        assert_eq!(shares(10, 1, 3), [(0..10).collect::<Vec<_>>()]);
        assert_eq!(
            shares(11, 2, 3),
            [vec![0, 1, 2, 3, 4, 5, 9, 10], vec![6, 7, 8]]
        );
    }
}
