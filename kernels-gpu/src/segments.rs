//! Segmented reductions: each of many adjacent parts of an array by itself, in time that depends on the bytes alone.
//!
//! Segment `s` has the items from `offsets[s]` to `offsets[s + 1]`, or, of fixed length, row `s`. Its result has the bits of
//! the [whole-array reduction](crate::single_pass) of these items: the tiles are counted from the segment's start, so no
//! neighbour enters.
//!
//! # Diagonals
//!
//! Segment `s` starts at *diagonal* `offsets[s] + s`: the number of items and of segments before it. So a segment of `len`
//! items takes `len + 1` diagonals, and all starts differ, also those of empty segments. The diagonals are cut into
//! *windows* of the same length, a block for each; a window has a bounded number of starts and items, whatever the lengths.
//!
//! ```text
//! segments     0 a a a 1 2 b 3 c c c c c c c c c c 4 d d      a number is a start, a letter an item
//! windows      |               |               |              of 8 diagonals
//! ```
//!
//! | kernel | does |
//! |---|---|
//! | [`partition`] | finds the first segment that starts in each window, by guesses and bisection, and what its block has to know |
//! | [`window`] | a block reduces the segments that start in its window; of [long](most_staged) ones, the tiles that start there |
//! | [`combine`] | combines the partials of long segments |
//! | [`mod@by_part`] | does all by itself, and fast if most segments have more than a tile: a warp or a block for each part of a segment |
//!
//! Rows need no [`partition`], and only long ones need [`combine`].
//!
//! # Bad offsets
//!
//! The kernels check every offset that they use. Offsets that decrease or lie beyond the items lead to no access out of
//! bounds and to no race: a block stores no result of a segment unless its two offsets are right, and a segment's result and
//! partials have places that follow from its start, which is in one window. [`Reports`] has the index of the first bad offset. The
//! segments of consecutive windows cover all segments even if the searches went astray, because the first window
//! starts with segment 0 and the last one ends with the last: so some block checks each offset.
//!
//! # Requirements of every launch
//!
//! - [`THREADS`] threads per block, and [`shared_bytes`] of dynamic shared memory for [`window`]; as many blocks as windows.
//! - At least one segment; a [`Shape`], with offsets for one segment more, or rows that together are all items.
//! - [`Storage`] of the lengths of [`Layout`], or what [`mod@by_part`](by_part::by_part) asks for.

pub mod by_part;
pub mod combine;
mod partials;
pub mod partition;
mod plan;
mod select;
pub mod window;

use crate::element::{Element, Shuffle};
use crate::items::Items;
use crate::mem::{Global, staged_bytes};
use crate::op::{Min, Value};
use crate::tile::items_of_tile;
use crate::warp::FULL_MASK;
use partials::Partials;
pub use partials::RUN;
use plan::Plan;

/// The threads per block of every kernel.
pub const THREADS: u32 = 128;

/// The bytes of a window's items, or of its offsets in shared memory.
const WINDOW_BYTES: usize = 16 << 10;

/// Shared memory of a block on every device.
const MOST_SHARED: usize = 48 << 10;

/// The number of diagonals of a window: whole tiles.
pub const fn window_of<I: Items>() -> usize {
    let widest = if I::BYTES > 4 { I::BYTES } else { 4 };
    let tiles = WINDOW_BYTES / (widest * items_of_tile::<I>());
    if tiles > 0 {
        tiles * items_of_tile::<I>()
    } else {
        items_of_tile::<I>()
    }
}

/// The number of tiles in as many items as a window has diagonals.
pub const fn cells_of<I: Items>() -> usize {
    window_of::<I>() / items_of_tile::<I>()
}

/// The most items of a segment that a block reduces from shared memory; longer ones are *long*. Two tiles, or one if items are
/// so long that there is no room, or so short that eight blocks would leave too little of a multiprocessor's memory to the L1
/// cache, through which all loads go.
pub const fn most_staged<I: Items>() -> usize {
    let tile = items_of_tile::<I>();
    match I::BYTES > 4 && shared_bytes_of::<I>(2 * tile) <= MOST_SHARED {
        true => 2 * tile,
        false => tile,
    }
}

/// The most segments of a window that have more lanes than a thread combines, but are staged.
pub const fn most_listed<I: Items>() -> usize {
    (window_of::<I>() + 2 * items_of_tile::<I>()) / (window::FEW * I::VECTOR + 1) + 1
}

/// The words of a block in shared memory before the starts of the segments: the cells, a counter, and the listed
/// segments; a multiple of 16 bytes.
pub const fn words_of<I: Items>() -> usize {
    (cells_of::<I>() + 1 + most_listed::<I>()).next_multiple_of(4)
}

