//! Atomic operations and fences inside a block.

use super::*;

const DATA: usize = 0;
const FLAG: usize = 512;

/// A thread of a different warp than the reader.
const WRITER: Thread = (0, 40);
const READER: Thread = (0, 3);

/// The writer stores data and sets the flag; the reader reads the flag and loads the data.
fn pass(
    set: Atomic,
    see: Atomic,
    release: Option<Scope>,
    acquire: Option<Scope>,
) -> Option<Thread> {
    let mut t = Trace::block(64);
    t.store(WRITER, DATA);
    if let Some(scope) = release {
        t.fence(WRITER, scope);
    }
    assert_eq!(t.atomic(WRITER, FLAG, set), None);
    assert_eq!(t.atomic(READER, FLAG, see), None);
    if let Some(scope) = acquire {
        t.fence(READER, scope);
    }
    t.load(READER, DATA)
}

#[test]
fn a_flag_needs_both_fences() {
    for set in [STORE, ADD, narrow(STORE), narrow(ADD)] {
        for see in [LOAD, ADD, narrow(LOAD), narrow(ADD)] {
            for fence in [Scope::Block, Scope::Device, Scope::System] {
                let fence = Some(fence);
                assert_eq!(pass(set, see, fence, fence), None);
                assert_eq!(pass(set, see, None, fence), Some(WRITER));
                assert_eq!(pass(set, see, fence, None), Some(WRITER));
                assert_eq!(pass(set, see, None, None), Some(WRITER));
            }
        }
    }
}

#[test]
fn release_and_acquire_replace_fences() {
    let release = |atomic| Atomic {
        release: true,
        ..atomic
    };
    let acquire = |atomic| Atomic {
        acquire: true,
        ..atomic
    };
    let fence = Some(Scope::Block);
    for set in [STORE, ADD, narrow(STORE)] {
        for see in [LOAD, ADD, narrow(LOAD)] {
            assert_eq!(pass(release(set), acquire(see), None, None), None);
            assert_eq!(pass(release(set), see, None, fence), None);
            assert_eq!(pass(set, acquire(see), fence, None), None);
            assert_eq!(pass(release(set), see, None, None), Some(WRITER));
            assert_eq!(pass(set, acquire(see), None, None), Some(WRITER));
        }
    }
}

#[test]
fn accesses_after_the_fence_are_not_published() {
    let mut t = Trace::block(64);
    t.fence(WRITER, Scope::Device);
    t.store(WRITER, DATA);
    t.atomic(WRITER, FLAG, STORE);
    t.atomic(READER, FLAG, LOAD);
    t.fence(READER, Scope::Device);
    assert_eq!(t.load(READER, DATA), Some(WRITER));
}

#[test]
fn reads_after_the_fence_acquire_nothing() {
    let mut t = Trace::block(64);
    t.store(WRITER, DATA);
    t.fence(WRITER, Scope::Device);
    t.atomic(READER, FLAG, LOAD);
    t.atomic(WRITER, FLAG, STORE);
    t.fence(READER, Scope::Device);
    assert_eq!(
        t.load(READER, DATA),
        Some(WRITER),
        "the flag was not yet set"
    );
    t.barrier(0);
    t.store(WRITER, DATA);
    t.fence(READER, Scope::Device);
    t.atomic(READER, FLAG, LOAD);
    assert_eq!(t.load(READER, DATA), Some(WRITER), "the fence came first");
}

#[test]
fn a_different_flag_orders_nothing() {
    let mut t = Trace::block(64);
    t.store(WRITER, DATA);
    t.fence(WRITER, Scope::Device);
    t.atomic(WRITER, FLAG, STORE);
    t.atomic(READER, FLAG + 4, LOAD);
    t.fence(READER, Scope::Device);
    assert_eq!(t.load(READER, DATA), Some(WRITER));
}

/// The writer publishes, other threads operate on the flag, and the reader acquires.
fn through(operations: &[(u32, Atomic)]) -> Option<Thread> {
    let mut t = Trace::block(128);
    t.store(WRITER, DATA);
    t.fence(WRITER, Scope::Device);
    t.atomic(WRITER, FLAG, STORE);
    for &(thread, atomic) in operations {
        assert_eq!(t.atomic((0, thread), FLAG, atomic), None);
    }
    t.atomic(READER, FLAG, LOAD);
    t.fence(READER, Scope::Device);
    t.load(READER, DATA)
}

#[test]
fn read_modify_writes_keep_published_clocks() {
    assert_eq!(through(&[]), None);
    assert_eq!(through(&[(70, ADD)]), None);
    assert_eq!(
        through(&[(70, ADD), (100, ADD), (5, LOAD), (71, ADD)]),
        None
    );
    assert_eq!(through(&[(70, STORE)]), Some(WRITER));
    assert_eq!(through(&[(70, ADD), (100, STORE)]), Some(WRITER));
    assert_eq!(through(&[(100, STORE), (70, ADD)]), Some(WRITER));
    // The writer's second store publishes again.
    assert_eq!(through(&[(100, STORE), (40, STORE)]), None);
}

