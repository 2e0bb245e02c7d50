//! Puts keys into a table that grows, and combines their values on the way.

use kernels_gpu::groups::insert::{TILE, shared_bytes, threads_of};
use kernels_gpu::groups::{MOST_SLOTS, State};
use kernels_gpu::warp::WARP_SIZE;

use super::launch::{Combined, INDEX, Keys, Room, Storage, Table, empty_table, fill, row, strided};
use crate::backend::Queue;
use crate::error::{Error, GroupsError};
use crate::gpu::Gpu;
use crate::launch::{Argument, Grid, Kernel};

/// The slots among which a key is searched before the table grows.
const PROBES: usize = 256;

/// A larger table has this many times as many slots.
const GROWTH: usize = 4;

/// The most shared memory of a block: what remains of a multiprocessor's is its L1 cache, which the table needs, too.
const MOST_SHARED: u32 = 192 << 10;

/// The number of bins of a block, and the bytes of its shared memory, for keys and values of these sizes.
fn bins_of(gpu: &Gpu, key_bytes: usize, value_bytes: usize) -> (usize, u32) {
    let most = gpu.info.shared_bytes_per_block.min(MOST_SHARED) as usize;
    let frequent = shared_bytes(0, key_bytes, value_bytes);
    let bins = most.saturating_sub(frequent) / (key_bytes + value_bytes);
    // Even, and not 0.
    let bins = (bins - bins % 2).max(2);
    let bytes = shared_bytes(bins, key_bytes, value_bytes);
    (bins, bytes as u32)
}

/// The number of warps of a grid.
fn warps_of(grid: Grid) -> usize {
    (grid.blocks * (grid.threads / WARP_SIZE)) as usize
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
        let threads = threads_of(key_bytes);
        let blocks = n.div_ceil(TILE * (threads / WARP_SIZE) as usize);
        let blocks = blocks.min(queue.gpu().info.multiprocessors as usize) as u32;
        let grid = Grid { blocks, threads };
        let warps = warps_of(grid);
        self.rounds.reserve(queue, warps, INDEX)?;
        fill(queue, self.rounds.output(warps, INDEX), warps, INDEX, 0)?;
        loop {
            let is_last = slots == most;
            // The last table need not be as empty as the others.
            let limit = if is_last {
                slots - slots / 8
            } else {
                slots / 2
            };
            let probes = if slots >= 2 * n {
                slots
            } else {
                PROBES.min(slots)
            };
            let limits = [limit, probes];
            self.launch_insert(queue, keys, combined, slots, grid, limits)?;
            let state = self.state.all().download(queue)?;
            if state[State::STOPPED] == 0 {
                let groups =
                    state[State::CLAIMED] as usize + usize::from(state[State::HAS_EMPTY] != 0);
                return Ok(Table { slots, groups });
            }
            if is_last {
                return Err(GroupsError::Groups { most: limit }.into());
            }
            slots = self.grow(queue, slots, most.min(GROWTH * slots), key_bytes, combined)?;
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

    /// Launches the kernel for the tiles that are left. `limits` are its limit and its most probes.
    fn launch_insert(
        &mut self,
        queue: &Queue,
        keys: Keys<'_>,
        combined: Option<Combined<'_>>,
        slots: usize,
        grid: Grid,
        limits: [usize; 2],
    ) -> Result<(), Error> {
        let (gpu, key_bytes) = (queue.gpu(), keys.bytes);
        let value_bytes = combined.map_or(0, |combined| combined.bytes);
        let (bins, shared) = bins_of(gpu, key_bytes, value_bytes);
        let mut arguments = vec![keys.argument];
        if let Some(Combined { values, op, .. }) = combined {
            arguments.extend([values, op]);
        }
        arguments.push(self.words.output(slots, key_bytes));
        if let Some(Combined { bytes, .. }) = combined {
            arguments.push(self.cells.output(slots + 1, bytes));
        }
        arguments.extend([
            Argument::output(&mut self.state),
            self.rounds.output(warps_of(grid), INDEX),
        ]);
        arguments.extend([limits[0], limits[1], bins].map(|n| Argument::number(n as u64)));
        let row = combined.map_or_else(|| row("group_insert", key_bytes), |combined| combined.row);
        let kernel = Kernel::find(gpu, row)?.with_shared_bytes(shared)?;
        // SAFETY:
        // - The row is for keys of this size; a combining one is that of these values and this operator (`combine_of`). The
        //   keys and values are borrowed from live memory of this device, and have the same length (checked by the callers
        //   of `insert`).
        // - The table, the cells, the state and the rounds belong to this stream, whose launches do not overlap, and have the
        //   required lengths and contents (`insert`). All launches of a call have the same grid.
        // - The block has the bytes of the bins, whose number is even and not 0 (`bins_of`).
        unsafe { kernel.launch(queue, grid, &arguments) }
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
