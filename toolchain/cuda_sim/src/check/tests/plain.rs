//! Plain accesses, barriers and `sync_warp`.

use super::*;

const ZERO: Thread = (0, 0);
const ONE: Thread = (0, 1);

#[test]
fn a_thread_does_not_race_with_itself() {
    let mut t = Trace::block(32);
    for _ in 0..3 {
        assert_eq!(t.store(ZERO, 0), None);
        assert_eq!(t.load(ZERO, 0), None);
        t.fence(ZERO, Scope::Block);
    }
}

#[test]
fn a_load_after_a_store_needs_a_barrier() {
    for far in [1, 40] {
        let mut t = Trace::block(64);
        t.store((0, far), 8);
        assert_eq!(t.load(ZERO, 8), Some((0, far)));

        let mut t = Trace::block(64);
        t.store((0, far), 8);
        t.barrier(0);
        assert_eq!(t.load(ZERO, 8), None);
    }
}

#[test]
fn a_store_after_a_load_needs_a_barrier() {
    for far in [1, 40] {
        let mut t = Trace::block(64);
        t.load((0, far), 8);
        assert_eq!(t.store(ZERO, 8), Some((0, far)));

        let mut t = Trace::block(64);
        t.load((0, far), 8);
        t.barrier(0);
        assert_eq!(t.store(ZERO, 8), None);
    }
}

#[test]
fn two_stores_need_a_barrier() {
    let mut t = Trace::block(64);
    t.store(ONE, 0);
    assert_eq!(t.store((0, 33), 0), Some(ONE));
    t.barrier(0);
    assert_eq!(t.store(ONE, 0), None);
}

#[test]
fn loads_do_not_race() {
    let mut t = Trace::block(64);
    for thread in 0..64 {
        assert_eq!(t.load((0, thread), 0), None);
    }
}

#[test]
fn the_earlier_access_is_described() {
    let mut t = Trace::block(64);
    let (line, _) = (line!(), t.plain((0, 35), Kind::Store, 16, 8));
    let race = t.plain(ZERO, Kind::Load, 20, 4).unwrap();
    assert_eq!((race.block, race.thread, race.scoped), (0, 35, false));
    assert_eq!(race.access.kind, Kind::Store);
    assert_eq!((race.access.address, race.access.size), (16, 8));
    assert_eq!(race.access.site.line(), line);
    assert!(race.access.site.file().ends_with("plain.rs"));

    t.barrier(0);
    t.plain((0, 36), Kind::Load, 20, 4);
    let race = t.plain(ZERO, Kind::Store, 20, 1).unwrap();
    assert_eq!(race.access.kind, Kind::Load);
    assert_eq!((race.access.address, race.access.size), (20, 4));

    t.barrier(0);
    t.wide_atomic((0, 37), 20, 4, ADD);
    let race = t.plain(ZERO, Kind::Load, 20, 4).unwrap();
    assert_eq!((race.thread, race.access.kind), (37, Kind::Atomic));
}

#[test]
fn every_reader_is_stored_until_a_store() {
    // One thread reads after the barrier, so the barrier does not order its read.
    for late in [0, 31, 32, 700, 1023] {
        let mut t = Trace::block(1024);
        for thread in 0..1024 {
            t.load((0, thread), 0);
        }
        t.barrier(0);
        t.load((0, late), 0);
        assert_eq!(t.store((0, 500), 0), Some((0, late)));
    }
    // Without a barrier, a store by the first reader still races with the second reader.
    let mut t = Trace::block(1024);
    for thread in 0..1024 {
        t.load((0, thread), 0);
    }
    assert_eq!(t.store(ZERO, 0), Some(ONE));
}

#[test]
fn readers_at_many_sites_and_times_are_all_stored() {
    let mut t = Trace::block(256);
    for _ in 0..50 {
        for thread in 0..256 {
            t.load((0, thread), 0);
            t.fence((0, thread), Scope::Block);
            t.load((0, thread), 0);
        }
    }
    t.barrier(0);
    assert_eq!(t.store(ZERO, 0), None);
    t.barrier(0);
    t.load((0, 99), 0);
    t.load((0, 12), 0);
    assert_eq!(t.store((0, 99), 0), Some((0, 12)));
}