#[test]
fn every_writer_of_a_chain_publishes() {
    let mut t = Trace::block(128);
    for thread in 0..128 {
        t.store((0, thread), DATA + 4 * thread as usize);
        t.fence((0, thread), Scope::Block);
        t.atomic((0, thread), 1024, ADD);
    }
    t.fence((0, 127), Scope::Block);
    for thread in 0..128 {
        assert_eq!(t.load((0, 127), DATA + 4 * thread as usize), None);
    }
    assert_eq!(t.load((0, 126), DATA + 4 * 127), Some((0, 127)));
}

#[test]
fn barriers_and_sync_warps_share_acquired_clocks() {
    let acquired = || {
        let mut t = Trace::grid(2, 64);
        t.store((1, 9), DATA);
        t.fence((1, 9), Scope::Device);
        t.atomic((1, 9), FLAG, STORE);
        t.atomic(READER, FLAG, LOAD);
        t.fence(READER, Scope::Device);
        t
    };
    let mut t = acquired();
    assert_eq!(t.load((0, 4), DATA), Some((1, 9)));
    let mut t = acquired();
    t.barrier(0);
    assert_eq!(t.load((0, 63), DATA), None);
    let mut t = acquired();
    t.blocks[0].sync_warp(0, 1 << 3 | 1 << 4);
    assert_eq!(t.load((0, 4), DATA), None);
    assert_eq!(t.load((0, 5), DATA), Some((1, 9)));
    let mut t = acquired();
    t.blocks[0].sync_warp(0, u32::MAX);
    assert_eq!(t.load((0, 5), DATA), None);
    assert_eq!(t.load((0, 35), DATA), Some((1, 9)));
}

#[test]
fn a_barrier_is_not_a_fence() {
    let mut t = Trace::grid(2, 64);
    t.store((1, 9), DATA);
    t.fence((1, 9), Scope::Device);
    t.atomic((1, 9), FLAG, STORE);
    t.atomic(READER, FLAG, LOAD);
    t.barrier(0);
    assert_eq!(t.load(READER, DATA), Some((1, 9)));

    let mut t = Trace::grid(2, 64);
    t.store((1, 9), DATA);
    t.barrier(1);
    t.atomic((1, 9), FLAG, STORE);
    t.atomic(READER, FLAG, LOAD);
    t.fence(READER, Scope::Device);
    assert_eq!(t.load(READER, DATA), Some((1, 9)));
}

#[test]
fn atomic_and_plain_accesses_race() {
    for atomic in [ADD, STORE, LOAD] {
        let mut t = Trace::block(64);
        t.atomic(WRITER, FLAG, atomic);
        assert_eq!(t.store(READER, FLAG), Some(WRITER));
        let mut t = Trace::block(64);
        t.store(WRITER, FLAG);
        assert_eq!(t.atomic(READER, FLAG, atomic), Some(WRITER));
        let mut t = Trace::block(64);
        t.store(WRITER, FLAG);
        t.barrier(0);
        assert_eq!(t.atomic(READER, FLAG, atomic), None);
        t.barrier(0);
        assert_eq!(t.store(WRITER, FLAG), None);
    }
    for atomic in [ADD, STORE] {
        let mut t = Trace::block(64);
        t.atomic(WRITER, FLAG, atomic);
        assert_eq!(t.load(READER, FLAG), Some(WRITER));
        let mut t = Trace::block(64);
        t.load(WRITER, FLAG);
        assert_eq!(t.atomic(READER, FLAG, atomic), Some(WRITER));
    }
    let mut t = Trace::block(64);
    t.atomic(WRITER, FLAG, LOAD);
    assert_eq!(t.load(READER, FLAG), None);
    assert_eq!(t.atomic(WRITER, FLAG, LOAD), None);
}

#[test]
fn an_atomic_operation_does_not_hide_an_earlier_load() {
    let mut t = Trace::block(64);
    t.load(READER, FLAG);
    assert_eq!(t.atomic(READER, FLAG, ADD), None);
    assert_eq!(t.atomic(WRITER, FLAG, ADD), Some(READER));
}

#[test]
fn the_barrier_before_a_plain_store_must_follow_every_atomic_load() {
    let mut t = Trace::block(1024);
    for thread in 0..1024 {
        t.atomic((0, thread), FLAG, LOAD);
    }
    t.barrier(0);
    t.atomic((0, 77), FLAG, LOAD);
    assert_eq!(t.store((0, 500), FLAG), Some((0, 77)));
}

