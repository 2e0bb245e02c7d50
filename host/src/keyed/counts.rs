//! Counts of keys.

use super::*;

impl Cells<u64, Sum> {
    /// Adds the number of elements of each key to its cell, and counts the elements whose key is out of range.
    ///
    /// As [`combine`](Self::combine) with a 1 for each key, but without an array of ones, and several times as fast.
    /// It chooses its own algorithm and threads.
    ///
    /// ```
    /// use warpfold::{Device, Sum};
    ///
    /// let device = Device::auto()?;
    /// let mut counts = device.cells::<u64, _>(3, Sum)?;
    /// for keys in [[0u16, 2, 2], [1, 2, 9]] {
    ///     counts.count(&device.upload(&keys)?)?;
    /// }
    /// assert_eq!((counts.download()?, counts.rejected()?), (vec![1, 1, 3], 1));
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::OtherDevice`], [`Error::GridTooLarge`], [`Error::Cuda`], [`Error::Deferred`];
    /// [`Error::NoKeyedKernel`] for several arrays of cells; [`Error::KeyWithoutCell`] if the cells are strict;
    /// on the CPU [`Error::OutOfHostMemory`], because each piece has its own cells.
    pub fn count<'a, K: Key>(&mut self, keys: impl Input<'a, K>) -> Result<(), Error> {
        let keys = keys.into_views();
        self.device.check_owner(&keys)?;
        if self.arrays != 1 {
            return Err(Error::NoKeyedKernel {
                kernel: "count",
                op: "number",
                element: name_of::<u64>(),
                key: name_of::<K>(),
                arrays: self.arrays,
            });
        }
        self.begin_strict()?;
        match (&mut self.state, keys.location()) {
            (State::Host { cells, rejected }, Location::Host(keys)) => {
                cpu::count_by_key(keys, cells, rejected)?;
            }
            (
                State::Device {
                    stream,
                    cells,
                    rejected,
                    ..
                },
                Location::Device(keys),
            ) if keys.len() > 0 => {
                let below = below::<K>(self.len);
                let entry = count::of(size_of::<K>(), below).expect("keys have 1, 2, 4 or 8 bytes");
                let kernel = Kernel::find(stream.gpu(), entry)?;
                let blocks = count_blocks(
                    size_of::<K>(),
                    keys.len(),
                    stream.gpu().info.multiprocessors,
                );
                let (threads, limit) = (counting::THREADS, stream.gpu().info.max_blocks);
                let grid = u32::try_from(blocks).ok().filter(|grid| *grid <= limit);
                let blocks = grid.ok_or(Error::GridTooLarge {
                    kernel: entry.kernel,
                    blocks,
                    threads,
                    limit,
                })?;
                stream.gpu().enter()?;
                let arguments = [
                    Argument::input(keys),
                    Argument::output(cells),
                    Argument::output(rejected),
                    Argument::number(below),
                ];
                // SAFETY:
                // - The row is for keys of this size; its kernel reads signed keys as unsigned ones.
                // - The view borrows live memory of this device. The cells are borrowed mutably, so they do not
                //   overlap the keys. `below` is at most the number of cells, and for `count_few` at most its
                //   limit (`count::of`).
                // - Whole warps, and enough blocks for the elements (`count_blocks`).
                unsafe { kernel.launch(stream, Grid { blocks, threads }, &arguments) }?;
            }
            (State::Device { .. }, Location::Device(_)) => {}
            _ => unreachable!("`check_owner` has compared the devices"),
        }
        self.end_strict(keys)
    }
}

/// The blocks that count `n` keys: as many as the device runs at once, but no more than there are tiles.
fn count_blocks(key_bytes: usize, n: usize, multiprocessors: u32) -> u64 {
    let tiles = n.div_ceil(counting::TILE_BYTES / key_bytes) as u64;
    let resident = u64::from(multiprocessors * counting::BLOCKS);
    tiles
        .min(resident)
        .max(counting::fewest_blocks(n as u64))
        .max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_counts_fewer_than_2_to_the_32_keys() {
        assert_eq!(count_blocks(1, 1, 132), 1);
        assert_eq!(count_blocks(4, 8193, 132), 2);
        assert_eq!(count_blocks(1, 1 << 34, 132), 264);
        let n = 1 << 42;
        assert!((n as u64).div_ceil(count_blocks(1, n, 132)) < 1 << 32);
    }
}