#[test]
fn barriers_order_the_tree_of_a_reduction() {
    let tree = |barriers: bool| {
        let mut t = Trace::block(128);
        let mut races = 0;
        for thread in 0..128 {
            t.store((0, thread), 4 * thread as usize);
        }
        t.barrier(0);
        for stride in [64, 32, 16, 8, 4, 2, 1] {
            for thread in 0..stride {
                let own = 4 * thread as usize;
                races += usize::from(t.load((0, thread), own).is_some());
                races += usize::from(t.load((0, thread), own + 4 * stride as usize).is_some());
                races += usize::from(t.store((0, thread), own).is_some());
            }
            if barriers {
                t.barrier(0);
            }
        }
        races
    };
    assert_eq!(tree(true), 0);
    assert_eq!(
        tree(false),
        127 - 64,
        "one for each load of another thread's sum"
    );
}

#[test]
fn sync_warp_orders_its_members() {
    for members in [u32::MAX, 0b11] {
        let mut t = Trace::block(64);
        t.store(ONE, 0);
        t.blocks[0].sync_warp(0, members);
        assert_eq!(t.load(ZERO, 0), None);
    }
}

#[test]
fn sync_warp_orders_only_its_members() {
    let mut t = Trace::block(64);
    t.store(ONE, 0);
    t.store((0, 33), 4);
    t.blocks[0].sync_warp(0, u32::MAX);
    assert_eq!(t.load(ZERO, 4), Some((0, 33)));
    assert_eq!(t.load((0, 33), 0), Some(ONE));

    let mut t = Trace::block(64);
    t.store((0, 2), 0);
    t.blocks[0].sync_warp(0, 0b011);
    assert_eq!(t.load(ZERO, 0), Some((0, 2)));
    assert_eq!(t.load(ONE, 0), Some((0, 2)));
}

#[test]
fn sync_warp_joins_its_members_clocks() {
    let mut t = Trace::block(32);
    t.store((0, 5), 0);
    t.blocks[0].sync_warp(0, 1 << 5 | 1 << 6);
    t.blocks[0].sync_warp(0, 1 << 6 | 1 << 7);
    assert_eq!(t.load((0, 7), 0), None);
    // The `sync_warp` does not order what comes after it.
    t.store((0, 5), 4);
    t.blocks[0].sync_warp(0, 1 << 6 | 1 << 7);
    assert_eq!(t.load((0, 7), 4), Some((0, 5)));
}

#[test]
fn a_partial_warp_can_sync_in_full() {
    let mut t = Trace::block(48);
    t.store((0, 47), 0);
    t.blocks[0].sync_warp(1, 0xffff);
    assert_eq!(t.load((0, 32), 0), None);
}

#[test]
fn the_last_warp_of_a_reduction_needs_two_syncs_per_step() {
    // All lanes: `v = s[t] + s[t + k]; sync; s[t] = v; sync`.
    let steps = |between: bool, after: bool| {
        let mut t = Trace::block(32);
        let mut races = 0;
        for thread in 0..64 {
            t.store((0, thread % 32), 4 * thread as usize);
        }
        t.barrier(0);
        for k in [32, 16, 8, 4, 2, 1] {
            for thread in 0..32 {
                let own = 4 * thread as usize;
                races += usize::from(t.load((0, thread), own).is_some());
                races += usize::from(t.load((0, thread), own + 4 * k).is_some());
            }
            if between {
                t.blocks[0].sync_warp(0, u32::MAX);
            }
            for thread in 0..32 {
                races += usize::from(t.store((0, thread), 4 * thread as usize).is_some());
            }
            if after {
                t.blocks[0].sync_warp(0, u32::MAX);
            }
        }
        races
    };
    assert_eq!(steps(true, true), 0);
    assert_ne!(
        steps(false, true),
        0,
        "a store can overtake a neighbour's load"
    );
    assert_ne!(
        steps(true, false),
        0,
        "a load can overtake a neighbour's store"
    );
    assert_ne!(steps(false, false), 0, "the last warp with `volatile` only");
}

