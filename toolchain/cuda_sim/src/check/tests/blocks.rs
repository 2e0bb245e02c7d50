//! Global memory, and operations that order blocks.

use super::*;

const PARTIALS: usize = 0x1000;
const COUNTER: usize = 0x9000;

#[test]
fn blocks_are_not_ordered() {
    let mut t = Trace::grid(2, 64);
    t.store((0, 3), PARTIALS);
    t.barrier(0);
    t.barrier(1);
    assert_eq!(t.load((1, 3), PARTIALS), Some((0, 3)));
    assert_eq!(t.store((1, 3), PARTIALS), Some((0, 3)));

    let mut t = Trace::grid(2, 64);
    t.load((1, 40), PARTIALS);
    assert_eq!(t.store((0, 3), PARTIALS), Some((1, 40)));
}

#[test]
fn launches_are_ordered() {
    let mut t = Trace::grid(2, 64);
    t.store((0, 3), PARTIALS);
    t.memory.clear();
    assert_eq!(t.load((1, 3), PARTIALS), None);
}

#[test]
fn readers_of_many_blocks_are_stored() {
    let mut t = Trace::grid(40, 32);
    for block in 0..40 {
        for thread in 0..32 {
            t.load((block, thread), PARTIALS);
        }
    }
    assert_eq!(t.store((39, 0), PARTIALS), Some((0, 0)));
    // Only some of very many readers are stored, which is enough to find the race.
    let mut t = Trace::grid(1000, 32);
    for block in 0..1000 {
        t.load((block, 0), PARTIALS);
    }
    assert!(t.store((999, 0), PARTIALS).is_some());
}

/// The steps of the blocks in [`last_block`].
#[derive(Clone, Copy)]
struct Pattern {
    release: Option<Scope>,
    count: Atomic,
    acquire: Option<Scope>,
    barrier: bool,
}

const RIGHT: Pattern = Pattern {
    release: Some(Scope::Device),
    count: ADD,
    acquire: Some(Scope::Device),
    barrier: true,
};

/// Each block's threads store; thread 0 stores its partial and increments the counter. All threads of the
/// last block load all partials, and one resets the counter. Returns the number of races.
fn last_block(blocks: u32, pattern: Pattern) -> usize {
    let threads = 64;
    let mut t = Trace::grid(blocks, threads);
    let partials = |block: u32| PARTIALS + 0x100 * block as usize;
    let mut races = 0;
    for block in 0..blocks {
        for thread in 0..threads {
            races += usize::from(
                t.store((block, thread), partials(block) + 4 * thread as usize)
                    .is_some(),
            );
        }
        t.barrier(block);
        races += usize::from(t.store((block, 0), partials(block)).is_some());
        if let Some(scope) = pattern.release {
            t.fence((block, 0), scope);
        }
        races += usize::from(t.atomic((block, 0), COUNTER, pattern.count).is_some());
        if let Some(scope) = pattern.acquire {
            t.fence((block, 0), scope);
        }
        if pattern.barrier {
            t.barrier(block);
        }
    }
    for thread in 0..threads {
        for block in 0..blocks {
            let address = partials(block) + 4 * thread as usize;
            races += usize::from(t.load((blocks - 1, thread), address).is_some());
        }
    }
    races += usize::from(t.store((blocks - 1, 0), COUNTER).is_some());
    races
}

#[test]
fn the_last_block_sees_all_partials() {
    for blocks in [2, 3, 100] {
        assert_eq!(last_block(blocks, RIGHT), 0);
        let with_flags = Pattern {
            release: None,
            count: Atomic {
                release: true,
                acquire: true,
                ..ADD
            },
            acquire: None,
            ..RIGHT
        };
        assert_eq!(last_block(blocks, with_flags), 0);
    }
}

#[test]
fn the_last_block_needs_every_step() {
    let all_loads = 64 * 9;
    for wrong in [None, Some(Scope::Block)] {
        let release = Pattern {
            release: wrong,
            ..RIGHT
        };
        assert_eq!(last_block(10, release), all_loads);
        let acquire = Pattern {
            acquire: wrong,
            ..RIGHT
        };
        assert_eq!(last_block(10, acquire), all_loads);
    }
    let barrier = Pattern {
        barrier: false,
        ..RIGHT
    };
    // All threads except thread 0, for all partials except that of the last block.
    assert_eq!(last_block(10, barrier), 63 * 9);
    let count = Pattern {
        count: narrow(ADD),
        ..RIGHT
    };
    assert!(last_block(10, count) > 0);
}

