//! The part of a tile that a warp takes.

use super::{GROUPS, MOST_KEYS, MOST_ROWS, Starts, keeps, most_places};
use crate::element::{Element, Shuffle};
use crate::mem::{Global, Shared, compiler_barrier, opaque};
use crate::op::{Sum, unrolled};
use crate::tile::zero;
use crate::warp::{FULL_MASK, WARP_SIZE, reduce_down};
use cuda_std::thread::thread_idx_x;
use cuda_std::warp::{sync_warp, warp_vote_any, warp_vote_ballot};

/// The lanes with a start from which on keys are kept in shared memory.
const MANY: u32 = 24;

/// The keys that a lane loads together, if they are no longer in shared memory.
const LOADED: usize = 4;

/// The starts of a warp's part.
#[derive(Clone, Copy)]
pub(super) struct Found<K, const N: usize, const ROWS: usize> {
    /// Their number, in lane 0.
    pub(super) count: u32,
    /// Whether a whole group has none.
    pub(super) is_sparse: bool,
    /// The lane's masks, of [`MOST_KEYS`] bits for each group. Bit `N * r + e` of one stands for key `e` of the lane in row `r`.
    pub(super) masks: u64,
    /// The number of those that have been placed: those of the first `groups` groups.
    pub(super) placed: u32,
    pub(super) groups: u32,
    /// The lane's keys of the last group.
    last: [[K; N]; ROWS],
}

impl<K, const N: usize, const ROWS: usize> Found<K, N, ROWS> {
    /// The mask of a group.
    #[inline(always)]
    fn mask(&self, group: u32) -> u32 {
        (self.masks >> (group * MOST_KEYS as u32)) as u32 & ((1 << MOST_KEYS) - 1)
    }

    /// The group before which [`Part::later`] ends: if there are many starts, the keys of the last one need not be loaded again.
    #[inline(always)]
    fn end(&self) -> u32 {
        GROUPS - u32::from(self.placed > 0)
    }
}

/// Starts that have been placed after the others have been stored.
#[derive(Clone, Copy)]
pub(super) struct Later<K> {
    placed: u32,
    /// The number of the next group.
    groups: u32,
    /// The keys of the lane's first ones.
    keys: [K; LOADED],
}

impl<K: Element> Later<K> {
    /// None, before the groups from `groups` on.
    #[inline(always)]
    pub(super) fn none(groups: u32) -> Self {
        let (placed, keys) = (0, [zero(); LOADED]);
        Self {
            placed,
            groups,
            keys,
        }
    }
}

/// The part of a tile that belongs to a warp: groups of rows.
#[derive(Clone, Copy)]
pub(super) struct Part<K, const N: usize, const ROWS: usize> {
    pub(super) keys: Global<K>,
    /// The index of the first key; wraps if that is before the keys.
    pub(super) first: usize,
    /// Whether the rows consist of aligned vectors.
    pub(super) has_vectors: bool,
    /// The keys of the warp's first starts, if they are [kept](keeps).
    pub(super) kept: Shared<K>,
    /// The places of the warp's starts in some groups, counted from the warp's first key.
    pub(super) places: Shared<u16>,
}

impl<K: Element, const N: usize, const ROWS: usize> Part<K, N, ROWS> {
    /// The number of keys of a row.
    const ROW: usize = WARP_SIZE as usize * N;

    /// The number of keys of a group.
    const GROUP: usize = ROWS * Self::ROW;

    /// The number of keys.
    pub(super) const KEYS: usize = GROUPS as usize * Self::GROUP;

    /// The bit of a mask for a key. The steps of an unrolled loop behind its end, which never run, have one too.
    #[inline(always)]
    const fn bit(r: usize, e: usize) -> u32 {
        1 << ((N * r + e) % MOST_KEYS)
    }

    /// The index of the first key of a group.
    #[inline(always)]
    fn first_of(&self, group: u32) -> usize {
        self.first.wrapping_add(group as usize * Self::GROUP)
    }