/// The bytes for starts besides 4 of each diagonal: one start more, and what granules of 16 bytes have before and behind.
const STARTS_MORE: usize = 4 + 2 * 16;

/// The dynamic shared memory of a block in bytes: words, the offsets, and the staged items. A window has at most as many
/// starts and items as diagonals, and its last segment has at most [`most_staged`] items more.
pub const fn shared_bytes<I: Items>() -> usize {
    let bytes = shared_bytes_of::<I>(most_staged::<I>());
    assert!(
        bytes <= MOST_SHARED,
        "an item of segments has too many bytes"
    );
    bytes
}

/// The same if segments of up to `staged` items are staged.
const fn shared_bytes_of<I: Items>(staged: usize) -> usize {
    let widest = if I::BYTES > 4 { I::BYTES } else { 4 };
    let diagonals = window_of::<I>() * widest + staged * I::BYTES;
    let bytes = 4 * words_of::<I>() + STARTS_MORE + diagonals + 3 * staged_bytes(0);
    bytes.next_multiple_of(16)
}

/// The segments, as the kernels receive them.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Shape {
    /// The number of segments.
    pub segments: u64,
    /// The length of each of them; 0 if there are offsets.
    pub row: u64,
    /// 1 if offsets of 32 bits are signed.
    pub signed: u64,
    /// The number of diagonals of a window.
    pub window: u64,
    /// The most items of a segment that is staged.
    pub staged: u64,
    /// The number of items.
    pub items: u64,
    /// The number of windows.
    pub windows: u64,
    /// The number of [cells](Layout::cells).
    pub cells: u64,
    /// The number of segments of a diagonal on average, in units of 2^-48, rounded down.
    per_diagonal: u64,
    /// Of [`by_part`]: the warps of a team, the teams of chunks for each team, and the segments of a chunk on average, both in
    /// units of 2^-32.
    team: u64,
    per_team: u64,
    per_chunk: u64,
    /// The number of the call, and the [epoch](by_part) of its counters.
    call: u64,
    epoch: u64,
}

impl Shape {
    /// The shape of so many segments of `n` items; `row` is their length, or 0 if there are offsets.
    pub const fn new<I: Items>(n: usize, segments: usize, row: usize, is_signed: bool) -> Self {
        let Layout { windows, cells } = Layout::of::<I>(n, segments);
        Self {
            segments: segments as u64,
            row: row as u64,
            signed: is_signed as u64,
            window: window_of::<I>() as u64,
            staged: most_staged::<I>() as u64,
            items: n as u64,
            windows: windows as u64,
            cells: cells as u64,
            per_diagonal: match segments {
                0 => 0,
                _ => (((segments as u128) << 48) / (n as u128 + segments as u128)) as u64,
            },
            team: 0,
            per_team: 0,
            per_chunk: 0,
            call: 0,
            epoch: 0,
        }
    }

    /// The same for [`by_part`] by teams of `team` warps. Its windows are the [chunks](by_part::chunks_of).
    pub const fn by_part<I: Items>(self, team: usize) -> Self {
        let (n, segments) = (self.items, self.segments);
        let chunks = by_part::chunks_of::<I>(n as usize, team) as u64;
        let started = (segments as u128 * by_part::items_of_part::<I>(team) as u128) << 32;
        let items = if n > 0 { n as u128 } else { 1 };
        Self {
            windows: chunks,
            team: team as u64,
            // Rounded up, so that the teams of all chunks are among those of the launch.
            per_team: (((chunks as u128) << 32) / (segments + chunks) as u128) as u64 + 1,
            per_chunk: (started / items) as u64,
            ..self
        }
    }

    /// The number of segments of so many diagonals, if all have the same length; rounded up. A division would be a call.
    #[inline(always)]
    fn segments_of(&self, diagonals: usize) -> usize {
        let segments = diagonals as u128 * u128::from(self.per_diagonal);
        ((segments + ((1 << 48) - 1)) >> 48) as usize
    }

    /// The same of call number `call`.
    pub const fn of_call(self, call: u64, epoch: u64) -> Self {
        Self {
            call,
            epoch,
            ..self
        }
    }
}

// SAFETY: the type is `repr(C)`, and its fields are numbers.
unsafe impl Value for Shape {}

/// The lengths of the memory between the kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// The number of windows, which are the blocks of [`window`].
    pub windows: usize,
    /// The number of tiles that could start: partials of first tiles, and of others.
    pub cells: usize,
}

impl Layout {
    /// For `n` items and as many segments.
    pub const fn of<I: Items>(n: usize, segments: usize) -> Self {
        let windows = (n + segments).div_ceil(window_of::<I>());
        Self {
            windows,
            cells: windows * cells_of::<I>(),
        }
    }

