//! Random programs: the detector and the reference implementation find the same first race.

use proptest::prelude::*;

use super::oracle::Oracle;
use super::*;

#[derive(Clone, Debug)]
enum Event {
    Plain {
        by: Thread,
        kind: Kind,
        address: usize,
        size: u32,
    },
    Atomic {
        by: Thread,
        address: usize,
        size: u32,
        atomic: Atomic,
    },
    Fence(Thread, Scope),
    SyncWarp {
        block: u32,
        warp: u32,
        members: u32,
    },
    Barrier(u32),
}

fn thread() -> impl Strategy<Value = Thread> {
    // Few threads, of two warps, so that they access the same locations.
    (0..2u32, prop_oneof![0..4u32, 30..40u32])
}

fn scope() -> impl Strategy<Value = Scope> {
    prop_oneof![
        2 => Just(Scope::Block),
        3 => Just(Scope::Device),
        1 => Just(Scope::System),
    ]
}

/// The address and size of an aligned access in the 16 bytes from `start`.
fn location(start: usize, sizes: &'static [u32]) -> impl Strategy<Value = (usize, u32)> {
    (0..16usize, prop::sample::select(sizes))
        .prop_map(move |(offset, size)| (start + offset / size as usize * size as usize, size))
}

fn plain() -> impl Strategy<Value = Event> {
    let kind = prop_oneof![Just(Kind::Load), Just(Kind::Store)];
    let location = prop_oneof![
        6 => location(0, &[1, 2, 4, 4, 4, 8, 16]),
        1 => location(16, &[4, 8]),
    ];
    (thread(), kind, location).prop_map(|(by, kind, (address, size))| Event::Plain {
        by,
        kind,
        address,
        size,
    })
}

fn atomic(narrow: bool) -> impl Strategy<Value = Event> {
    let location = prop_oneof![
        1 => location(0, &[4, 8]),
        3 => Just((16, 4)),
        1 => location(16, &[4, 8]),
    ];
    let scope = prop_oneof![
        4 => Just(Scope::Device),
        u32::from(narrow) => Just(Scope::Block),
    ];
    (thread(), location, scope, 0..5u32, 0..5u32).prop_map(
        |(by, (address, size), scope, what, order)| {
            let (reads, writes) = [
                (true, true),
                (true, true),
                (true, false),
                (true, false),
                (false, true),
            ][what as usize];
            let atomic = Atomic {
                scope,
                acquire: order == 1 && reads,
                release: order == 2 && writes,
                reads,
                writes,
            };
            Event::Atomic {
                by,
                address,
                size,
                atomic,
            }
        },
    )
}

fn event(narrow: bool) -> impl Strategy<Value = Event> {
    let members = prop_oneof![Just(u32::MAX), any::<u32>(), Just(0xf), Just(0b101)];
    prop_oneof![
        12 => plain(),
        8 => atomic(narrow),
        4 => (thread(), scope()).prop_map(|(by, scope)| Event::Fence(by, scope)),
        2 => (0..2u32, 0..2u32, members)
            .prop_map(|(block, warp, members)| Event::SyncWarp { block, warp, members }),
        1 => (0..2u32).prop_map(Event::Barrier),
    ]
}

/// A program; each event has a random number below 100.
type Program = Vec<(Event, u32)>;

/// Runs a program up to the first race. Only `percent` of 100 racing accesses are executed, so that programs
/// get long. Returns the number of accesses that were ordered after a conflicting one.
fn run(threads: u32, percent: u32, events: &Program) -> Result<usize, TestCaseError> {
    let fit = |(block, thread): Thread| (block, thread % threads);
    let mut t = Trace::grid(2, threads);
    let mut oracle = Oracle::new(2, threads);
    let mut ordered = 0;
    for &(ref event, chance) in events {
        let (by, access, atomic) = match *event {
            Event::Barrier(block) => {
                t.barrier(block);
                oracle.barrier(block);
                continue;
            }
            Event::SyncWarp {
                block,
                warp,
                members,
            } => {
                let warp = warp % threads.div_ceil(32);
                t.blocks[block as usize].sync_warp(warp, members);
                oracle.sync_warp(block, warp, members);
                continue;
            }
            Event::Fence(by, scope) => {
                t.fence(fit(by), scope);
                oracle.fence(fit(by), scope);
                continue;
            }
            Event::Plain {
                by,
                kind,
                address,
                size,
            } => (fit(by), access(kind, address, size), None),
            Event::Atomic {
                by,
                address,
                size,
                atomic,
            } => (fit(by), access(Kind::Atomic, address, size), Some(atomic)),
        };
        let races = oracle.races(by, &access, atomic);
        if !races.is_empty() && chance >= percent {
            continue;
        }
        ordered += usize::from(oracle.conflicts(by, &access));
        let found = match atomic {
            None => {
                oracle.plain(by, &access);
                t.memory.plain(&t.blocks[by.0 as usize], by.1, &access)
            }
            Some(atomic) => {
                oracle.atomic(by, &access, atomic);
                let clocks = &mut t.blocks[by.0 as usize];
                t.memory.atomic(clocks, by.1, &access, atomic)
            }
        };
        if let Some(found) = found {
            let real = races.iter().any(|race| {
                race.by == (found.block, found.thread)
                    && race.kind == found.access.kind
                    && race.address == found.access.address
                    && race.size == found.access.size
                    && race.scoped == found.scoped
            });
            prop_assert!(real, "{by:?} {access:?} does not race with {found:?}");
            return Ok(ordered);
        }
        // The detector may miss races of scopes, because it stores only some operations.
        let missed = races.iter().find(|race| !race.scoped);
        if let Some(missed) = missed {
            prop_assert!(false, "{by:?} {access:?} races with {:?}", missed.by);
        }
    }
    Ok(ordered)
}

fn program(narrow: bool) -> impl Strategy<Value = Program> {
    prop::collection::vec((event(narrow), 0..100u32), 1..250)
}

fn percent() -> impl Strategy<Value = u32> {
    prop::sample::select(vec![1, 5, 20])
}

/// More cases than usual, because few events of a program race.
const CASES: u32 = 600;

fn threads() -> impl Strategy<Value = u32> {
    prop_oneof![2..9u32, 33..41u32]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(CASES))]

    #[test]
    fn the_first_race_agrees_with_the_oracle(
            threads in threads(),
            percent in percent(),
            program in program(false),
        ) {
            run(threads, percent, &program)?;
    }

    #[test]
    fn scope_checks_report_no_false_race(
            threads in threads(),
            percent in percent(),
            program in program(true),
        ) {
            run(threads, percent, &program)?;
    }
}

#[test]
fn random_programs_order_conflicting_accesses() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;

    let mut runner = TestRunner::deterministic();
    let ordered: usize = (0..50)
        .map(|_| {
            let program = program(false).new_tree(&mut runner).unwrap().current();
            run(40, 0, &program).unwrap()
        })
        .sum();
    assert!(ordered > 500, "{ordered}");
}
