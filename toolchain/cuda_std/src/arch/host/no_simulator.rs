//! Replaces `cuda_sim::device` in builds without the feature `simulator`. It has the same functions; those
//! that need a simulated thread panic with the name that they get.

use core::sync::atomic::Ordering;

/// The kinds of block barriers.
pub enum Barrier {
    Sync,
    Count,
    And,
    Or,
}

/// The warp collectives.
pub enum Collective {
    SyncWarp,
    VoteAll,
    VoteAny,
    Ballot,
    MatchAny(u32),
    MatchAll(u32),
    ActiveMask,
    Redux(Redux),
}

/// The operation of `redux.sync`.
pub enum Redux {
    Add,
    MinI32,
    MaxI32,
    MinU32,
    MaxU32,
    And,
    Or,
    Xor,
}

/// The mode of `shfl.sync`.
pub enum Shuffle {
    Up,
    Down,
    Idx,
    Xor,
}

/// The scope of an atomic or a fence.
#[derive(Clone, Copy)]
pub enum Scope {
    Block,
    Device,
    System,
}

macro_rules! panics {
    ($($name:ident($($argument:ty),*) -> $output:ty;)*) => { $(
        #[track_caller]
        pub fn $name(name: &str $(, _: $argument)*) -> $output {
            needs_a_grid(name)
        }
    )* };
}

panics! {
    thread_idx() -> [u32; 3];
    block_idx() -> [u32; 3];
    block_dim() -> [u32; 3];
    grid_dim() -> [u32; 3];
    lane_id() -> u32;
    arch() -> u32;
    clock() -> u64;
    barrier(Barrier, bool) -> u32;
    collective(Collective, u32, u64) -> u64;
    shuffle(Shuffle, u32, u32, u32, u32) -> (u32, bool);
    sleep() -> ();
    fence(Scope) -> ();
    dynamic_shared() -> *mut u8;
    shared_sizes() -> (usize, usize);
    is_shared(usize) -> bool;
    is_local(usize) -> bool;
    shared_start() -> usize;
}

#[cold]
#[track_caller]
fn needs_a_grid(name: &str) -> ! {
    panic!(
        "`{name}` needs a GPU, or cuda_std's feature `simulator` and a launch of `cuda_sim::Simulator`"
    )
}

/// Does nothing without the simulator.
#[inline(always)]
pub fn thread_fence(_: Scope) {}

/// Does nothing without the simulator.
#[inline(always)]
pub fn before_atomic(_: usize, _: usize, _: Scope, _: Ordering, _: bool, _: bool) {}

/// Does nothing without the simulator.
#[inline(always)]
pub fn after_atomic(_: usize, _: bool) {}

/// Prints to standard output.
pub fn print(text: &str) {
    std::print!("{text}");
}

/// Returns the array itself: without blocks no copies are needed.
#[inline(always)]
pub fn shared_array(declared: *mut u8, _: usize, _: usize) -> *mut u8 {
    declared
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::String;

    #[test]
    fn what_needs_a_grid_panics_with_its_name() {
        let caught = std::panic::catch_unwind(|| lane_id("cuda_std::warp::lane_id"));
        let message = *caught.unwrap_err().downcast::<String>().unwrap();
        assert!(
            message.starts_with("`cuda_std::warp::lane_id` needs a GPU, or"),
            "{message}"
        );
        assert!(message.contains("feature `simulator`"), "{message}");
    }

    #[test]
    fn a_shared_array_is_the_declared_one() {
        let mut array = [0u8; 4];
        let declared = array.as_mut_ptr();
        assert_eq!(shared_array(declared, 4, 1), declared);
    }
}
