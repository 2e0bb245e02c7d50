//! The launches that find, number, sort and combine groups on a GPU.

use kernels_gpu::entry::Entry;
use kernels_gpu::entry::groups::of;
use kernels_gpu::groups::parts::Parts;
use kernels_gpu::groups::sort::{pairs_of_tile, tiles_of};
use kernels_gpu::groups::{EMPTY_BYTE, RADIX, State, THREADS};

use crate::backend::Queue;
use crate::element::Element;
use crate::error::Error;
use crate::launch::{Argument, Grid, Kernel};
use crate::memory::{DeviceMemory, Span, SpanMut};

/// The bytes of an index, a number or a slot.
pub(super) const INDEX: usize = size_of::<u32>();

/// Memory that grows.
pub(super) struct Room(DeviceMemory<u64>);

impl Room {
    pub(super) fn new(queue: &Queue) -> Result<Self, Error> {
        Ok(Self(DeviceMemory::filled(queue, 0, 0)?))
    }

    /// Makes room for `len` values of `bytes` bytes each. Its contents are lost if there was too little.
    pub(super) fn reserve(&mut self, queue: &Queue, len: usize, bytes: usize) -> Result<(), Error> {
        let words = len.saturating_mul(bytes).div_ceil(size_of::<u64>());
        if words > self.0.len() {
            // Frees the old memory first.
            self.0 = DeviceMemory::filled(queue, 0, 0)?;
            self.0 = DeviceMemory::filled(queue, words, 0)?;
        }
        Ok(())
    }

    pub(super) fn input(&self, len: usize, bytes: usize) -> Argument<'_> {
        Argument::input_room(&self.0, len, bytes)
    }

    pub(super) fn output(&mut self, len: usize, bytes: usize) -> Argument<'_> {
        Argument::room(&mut self.0, len, bytes)
    }

    /// The first `len` values.
    ///
    /// # Safety
    ///
    /// The launches before have stored values of this type.
    pub(super) unsafe fn span<T: Element>(&self, len: usize) -> Span<'_, T> {
        let Self(memory) = self;
        assert!(len * size_of::<T>() <= size_of::<u64>() * memory.len());
        // SAFETY: this is memory of the device with that many bytes (asserted), aligned for 64 bits; the values are the
        // caller's contract. It is borrowed as long as the span, and so is not written.
        unsafe { Span::of_address(memory.gpu(), memory.address(), len) }
    }
}

/// Memory of a stream, whose launches do not overlap.
pub(crate) struct Storage {
    /// The slots of the table, and the cell of each and one more.
    pub(super) words: Room,
    pub(super) cells: Room,
    pub(super) state: DeviceMemory<u32>,
    /// The tiles that each warp has combined.
    pub(super) rounds: Room,
    /// The slot of each group, and the number of each slot's group.
    pub(super) slots: Room,
    pub(super) numbers: Room,
    /// Where pairs are sorted to, in turn.
    pub(super) keys: [Room; 2],
    pub(super) items: Room,
    pub(super) counts: Room,
    pub(super) totals: Room,
    /// The values of sorted items, or of the groups of parts.
    pub(super) values: Room,
    /// The pairs of parts, the words that their launches share, and the keys of their groups.
    pub(super) pairs: Room,
    pub(super) parts: DeviceMemory<u32>,
    pub(super) unique: Room,
}

/// Groups whose values are combined.
#[derive(Clone, Copy)]
pub(super) enum Combination {
    /// In the cells of a table.
    Table(Table),
    /// By parts; so many groups.
    Parts(usize),
}

impl Combination {
    /// The number of groups.
    pub(super) fn groups(self) -> usize {
        match self {
            Self::Table(table) => table.groups,
            Self::Parts(groups) => groups,
        }
    }
}

/// A complete table.
#[derive(Clone, Copy)]
pub(super) struct Table {
    pub(super) slots: usize,
    pub(super) groups: usize,
}

/// The keys of a call.
#[derive(Clone, Copy)]
pub(super) struct Keys<'a> {
    pub(super) argument: Argument<'a>,
    pub(super) len: usize,
    /// The bytes of a key.
    pub(super) bytes: usize,
}

