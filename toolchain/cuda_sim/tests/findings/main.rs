//! Seeded bugs in small kernels, one for each bug that the simulator finds. Next to each is the correct
//! kernel, which has no findings.

mod waiting;

use cuda_sim::{Buffer, Bug, Failure, Finding, Kind, Schedule, Simulator, Site, Space};
use cuda_std::atomic::mid;
use cuda_std::{thread, warp};
use kernels_gpu::mem::{Global, Shared};

const SCHEDULES: [Schedule; 4] = [
    Schedule::Forward,
    Schedule::Reverse,
    Schedule::Random(1),
    Schedule::Random(2),
];

/// Two blocks of 64 threads, with all checks and counters.
fn simulator(schedule: Schedule) -> Simulator {
    Simulator::new()
        .kernel("planted")
        .grid(2)
        .block(64)
        .dynamic_shared_memory(64 * 4)
        .schedule(schedule)
        .check_all()
        .count()
}

/// The first finding under each schedule.
fn findings(kernel: impl Fn()) -> Vec<Finding> {
    SCHEDULES
        .map(|schedule| {
            let failure: Failure = simulator(schedule).run(&kernel).expect_err("a seeded bug");
            assert!(
                failure.to_string().contains("kernel `planted`"),
                "{failure}"
            );
            failure.findings[0].clone()
        })
        .into()
}

#[track_caller]
fn assert_clean(kernel: impl Fn()) {
    for schedule in SCHEDULES {
        if let Err(failure) = simulator(schedule).run(&kernel) {
            panic!("{schedule:?}: {failure}");
        }
    }
}

fn tid() -> u32 {
    thread::thread_idx_x()
}

#[track_caller]
fn sync_warp(mask: u32) {
    // SAFETY: the broken contract is what the simulator checks.
    unsafe { warp::sync_warp(mask) }
}

#[track_caller]
fn shuffle_down(mask: u32, value: u32, delta: u32, width: u32) {
    // SAFETY: as above.
    unsafe { warp::warp_shuffle_down(mask, value, delta, width) };
}

fn scratch() -> Shared<i32> {
    // SAFETY: the simulator checks the accesses of these kernels.
    unsafe { Shared::dynamic() }
}

fn global(buffer: &Buffer<i32>) -> Global<i32> {
    // SAFETY: as above.
    unsafe { Global::new(buffer.as_mut_ptr(), buffer.len()) }
}

/// Asserts that the finding's site is the line of this file that contains `text`.
#[track_caller]
fn assert_line(site: Option<Site>, text: &str) {
    let site = site.expect("the finding has a site");
    let sources = [
        ("findings/main.rs", include_str!("main.rs")),
        ("findings/waiting.rs", include_str!("waiting.rs")),
    ];
    let source = sources
        .into_iter()
        .find(|(path, _)| site.file().ends_with(path));
    let (_, source) = source.unwrap_or_else(|| panic!("{site}"));
    let line = source.lines().nth(site.line() as usize - 1);
    assert!(
        line.is_some_and(|line| line.contains(text)),
        "{site}: {line:?}"
    );
}

#[test]
fn barrier_after_some_threads_exited() {
    for finding in findings(|| {
        if tid() < 40 {
            thread::sync_threads(); // some
        }
    }) {
        assert_eq!(
            finding.bug,
            Bug::BarrierMissed {
                barriers: 1,
                others: 0
            }
        );
        assert_line(finding.site, "thread::sync_threads(); // some");
        let (at, (other, _)) = (finding.thread.unwrap(), finding.other.unwrap());
        assert!(at.thread[0] < 40 && other.thread[0] >= 40, "{finding}");
    }
}

#[test]
fn barriers_at_different_sites() {
    for finding in findings(|| {
        if tid() < 32 {
            thread::sync_threads(); // low
        } else {
            thread::sync_threads(); // high
        }
    }) {
        assert_eq!(finding.bug, Bug::BarrierSites);
        let (at, (other, site)) = (finding.thread.unwrap(), finding.other.unwrap());
        let comment = |warp| if warp == 0 { "// low" } else { "// high" };
        assert_line(finding.site, comment(at.warp));
        assert_line(site, comment(other.warp));
        assert_ne!(at.warp, other.warp);
    }
}

#[test]
fn barriers_of_different_kinds_at_one_site() {
    for finding in findings(|| {
        let barrier = if tid() == 7 {
            thread::sync_threads_or
        } else {
            thread::sync_threads_and
        };
        barrier(1);
    }) {
        assert_eq!(finding.bug, Bug::BarrierSites);
    }
}

