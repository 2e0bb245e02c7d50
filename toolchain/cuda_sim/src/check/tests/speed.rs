//! What an access costs: `cargo test --release -p cuda_sim -- --ignored --nocapture nanoseconds`.

use std::iter::repeat_with;
use std::time::Instant;

use super::*;

/// Runs `phases` of 256 threads with one barrier after each, and tells what an access took.
fn measure(
    name: &str,
    space: Space,
    phases: usize,
    mut phase: impl FnMut(&mut Shadow, &Clocks, usize) -> usize,
) {
    // The best of some: others use the machine too.
    let once = || {
        let mut clocks = Clocks::new(0, 256);
        let mut memory = Shadow::new(space);
        let mut accesses = 0;
        let start = Instant::now();
        for number in 0..phases {
            accesses += phase(&mut memory, &clocks, number);
            clocks.barrier();
        }
        start.elapsed().as_nanos() as f64 / accesses as f64
    };
    let ns = repeat_with(once).take(20).fold(f64::INFINITY, f64::min);
    println!("{name:<45} {space:?}: {ns:.1} ns");
}

#[test]
#[ignore = "a measurement"]
fn nanoseconds() {
    for space in [Space::Shared, Space::Global] {
        let own = |kind| {
            move |memory: &mut Shadow, clocks: &Clocks, _: usize| {
                let mut access = access(kind, 0, 4);
                for thread in 0..256 {
                    access.address = 0x4000 + 4 * thread;
                    assert!(memory.plain(clocks, thread as u32, &access).is_none());
                }
                256
            }
        };
        measure("store of an own word", space, 1_000, own(Kind::Store));
        measure("load of an own word", space, 1_000, own(Kind::Load));
        measure("load and store of an own word", space, 1_000, |m, c, p| {
            own(Kind::Load)(m, c, p) + own(Kind::Store)(m, c, p)
        });
        measure("load of one word by all", space, 1_000, |m, c, _| {
            let access = access(Kind::Load, 0x4000, 4);
            for thread in 0..256 {
                assert!(m.plain(c, thread, &access).is_none());
            }
            256
        });
        measure("load of one word by each warp", space, 1_000, |m, c, _| {
            let mut access = access(Kind::Load, 0, 4);
            for thread in 0..256 {
                access.address = 0x4000 + thread as usize / 32 * 4;
                assert!(m.plain(c, thread, &access).is_none());
            }
            256
        });
        measure("a byte each", space, 1_000, |m, c, _| {
            let mut access = access(Kind::Store, 0, 1);
            for thread in 0..256 {
                access.address = 0x4000 + thread;
                assert!(m.plain(c, thread as u32, &access).is_none());
            }
            256
        });
    }
    measure(
        "first load of 2^22 words",
        Space::Global,
        1 << 14,
        |m, c, p| {
            let mut access = access(Kind::Load, 0, 4);
            for thread in 0..256 {
                access.address = 4 * (p * 256 + thread);
                assert!(m.plain(c, thread as u32, &access).is_none());
            }
            256
        },
    );

    let mut memory = Shadow::new(Space::Global);
    let access = access(Kind::Atomic, 0x4000, 4);
    let start = Instant::now();
    for block in 0..2000 {
        let mut clocks = Clocks::new(block, 256);
        for thread in 0..256 {
            assert!(memory.atomic(&mut clocks, thread, &access, ADD).is_none());
        }
    }
    let ns = start.elapsed().as_nanos() as f64 / (2000 * 256) as f64;
    println!(
        "{:<45} Global: {ns:.1} ns",
        "counting by all threads of 2000 blocks"
    );
    let start = Instant::now();
    for block in 0..4000 {
        let mut clocks = Clocks::new(block, 256);
        clocks.fence(0, Scope::Device);
        assert!(memory.atomic(&mut clocks, 0, &access, ADD).is_none());
        clocks.fence(0, Scope::Device);
        clocks.barrier();
    }
    let ns = start.elapsed().as_nanos() as f64 / 4000.0;
    println!(
        "{:<45} Global: {ns:.1} ns",
        "a block's end: fence, count, fence"
    );
}