/// Values that are combined on the way.
#[derive(Clone, Copy)]
pub(super) struct Combined<'a> {
    pub(super) row: &'static Entry,
    pub(super) values: Argument<'a>,
    pub(super) op: Argument<'a>,
    /// The bits of a cell before the first value, and its bytes: 4 or 8.
    pub(super) initial: u64,
    pub(super) bytes: usize,
}

impl Storage {
    pub(super) fn new(queue: &Queue) -> Result<Self, Error> {
        let room = || Room::new(queue);
        Ok(Self {
            words: room()?,
            cells: room()?,
            state: DeviceMemory::filled(queue, State::WORDS, 0)?,
            rounds: room()?,
            slots: room()?,
            numbers: room()?,
            keys: [room()?, room()?],
            items: room()?,
            counts: room()?,
            totals: room()?,
            values: room()?,
            pairs: room()?,
            parts: DeviceMemory::filled(queue, Parts::WORDS, 0)?,
            unique: room()?,
        })
    }

    /// Stores the key of each group of a table, and its slot, and with `numbers` the number of each slot's group.
    pub(super) fn list<K: Element>(
        &mut self,
        queue: &Queue,
        table: Table,
        unique: SpanMut<'_, K>,
        numbers: bool,
    ) -> Result<(), Error> {
        let Table { slots, groups } = table;
        self.slots.reserve(queue, groups, INDEX)?;
        if numbers {
            self.numbers.reserve(queue, slots + 1, INDEX)?;
        }
        let arguments = [
            self.words.input(slots, size_of::<K>()),
            Argument::output(&mut self.state),
            Argument::output_span(unique),
            self.slots.output(groups, INDEX),
            match numbers {
                true => self.numbers.output(slots + 1, INDEX),
                false => Argument::no_output(INDEX, queue.gpu()),
            },
        ];
        let row = row("group_list", size_of::<K>());
        // SAFETY: the row is for keys of this size. The table is complete, and the state is that of its last launch, or
        // that of an earlier launch with `LISTED` still 0. There is room for as many groups as the state counts.
        unsafe { strided(queue, row, slots + 1, &arguments) }
    }

    /// Stores the number of each item's group.
    pub(super) fn number(
        &mut self,
        queue: &Queue,
        table: Table,
        keys: Keys<'_>,
        indices: &mut DeviceMemory<u32>,
    ) -> Result<(), Error> {
        let arguments = [
            keys.argument,
            self.words.input(table.slots, keys.bytes),
            self.numbers.input(table.slots + 1, INDEX),
            Argument::output(indices),
        ];
        let row = row("group_number", keys.bytes);
        // SAFETY: the row is for keys of this size. All of them are in the table, whose slots have been numbered. The
        // caller's array has an element for each key.
        unsafe { strided(queue, row, keys.len, &arguments) }
    }

    /// Stores the key and the combined values of each group.
    pub(super) fn store<K: Element, A: Element>(
        &mut self,
        queue: &Queue,
        combination: Combination,
        unique: SpanMut<'_, K>,
        output: SpanMut<'_, A>,
    ) -> Result<(), Error> {
        match combination {
            Combination::Table(table) => {
                self.list(queue, table, unique, false)?;
                self.cells(queue, table, output)
            }
            Combination::Parts(groups) => {
                // SAFETY: `combine_parts` has stored so many keys and values of these types.
                let (keys, values) =
                    unsafe { (self.unique.span(groups), self.values.span(groups)) };
                queue.gpu().enter()?;
                unique.enqueue_copy(queue, keys)?;
                output.enqueue_copy(queue, values)
            }
        }
    }

    /// Stores the cell of each group.
    fn cells<A: Element>(
        &mut self,
        queue: &Queue,
        table: Table,
        to: SpanMut<'_, A>,
    ) -> Result<(), Error> {
        let bytes = size_of::<A>();
        let arguments = [
            self.cells.input(table.slots + 1, bytes),
            self.slots.input(table.groups, INDEX),
            Argument::output_span(to),
            Argument::number(1),
        ];
        // SAFETY: the slots are those of the groups (`list`), and the caller's array has an element for each.
        unsafe { strided(queue, row("gather", bytes), table.groups, &arguments) }
    }

