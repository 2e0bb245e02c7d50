//! Rows without windows: if a vector has a whole number of them, or they have a power of two of vectors. Items do not go through
//! shared memory.

use super::value::Value;
use crate::element::Shuffle;
use crate::items::Items;
use crate::mem::{Global, Shared, compiler_barrier, opaque};
use crate::op::{Op, unrolled};
use crate::store::{set_adjacent, set_of_warp};
use crate::tile::{LANES, Lane, ROWS, has_slots, items_of_tile, zero};
use crate::warp::WARP_SIZE;
use cuda_std::thread::{block_dim_x, block_idx_x, grid_dim_x, thread_idx_x};

/// The vectors that a thread has in flight. With more, a block has too many results to store at once.
const IN_FLIGHT: usize = 2;

/// Reduces rows of `R` items, of which a vector of `N` has `M`; the arrays begin with a vector. Each lane takes some vectors at a
/// time.
///
/// # Safety
///
/// All lanes of the warp arrive here; the block's dynamic shared memory has room for `M` results of each thread.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
// Simulated code needs no copy for each caller.
#[cfg_attr(not(target_arch = "nvptx64"), inline(never), track_caller)]
pub(super) unsafe fn short_rows<
    I: Items,
    O: Op<I>,
    const N: usize,
    const R: usize,
    const M: usize,
>(
    op: O,
    arrays: I::Arrays,
    output: Global<O::Acc>,
) {
    // SAFETY: the caller's contract.
    let staged: Shared<O::Acc> = unsafe { Shared::dynamic_at(0) };
    let (vectors, lane) = (I::len(arrays) / N, thread_idx_x() as usize % LANES);
    let combined = |items: [I; N]| {
        let mut results = [op.identity(); M];
        unrolled!(|m < M| {
            let mut lane = Lane::<I, O, N>::new(op);
            unrolled!(|e < R| lane.absorb_item(e, items[m * R + e], e as u64));
            results[m] = lane.combined();
        });
        results
    };
    let load = |vector: usize| I::vector(arrays, vector * N);
    let (warp, warps) = warp_of_grid();
    if warp == 0 && lane == 0 {
        // The rows behind the last whole vector.
        let mut row = vectors * M;
        while row * R < I::len(arrays) {
            let mut lane = Lane::<I, O, N>::new(op);
            unrolled!(|e < R| lane.absorb_item(e, I::get(arrays, row * R + e), e as u64));
            output.set(row, lane.combined());
            row += 1;
        }
    }
    let mut first = warp * (IN_FLIGHT * LANES);
    while first < vectors {
        if first + IN_FLIGHT * LANES <= vectors {
            let mut loaded = [[zero::<I>(); N]; IN_FLIGHT];
            unrolled!(|k < IN_FLIGHT| loaded[k] = load(first + k * LANES + lane));
            compiler_barrier();
            unrolled!(|k < IN_FLIGHT| {
                let first = (first + k * LANES) * M;
                // SAFETY: all lanes of the warp arrive here, with the same numbers.
                unsafe { set_of_warp(output, staged, first, combined(loaded[k])) };
            });
        } else {
            let mut vector = first + lane;
            while vector < vectors {
                set_adjacent(output, vector * M, combined(load(vector)), M);
                vector += LANES;
            }
        }
        first += warps * (IN_FLIGHT * LANES);
    }
}

/// The number of the warp in the grid, and the number of all.
#[inline(always)]
fn warp_of_grid() -> (usize, usize) {
    let of_block = block_dim_x() / WARP_SIZE;
    let warp = block_idx_x() * of_block + thread_idx_x() / WARP_SIZE;
    (warp as usize, grid_dim_x() as usize * of_block as usize)
}

/// The most bytes of a lane's accumulators for [`whole_rows`]: one for each slot, and later one for each of eight vectors.
const MOST_BYTES: usize = 16;

/// The steps in which lanes exchange half of their values: from one for each vector of a tile to one.
const EXCHANGES: usize = ROWS.ilog2() as usize;

/// The most values of a lane after the first exchange.
const LEFT: usize = ROWS / 2;

/// Whether [`whole_rows`] can reduce `n` items in rows of `row` items.
pub(super) const fn are_whole<I: Items, O: Op<I>>(row: usize, n: usize) -> bool {
    let vectors = row / I::VECTOR;
    // An operator that selects loads a vector of each row again. With four items a vector, that pays from eight vectors on.
    let fewest = if O::SELECTS && I::VECTOR == 4 { 8 } else { 2 };
    (O::SELECTS || has_slots::<I, O>() && I::VECTOR * size_of::<O::Acc>() <= MOST_BYTES)
        && vectors.is_power_of_two()
        && vectors >= fewest
        && vectors * I::VECTOR == row
        && row <= items_of_tile::<I>()
        && n >= items_of_tile::<I>()
}

