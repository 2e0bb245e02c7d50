//! Threads that wait for memory to change, and resident blocks.

use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use cuda_sim::{Buffer, Bug, Schedule, Simulator};
use cuda_std::atomic::AtomicI32;
use cuda_std::thread;

use super::{SCHEDULES, assert_line, findings, global, simulator, tid};

#[test]
fn waiting_for_a_flag_that_is_never_set() {
    let flag = Buffer::from(&[0]);
    for finding in findings(|| wait_for(&flag, 1)) {
        assert!(matches!(finding.bug, Bug::Livelock { .. }), "{finding}");
        assert!(finding.site.is_some());
    }
    // A plain load in place of an atomic one: found too.
    for finding in findings(|| while global(&flag).get(0) == 0 {}) {
        assert!(matches!(finding.bug, Bug::Livelock { .. }), "{finding}");
        assert_line(finding.site, "global(&flag).get(0) == 0");
    }
    for finding in findings(|| {
        while flag_is_down(&flag) {
            thread::nanosleep(100);
        }
    }) {
        assert!(matches!(finding.bug, Bug::Livelock { .. }), "{finding}");
    }
    // Waits for any of several flags.
    let flags = [(); 3].map(|()| Buffer::from(&[0]));
    for finding in findings(|| while flags.iter().all(flag_is_down) {}) {
        assert!(matches!(finding.bug, Bug::Livelock { .. }), "{finding}");
    }
}

fn atomic(buffer: &Buffer<i32>) -> &AtomicI32 {
    // SAFETY: an atomic, which is only used atomically.
    unsafe { &*buffer.as_mut_ptr().cast::<AtomicI32>() }
}

fn flag_is_down(flag: &Buffer<i32>) -> bool {
    atomic(flag).load(Acquire) == 0
}

fn wait_for(flag: &Buffer<i32>, value: i32) {
    while atomic(flag).load(Acquire) != value {}
}

#[test]
fn waiting_for_a_later_block() {
    let kernel = |flag: &Buffer<i32>, first: u32| {
        if thread::block_idx_x() == first {
            wait_for(flag, 1);
        } else if tid() == 0 {
            atomic(flag).store(1, Release);
        }
    };
    let run = |simulator: Simulator, waiter| {
        let flag = Buffer::from(&[0]);
        simulator.run(|| kernel(&flag, waiter)).map(|_| ())
    };
    // Waiting for an earlier block works. A later block may never start: a livelock, unless both blocks are
    // resident.
    assert_eq!(run(simulator(Schedule::Forward), 1), Ok(()));
    let failure = run(simulator(Schedule::Forward), 0).unwrap_err();
    assert_eq!(failure.findings[0].bug, Bug::Livelock { blocks_left: 1 });
    assert!(
        failure
            .to_string()
            .contains("; 1 more block has not finished"),
        "{failure}"
    );
    for schedule in SCHEDULES {
        assert_eq!(run(simulator(schedule).resident_blocks(2), 0), Ok(()));
        assert_eq!(run(simulator(schedule).resident_blocks(2), 1), Ok(()));
    }
}

#[test]
fn resident_blocks_interleave_at_atomics() {
    // The largest number of blocks that were running at the same time.
    let most = |schedule, resident| {
        let buffers = [0, 0].map(|zero: i32| Buffer::from(&[zero]));
        let [here, most] = [0, 1].map(|i: usize| atomic(&buffers[i]));
        let simulator = simulator(schedule).resident_blocks(resident);
        let run = simulator.run(|| {
            if tid() == 0 {
                most.fetch_max(here.fetch_add(1, Relaxed) + 1, Relaxed);
                here.fetch_sub(1, Relaxed);
            }
        });
        assert!(run.is_ok(), "{run:?}");
        buffers[1].to_vec()[0]
    };
    let random = || (0..20).map(Schedule::Random);
    assert_eq!(random().map(|schedule| most(schedule, 1)).max(), Some(1));
    assert_eq!(random().map(|schedule| most(schedule, 2)).max(), Some(2));
}
