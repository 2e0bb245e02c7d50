//! Races in whole launches: kernels that lack one ordering, and the same kernels with it. The tests of
//! `check` cover the memory model in detail.

use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use cuda_sim::{Buffer, Bug, InstructionKind, Kind, Schedule, Simulator, Space};
use cuda_std::atomic::{AtomicU32, BlockAtomicU32};
use cuda_std::{thread, warp};
use kernels_gpu::mem::{Global, Shared};

const SCHEDULES: [Schedule; 4] = [
    Schedule::Forward,
    Schedule::Reverse,
    Schedule::Random(3),
    Schedule::Random(4),
];

const BLOCKS: u32 = 3;
const THREADS: u32 = 64;

fn simulator(schedule: Schedule) -> Simulator {
    Simulator::new()
        .grid(BLOCKS)
        .block(THREADS)
        .dynamic_shared_memory(THREADS as usize * 4)
        .schedule(schedule)
        .check_all()
}

/// The launch's buffers, filled with zeros.
struct Memory {
    cells: Buffer<u32>,
    flags: Buffer<u32>,
}

impl Memory {
    fn cell(&self) -> Global<u32> {
        // SAFETY: the simulator checks the accesses of these kernels.
        unsafe { Global::new(self.cells.as_mut_ptr(), self.cells.len()) }
    }

    fn flag(&self) -> &AtomicU32 {
        // SAFETY: the first word, which is only used atomically.
        unsafe { &*self.flags.as_mut_ptr().cast() }
    }

    fn block_flag(&self) -> &BlockAtomicU32 {
        // SAFETY: the first word, which is only used atomically.
        unsafe { &*self.flags.as_mut_ptr().cast() }
    }
}

fn scratch() -> Shared<u32> {
    // SAFETY: the simulator checks the accesses of these kernels.
    unsafe { Shared::dynamic() }
}

fn tid() -> u32 {
    thread::thread_idx_x()
}

/// Launches under each schedule, and returns the kinds of the two accesses of each race.
fn races(space: Space, kernel: impl Fn(&Memory)) -> Vec<[Kind; 2]> {
    let mut all = Vec::new();
    for schedule in SCHEDULES {
        let memory = Memory {
            cells: Buffer::from(&[0; 256]),
            flags: Buffer::from(&[0; 4]),
        };
        let result = simulator(schedule).run(|| kernel(&memory));
        for finding in result
            .err()
            .into_iter()
            .flat_map(|failure| failure.findings)
        {
            let Bug::Race {
                space: found,
                access,
                other,
                ..
            } = &finding.bug
            else {
                panic!("{schedule:?}: {finding}")
            };
            assert_eq!(*found, space, "{finding}");
            assert!(finding.site.is_some() && finding.other.unwrap().1.is_some());
            let mut kinds = [access.kind, other.kind];
            kinds.sort_unstable();
            all.push(kinds);
        }
    }
    all.dedup();
    all
}

#[track_caller]
fn assert_clean(kernel: impl Fn(&Memory)) {
    let none: [[Kind; 2]; 0] = [];
    assert_eq!(races(Space::Shared, kernel), none);
}

#[test]
fn a_barrier_between_writer_and_reader() {
    let kernel = |barrier: bool| {
        scratch().set(tid(), tid());
        if barrier {
            thread::sync_threads();
        }
        scratch().get(tid() ^ 32);
    };
    assert_clean(|_| kernel(true));
    // Without the barrier, a reader may also run before its writer. The memory is initialised here, because
    // loads of uninitialised memory have their own test.
    let racy = races(Space::Shared, |_| {
        scratch().set(tid(), 0);
        thread::sync_threads();
        scratch().set(tid(), 1);
        scratch().get(tid() ^ 32);
    });
    assert_eq!(racy, [[Kind::Load, Kind::Store]]);
}

#[test]
fn scratch_that_is_used_again_too_soon() {
    let kernel = |second: bool| {
        for round in 0..3 {
            scratch().set(tid(), round);
            thread::sync_threads();
            scratch().get((tid() + 1) % THREADS);
            if second {
                thread::sync_threads();
            }
        }
    };
    assert_clean(|_| kernel(true));
    assert_eq!(
        races(Space::Shared, |_| kernel(false)),
        [[Kind::Load, Kind::Store]]
    );
}

#[test]
fn the_last_warp_of_a_tree_without_sync_warp() {
    // The "volatile" idiom: correct if a warp runs in lock-step, a race since Volta.
    let kernel = |syncs: u32| {
        scratch().set(tid(), 1);
        thread::sync_threads();
        if tid() < 32 {
            let mut offset = 16;
            while offset > 0 {
                let other = scratch().get(tid() + offset);
                if syncs > 1 {
                    // SAFETY: all lanes of the first warp get here.
                    unsafe { warp::sync_warp(u32::MAX) };
                }
                scratch().set(tid(), scratch().get(tid()) + other);
                if syncs > 0 {
                    // SAFETY: as above.
                    unsafe { warp::sync_warp(u32::MAX) };
                }
                offset /= 2;
            }
        }
    };
    assert_clean(|_| kernel(2));
    assert_eq!(
        races(Space::Shared, |_| kernel(1)),
        [[Kind::Load, Kind::Store]]
    );
    assert_eq!(
        races(Space::Shared, |_| kernel(0)),
        [[Kind::Load, Kind::Store]]
    );
}

#[test]
fn shuffles_order_nothing() {
    let racy = races(Space::Shared, |_| {
        scratch().set(tid(), 0);
        thread::sync_threads();
        scratch().set(tid(), 1);
        // SAFETY: whole warps.
        unsafe { warp::warp_shuffle_xor(u32::MAX, 0, 1, 32) };
        scratch().get(tid() ^ 1);
    });
    assert_eq!(racy, [[Kind::Load, Kind::Store]]);
}

