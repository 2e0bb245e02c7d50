//! Puts keys into a table that grows, and combines their values on the way.

use kernels_gpu::groups::insert::{BLOCKS, MOST_LEFT, items_of_tile};
use kernels_gpu::groups::partition::{PARTS, tiles_of_block};
use kernels_gpu::groups::{MOST_SLOTS, State, THREADS};

use super::launch::{
    Combined, INDEX, Keys, Room, Storage, Table, empty_table, fill, launch, row, strided,
};
use crate::backend::Queue;
use crate::error::{Error, GroupsError};
use crate::gpu::Gpu;
use crate::launch::{Argument, Kernel};
use crate::memory::DeviceMemory;

/// The slots among which a key is searched before the table grows.
const PROBES: usize = 256;

/// A larger table has this many times as many slots.
const GROWTH: usize = 4;

/// The most groups whose values are combined as the items come: so many keys own bins of most blocks, or nearly. Items of
/// more groups are partitioned.
const MOST_DIRECT: usize = 4096;

/// The fewest tiles that are partitioned: fewer take less time than two more launches.
const FEWEST_TILES: usize = 512;

/// The number of blocks that each resident one stands for when items are partitioned, so that none is waited for long.
const WAVES: usize = 4;

/// The fewest adjacent tiles of a block, which combines its bins into cells in the end.
const FEWEST_PER_BLOCK: usize = 4;

/// What is left of the items.
struct Rest {
    /// The number of items in the arrays, and of their tiles.
    n: usize,
    tiles: usize,
    /// The tiles that blocks have left.
    again: Vec<u32>,
    /// The first tile that has never been taken.
    first: usize,
    /// The adjacent tiles of a block, if the arrays are partitioned; otherwise 0.
    per_block: usize,
}

impl Rest {
    /// The number of tiles that are left.
    fn count(&self) -> usize {
        self.again.len() + self.tiles - self.first
    }
}

/// The blocks that the device runs at once.
fn resident(gpu: &Gpu) -> usize {
    (gpu.info.multiprocessors * BLOCKS) as usize
}

/// The number of tiles of so many keys of these bytes.
fn tiles_of(n: usize, key_bytes: usize) -> usize {
    n.div_ceil(of_tile(key_bytes))
}

/// The items of a tile.
fn of_tile(key_bytes: usize) -> usize {
    match key_bytes {
        4 => items_of_tile::<u32>(),
        _ => items_of_tile::<u64>(),
    }
}

impl Storage {
    /// Puts at least one key into a table, which has `slots` slots at first, and combines values.
    pub(super) fn insert(
        &mut self,
        queue: &Queue,
        keys: Keys<'_>,
        slots: usize,
        combined: Option<Combined<'_>>,
    ) -> Result<Table, Error> {
        let (n, key_bytes) = (keys.len, keys.bytes);
        queue.gpu().enter()?;
        // So many are enough for any keys.
        let most = (2 * n).next_power_of_two().min(MOST_SLOTS);
        let mut slots = slots.min(most);
        self.empty(queue, slots, key_bytes, combined)?;
        let mut rest = Rest {
            n,
            tiles: tiles_of(n, key_bytes),
            again: vec![],
            first: 0,
            per_block: 0,
        };
        let mut may_partition = combined.is_some();
        loop {
            let is_last = slots == most;
            // The last table need not be as empty as the others.
            let most_claimed = if is_last {
                slots - slots / 8
            } else {
                slots / 2
            };
            let is_direct = may_partition && rest.per_block == 0;
            let limit = match is_direct && rest.count() >= FEWEST_TILES {
                true => most_claimed.min(MOST_DIRECT),
                false => most_claimed,
            };
            let probes = if slots >= 2 * n {
                slots
            } else {
                PROBES.min(slots)
            };
            let [first, per_block] = [rest.first, rest.per_block].map(|n| n as u64);
            let numbers = [first, per_block, limit as u64, probes as u64];
            let state = self.launch_insert(queue, keys, combined, slots, &mut rest, numbers)?;
            let claimed = state[State::CLAIMED] as usize;
            if rest.count() == 0 {
                let groups = claimed + usize::from(state[State::HAS_EMPTY] != 0);
                return Ok(Table { slots, groups });
            }
            match combined {
                Some(combined) if is_direct && claimed > limit && limit < most_claimed => {
                    match self.partition(queue, keys, combined, &mut rest) {
                        Err(Error::OutOfMemory { .. }) => may_partition = false,
                        done => done?,
                    }
                }
                _ if is_last => return Err(GroupsError::Groups { most: limit }.into()),
                _ => {
                    let larger = most.min(GROWTH * slots);
                    slots = self.grow(queue, slots, larger, key_bytes, combined)?;
                }
            }
            let mut kept = [0; State::WORDS];
            for word in [State::CLAIMED, State::HAS_EMPTY] {
                kept[word] = state[word];
            }
            self.state.all_mut().write(queue, &kept)?;
        }
    }