#[test]
fn loops_around_a_barrier_with_different_trips() {
    for finding in findings(|| {
        let trips = if tid() == 3 { 4 } else { 5 };
        for _ in 0..trips {
            thread::sync_threads();
        }
    }) {
        assert_eq!(
            finding.bug,
            Bug::BarrierMissed {
                barriers: 5,
                others: 4
            }
        );
        assert_eq!(finding.other.unwrap().0.thread, [3, 0, 0]);
    }
    assert_clean(|| (0..5).for_each(|_| thread::sync_threads()));
}

#[test]
fn masks_that_cannot_be_complete() {
    for finding in findings(|| {
        if warp::lane_id() != 9 {
            sync_warp(u32::MAX); // lacks 9
        }
    }) {
        let mask = u32::MAX;
        assert_eq!(finding.bug, Bug::MaskExited { lane: 9, mask });
        assert_line(finding.site, "sync_warp(u32::MAX); // lacks 9");
    }
    for finding in findings(|| {
        let mask = if tid() < 32 { 0x0000_FFFF } else { u32::MAX };
        if tid() != 40 {
            sync_warp(mask);
        }
    }) {
        assert!(
            matches!(
                finding.bug,
                Bug::MaskWithoutCaller { mask: 0xFFFF } | Bug::MaskExited { lane: 8, .. }
            ),
            "{finding}"
        );
    }
    for schedule in SCHEDULES {
        let failure = simulator(schedule)
            .block(48)
            .run(|| sync_warp(u32::MAX))
            .unwrap_err();
        let mask = u32::MAX;
        assert_eq!(
            failure.findings[0].bug,
            Bug::MaskAbsent { lane: 16, mask },
            "{failure}"
        );
        assert_eq!(failure.findings[0].thread.unwrap().warp, 1);
    }
    assert_clean(|| {
        if tid().is_multiple_of(2) {
            sync_warp(0x5555_5555);
        } else {
            sync_warp(0xAAAA_AAAA);
        }
    });
}

#[test]
fn lanes_that_never_arrive() {
    for finding in findings(|| {
        if tid() != 37 {
            sync_warp(u32::MAX); // lacks 37
        }
        thread::sync_threads(); // 37 waits
    }) {
        let Bug::Deadlock { waiting } = &finding.bug else {
            panic!("{finding}")
        };
        assert!(
            waiting
                .iter()
                .any(|w| w.contains("lanes 0x00000020 wait in sync_threads")),
            "{finding}"
        );
        assert_line(finding.site, "sync_warp(u32::MAX); // lacks 37");
        let (other, site) = finding.other.unwrap();
        assert_eq!(other.thread, [37, 0, 0]);
        assert_line(site, "thread::sync_threads(); // 37 waits");
    }
}

#[test]
fn a_full_mask_from_both_sides_of_a_branch_is_legal() {
    assert_clean(|| {
        if tid().is_multiple_of(2) {
            shuffle_down(u32::MAX, tid(), 1, 32);
        } else {
            shuffle_down(u32::MAX, tid() + 1, 1, 32);
        }
    });
}

#[test]
fn shuffle_from_outside_the_mask() {
    for finding in findings(|| {
        if warp::lane_id() < 16 {
            shuffle_down(0xFFFF, 1, 8, 32);
        }
    }) {
        assert!(
            matches!(
                finding.bug,
                Bug::ShuffleOutside {
                    lane: 16..,
                    mask: 0xFFFF
                }
            ),
            "{finding}"
        );
    }
    assert_clean(|| {
        if warp::lane_id() < 16 {
            shuffle_down(0xFFFF, 1, 8, 16);
        }
    });
}