#[test]
fn a_flag_between_blocks_needs_wide_fences() {
    let pass = |release, acquire| {
        let mut t = Trace::grid(2, 32);
        t.store((0, 0), PARTIALS);
        t.fence((0, 0), release);
        t.atomic((0, 0), COUNTER, STORE);
        t.atomic((1, 0), COUNTER, LOAD);
        t.fence((1, 0), acquire);
        t.load((1, 0), PARTIALS)
    };
    let race = Some((0, 0));
    assert_eq!(pass(Scope::Device, Scope::Device), None);
    assert_eq!(pass(Scope::System, Scope::Device), None);
    assert_eq!(pass(Scope::Block, Scope::Device), race);
    assert_eq!(pass(Scope::Device, Scope::Block), race);
}

#[test]
fn a_wide_fence_acquires_after_a_narrow_one() {
    let mut t = Trace::grid(2, 32);
    t.store((0, 0), PARTIALS);
    t.fence((0, 0), Scope::Device);
    t.atomic((0, 0), COUNTER, STORE);
    t.atomic((1, 0), COUNTER, LOAD);
    t.fence((1, 0), Scope::Block);
    t.fence((1, 0), Scope::Device);
    assert_eq!(t.load((1, 0), PARTIALS), None);
}

#[test]
fn a_narrow_fence_does_not_replace_a_wide_one() {
    let mut t = Trace::grid(2, 32);
    t.store((0, 0), PARTIALS);
    t.fence((0, 0), Scope::Device);
    t.store((0, 0), PARTIALS + 4);
    t.fence((0, 0), Scope::Block);
    t.atomic((0, 0), COUNTER, STORE);
    t.atomic((1, 0), COUNTER, LOAD);
    t.fence((1, 0), Scope::Device);
    assert_eq!(t.load((1, 0), PARTIALS), None);
    assert_eq!(t.load((1, 0), PARTIALS + 4), Some((0, 0)));
}

#[test]
fn a_fence_publishes_the_order_of_barriers() {
    let pass = |barrier: bool| {
        let mut t = Trace::grid(2, 64);
        t.store((0, 50), PARTIALS);
        if barrier {
            t.barrier(0);
        }
        t.fence((0, 0), Scope::Device);
        t.atomic((0, 0), COUNTER, ADD);
        t.atomic((1, 0), COUNTER, ADD);
        t.fence((1, 0), Scope::Device);
        t.barrier(1);
        t.load((1, 50), PARTIALS)
    };
    assert_eq!(pass(true), None);
    assert_eq!(pass(false), Some((0, 50)));
}

#[test]
fn a_fence_publishes_the_order_of_sync_warps() {
    let pass = |members: u32| {
        let mut t = Trace::grid(2, 64);
        t.store((0, 5), PARTIALS);
        t.blocks[0].sync_warp(0, members);
        t.fence((0, 0), Scope::Device);
        t.atomic((0, 0), COUNTER, ADD);
        t.atomic((1, 0), COUNTER, ADD);
        t.fence((1, 0), Scope::Device);
        t.load((1, 0), PARTIALS)
    };
    assert_eq!(pass(u32::MAX), None);
    assert_eq!(pass(1 << 5 | 1), None);
    assert_eq!(pass(1 << 6 | 1), Some((0, 5)));
}

#[test]
fn clocks_pass_from_block_to_block() {
    let mut t = Trace::grid(5, 64);
    t.store((0, 0), PARTIALS);
    for block in 0..4 {
        t.fence((block, 0), Scope::Device);
        t.atomic((block, 0), COUNTER + 4 * block as usize, STORE);
        t.atomic((block + 1, 40), COUNTER + 4 * block as usize, LOAD);
        t.fence((block + 1, 40), Scope::Device);
        t.barrier(block + 1);
    }
    assert_eq!(t.store((4, 63), PARTIALS), None);
    assert_eq!(t.load((3, 0), PARTIALS), Some((4, 63)));
}

