//! Barriers and shuffles under conditions. If a compiler moves, merges or duplicates an instruction, other
//! lanes get wrong values. The results must be those of the source.

use crate::io::{Io, block_thread, block_threads, global_thread};
use cuda_std::shared::dynamic_shared_mem;
use cuda_std::thread;
use cuda_std::warp::{lane_id, warp_shuffle_idx, warp_vote_ballot};

/// The lowest lane of `mask` above `lane`, else its lowest lane.
#[inline(always)]
pub fn next_lane(mask: u32, lane: u32) -> u32 {
    let above = mask & !(u32::MAX >> (31 - lane));
    if above != 0 { above } else { mask }.trailing_zeros()
}

/// Two barriers between conditions on the same bit of the input word.
///
/// # Safety
/// One word of dynamic shared memory a thread.
#[inline(always)]
pub unsafe fn barriers(io: Io) {
    let (me, threads) = (block_thread(), block_threads());
    let tile = dynamic_shared_mem::<u64>();
    let word = io.read(global_thread());
    let odd = word & 1 == 1;
    let neighbour = (me + 1) % threads;
    // SAFETY: a thread writes its own word; between that and a read by another lies a
    // barrier which all threads reach.
    unsafe {
        let mut value = word;
        if odd {
            value = value.wrapping_mul(3);
        }
        tile.add(me).write(value);
        thread::sync_threads();
        let mut got = tile.add(neighbour).read();
        if odd {
            got ^= value;
        }
        thread::sync_threads();
        if odd {
            tile.add(me).write(got.wrapping_add(1));
        } else {
            tile.add(me).write(got.rotate_left(9));
        }
        thread::sync_threads();
        io.write(global_thread(), tile.add(neighbour).read());
    }
}

/// A shuffle in each branch of an `if`, of different values, by the lanes that take the branch.
///
/// # Safety
/// Whole warps.
#[inline(always)]
pub unsafe fn branches(io: Io) {
    let word = io.read(global_thread());
    let value = word as u32;
    let odd = word & 1 == 1;
    // SAFETY: all lanes vote; then each branch shuffles with the lanes that take it,
    // from one of them.
    let got = unsafe {
        let odds = warp_vote_ballot(u32::MAX, odd);
        if odd {
            let source = next_lane(odds, lane_id());
            warp_shuffle_idx(odds, value.wrapping_mul(5), source, 32).0
        } else {
            let source = next_lane(!odds, lane_id());
            warp_shuffle_idx(!odds, value ^ 0xFFFF, source, 32).0
        }
    };
    io.write(global_thread(), got.into());
}

/// A shuffle in a loop. Each lane's source depends on lane and iteration, and only some lanes compute between
/// two shuffles. There are `parameters[0]` iterations; the input has a value, and a source for each
/// iteration.
///
/// # Safety
/// Whole warps.
#[inline(always)]
pub unsafe fn neighbours(io: Io) {
    let passes = io.parameters[0] as usize;
    let record = global_thread() * (1 + passes);
    let mut value = io.read_u32(record);
    for pass in 0..passes {
        let source = io.read_u32(record + 1 + pass);
        // SAFETY: all lanes of the warp make the same number of passes.
        let (got, _) = unsafe { warp_shuffle_idx(u32::MAX, value, source, 32) };
        value = if (lane_id() >> (pass % 5)) & 1 == 1 {
            got.wrapping_mul(3).wrapping_add(1)
        } else {
            got
        };
    }
    io.write(global_thread(), value.into());
}

/// A loop that lanes leave one after another. The input has a value, and the lane's number of iterations.
/// Each iteration votes on the mask of the remaining lanes.
///
/// # Safety
/// Whole warps.
#[inline(always)]
pub unsafe fn leaving(io: Io) {
    let record = 2 * global_thread();
    let mut value = io.read_u32(record);
    let mut left = io.read(record + 1);
    let mut inside = u32::MAX;
    loop {
        // SAFETY: `inside` are the lanes that went on in the last pass.
        inside = unsafe { warp_vote_ballot(inside, left > 0) };
        if left == 0 {
            break;
        }
        // SAFETY: the lanes that did not leave, and one of them as the source.
        let (got, _) = unsafe { warp_shuffle_idx(inside, value, next_lane(inside, lane_id()), 32) };
        value = value.wrapping_mul(31).wrapping_add(got);
        left -= 1;
    }
    io.write(global_thread(), value.into());
}

/// Lanes from `parameters[0]` on return before the others shuffle.
///
/// # Safety
/// Whole warps; the parameter is between 1 and 32.
#[inline(always)]
pub unsafe fn early_exit(io: Io) {
    let word = io.read(global_thread());
    let staying = io.parameters[0] as u32;
    if lane_id() >= staying {
        io.write(global_thread(), !word);
        return;
    }
    let mask = u32::MAX >> (32 - staying);
    // SAFETY: the lanes below `staying` are here.
    let (got, _) = unsafe { warp_shuffle_idx(mask, word as u32, next_lane(mask, lane_id()), 32) };
    io.write(global_thread(), got.into());
}