    /// Makes an empty table.
    fn empty(
        &mut self,
        queue: &Queue,
        slots: usize,
        key_bytes: usize,
        combined: Option<Combined<'_>>,
    ) -> Result<(), Error> {
        let room = std::mem::replace(&mut self.words, Room::new(queue)?);
        self.words = empty_table(queue, room, slots, key_bytes)?;
        if let Some(Combined { initial, bytes, .. }) = combined {
            self.cells.reserve(queue, slots + 1, bytes)?;
            let cells = self.cells.output(slots + 1, bytes);
            fill(queue, cells, slots + 1, bytes, initial)?;
        }
        self.state.enqueue_fill(queue, 0)
    }

    /// Launches the kernel for the tiles that are left, and returns the state. `numbers` are its last parameters.
    fn launch_insert(
        &mut self,
        queue: &Queue,
        keys: Keys<'_>,
        combined: Option<Combined<'_>>,
        slots: usize,
        rest: &mut Rest,
        numbers: [u64; 4],
    ) -> Result<Vec<u32>, Error> {
        let (gpu, key_bytes) = (queue.gpu(), keys.bytes);
        let (blocks, most_left) = match rest.per_block {
            0 => {
                let blocks = rest.count().min(resident(gpu));
                (blocks, MOST_LEFT * blocks)
            }
            per_block => (rest.count().div_ceil(per_block), rest.count()),
        };
        if self.left.len() < most_left {
            self.left = DeviceMemory::filled(queue, most_left, 0)?;
        }
        let again = DeviceMemory::upload(queue, &rest.again)?;
        let is_partitioned = rest.per_block > 0;
        let mut arguments = vec![match is_partitioned {
            true => self.keys[0].input(rest.n, key_bytes),
            false => keys.argument,
        }];
        if let Some(Combined {
            values, op, bytes, ..
        }) = combined
        {
            let values = match is_partitioned {
                true => self.values.input(rest.n, bytes),
                false => values,
            };
            arguments.extend([values, op]);
        }
        arguments.push(self.words.output(slots, key_bytes));
        if let Some(Combined { bytes, .. }) = combined {
            arguments.push(self.cells.output(slots + 1, bytes));
        }
        arguments.extend([
            Argument::output(&mut self.state),
            Argument::input(again.all()),
            Argument::output(&mut self.left),
        ]);
        arguments.extend(numbers.map(Argument::number));
        let row = combined.map_or_else(|| row("group_insert", key_bytes), |combined| combined.row);
        let kernel = Kernel::find(gpu, row)?;
        // SAFETY:
        // - The row is for keys of this size; a combining one is that of these values and this operator (`combine_of`). The
        //   keys and values are borrowed from live memory of this device, and have the same length (checked by the callers
        //   of `insert`), or they are the partitioned ones.
        // - The table, the cells, the state and the tiles belong to this stream, whose launches do not overlap, and have the
        //   required lengths and contents (`insert`).
        // - Any number of blocks is right, or there are enough for all tiles; and `left` has room for all that they leave.
        unsafe { launch(queue, &kernel, blocks, &arguments) }?;
        let state = self.state.all().download(queue)?;
        let mut left = match state[State::LEFT] as usize {
            0 => vec![],
            left => self.left.span(0, left).download(queue)?,
        };
        let taken = match is_partitioned {
            true => rest.count(),
            false => state[State::NEXT] as usize,
        };
        // Tiles that were taken from neither list.
        left.extend(&rest.again[taken.min(rest.again.len())..]);
        let behind = taken.saturating_sub(rest.again.len());
        rest.first = (rest.first + behind).min(rest.tiles);
        rest.again = left;
        Ok(state)
    }