#[test]
fn out_of_bounds() {
    let x = Buffer::from(&[1; 100]);
    for finding in findings(|| {
        global(&x).get(thread::index_1d() as usize);
    }) {
        let Bug::OutOfBounds {
            kind: Kind::Load,
            space: Space::Global,
            what,
        } = &finding.bug
        else {
            panic!("{finding}")
        };
        assert!(what.ends_with("of an array of 100"), "{what}");
        assert!(
            finding
                .to_string()
                .contains("out of bounds: loads element 1"),
            "{finding}"
        );
        assert_line(finding.site, "global(&x).get(thread::index_1d() as usize)");
    }
    for finding in findings(|| scratch().set(tid() + 1, 0)) {
        let Bug::OutOfBounds {
            kind: Kind::Store,
            space: Space::Shared,
            what,
        } = &finding.bug
        else {
            panic!("{finding}")
        };
        assert_eq!(what, "element 64 of an array of 64");
        assert!(
            finding
                .to_string()
                .contains("out of bounds: stores element 64 of an array of 64"),
            "{finding}"
        );
    }
    // An atomic operation through a raw pointer: the buffer's margin finds it.
    for finding in findings(|| {
        let relaxed = std::sync::atomic::Ordering::Relaxed;
        // SAFETY: inside the buffer's margin.
        unsafe { mid::atomic_fetch_add_i32_device(x.as_mut_ptr().add(100), relaxed, 1) };
    }) {
        assert!(
            matches!(
                finding.bug,
                Bug::OutOfBounds {
                    kind: Kind::Atomic,
                    ..
                }
            ),
            "{finding}"
        );
        assert!(
            finding
                .to_string()
                .contains("out of bounds: atomically accesses 4 bytes at byte 400"),
            "{finding}"
        );
    }
    // The end of one array is the start of the next: still out of bounds.
    for finding in findings(|| {
        let (first, second) = (
            cuda_std::shared_array![i32; 64],
            cuda_std::shared_array![i32; 64],
        );
        // SAFETY: the simulator checks it.
        let (first, second) = unsafe { (Shared::new(first), Shared::new(second)) };
        first.set(tid(), 1);
        second.set(tid(), 2);
        thread::sync_threads();
        first.set(tid() + 1, 3);
    }) {
        let Bug::OutOfBounds { what, .. } = &finding.bug else {
            panic!("{finding}")
        };
        assert_eq!(what, "element 64 of an array of 64");
    }
}

#[test]
fn misaligned_vectors() {
    let x = Buffer::from(&[1; 100]);
    let from = |first: usize| {
        // SAFETY: inside the buffer.
        unsafe { Global::<i32>::new(x.as_mut_ptr().add(first), 64) }
    };
    for finding in findings(|| {
        // SAFETY: the simulator checks it.
        unsafe { from(1).vectors::<4>() }.get(tid() as usize % 16);
    }) {
        assert!(
            matches!(finding.bug, Bug::Misaligned { address, alignment: 16 } if address % 16 == 4),
            "{finding}"
        );
        assert_line(finding.site, "from(1).vectors::<4>()");
    }
    for finding in findings(|| {
        // SAFETY: the simulator checks it.
        unsafe { from(0).words::<u64>(1, 31) }.set(tid() as usize % 31, 0);
    }) {
        assert!(
            matches!(finding.bug, Bug::Misaligned { alignment: 8, .. }),
            "{finding}"
        );
    }
    assert_clean(|| {
        let (head, vectors) = from(1).vectors_at::<4>().expect("numbers have vectors");
        assert_eq!(head, 3);
        vectors.get(tid() as usize % vectors.len());
    });
}

#[test]
fn bounds_of_handles_without_checks() {
    let x = Buffer::from(&[1; 100]);
    for bad in [
        Simulator::new().block(128).run(|| {
            global(&x).get(tid() as usize);
        }),
        Simulator::new().block(1).run(|| scratch().set(1 << 20, 1)),
    ] {
        assert!(matches!(
            bad.unwrap_err().findings[0].bug,
            Bug::OutOfBounds { .. }
        ));
    }
}

#[test]
fn uninitialised_memory() {
    for finding in findings(|| {
        scratch().get(tid()); // uninitialised
    }) {
        let Bug::Uninitialised {
            space: Space::Shared,
            access,
            first,
        } = finding.bug
        else {
            panic!("{finding}")
        };
        assert_eq!(
            (access.kind, access.size, first),
            (Kind::Load, 4, access.address)
        );
        assert_line(finding.site, "scratch().get(tid()); // uninitialised");
    }
    let y = Buffer::<i32>::uninitialised(128);
    for finding in findings(|| {
        global(&y).get(thread::index_1d() as usize);
    }) {
        assert!(
            matches!(
                finding.bug,
                Bug::Uninitialised {
                    space: Space::Global,
                    ..
                }
            ),
            "{finding}"
        );
    }
    // Shared memory of one block is uninitialised for the next block.
    for finding in findings(|| {
        if thread::block_idx_x() == 0 {
            scratch().set(tid(), 1);
        } else {
            scratch().get(tid());
        }
    }) {
        assert!(
            matches!(finding.bug, Bug::Uninitialised { .. }),
            "{finding}"
        );
    }
    // Each byte is checked: three of four bytes are not enough.
    for finding in findings(|| {
        let memory = cuda_std::shared::dynamic_shared_mem::<u8>();
        for byte in (0..3).filter(|_| tid() == 0) {
            cuda_sim::device::shared(memory.addr(), byte, 1, Kind::Store);
        }
        thread::sync_threads();
        scratch().get(0);
    }) {
        let Bug::Uninitialised { access, first, .. } = finding.bug else {
            panic!("{finding}")
        };
        assert_eq!((access.address, first), (0, 3));
    }
    // In a buffer whose end the host has written.
    let mut half = Buffer::<i32>::uninitialised(128);
    half.write_from(64, &[7; 64]);
    assert_eq!(half.to_vec()[64..], [7; 64]);
    assert_clean(|| assert_eq!(global(&half).get(64 + tid() as usize), 7));
    for finding in findings(|| {
        global(&half).get(tid() as usize);
    }) {
        assert!(
            matches!(finding.bug, Bug::Uninitialised { .. }),
            "{finding}"
        );
    }
    let z = Buffer::<i32>::uninitialised(128);
    assert_clean(|| {
        let i = thread::index_1d() as usize;
        global(&z).set(i, 1);
        scratch().set(tid(), global(&z).get(i));
        thread::sync_threads();
        scratch().get(63 - tid());
    });
}