    /// The number of warps of [`partition`].
    pub const fn planners(self) -> usize {
        self.windows.div_ceil(plan::OF_WARP)
    }

    /// The number of partials.
    pub const fn partials(self) -> usize {
        2 * self.cells
    }

    /// The number of words of [`Work`].
    pub const fn words(self) -> usize {
        Work::PLANS + Plan::WORDS * self.windows + 2 * self.cells + self.most_huge()
    }

    /// The number of counters of [`Work`], all 0 before the first launch.
    pub const fn counters(self) -> usize {
        Work::ARRIVED + self.most_huge()
    }

    /// The most segments of several runs of tiles.
    const fn most_huge(self) -> usize {
        self.cells / RUN + 1
    }
}

/// Words that the kernels leave for each other.
#[derive(Clone, Copy, Debug)]
pub struct Work {
    words: Global<u64>,
    /// The number of huge segments, which are those with several runs of tiles; and of each, how many runs are combined.
    counts: Global<u32>,
    layout: Layout,
}

/// Words with what is wrong.
#[derive(Clone, Copy, Debug)]
pub struct Reports {
    words: Global<u64>,
}

impl Reports {
    /// The word of the first bad offset of the first call that had one: the lower [`INDEX_BITS`](Self::INDEX_BITS) bits are its
    /// index, and the others the number of the call. Or [`NONE`](Self::NONE).
    pub const FIRST: usize = 0;

    /// The word that differs from [`NONE`](Self::NONE) if an offset of this launch is bad, behind [`partition`].
    const BAD: usize = 1;

    /// The number of words, all [`NONE`](Self::NONE) at first.
    pub const WORDS: usize = 2;

    /// There is no bad offset.
    pub const NONE: u64 = u64::MAX;

    /// The bits of an index. So the number of a call is taken modulo 2^24.
    pub const INDEX_BITS: u32 = 40;

    /// # Safety
    ///
    /// The contract of [`mem`](crate::mem): there are [`WORDS`](Self::WORDS) words.
    #[inline(always)]
    pub unsafe fn new(words: Global<u64>) -> Self {
        Self { words }
    }

    /// Tells the index of a bad offset.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn report(self, shape: Shape, index: usize) {
        let told = shape.call << Self::INDEX_BITS | index as u64;
        self.words
            .combine_atomic::<u64, Min>(Min, Self::FIRST, told);
        self.words.set_atomic(Self::BAD, 0);
    }

    /// Forgets that an earlier launch had a bad offset.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn begin(self) {
        self.words.set(Self::BAD, Self::NONE);
    }

    /// Whether this launch has a bad offset.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn is_bad(self) -> bool {
        self.words.get(Self::BAD) != Self::NONE
    }
}

/// Where a window begins.
#[derive(Clone, Copy, Debug)]
struct Edge {
    /// The first segment that starts in the window or behind it.
    first: usize,
    /// The start of the segment before, or `at` if there is none.
    before: usize,
    /// The start of the first segment; behind the last segment, its end.
    at: usize,
}

impl Edge {
    /// The edge before segment `first`.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn of(offsets: Offsets, first: usize) -> Self {
        let at = offsets.get(first);
        let before = match first {
            0 => at,
            _ => offsets.get(first - 1),
        };
        Self { first, before, at }
    }

    /// The edge of the next lane.
    ///
    /// # Safety
    ///
    /// All lanes of the warp arrive here.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    unsafe fn of_next_lane(self) -> Self {
        // SAFETY: the caller guarantees that all lanes arrive.
        let next = |of: usize| unsafe { (of as u64).shuffle(FULL_MASK, Shuffle::Down(1)) as usize };
        Self {
            first: next(self.first),
            before: next(self.before),
            at: next(self.at),
        }
    }
}

/// A segment with several tiles.
#[derive(Clone, Copy, Debug)]
pub struct Long {
    /// Its number.
    pub segment: u64,
    /// The cell of its first tile.
    pub cell: u32,
    /// The number of tiles.
    pub tiles: u32,
}

impl Work {
    /// The first word of the windows' plans.
    const PLANS: usize = Reports::WORDS;

    /// The counter of huge segments.
    const HUGE: usize = 0;

    /// The first counter of combined runs.
    const ARRIVED: usize = 1;

    /// # Safety
    ///
    /// The contract of [`mem`](crate::mem): `words` and `counts` have the lengths that the layout asks for.
    #[inline(always)]
    pub unsafe fn new(words: Global<u64>, counts: Global<u32>, shape: Shape) -> Self {
        let layout = Layout {
            windows: shape.windows as usize,
            cells: shape.cells as usize,
        };
        Self {
            words,
            counts,
            layout,
        }
    }

