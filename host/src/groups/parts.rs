//! Combines the values of many groups by parts of the keys' hashes, without a table in global memory.

use kernels_gpu::entry::Entry;
use kernels_gpu::groups::parts::{PARTS, Parts, collect, sample, split};

use super::SLOTS;
use super::launch::{Combined, INDEX, Keys, Storage, row};
use crate::backend::Queue;
use crate::error::Error;
use crate::gpu::Gpu;
use crate::launch::{Argument, Grid, Kernel};

/// The fewest pairs that are combined by parts: with fewer, the sample takes longer than what the parts save.
const LEAST_PAIRS: usize = 1 << 22;

/// The fewest groups, estimated, that are combined by parts: with fewer, many threads change the same bins at once.
const LEAST_GROUPS: usize = 3 << 14;

/// The slots of the first table if the sample has few keys. A table that becomes too small grows.
const FEW_SLOTS: usize = 1 << 17;

/// The least shared memory of a block in bytes: that of the sample, which is more than a tile of pairs takes.
const LEAST_SHARED: u32 = sample::SHARED_BYTES as u32;
const _: () = assert!(sample::SHARED_BYTES >= split::SHARED_BYTES + (8 << 10));

/// The most pairs of all parts, so that indices behind the last one have 32 bits too.
const MOST_PAIRS: usize = (u32::MAX - (1 << 16)) as usize;

/// The bytes of a pair.
const PAIR: usize = size_of::<u64>();

/// The bins of a block.
fn bins_of(gpu: &Gpu) -> usize {
    // Two blocks of a multiprocessor share its memory. Of that, a block takes 1 KiB more, and up to 1 KiB for other words and
    // the unit in which memory is divided.
    let bytes = (gpu.info.shared_bytes_per_block as usize - 1024) / 2 - 1024;
    let bins = (bytes - collect::shared_bytes(0)) / (2 * INDEX);
    bins - bins % 2
}

/// What the sample says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Sample {
    /// The slots of the first table.
    pub(super) slots: usize,
    /// The most pairs of a part, if values are combined by parts.
    pub(super) capacity: Option<usize>,
}

impl Sample {
    /// For so many pairs, if their values are combined by parts in so many bins.
    fn new(counted: Counted, pairs: usize, bins: usize) -> Self {
        let groups = counted.groups();
        // Three of four bins may have an owner.
        let most = PARTS as usize * bins / 4 * 3;
        let by_parts = (LEAST_GROUPS..=most).contains(&groups) && !counted.has_frequent;
        Self {
            slots: match 8 * counted.distinct <= counted.keys {
                true => FEW_SLOTS,
                false => SLOTS,
            },
            capacity: by_parts.then(|| capacity_of(pairs, groups)),
        }
    }
}

/// Keys of the sample.
#[derive(Clone, Copy, Debug)]
struct Counted {
    /// All of them. Equal ones of a row of neighbours count once.
    keys: usize,
    /// The distinct ones.
    distinct: usize,
    /// Whether some occur often.
    has_frequent: bool,
}

impl Counted {
    /// The number of groups, if all have the same size.
    fn groups(self) -> usize {
        self.keys * self.keys / 2 / (self.keys - self.distinct).max(1)
    }
}

/// The most pairs of a part, for so many pairs and groups: the mean, and six times the deviation of the number of its keys.
fn capacity_of(pairs: usize, groups: usize) -> usize {
    let mean = pairs as f64 / f64::from(PARTS);
    let of_part = groups as f64 / f64::from(PARTS);
    (mean * (1.0 + 6.0 / of_part.sqrt())) as usize + 1024
}

impl Storage {
    /// Samples the keys. `None` if there are too few pairs to combine them by parts, or if a block has not enough memory.
    pub(super) fn sample(
        &mut self,
        queue: &Queue,
        keys: Keys<'_>,
    ) -> Result<Option<Sample>, Error> {
        if keys.len < LEAST_PAIRS || queue.gpu().info.shared_bytes_per_block < LEAST_SHARED {
            return Ok(None);
        }
        queue.gpu().enter()?;
        let arguments = [keys.argument, Argument::output(&mut self.parts)];
        let kernel = Kernel::find(queue.gpu(), row("group_sample", keys.bytes))?;
        let kernel = kernel.with_shared_bytes(sample::SHARED_BYTES as u32)?;
        let grid = Grid {
            blocks: 1,
            threads: sample::THREADS,
        };
        // SAFETY: the row is for these keys, of which there are more than in the sample. The words belong to this stream.
        unsafe { kernel.launch(queue, grid, &arguments) }?;
        let parts = self.parts.all().download(queue)?;
        let counted = Counted {
            keys: parts[Parts::SAMPLED] as usize,
            distinct: parts[Parts::DISTINCT] as usize,
            has_frequent: parts[Parts::FREQUENT] > 0,
        };
        let bins = bins_of(queue.gpu());
        Ok(Some(Sample::new(counted, keys.len, bins)))
    }