#[test]
fn an_update_that_is_not_atomic() {
    let kernel = |m: &Memory| m.cell().set(0, m.cell().get(0) + 1);
    let racy = races(Space::Global, kernel);
    assert!(
        racy.contains(&[Kind::Load, Kind::Store]) || racy.contains(&[Kind::Store; 2]),
        "{racy:?}"
    );
    assert_clean(|m| {
        m.cell()
            .combine_atomic::<u32, _>(kernels_gpu::op::Sum, 0, 1);
    });
    let mixed = races(Space::Global, |m| {
        if thread::index_1d() == 70 {
            m.cell().set(0, 1);
        } else {
            m.cell()
                .combine_atomic::<u32, _>(kernels_gpu::op::Sum, 0, 1);
        }
    });
    assert_eq!(mixed, [[Kind::Store, Kind::Atomic]]);
}

/// The last block to finish adds the partials of all blocks.
fn last_block(m: &Memory, release: bool, acquire: bool) -> u32 {
    if tid() == 0 {
        m.cell()
            .set(thread::block_idx_x() as usize, 1 + thread::block_idx_x());
        if release {
            thread::device_fence();
        }
        let before = m.flag().fetch_add(1, Relaxed);
        if acquire {
            thread::device_fence();
        }
        scratch().set(0, u32::from(before + 1 == BLOCKS));
    }
    thread::sync_threads();
    if scratch().get(0) == 1 && tid() < BLOCKS {
        return m.cell().get(tid() as usize);
    }
    0
}

#[test]
fn the_last_block_needs_its_fences() {
    assert_clean(|m| {
        let seen = last_block(m, true, true);
        assert!(seen == 0 || seen == tid() + 1);
    });
    // The result is right nevertheless: only the checks find the bug.
    for (release, acquire) in [(false, true), (true, false), (false, false)] {
        let racy = races(Space::Global, |m| {
            let seen = last_block(m, release, acquire);
            assert!(seen == 0 || seen == tid() + 1);
        });
        assert_eq!(
            racy,
            [[Kind::Load, Kind::Store]],
            "release {release} acquire {acquire}"
        );
    }
}

#[test]
fn a_flag_between_two_warps() {
    let kernel = |m: &Memory, store, load| {
        if thread::block_idx_x() > 0 {
            return;
        }
        if tid() == 0 {
            scratch().set(5, 7);
            m.flag().store(1, store);
        } else if tid() == 32 {
            while m.flag().load(load) == 0 {}
            assert_eq!(scratch().get(5), 7);
        }
    };
    assert_clean(|m| kernel(m, Release, Acquire));
    assert_eq!(
        races(Space::Shared, |m| kernel(m, Relaxed, Acquire)),
        [[Kind::Load, Kind::Store]]
    );
    assert_eq!(
        races(Space::Shared, |m| kernel(m, Release, Relaxed)),
        [[Kind::Load, Kind::Store]]
    );
}

#[test]
fn a_scope_too_narrow() {
    // A single block: its scope is sufficient.
    assert_clean(|m| {
        if thread::block_idx_x() == 0 {
            // SAFETY: only this block uses the word.
            unsafe { m.block_flag().fetch_add(1, Relaxed) };
        }
    });
    for schedule in SCHEDULES {
        let memory = Memory {
            cells: Buffer::from(&[0]),
            flags: Buffer::from(&[0]),
        };
        let failure = simulator(schedule)
            // SAFETY: the scope is the bug that the simulator finds.
            .run(|| unsafe {
                memory.block_flag().fetch_add(1, Relaxed);
            })
            .unwrap_err();
        assert!(
            matches!(failure.findings[0].bug, Bug::Race { scope: true, .. }),
            "{failure}"
        );
    }
}

#[test]
fn neighbouring_bytes_are_no_race() {
    let bytes = Buffer::<u8>::uninitialised((BLOCKS * THREADS) as usize);
    for schedule in SCHEDULES {
        simulator(schedule)
            .run(|| {
                let i = thread::index_1d() as usize;
                cuda_sim::device::global(bytes.as_ptr().addr(), bytes.len(), i, 1, 1, Kind::Store);
                // SAFETY: one byte per thread.
                unsafe { bytes.as_mut_ptr().add(i).write(1) };
            })
            .unwrap();
    }
}

#[test]
fn parallel_blocks_find_what_sequential_ones_do() {
    let memory = Memory {
        cells: Buffer::from(&[0; 256]),
        flags: Buffer::from(&[0; 4]),
    };
    let many = simulator(Schedule::Forward).grid(64).count();
    // SAFETY: blocks share only the counter, which is atomic.
    let report = unsafe {
        many.run_on(4, || {
            scratch().set(tid(), 1);
            thread::sync_threads();
            if tid() == 0 {
                memory.flag().fetch_add(scratch().get(63), Relaxed);
            }
        })
    }
    .unwrap();
    assert_eq!(memory.flag().load(Relaxed), 64);
    let barriers = report.counters.unwrap().of(InstructionKind::Barrier);
    assert_eq!(barriers.requests, 64 * 2, "one for each warp");

    // SAFETY: blocks share nothing.
    let failure = unsafe {
        many.run_on(4, || {
            scratch().set(tid(), 1);
            scratch().set(tid() ^ 1, 1);
        })
    }
    .unwrap_err();
    assert!(
        matches!(failure.findings[0].bug, Bug::Race { .. }),
        "{failure}"
    );
}
