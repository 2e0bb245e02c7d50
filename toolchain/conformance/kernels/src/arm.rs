//! Lanes of one warp on different paths.
//!
//! Kernels with a member mask let every lane choose an arm: the lanes of an arm do
//! the same with the same mask, those of another arm do something else meanwhile.

/// The lane does what the kernel is about, with its own mask.
pub const FIRST: u64 = 0;

/// The lane does a variation of it, at another place in the code.
pub const SECOND: u64 = 1;

/// The lane is in no mask and computes [`busy`].
pub const IDLE: u64 = 2;

/// What an idle lane computes: some steps of a generator, so that the arm takes time
/// and leaves a result which can be checked.
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