    /// Combines the values of all groups by parts of at most `capacity` pairs, by the row `collect`. Returns the number of groups,
    /// or `None` if a part has more pairs, or more keys than a block has bins, or if a block or the device has not enough memory.
    pub(super) fn combine_parts(
        &mut self,
        queue: &Queue,
        keys: Keys<'_>,
        combined: Combined<'_>,
        collect: &'static Entry,
        capacity: usize,
    ) -> Result<Option<usize>, Error> {
        let gpu = queue.gpu();
        let pairs = PARTS as usize * capacity;
        if pairs > MOST_PAIRS || gpu.info.shared_bytes_per_block < LEAST_SHARED {
            return Ok(None);
        }
        let bins = bins_of(gpu);
        let most = collect::most_groups(bins);
        gpu.enter()?;
        // As many for any number of groups, so that the next call needs no more.
        let room = PARTS as usize * capacity_of(keys.len, LEAST_GROUPS);
        for (room, len, bytes) in [
            (&mut self.pairs, room.max(pairs), PAIR),
            (&mut self.unique, most, INDEX),
            (&mut self.values, most, INDEX),
        ] {
            match room.reserve(queue, len, bytes) {
                Err(Error::OutOfMemory { .. }) => return Ok(None),
                reserved => reserved?,
            }
        }
        self.parts.enqueue_fill(queue, 0)?;
        let splitting = [
            keys.argument,
            combined.values.as_words(INDEX),
            self.pairs.output(pairs, PAIR),
            Argument::output(&mut self.parts),
            Argument::number(capacity as u64),
        ];
        let kernel = Kernel::find(gpu, row("group_split", keys.bytes))?;
        let kernel = kernel.with_shared_bytes(split::SHARED_BYTES as u32)?;
        let grid = Grid {
            blocks: keys.len.div_ceil(split::TILE) as u32,
            threads: split::THREADS,
        };
        // SAFETY: the keys have 32 bits, as the values, of which there is one for each key (the callers check that). There is a
        // block for each tile. The pairs have room for all parts, and the words are 0; both belong to this stream.
        unsafe { kernel.launch(queue, grid, &splitting) }?;
        let collecting = [
            self.pairs.input(pairs, PAIR),
            combined.op,
            Argument::output(&mut self.parts),
            self.unique.output(most, INDEX),
            self.values.output(most, INDEX),
            Argument::number(capacity as u64),
            Argument::number(bins as u64),
        ];
        let kernel = Kernel::find(gpu, collect)?;
        let kernel = kernel.with_shared_bytes(collect::shared_bytes(bins) as u32)?;
        let grid = Grid {
            blocks: PARTS,
            threads: collect::THREADS,
        };
        // SAFETY: the row is that of these keys, values and operator (the callers'). The launch above stores the pairs and their
        // numbers. The results have room for all groups, and the block has the bytes of its bins, whose number is even.
        unsafe { kernel.launch(queue, grid, &collecting) }?;
        let parts = self.parts.all().download(queue)?;
        Ok((parts[Parts::LOST] == 0).then_some(parts[Parts::GROUPS] as usize))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sample_estimates_the_number_of_groups() {
        let counted = |keys, distinct| Counted {
            keys,
            distinct,
            has_frequent: false,
        };
        let million = counted(8192, 8192 - 32);
        assert_eq!(million.groups(), 1 << 20);
        let sample = |counted| Sample::new(counted, 1 << 26, 14_000);
        // 10 % more than the mean of 2^18.
        let room = 280_000..300_000;
        let by_parts = sample(million);
        assert!(by_parts.capacity.is_some_and(|pairs| room.contains(&pairs)));
        let frequent = Counted {
            has_frequent: true,
            ..million
        };
        // If the keys of each row are equal, the array may have few groups.
        for table in [counted(8192, 8192), counted(256, 256), frequent] {
            let (slots, capacity) = (SLOTS, None);
            assert_eq!(sample(table), Sample { slots, capacity }, "{table:?}");
        }
        assert_eq!(sample(counted(8192, 1024)).slots, FEW_SLOTS);
        assert_eq!(sample(counted(8192, 1025)).slots, SLOTS);
    }
}
