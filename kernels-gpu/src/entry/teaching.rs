//! The entry points of the feature `teaching`: the ladder, the Kepler families, triples, copies, the read ceiling,
//! filters, and the search for peers.

use super::copy::copies;
#[cfg(not(target_arch = "nvptx64"))]
use crate::copy::{VEC2_BYTES, VEC4_BYTES};
use crate::kernels;
use crate::op::*;
#[cfg(any(all(feature = "simulator", not(test)), target_arch = "nvptx64"))]
use crate::{
    filter::{filter_atomic, filter_warp},
    keyed::peers::{Ballot, Match},
    keyed::search::{MOST_THREADS, Slots, all_reduce_peers, find_peers, find_peers_by_hash},
    mem::Shared,
    shared_array,
};

kernels! {
    /// The ladder, the Kepler families, triples and the read ceiling.
    pub static KERNELS:
    ladder_redux as ladder {
        Sum: i32, u32;
        Min: i32;
        Max: i32;
    }
    ladder as ladder {
        Sum: i64, u64, f32, f64;
        Min: f32;
        Max: f32;
    }
    ceiling as ladder { Sum: i32, i64, f32, f64; }
    triple as triple { Sum: i32, f32, f64; }
}

copies!(COPY_ROWS in copy: [u8 b8, u16 b16, u32 b32, u64 b64] x {
    copy_scalar [size_of::<T>()];
    copy_vec2 [VEC2_BYTES];
    copy_vec4 [VEC4_BYTES];
});

/// The copies.
#[cfg(not(target_arch = "nvptx64"))]
pub static COPIES: super::Kernels = super::Kernels {
    name: "copies",
    entries: &COPY_ENTRIES,
};

#[cfg(not(target_arch = "nvptx64"))]
static COPY_ENTRIES: [super::Entry; super::count(COPY_ROWS)] = super::numbered(COPY_ROWS, &COPIES);

entries! { LANE_ROWS by [""; size_of::<u32>()] in lanes:
    /// [`find_peers`] by ballots.
    find_peers_ballot_u32 = find_peers_ballot [8] ([in] keys: u32, [out] masks/masks_len: u32) {
        find_peers::<u32, Ballot>(keys, masks)
    }
    /// [`find_peers`] by `match.any`.
    find_peers_match_u32 = find_peers_match [8] ([in] keys: u32, [out] masks/masks_len: u32) {
        find_peers::<u32, Match>(keys, masks)
    }
    /// [`find_peers_by_hash`].
    find_peers_hash_u32 = find_peers_hash [8] ([in] keys: u32, [out] masks/masks_len: u32) {
        let slots = Slots {
            owners: Shared::new(shared_array![u32; MOST_THREADS]),
            peers: Shared::new(shared_array![u32; MOST_THREADS]),
        };
        find_peers_by_hash(keys, masks, slots)
    }
    /// [`all_reduce_peers`], sums.
    all_reduce_peers_f64 = all_reduce_peers [8] (
        [in] keys: u32, [in] values: f64, [out] output/output_len: f64
    ) {
        all_reduce_peers(Sum, keys, values, output)
    }
    /// [`filter_atomic`]: numbers above `above`.
    filter_atomic_i32 = filter_atomic [8] (
        [in] input: i32, [out] output/output_len: i32, [out] count/count_len: u64, [number] above
    ) {
        filter_atomic(Greater(above as i32), input, output, count)
    }
    /// [`filter_warp`]: numbers above `above`.
    filter_warp_i32 = filter_warp [8] (
        [in] input: i32, [out] output/output_len: i32, [out] count/count_len: u64, [number] above
    ) {
        filter_warp(Greater(above as i32), input, output, count)
    }
}

/// The filters, and the search for peers.
#[cfg(not(target_arch = "nvptx64"))]
pub static LANES: super::Kernels = super::Kernels {
    name: "lanes",
    entries: &LANE_ENTRIES,
};

#[cfg(not(target_arch = "nvptx64"))]
static LANE_ENTRIES: [super::Entry; super::count(&[LANE_ROWS])] =
    super::numbered(&[LANE_ROWS], &LANES);
