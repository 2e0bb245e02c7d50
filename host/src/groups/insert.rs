//! Puts keys into a table that grows, and combines their values on the way.

use kernels_gpu::groups::insert::{BLOCKS, MOST_LEFT, items_of_tile};
use kernels_gpu::groups::{MOST_SLOTS, State};

use super::launch::{
    Combined, INDEX, Keys, Room, Storage, Table, empty_table, fill, launch, row, strided,
};
use crate::backend::Queue;
use crate::error::{Error, GroupsError};
use crate::launch::{Argument, Kernel};
use crate::memory::DeviceMemory;

/// The slots among which a key is searched before the table grows.
const PROBES: usize = 256;

/// A larger table has this many times as many slots.
const GROWTH: usize = 4;

/// The tiles that are left.
struct Rest {
    /// The number of all tiles.
    tiles: usize,
    /// Those that blocks have left.
    again: Vec<u32>,
    /// The first one that has never been taken.
    first: usize,
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
            tiles: match key_bytes {
                4 => n.div_ceil(items_of_tile::<u32>()),
                _ => n.div_ceil(items_of_tile::<u64>()),
            },
            again: vec![],
            first: 0,
        };
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
            let numbers = [rest.first, limit, probes].map(|number| number as u64);
            let state = self.launch_insert(queue, keys, combined, slots, &mut rest, numbers)?;
            if rest.again.is_empty() && rest.first == rest.tiles {
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

    /// Launches the kernel for the tiles that are left, and returns the state. `numbers` are its last parameters.
    fn launch_insert(
        &mut self,
        queue: &Queue,
        keys: Keys<'_>,
        combined: Option<Combined<'_>>,
        slots: usize,
        rest: &mut Rest,
        numbers: [u64; 3],
    ) -> Result<Vec<u32>, Error> {
        let (gpu, key_bytes) = (queue.gpu(), keys.bytes);
        let blocks = rest.tiles.min((gpu.info.multiprocessors * BLOCKS) as usize);
        if self.left.len() < MOST_LEFT * blocks {
            self.left = DeviceMemory::filled(queue, MOST_LEFT * blocks, 0)?;
        }
        let again = DeviceMemory::upload(queue, &rest.again)?;
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
            Argument::input(again.all()),
            Argument::output(&mut self.left),
        ]);
        arguments.extend(numbers.map(Argument::number));
        let row = combined.map_or_else(|| row("group_insert", key_bytes), |combined| combined.row);
        let kernel = Kernel::find(gpu, row)?;
        // SAFETY:
        // - The row is for keys of this size; a combining one is that of these values and this operator (`combine_of`). The
        //   keys and values are borrowed from live memory of this device, and have the same length (checked by the callers
        //   of `insert`).
        // - The table, the cells, the state and the tiles belong to this stream, whose launches do not overlap, and have the
        //   required lengths and contents (`insert`).
        // - Any number of blocks is right, and each has its elements of `left`.
        unsafe { launch(queue, &kernel, blocks, &arguments) }?;
        let state = self.state.all().download(queue)?;
        let mut left = match state[State::LEFT] as usize {
            0 => vec![],
            left => self.left.span(0, left).download(queue)?,
        };
        let taken = state[State::NEXT] as usize;
        // Tiles that were taken from neither list.
        left.extend(&rest.again[taken.min(rest.again.len())..]);
        let behind = taken.saturating_sub(rest.again.len());
        rest.first = (rest.first + behind).min(rest.tiles);
        rest.again = left;
        Ok(state)
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