    /// Brings the items that are left into parts with similar hashes. If there is too little memory, nothing has changed.
    fn partition(
        &mut self,
        queue: &Queue,
        keys: Keys<'_>,
        combined: Combined<'_>,
        rest: &mut Rest,
    ) -> Result<(), Error> {
        let (gpu, key_bytes, bytes) = (queue.gpu(), keys.bytes, combined.bytes);
        let of_tile = of_tile(key_bytes);
        let last = rest.tiles - 1;
        let has_last = rest.first < rest.tiles || rest.again.contains(&(last as u32));
        let missing = if has_last {
            rest.tiles * of_tile - rest.n
        } else {
            0
        };
        let n = rest.count() * of_tile - missing;
        self.keys[0].reserve(queue, n, key_bytes)?;
        self.values.reserve(queue, n, bytes)?;
        let parts = PARTS as usize;
        for counters in [&mut self.totals, &mut self.counts] {
            counters.reserve(queue, parts, INDEX)?;
            fill(queue, counters.output(parts, INDEX), parts, INDEX, 0)?;
        }
        let again = DeviceMemory::upload(queue, &rest.again)?;
        let first = Argument::number(rest.first as u64);
        let tiles = [Argument::input(again.all()), first];
        let arguments = [
            keys.argument,
            tiles[0],
            self.totals.output(parts, INDEX),
            first,
        ];
        let counting = row("partition_count", key_bytes);
        // SAFETY: the row is for keys of this size. The tiles are different ones of the keys, and the counters are 0.
        unsafe { strided(queue, counting, rest.count() * THREADS as usize, &arguments) }?;
        let arguments = [
            keys.argument,
            combined.values.as_words(bytes),
            tiles[0],
            self.keys[0].output(n, key_bytes),
            self.values.output(n, bytes),
            self.totals.input(parts, INDEX),
            self.counts.output(parts, INDEX),
            first,
        ];
        let (kernel, of_block) = match (key_bytes, bytes) {
            (4, 4) => ("partition_u32", tiles_of_block::<u32, u32>()),
            (4, _) => ("partition_u64", tiles_of_block::<u32, u64>()),
            (_, 4) => ("partition_u32", tiles_of_block::<u64, u32>()),
            _ => ("partition_u64", tiles_of_block::<u64, u64>()),
        };
        let kernel = Kernel::find(gpu, row(kernel, key_bytes))?;
        let blocks = rest.count().div_ceil(of_block);
        // SAFETY: the row is for keys and words of these sizes. The tiles are those that were counted, and the results have
        // as many elements as they have items.
        unsafe { launch(queue, &kernel, blocks, &arguments) }?;
        let tiles = tiles_of(n, key_bytes);
        *rest = Rest {
            n,
            tiles,
            again: vec![],
            first: 0,
            per_block: tiles.div_ceil(resident(gpu) * WAVES).max(FEWEST_PER_BLOCK),
        };
        Ok(())
    }

    /// Copies the keys of a table of `slots` slots, and their cells, to one of `larger` slots, and returns these.
    fn grow(
        &mut self,
        queue: &Queue,
        slots: usize,
        larger: usize,
        key_bytes: usize,
        combined: Option<Combined<'_>>,
    ) -> Result<usize, Error> {
        let mut words = empty_table(queue, Room::new(queue)?, larger, key_bytes)?;
        self.numbers.reserve(queue, slots + 1, INDEX)?;
        let arguments = [
            self.words.input(slots, key_bytes),
            words.output(larger, key_bytes),
            self.numbers.output(slots + 1, INDEX),
        ];
        let row = row("group_rehash", key_bytes);
        // SAFETY: the row is for keys of this size. The tables and the array belong to this call, have these lengths, and
        // the new table is empty and has more slots than the old one has keys.
        unsafe { strided(queue, row, slots + 1, &arguments) }?;
        if let Some(Combined { initial, bytes, .. }) = combined {
            let mut cells = Room::new(queue)?;
            cells.reserve(queue, larger + 1, bytes)?;
            fill(
                queue,
                cells.output(larger + 1, bytes),
                larger + 1,
                bytes,
                initial,
            )?;
            let arguments = [
                self.cells.input(slots + 1, bytes),
                self.numbers.input(slots + 1, INDEX),
                cells.output(larger + 1, bytes),
                Argument::number(1),
            ];
            // SAFETY: there is a cell for each old slot and one more, whose new slots the launch above has stored; they
            // differ, and are slots of the larger table or the one behind it.
            unsafe { strided(queue, self::row("scatter", bytes), slots + 1, &arguments) }?;
            self.cells = cells;
        }
        self.words = words;
        Ok(larger)
    }
}