#[test]
fn an_atomic_read_is_ordered_after_the_locations_writes() {
    // The last thread to arrive resets the counter, which needs no fence.
    let mut t = Trace::block(64);
    for thread in 0..64 {
        t.atomic((0, thread), FLAG, ADD);
    }
    assert_eq!(t.store((0, 63), FLAG), None);

    let mut t = Trace::block(64);
    for thread in 0..64 {
        t.atomic((0, thread), FLAG, ADD);
    }
    assert_eq!(t.load((0, 62), FLAG), Some((0, 63)), "not the last");

    // A load observes as well, but not later writes.
    let mut t = Trace::block(64);
    t.atomic(WRITER, FLAG, STORE);
    t.atomic(READER, FLAG, LOAD);
    assert_eq!(t.load(READER, FLAG), None);
    t.atomic(WRITER, FLAG, STORE);
    assert_eq!(t.load(READER, FLAG), Some(WRITER));

    // Accesses ordered after the observer are ordered after the write.
    let mut t = Trace::block(64);
    t.atomic(WRITER, FLAG, STORE);
    t.atomic(READER, FLAG, LOAD);
    t.blocks[0].sync_warp(0, u32::MAX);
    assert_eq!(t.store((0, 4), FLAG), None);
}

#[test]
fn a_load_observes_only_earlier_writes() {
    // Two lanes of a warp have the same accesses, with a load between them.
    let mut t = Trace::block(64);
    for lane in [40, 41] {
        assert_eq!(t.atomic((0, lane), FLAG, STORE), None);
        if lane == 40 {
            assert_eq!(t.atomic(READER, FLAG, LOAD), None);
        }
    }
    assert_eq!(t.load(READER, FLAG), Some((0, 41)));
}

#[test]
fn observing_orders_no_other_memory() {
    let mut t = Trace::block(64);
    t.store(WRITER, DATA);
    t.atomic(WRITER, FLAG, STORE);
    t.atomic(READER, FLAG, LOAD);
    assert_eq!(t.load(READER, FLAG), None);
    assert_eq!(t.load(READER, DATA), Some(WRITER));
}

#[test]
fn another_read_does_not_hide_an_observer() {
    // The observer publishes its clock, then reads again.
    let mut t = Trace::block(96);
    t.atomic(WRITER, FLAG, STORE);
    t.atomic(READER, FLAG, LOAD);
    t.fence(READER, Scope::Block);
    t.atomic(READER, DATA, STORE);
    t.atomic(READER, FLAG, LOAD);
    t.atomic((0, 70), DATA, LOAD);
    t.fence((0, 70), Scope::Block);
    assert_eq!(t.load((0, 70), FLAG), None);
}

#[test]
fn many_observers_cause_no_race() {
    let mut t = Trace::block(1024);
    t.atomic((0, 1000), FLAG, STORE);
    for thread in 0..999 {
        // Different times.
        for _ in 0..thread % 7 {
            t.fence((0, thread), Scope::Block);
        }
        t.atomic((0, thread), FLAG, LOAD);
    }
    for thread in 0..999 {
        assert_eq!(t.load((0, thread), FLAG), None);
    }
}

#[test]
fn wide_operations_publish_for_each_of_their_bytes() {
    for (written, read) in [
        ((0, 8), (0, 4)),
        ((0, 8), (4, 4)),
        ((4, 4), (0, 8)),
        ((0, 8), (0, 8)),
    ] {
        let mut t = Trace::block(64);
        t.store(WRITER, DATA);
        t.fence(WRITER, Scope::Device);
        t.wide_atomic(WRITER, FLAG + written.0, written.1, STORE);
        t.wide_atomic(READER, FLAG + read.0, read.1, LOAD);
        t.fence(READER, Scope::Device);
        assert_eq!(t.load(READER, DATA), None);
    }
}

#[test]
fn a_plain_store_discards_published_clocks() {
    let mut t = Trace::block(96);
    t.store(WRITER, DATA);
    t.fence(WRITER, Scope::Block);
    t.atomic(WRITER, FLAG, STORE);
    // Thread 80 observes the flag, but has no fence to acquire the writer's clock.
    t.atomic((0, 80), FLAG, LOAD);
    assert_eq!(t.store((0, 80), FLAG), None);
    let release = Atomic {
        release: true,
        ..STORE
    };
    t.atomic((0, 80), FLAG + 4, release);
    t.atomic(READER, FLAG + 4, LOAD);
    t.fence(READER, Scope::Block);
    assert_eq!(t.atomic(READER, FLAG, LOAD), None);
    t.fence(READER, Scope::Block);
    assert_eq!(t.load(READER, DATA), Some(WRITER));
}