#[test]
fn neighbouring_bytes_do_not_race() {
    for size in [1, 2, 4, 8, 16] {
        let mut t = Trace::block(64);
        for thread in 0..64 {
            let own = (thread * size) as usize;
            assert!(t.plain((0, thread), Kind::Store, own, size).is_none());
            assert!(t.plain((0, thread), Kind::Load, own, size).is_none());
        }
        // Also after accesses to whole words.
        t.barrier(0);
        assert_eq!(t.load(ZERO, 0), None);
        t.barrier(0);
        for thread in 0..64 {
            assert!(
                t.plain((0, thread), Kind::Store, thread as usize, 1)
                    .is_none()
            );
        }
        let race = t.plain(ONE, Kind::Load, 0, 2).unwrap();
        assert_eq!((race.thread, race.access.address), (0, 0));
    }
}

#[test]
fn a_byte_inside_a_wide_access_is_a_race() {
    for byte in 0..16 {
        let mut t = Trace::block(64);
        t.plain(ONE, Kind::Load, 32, 16);
        let race = t.plain(ZERO, Kind::Store, 32 + byte, 1).unwrap();
        assert_eq!((race.access.address, race.access.size), (32, 16));

        let mut t = Trace::block(64);
        t.plain(ONE, Kind::Store, 32 + byte, 1);
        let race = t.plain(ZERO, Kind::Load, 32, 16).unwrap();
        assert_eq!((race.access.address, race.access.size), (32 + byte, 1));
    }
}

#[test]
fn narrowing_keeps_the_history() {
    // Several readers and an atomic operation, then accesses to single bytes.
    let mut t = Trace::block(96);
    for thread in [3, 40, 70] {
        t.plain((0, thread), Kind::Load, 16, 8);
    }
    t.wide_atomic((0, 5), 24, 8, ADD);
    t.plain((0, 9), Kind::Store, 32, 8);
    for byte in 0..8 {
        let race = t.plain(ZERO, Kind::Store, 16 + byte, 1).unwrap();
        assert!([3, 40, 70].contains(&race.thread));
        let race = t.plain(ZERO, Kind::Load, 24 + byte, 1).unwrap();
        assert_eq!(race.thread, 5);
        let race = t.plain(ZERO, Kind::Load, 32 + byte, 1).unwrap();
        assert_eq!(race.thread, 9);
    }
}

#[test]
fn accesses_may_cross_pages_and_be_misaligned() {
    let mut t = Trace::block(64);
    t.plain(ONE, Kind::Store, 510, 4);
    assert_eq!(t.plain(ZERO, Kind::Load, 508, 2).map(|r| r.thread), None);
    assert_eq!(t.plain(ZERO, Kind::Load, 511, 1).map(|r| r.thread), Some(1));
    assert_eq!(t.plain(ZERO, Kind::Load, 513, 1).map(|r| r.thread), Some(1));
    assert_eq!(t.plain(ZERO, Kind::Load, 514, 2).map(|r| r.thread), None);
}

#[test]
fn a_cleared_shadow_has_no_accesses() {
    let mut t = Trace::block(64);
    for word in 0..300 {
        t.store(ONE, 4 * word);
        t.load((0, 33), 4 * word);
        t.load((0, 40), 4 * word);
        t.atomic((0, 50), 4 * word, ADD);
    }
    t.memory.clear();
    // The same block index, as in the next launch.
    t.blocks[0] = Clocks::new(0, 64);
    for word in 0..300 {
        assert_eq!(t.store(ZERO, 4 * word), None);
    }
    assert_eq!(t.load(ONE, 4), Some(ZERO));
}