    /// Sorts at least one key by the digits from these bits on, and stores the indices of the sorted keys in `to`. Returns
    /// which of the rooms has the sorted keys.
    pub(super) fn sort(
        &mut self,
        queue: &Queue,
        keys: Keys<'_>,
        flip: u64,
        shifts: &[u32],
        mut to: SpanMut<'_, u32>,
    ) -> Result<usize, Error> {
        let (n, bytes) = (keys.len, keys.bytes);
        let tiles = match bytes {
            4 => tiles_of::<u32>(n),
            _ => tiles_of::<u64>(n),
        };
        let gpu = queue.gpu();
        gpu.enter()?;
        for room in &mut self.keys[..shifts.len().min(2)] {
            room.reserve(queue, n, bytes)?;
        }
        if shifts.len() > 1 {
            self.items.reserve(queue, n, INDEX)?;
        }
        let counts_len = tiles * RADIX as usize;
        self.counts.reserve(queue, counts_len, INDEX)?;
        self.totals.reserve(queue, RADIX as usize, INDEX)?;
        let [count, scatter] = ["sort_count", "sort_scatter"].map(|kernel| row(kernel, bytes));
        let [count, scan, scatter] = [count, row("sort_scan", INDEX), scatter];
        let [count, scan, scatter] = [
            Kernel::find(gpu, count)?,
            Kernel::find(gpu, scan)?,
            Kernel::find(gpu, scatter)?,
        ];
        let [even, odd] = &mut self.keys;
        for (pass, shift) in shifts.iter().enumerate() {
            let (from, into) = match pass % 2 {
                0 => (&*odd, &mut *even),
                _ => (&*even, &mut *odd),
            };
            let keys_in = match pass {
                0 => keys.argument,
                _ => from.input(n, bytes),
            };
            let digit = [Argument::number((*shift).into()), Argument::number(flip)];
            let counting = [
                keys_in,
                self.counts.output(counts_len, INDEX),
                digit[0],
                digit[1],
            ];
            // SAFETY: the row is for keys of this size, with a block for each tile, and a counter for each digit and tile.
            unsafe { launch(queue, &count, tiles, &counting) }?;
            let scanning = [
                self.counts.output(counts_len, INDEX),
                self.totals.output(RADIX as usize, INDEX),
            ];
            // SAFETY: a block for each digit, and as many counters.
            unsafe { launch(queue, &scan, RADIX as usize, &scanning) }?;
            // The last pass stores to the caller's array, those before alternate.
            let is_to = (shifts.len() - 1 - pass).is_multiple_of(2);
            let (items_in, items_out) = match (pass, is_to) {
                (0, true) => (
                    Argument::nothing(INDEX, gpu),
                    Argument::output_span(to.reborrow()),
                ),
                (0, false) => (Argument::nothing(INDEX, gpu), self.items.output(n, INDEX)),
                (_, true) => (
                    self.items.input(n, INDEX),
                    Argument::output_span(to.reborrow()),
                ),
                (_, false) => (Argument::input(to.all()), self.items.output(n, INDEX)),
            };
            let scattering = [
                keys_in,
                items_in,
                into.output(n, bytes),
                items_out,
                self.counts.input(counts_len, INDEX),
                self.totals.input(RADIX as usize, INDEX),
                digit[0],
                digit[1],
            ];
            // SAFETY: as above. The sums are those of these keys. The pairs are read from other arrays than those to
            // which they are stored, all of which have `n` elements.
            unsafe { launch(queue, &scatter, tiles, &scattering) }?;
        }
        Ok((shifts.len() - 1) % 2)
    }

    /// The sorted keys in a room of [`sort`](Self::sort), which were `u32`.
    pub(super) fn sorted(&self, room: usize, n: usize) -> Span<'_, u32> {
        // SAFETY: `sort` has stored them.
        unsafe { self.keys[room].span(n) }
    }

    /// Stores the values of items in the order of `indices`, in memory of this storage.
    pub(super) fn gather<T: Element>(
        &mut self,
        queue: &Queue,
        from: Span<'_, T>,
        indices: Span<'_, u32>,
    ) -> Result<Span<'_, T>, Error> {
        let n = indices.len();
        self.values.reserve(queue, n, size_of::<T>())?;
        let to = self.values.output(n, size_of::<T>());
        gather(queue, Argument::input(from), indices, to, size_of::<T>())?;
        // SAFETY: the launch stores them.
        Ok(unsafe { self.values.span(n) })
    }
}