    /// Finds the starts, and places those of the first groups, as long as there is room. Leaves the others in the masks.
    ///
    /// # Safety
    ///
    /// All lanes of the warp arrive here.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    #[allow(
        unused_assignments,
        reason = "the last step of an unrolled loop assigns for none behind it"
    )]
    pub(super) unsafe fn find(self) -> Found<K, N, ROWS> {
        let (n, lane) = (self.keys.len(), thread_idx_x() % WARP_SIZE);
        let in_front = self.keys.get(self.first.wrapping_sub(1).min(n - 1));
        let is_whole = self.has_vectors && self.first < n && Self::KEYS <= n - self.first;
        // In lane 0, the last key of the row before.
        let mut row_before = in_front;
        let (mut masks, mut count, mut group) = (0, 0, 0);
        let (mut placed, mut groups) = (0, 0);
        let mut is_sparse = false;
        let mut last = [[in_front; N]; ROWS];
        while group < GROUPS {
            let at = self.first_of(group).wrapping_add(lane as usize * N);
            let (own, exist) = self.load(at, is_whole, in_front);
            let mut mask = 0u32;
            unrolled!(|r < ROWS| {
                let below = Shuffle::Idx((lane + 31) % WARP_SIZE);
                // SAFETY: the caller guarantees that all lanes arrive.
                let turned = unsafe { own[r][N - 1].shuffle(FULL_MASK, below) };
                let mut previous = if lane == 0 { row_before } else { turned };
                row_before = turned;
                unrolled!(|e < N| {
                    if own[r][e] != previous {
                        mask |= Self::bit(r, e);
                    }
                    previous = own[r][e];
                });
            });
            mask &= exist;
            // The lane's first key is up to a vector before the array.
            let start = at.wrapping_neg();
            if start < N {
                mask |= 1 << start;
            }
            count += mask.count_ones();
            masks |= u64::from(mask) << (group * MOST_KEYS as u32);
            // SAFETY: as above.
            let with_starts = unsafe { warp_vote_ballot(FULL_MASK, mask != 0) };
            let (first, size) = (self.first_of(group), Self::GROUP);
            is_sparse |= with_starts == 0 && first < n && size <= n - first;
            if keeps::<K>() && group == groups && with_starts.count_ones() >= MANY {
                // A reference to the keys: LLVM would copy an option of them in words of 64 bits, and load them so.
                // SAFETY: as above; the number of groups is the same in all lanes.
                let of_group = unsafe { self.place(mask, group, placed, Some(&own)) };
                if placed + of_group <= most_places::<K>() {
                    placed += of_group;
                    groups += 1;
                }
            }
            last = own;
            group += 1;
        }
        // SAFETY: as above.
        let count = unsafe { reduce_down::<u32, Sum>(Sum, count) };
        Found {
            count,
            is_sparse,
            masks,
            placed,
            groups,
            last,
        }
    }

    /// Loads the lane's keys of a group, from key `at` on, whole vectors or those that exist; `other` stands for the rest. Returns
    /// a mask of those that exist, too.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn load(&self, at: usize, is_whole: bool, other: K) -> ([[K; N]; ROWS], u32) {
        let mut own = [[other; N]; ROWS];
        let mut exist = u32::MAX;
        if is_whole {
            unrolled!(|r < ROWS| own[r] = self.keys.vector(at.wrapping_add(r * Self::ROW)));
        } else {
            exist = 0;
            unrolled!(|r < ROWS, e < N| {
                let index = at.wrapping_add(r * Self::ROW + e);
                if index < self.keys.len() {
                    own[r][e] = self.keys.get(index);
                    exist |= Self::bit(r, e);
                }
            });
        }
        compiler_barrier();
        (own, exist)
    }

    /// Stores the starts, of which the first has number `run`, and their keys.
    ///
    /// # Safety
    ///
    /// All lanes of the warp arrive here, with what they [found](Self::find).
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub(super) unsafe fn store(
        self,
        mut run: usize,
        starts: Starts<K>,
        found: &Found<K, N, ROWS>,
        mut later: Later<K>,
    ) {
        let lane = thread_idx_x() % WARP_SIZE;
        if found.placed > 0 {
            self.store_kept(run, starts, found.placed);
            run += found.placed as usize;
            // SAFETY: the caller guarantees that all lanes arrive, here and below.
            later = unsafe { self.later(found, found.groups) };
        }
        while later.placed > 0 {
            let mut first = lane;
            while first < later.placed {
                unrolled!(|k < LOADED| {
                    let own = first + k as u32 * WARP_SIZE;
                    if own < later.placed {
                        starts.unique.set(run + own as usize, later.keys[k]);
                        starts.set(run + own as usize, self.start(own));
                    }
                });
                first += LOADED as u32 * WARP_SIZE;
                later.keys = self.keys_of(first, later.placed);
            }
            run += later.placed as usize;
            // SAFETY: as above.
            later = unsafe { self.later(found, later.groups) };
        }
        if found.placed > 0 && found.groups < GROUPS {
            let group = GROUPS - 1;
            // The last `later` has placed nothing, so no lane reads shared memory behind its barrier.
            // SAFETY: as above.
            let placed = unsafe { self.place(found.mask(group), group, 0, Some(&found.last)) };
            // SAFETY: as above.
            unsafe { sync_warp(FULL_MASK) };
            self.store_kept(run, starts, placed);
        }
    }

    /// Stores placed starts, of which the first has number `run`, and their keys, which are [kept](keeps).
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn store_kept(&self, run: usize, starts: Starts<K>, kept: u32) {
        // A multiple of 32 is the number of a run that lane 0 stores: a warp's stores are those of whole lines.
        let skew = run as u32 % WARP_SIZE;
        let mut number = thread_idx_x() % WARP_SIZE;
        while number < skew + kept {
            if number >= skew {
                let own = number - skew;
                starts.unique.set(run + own as usize, self.kept.get(own));
                starts.set(run + own as usize, self.start(own));
            }
            number += WARP_SIZE;
        }
    }

    /// Places the starts of as many groups as there is room for, from group `groups` on, and loads the first keys.
    ///
    /// # Safety
    ///
    /// All lanes of the warp arrive here, with the same group, after [`find`](Self::find).
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub(super) unsafe fn later(&self, found: &Found<K, N, ROWS>, mut groups: u32) -> Later<K> {
        // SAFETY: the caller guarantees that all lanes arrive, here and below.
        unsafe { sync_warp(FULL_MASK) };
        let mut placed = 0;
        while groups < found.end() {
            let mask = found.mask(groups);
            // SAFETY: as above; the mask is the lane's own.
            if unsafe { warp_vote_any(FULL_MASK, mask != 0) } {
                // SAFETY: as above.
                let of_group = unsafe { self.place(mask, groups, placed, None) };
                if placed + of_group > most_places::<K>() {
                    break;
                }
                placed += of_group;
            }
            groups += 1;
        }
        // SAFETY: as above.
        unsafe { sync_warp(FULL_MASK) };
        let keys = self.keys_of(thread_idx_x() % WARP_SIZE, placed);
        Later {
            placed,
            groups,
            keys,
        }
    }

    /// Loads the keys of placed starts from number `first` on, a warp apart.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn keys_of(&self, first: u32, placed: u32) -> [K; LOADED] {
        let mut keys = [zero::<K>(); LOADED];
        unrolled!(|k < LOADED| {
            let own = first + k as u32 * WARP_SIZE;
            if own < placed {
                keys[k] = self.keys.get(self.start(own));
            }
        });
        compiler_barrier();
        keys
    }

    /// The index of placed start `number`.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn start(&self, number: u32) -> usize {
        self.first.wrapping_add(self.places.get(number).into())
    }

    /// Writes the places of the warp's starts in a group, in ascending order, behind those that have been placed, if there is
    /// room; and the keys, if they are here. Returns the number of starts. **Every lane holds it.**
    ///
    /// # Safety
    ///
    /// All lanes of the warp arrive here, each with its mask.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    #[allow(
        unused_assignments,
        reason = "the last step of an unrolled loop assigns for none behind it"
    )]
    unsafe fn place(
        &self,
        mask: u32,
        group: u32,
        placed: u32,
        own: Option<&[[K; N]; ROWS]>,
    ) -> u32 {
        // A byte for each row: a row has at most 128 starts.
        const BYTE: u32 = 0xff;
        let lane = thread_idx_x() % WARP_SIZE;
        let of_row = |r: usize| mask >> (N * r % MOST_KEYS) & ((1 << N) - 1);
        let byte = |r: usize| 8 * (r % MOST_ROWS);
        let mut counts = 0;
        unrolled!(|r < ROWS| counts |= of_row(r).count_ones() << byte(r));
        let (mut sums, mut step) = (counts, 1);
        while step < WARP_SIZE {
            // SAFETY: the caller guarantees that all lanes arrive.
            let below = unsafe { sums.shuffle(FULL_MASK, Shuffle::Up(step)) };
            sums += if lane >= step { below } else { 0 };
            step *= 2;
        }
        // SAFETY: as above.
        let all = unsafe { sums.shuffle(FULL_MASK, Shuffle::Idx(WARP_SIZE - 1)) };
        let mut total = 0;
        unrolled!(|r < ROWS| total += all >> byte(r) & BYTE);
        if placed + total > most_places::<K>() {
            return total;
        }
        let first = group * Self::GROUP as u32;
        let lanes_below = sums - counts;
        let mut rows = placed;
        unrolled!(|r < ROWS| {
            let mut number = rows + (lanes_below >> byte(r) & BYTE);
            unrolled!(|e < N| if mask & Self::bit(r, e) != 0 {
                // Otherwise LLVM keeps the next number in a second register, which every start has to move.
                number = opaque(number as usize) as u32;
                let place = first + (r * Self::ROW + e) as u32 + lane * N as u32;
                self.places.set(number, place as u16);
                if let Some(own) = own {
                    self.kept.set(number, own[r][e]);
                }
                number += 1;
            });
            rows += all >> byte(r) & BYTE;
        });
        total
    }
}