#[test]
fn a_barrier_of_the_whole_grid() {
    // All blocks increment a counter, wait for each other, and start the next round. Each reads its
    // neighbour's value.
    let (blocks, rounds) = (6, 5);
    let run = |acquire: bool| {
        let mut t = Trace::grid(blocks, 64);
        let mut races = 0;
        for round in 0..rounds {
            let value = |block: u32| PARTIALS + 8 * block as usize + 4 * (round % 2);
            for block in 0..blocks {
                races += usize::from(t.store((block, 33), value(block)).is_some());
                t.barrier(block);
                t.fence((block, 0), Scope::Device);
                t.atomic((block, 0), COUNTER, ADD);
            }
            for block in 0..blocks {
                t.atomic((block, 0), COUNTER, LOAD);
                if acquire {
                    t.fence((block, 0), Scope::Device);
                }
                t.barrier(block);
            }
            for block in 0..blocks {
                let neighbour = value((block + 1) % blocks);
                races += usize::from(t.load((block, 50), neighbour).is_some());
            }
        }
        races
    };
    assert_eq!(run(true), 0);
    assert_ne!(run(false), 0);
}

#[test]
fn atomics_of_block_scope_are_not_atomic_between_blocks() {
    for (first, second) in [
        (narrow(ADD), ADD),
        (ADD, narrow(ADD)),
        (narrow(ADD), narrow(ADD)),
        (narrow(STORE), LOAD),
        (LOAD, narrow(STORE)),
    ] {
        let mut t = Trace::grid(2, 64);
        assert_eq!(t.atomic((0, 0), COUNTER, first), None);
        let race = t.wide_atomic((1, 7), COUNTER, 4, second).unwrap();
        assert!(race.scoped);
        assert_eq!((race.block, race.thread), (0, 0));
        assert_eq!(race.access.kind, Kind::Atomic);
    }
    let mut t = Trace::grid(2, 64);
    for block in 0..2 {
        for thread in [0, 1, 40] {
            // Each block has a separate location, or there is no write, or the scope is wide enough.
            let separate = COUNTER + 4 + 4 * block as usize;
            assert_eq!(t.atomic((block, thread), separate, narrow(ADD)), None);
            assert_eq!(t.atomic((block, thread), COUNTER + 64, narrow(LOAD)), None);
            assert_eq!(t.atomic((block, thread), COUNTER, ADD), None);
        }
    }
}

#[test]
fn atomics_of_block_scope_can_be_ordered_by_fences() {
    let run = |second: Thread| {
        let mut t = Trace::grid(2, 64);
        t.atomic((0, 0), PARTIALS, narrow(ADD));
        t.fence((0, 0), Scope::Device);
        t.atomic((0, 0), COUNTER, STORE);
        t.atomic((1, 0), COUNTER, LOAD);
        t.fence((1, 0), Scope::Device);
        t.atomic(second, PARTIALS, narrow(ADD))
    };
    assert_eq!(run((1, 0)), None);
    assert_eq!(run((1, 33)), Some((0, 0)));
}

#[test]
fn blocks_may_be_interleaved() {
    // Block 1 starts while block 0 waits for it.
    let mut t = Trace::grid(2, 64);
    t.store((0, 0), PARTIALS);
    t.barrier(0);
    t.atomic((0, 0), COUNTER, LOAD);
    t.store((1, 0), PARTIALS + 4);
    t.fence((1, 0), Scope::Device);
    t.atomic((1, 0), COUNTER, STORE);
    t.barrier(1);
    t.atomic((0, 0), COUNTER, LOAD);
    t.fence((0, 0), Scope::Device);
    t.barrier(0);
    assert_eq!(t.load((0, 40), PARTIALS + 4), None);
    assert_eq!(t.store((0, 40), PARTIALS), None);
    assert_eq!(t.load((1, 40), PARTIALS), Some((0, 40)));
}

#[test]
fn clocks_of_ended_blocks_stay_published() {
    let mut memory = Shadow::new(Space::Global);
    for block in 0..200 {
        let mut clocks = Clocks::new(block, 32);
        let partial = access(Kind::Store, PARTIALS + 4 * block as usize, 4);
        assert!(memory.plain(&clocks, 0, &partial).is_none());
        clocks.fence(0, Scope::Device);
        let counter = access(Kind::Atomic, COUNTER, 4);
        assert!(memory.atomic(&mut clocks, 0, &counter, ADD).is_none());
        clocks.fence(0, Scope::Device);
        for earlier in 0..block {
            let partial = access(Kind::Load, PARTIALS + 4 * earlier as usize, 4);
            assert!(memory.plain(&clocks, 0, &partial).is_none());
        }
    }
}