#[test]
fn too_much_shared_memory() {
    let failure = simulator(Schedule::Forward)
        .dynamic_shared_memory(49 * 1024)
        .run(|| {})
        .unwrap_err();
    let bug = Bug::SharedMemory {
        bytes: 49 * 1024,
        limit: 48 * 1024,
    };
    assert_eq!(failure.findings[0].bug, bug);
    for finding in findings(|| {
        cuda_std::shared_array![f64; 6144];
    }) {
        assert!(matches!(finding.bug, Bug::SharedMemory { .. }), "{finding}");
        assert_line(finding.site, "cuda_std::shared_array![f64; 6144]");
    }
}

#[test]
fn invalid_launches() {
    let refused = |simulator: Simulator| {
        let failure = simulator.run(|| {}).unwrap_err();
        assert!(
            matches!(failure.findings[0].bug, Bug::Refused { .. }),
            "{failure}"
        );
        failure.to_string()
    };
    assert!(refused(Simulator::new().block(1025)).contains("1025"));
    assert!(refused(Simulator::new().block((32, 33))).contains("1056 threads"));
    assert!(refused(Simulator::new().block((1, 1, 65))).contains("size 65 in z"));
    assert!(refused(Simulator::new().grid(0)).contains("grid size 0"));
    assert!(refused(Simulator::new().grid((1, 65536))).contains("65536"));
}

#[test]
fn panics_and_stack_overflows() {
    for finding in findings(|| {
        let x = [1, 2, 3];
        if thread::index_1d() == 77 {
            assert_eq!(x[std::hint::black_box(1)], 3, "thread {}", tid());
        }
    }) {
        let Bug::Panic { message } = &finding.bug else {
            panic!("{finding}")
        };
        assert!(message.contains("thread 13"), "{message}");
        assert_eq!(finding.thread.unwrap().block, [1, 0, 0]);
        assert_line(finding.site, "assert_eq!(x[std::hint::black_box(1)]");
    }
    // Twice, because the stack that overflowed is reused.
    if cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        for finding in findings(|| {
            if thread::index_1d() == 77 {
                std::hint::black_box(endless(0));
            }
        }) {
            assert_eq!(finding.bug, Bug::StackOverflow);
            assert_eq!(finding.thread.unwrap().thread, [13, 0, 0]);
        }
    }
    assert_clean(|| thread::sync_threads());
}

/// The stack ends anywhere in the checks of an access, also while these hold the block's memory.
#[test]
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn stack_overflows_in_an_access() {
    /// Accesses memory at each depth, with frames of at least `4 * N` bytes.
    #[expect(unconditional_recursion, reason = "this is the bug")]
    fn accesses<const N: usize>(memory: Global<i32>, depth: u32) -> u32 {
        let frame = std::hint::black_box([depth; N]);
        memory.set(tid() as usize, depth as i32);
        accesses::<N>(memory, depth + 1) + frame[depth as usize % N]
    }
    let buffer = Buffer::from(&[0; 64]);
    let memory = global(&buffer);
    macro_rules! overflow {
        ($($n:literal)*) => { $(
            for finding in findings(|| {
                if thread::index_1d() == 13 {
                    std::hint::black_box(accesses::<$n>(memory, 0));
                }
            }) {
                assert_eq!(finding.bug, Bug::StackOverflow);
            }
        )* };
    }
    overflow!(1 7 16 29 40 55 64 77 91 100 128 150 200 233 300 333 400 444 512);
    assert_clean(|| thread::sync_threads());
}

#[expect(unconditional_recursion, reason = "this is the bug")]
fn endless(depth: u64) -> u64 {
    let frame = std::hint::black_box([depth; 16]);
    endless(depth + 1) + frame[(depth % 16) as usize]
}
