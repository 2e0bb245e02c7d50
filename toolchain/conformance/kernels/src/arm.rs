//! Diverged lanes of a warp.
//!
//! In kernels with a member mask, every lane takes an arm. The lanes of one arm execute the same code with
//! the same mask, while those of other arms execute different code.

/// The lane executes the tested operation with its own mask.
pub const FIRST: u64 = 0;

/// The lane executes a variation of it, at another site in the code.
pub const SECOND: u64 = 1;

/// The lane is in no mask and computes [`busy`].
pub const IDLE: u64 = 2;

/// The computation of an idle lane: some steps of a generator, so that the arm takes time and has a result to
/// check.
#[inline(always)]
pub fn busy(word: u64) -> u64 {
    let mut state = word;
    for _ in 0..40 {
        state = state
            .wrapping_mul(0x5851_F42D_4C95_7F2D)
            .wrapping_add(0x1405_7B7E_F767_814F);
        state ^= state >> 29;
    }
    state
}