    /// Where bad offsets are told.
    #[inline(always)]
    fn reports(self) -> Reports {
        Reports { words: self.words }
    }

    /// The first word of the cells: the number of tiles of the long segment that starts in each, and then its own number.
    #[inline(always)]
    fn first_cell(self) -> usize {
        Self::PLANS + Plan::WORDS * self.layout.windows
    }

    /// Stores that no long segment starts in a cell.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn set_no_long(self, cell: usize) {
        self.words.set(self.first_cell() + cell, 0);
    }

    /// Stores the long segment that starts in a cell; a huge one also in the list of those.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn set_long(self, long: Long) {
        let word = self.first_cell() + long.cell as usize;
        self.words.set(word, long.tiles as u64);
        self.words.set(word + self.layout.cells, long.segment);
        if long.tiles as usize <= RUN {
            return;
        }
        let number = self.counts.fetch_increment(Self::HUGE, u32::MAX) as usize;
        // There are more only if offsets are bad.
        if number < self.layout.most_huge() {
            let places = (long.cell as u64) << 32 | long.tiles as u64;
            self.words.set(self.huge_word(number), places);
        }
    }

    /// The long segment that starts in a cell.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn long(self, cell: usize) -> Option<Long> {
        let word = self.first_cell() + cell;
        let tiles = self.words.get(word) as u32;
        (tiles > 0).then(|| Long {
            segment: self.words.get(word + self.layout.cells),
            cell: cell as u32,
            tiles,
        })
    }

    /// The number of huge segments.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn count_huge(self) -> usize {
        (self.counts.get(Self::HUGE) as usize).min(self.layout.most_huge())
    }

    /// The cell and the number of tiles of huge segment `number`.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn huge(self, number: usize) -> (u32, u32) {
        let places = self.words.get(self.huge_word(number));
        ((places >> 32) as u32, places as u32)
    }

    /// Counts a run of huge segment `number` as combined. True for the last of its `runs`; the counter is 0 again then.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn is_last_run(self, number: usize, runs: u32) -> bool {
        let counter = Self::ARRIVED + number;
        self.counts.fetch_increment(counter, runs) + 1 == runs
    }

    #[inline(always)]
    fn huge_word(self, number: usize) -> usize {
        self.first_cell() + 2 * self.layout.cells + number
    }
}

/// The starts of segments.
#[derive(Clone, Copy, Debug)]
pub struct Offsets {
    /// The segments.
    pub shape: Shape,
    narrow: Global<u32>,
    wide: Global<u64>,
}

impl Offsets {
    /// Offsets of 32 or of 64 bits; both arrays are empty for rows.
    ///
    /// # Safety
    ///
    /// The contract of [`mem`](crate::mem): one array has an offset for each segment and one more, unless there are rows.
    #[inline(always)]
    pub unsafe fn new(shape: Shape, narrow: Global<u32>, wide: Global<u64>) -> Self {
        Self {
            shape,
            narrow,
            wide,
        }
    }

    /// Whether all segments have the same length.
    #[inline(always)]
    fn are_rows(self) -> bool {
        self.shape.row > 0
    }

    /// The number of segments.
    #[inline(always)]
    fn segments(self) -> usize {
        self.shape.segments as usize
    }

    /// The start of segment `index`, or the end of the last one. A negative offset is a large number.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn get(self, index: usize) -> usize {
        if self.are_rows() {
            self.row(index)
        } else if self.are_wide() {
            self.get_wide(index)
        } else {
            self.get_narrow(index)
        }
    }

    #[inline(always)]
    fn row(self, index: usize) -> usize {
        index * self.shape.row as usize
    }

    #[inline(always)]
    fn are_wide(self) -> bool {
        self.wide.len() > 0
    }

    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn get_wide(self, index: usize) -> usize {
        self.wide.get(index) as usize
    }

    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn get_narrow(self, index: usize) -> usize {
        let offset = self.narrow.get(index);
        match self.shape.signed > 0 {
            true => offset as i32 as usize,
            false => offset as usize,
        }
    }
}

/// The memory of a launch, except for the items and the offsets.
#[derive(Clone, Copy, Debug)]
pub struct Storage<A> {
    /// The accumulator of each segment.
    pub output: Global<A>,
    /// The partials of the first tiles of long segments, then those of other tiles; one for each cell.
    pub partials: Global<A>,
    /// The words between the kernels.
    pub work: Work,
}

impl<A: Element> Storage<A> {
    /// The partials of the long segment that starts in a cell.
    #[inline(always)]
    fn partials_of(self, cell: usize) -> Partials<A> {
        Partials {
            global: self.partials,
            first: cell,
            others: self.partials.len() / 2 + cell,
        }
    }
}