/// Reduces rows of `row` items, for which [`are_whole`] is true; the arrays begin with a vector. Each warp takes a tile, which is
/// one row or several.
///
/// Up to 32 adjacent lanes share a row, and each has up to eight vectors of it. Instead of one tree for each row, lanes exchange
/// values: after the first step, the lower half of those that share a row has half of the values, and the upper half the
/// others.
///
/// # Safety
///
/// All lanes of the warp arrive here.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
// Simulated code needs no copy for each caller.
#[cfg_attr(not(target_arch = "nvptx64"), inline(never), track_caller)]
pub(super) unsafe fn whole_rows<I: Items, O: Op<I>, V: Value<I, O, N>, const N: usize>(
    op: O,
    arrays: I::Arrays,
    row: usize,
    output: Global<O::Acc>,
) {
    let (n, lane) = (I::len(arrays), thread_idx_x() % WARP_SIZE);
    let log_vectors = (row / N).ilog2();
    // The lanes that share a row, and the vectors of a row that each has.
    let lanes = if log_vectors < WARP_SIZE.ilog2() {
        1 << log_vectors
    } else {
        WARP_SIZE
    };
    let each = if log_vectors > WARP_SIZE.ilog2() {
        1 << (log_vectors - WARP_SIZE.ilog2())
    } else {
        1
    };
    let (mut tile, warps) = warp_of_grid();
    while tile * items_of_tile::<I>() < n {
        // The last tile ends with the rows, and has some of the tile before.
        let begin = tile * items_of_tile::<I>();
        let first = begin.min(n - items_of_tile::<I>());
        let mut vectors = [[zero::<I>(); N]; ROWS];
        unrolled!(|k < ROWS| {
            vectors[k] = I::vector(arrays, first + lane as usize * N + k * LANES * N);
        });
        compiler_barrier();
        // It is never true, but ptxas does not move loads behind a branch: it would load the last vectors when the first have
        // been combined. Of more items, it would keep each in a register.
        if N <= 4 && opaque(tile) == usize::MAX {
            return;
        }
        let mut own = V::nothing(op);
        let mut values = [V::of(&own, lane); ROWS];
        unrolled!(|k < ROWS| {
            let of_row = k as u32 & (each - 1);
            let number = of_row * WARP_SIZE + (lane & (lanes - 1));
            V::take(op, &mut own, of_row == 0, vectors[k], k as u32, number);
            values[k] = V::of(&own, lane);
        });
        let (mut distance, mut left, mut number) = (lanes / 2, ROWS as u32, 0);
        unrolled!(|step < EXCHANGES| if distance > 0 {
            let is_upper = lane & distance != 0;
            unrolled!(|k < ROWS| if k < ROWS >> (step + 1) {
                let (lower, upper) = (values[k], values[k + (ROWS >> (step + 1))]);
                let (own, others) = if is_upper { (upper, lower) } else { (lower, upper) };
                // SAFETY: all lanes arrive here, with the same distance.
                let other = unsafe { others.shuffled(Shuffle::Xor(distance)) };
                values[k] = V::combined(op, own, other);
            });
            left /= 2;
            number += if is_upper { left } else { 0 };
            distance /= 2;
        });
        // The lanes whose numbers differ in these bits have the same row.
        let same = if distance > 0 { 2 * distance - 1 } else { 0 };
        while distance > 0 {
            // SAFETY: as above.
            let other = unsafe { values[0].shuffled(Shuffle::Xor(distance)) };
            values[0] = V::combined(op, values[0], other);
            distance /= 2;
        }
        unrolled!(|k < LEFT| if (k as u32) < left && lane & same == 0 {
            let vector = number + k as u32;
            let is_whole = vector & (each - 1) == each - 1;
            let place = first + (vector * WARP_SIZE + (lane & !(lanes - 1))) as usize * N;
            if is_whole && place >= begin {
                let load = |vector: u32| {
                    let items = I::vector(arrays, first + vector as usize * N);
                    (items, (vector & ((1 << log_vectors) - 1)) as u64 * N as u64)
                };
                output.set((place / N) >> log_vectors, values[k].result(op, load));
            }
        });
        tile += warps;
    }
}