/// Enqueues the launch that stores the values with these indices, of `bytes` bytes each.
///
/// All indices are below the number of values of `from`, as those of a permutation are.
pub(super) fn gather<'a>(
    queue: &Queue,
    from: Argument<'a>,
    indices: Span<'a, u32>,
    to: Argument<'a>,
    bytes: usize,
) -> Result<(), Error> {
    // The largest word that divides the bytes of a value, which is at most its alignment or moved in parts.
    let word = [8, 4, 2, 1]
        .into_iter()
        .find(|word| bytes.is_multiple_of(*word));
    let word = word.unwrap_or(1);
    let arguments = [
        from.as_words(word),
        Argument::input(indices),
        to.as_words(word),
        Argument::number((bytes / word) as u64),
    ];
    // SAFETY: both arrays have whole values of this size; the indices are those of values (the callers'). The arrays
    // differ, because one is borrowed mutably.
    unsafe { strided(queue, row("gather", word), indices.len(), &arguments) }
}

/// Enqueues the launch that stores the positions of the indices, which are a permutation.
pub(super) fn invert(
    queue: &Queue,
    indices: Span<'_, u32>,
    to: SpanMut<'_, u32>,
) -> Result<(), Error> {
    assert_eq!(indices.len(), to.all().len());
    let n = indices.len();
    let arguments = [Argument::input(indices), Argument::output_span(to)];
    // SAFETY: the arrays have the same length, and the indices are a permutation (the caller's).
    unsafe { strided(queue, row("invert", INDEX), n, &arguments) }
}

/// The room with an empty table.
pub(super) fn empty_table(
    queue: &Queue,
    mut room: Room,
    slots: usize,
    key_bytes: usize,
) -> Result<Room, Error> {
    room.reserve(queue, slots, key_bytes)?;
    let word = u64::from_ne_bytes([EMPTY_BYTE; 8]);
    fill(queue, room.output(slots, key_bytes), slots, key_bytes, word)?;
    Ok(room)
}

/// Enqueues the launch that stores a value in `len` words of `bytes` bytes.
pub(super) fn fill(
    queue: &Queue,
    to: Argument<'_>,
    len: usize,
    bytes: usize,
    value: u64,
) -> Result<(), Error> {
    let arguments = [to, Argument::number(value)];
    // SAFETY: the row is for words of this size, which is that of the array (`Kernel::launch` compares them).
    unsafe { strided(queue, row("fill", bytes), len, &arguments) }
}

/// The row of a kernel for keys or words of this size.
pub(super) fn row(kernel: &str, bytes: usize) -> &'static Entry {
    of(kernel, bytes).expect("keys have 4 or 8 bytes, and words 1, 2, 4 or 8")
}

/// Enqueues a launch of a kernel that takes any number of blocks, for `len` elements.
///
/// # Safety
///
/// That of [`Kernel::launch`].
pub(super) unsafe fn strided(
    queue: &Queue,
    row: &'static Entry,
    len: usize,
    arguments: &[Argument<'_>],
) -> Result<(), Error> {
    /// Blocks for each multiprocessor: more than it runs at once, so that none idles at the end.
    const PER_MULTIPROCESSOR: u32 = 32;
    if len == 0 {
        return Ok(());
    }
    let gpu = queue.gpu();
    gpu.enter()?;
    let kernel = Kernel::find(gpu, row)?;
    let most = (gpu.info.multiprocessors * PER_MULTIPROCESSOR) as usize;
    let blocks = len.div_ceil(THREADS as usize).min(most);
    // SAFETY: the caller's contract.
    unsafe { launch(queue, &kernel, blocks, arguments) }
}

/// Enqueues a launch of blocks of [`THREADS`] threads; there are fewer blocks than tiles of 2^32 items.
///
/// # Safety
///
/// That of [`Kernel::launch`].
pub(super) unsafe fn launch(
    queue: &Queue,
    kernel: &Kernel,
    blocks: usize,
    arguments: &[Argument<'_>],
) -> Result<(), Error> {
    const { assert!(u32::MAX as usize / pairs_of_tile::<u64>() < 1 << 30) };
    let grid = Grid {
        blocks: blocks as u32,
        threads: THREADS,
    };
    // SAFETY: the caller's contract.
    unsafe { kernel.launch(queue, grid, arguments) }
}
