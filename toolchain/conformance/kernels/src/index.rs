//! Special registers, and the indices that `cuda_std` computes from them.

use crate::io::{Io, global_thread};
use cuda_std::glam::UVec3;
use cuda_std::{thread, warp};

/// Words that a thread writes in [`indices`]: its index, the block's index, the sizes of block and grid in x,
/// y and z; `index`, `index_1d`, `index_2d` and `index_3d`; its lane, whether it is `first`, and whether the
/// vector forms agree.
pub const OUTPUT: usize = 22;

/// Every thread writes its indices, at the position that follows from them.
///
/// # Safety
/// Any shape.
#[inline(always)]
pub unsafe fn indices(io: Io) {
    let thread_index = [
        thread::thread_idx_x(),
        thread::thread_idx_y(),
        thread::thread_idx_z(),
    ];
    let block_index = [
        thread::block_idx_x(),
        thread::block_idx_y(),
        thread::block_idx_z(),
    ];
    let block_size = [
        thread::block_dim_x(),
        thread::block_dim_y(),
        thread::block_dim_z(),
    ];
    let grid_size = [
        thread::grid_dim_x(),
        thread::grid_dim_y(),
        thread::grid_dim_z(),
    ];

    let linear = |index: [u32; 3], size: [u32; 3]| {
        (index[2] as usize * size[1] as usize + index[1] as usize) * size[0] as usize
            + index[0] as usize
    };
    let threads: usize = block_size.iter().map(|&n| n as usize).product();
    let start =
        OUTPUT * (linear(block_index, grid_size) * threads + linear(thread_index, block_size));

    let parts = [thread_index, block_index, block_size, grid_size];
    for (i, part) in parts.iter().enumerate() {
        for (axis, &number) in part.iter().enumerate() {
            io.write(start + 3 * i + axis, number.into());
        }
    }
    let (plane, space) = (thread::index_2d(), thread::index_3d());
    let vectors = [
        (thread::thread_idx(), thread_index),
        (thread::block_idx(), block_index),
        (thread::block_dim(), block_size),
        (thread::grid_dim(), grid_size),
    ];
    let rest = [
        thread::index(),
        thread::index_1d(),
        plane.x,
        plane.y,
        space.x,
        space.y,
        space.z,
        warp::lane_id(),
        thread::first().into(),
        vectors
            .iter()
            .all(|(vector, [x, y, z])| *vector == UVec3::new(*x, *y, *z))
            .into(),
    ];
    for (i, &number) in rest.iter().enumerate() {
        io.write(start + 12 + i, number.into());
    }
}

/// Each thread with an odd input word writes its `activemask`; the others write theirs in the other branch.
/// Each branch starts with a `sync_warp` of its lanes, whose mask is word 1 of the record.
///
/// # Safety
/// Whole warps; word 1 of a thread's record is the mask of the lanes of its branch.
#[inline(always)]
pub unsafe fn activemask(io: Io) {
    let thread = global_thread();
    let branch = io.read_u32(2 * thread + 1);
    if io.read(2 * thread) & 1 == 1 {
        // SAFETY: all lanes of `branch` take this branch.
        unsafe { warp::sync_warp(branch) };
        io.write(2 * thread, warp::activemask().into());
        io.write(2 * thread + 1, 1);
    } else {
        // SAFETY: all lanes of `branch` take this branch.
        unsafe { warp::sync_warp(branch) };
        io.write(2 * thread, warp::activemask().into());
        io.write(2 * thread + 1, 0);
    }
}
