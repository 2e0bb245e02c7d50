//! Logs that are drained before the end, events of every kind, and sums over blocks.

use super::program::requests;
use super::sites::sites;
use crate::Site;
use crate::Space::{Global, Shared};
use crate::count::{Counters, Event, InstructionKind, Tally, WarpLog};

fn push_all(
    log: &mut WarpLog,
    site: Site,
    what: InstructionKind,
    size: u32,
    address: impl Fn(u64) -> u64,
) {
    for lane in 0..32 {
        let address = address(u64::from(lane));
        log.push(
            lane,
            Event {
                site,
                what,
                address,
                size,
            },
        );
    }
}

fn counters(fill: impl Fn(&mut WarpLog)) -> Counters {
    let mut log = WarpLog::new();
    let mut tally = Tally::default();
    fill(&mut log);
    log.flush(&mut tally);
    tally.finish()
}

/// The events of a lane in nested loops whose trip counts depend on the lane.
fn long_log(lane: u32) -> Vec<Event> {
    let [outer, inner, ..] = sites();
    let event = |site, address| Event {
        site,
        what: InstructionKind::Load(Global),
        address,
        size: 4,
    };
    let mut log = Vec::new();
    for round in 0..4000 {
        log.push(event(outer, 0));
        for trip in 0..(round + lane) % 3 {
            log.push(event(inner, u64::from(trip)));
        }
    }
    log
}

#[test]
fn a_drained_log_counts_the_same() {
    let whole = counters(|log| {
        for lane in 0..32 {
            for event in long_log(lane) {
                log.push(lane, event);
            }
        }
    });
    let [outer, inner, ..] = sites();
    let inner_lanes = (0..32).map(|lane| long_log(lane).len() as u64 - 4000).sum();
    let expected = [(outer, (4000, 32 * 4000)), (inner, (8000, inner_lanes))];
    assert_eq!(requests(&whole), expected.into());

    // Lanes that stop when their log is full, and lanes that continue.
    for stops in [true, false] {
        let mut log = WarpLog::new();
        let mut tally = Tally::default();
        let mut logs: [_; 32] =
            std::array::from_fn(|lane| long_log(lane as u32).into_iter().peekable());
        let mut drains = 0;
        while logs.iter_mut().any(|log| log.peek().is_some()) {
            for (lane, events) in logs.iter_mut().enumerate() {
                for event in events {
                    if log.push(lane as u32, event) && stops {
                        break;
                    }
                }
            }
            log.drain(&mut tally);
            drains += 1;
        }
        log.flush(&mut tally);
        assert_eq!(drains > 1, stops);
        assert_eq!(tally.finish(), whole);
    }
}

#[test]
fn what_has_no_address_counts_requests_and_lanes() {
    let [site, ..] = sites();
    let all = [
        InstructionKind::Barrier,
        InstructionKind::SyncWarp,
        InstructionKind::Shuffle,
        InstructionKind::Vote,
        InstructionKind::Match,
        InstructionKind::Redux,
        InstructionKind::Fence,
    ];
    for what in all {
        let counters = counters(|log| push_all(log, site, what, 0, |_| 0));
        let counts = counters.of(what);
        assert_eq!((counts.requests, counts.lanes, counts.partial), (1, 32, 0));
        assert_eq!(
            (counts.wavefronts, counts.sectors, counts.passes),
            (0, 0, 0)
        );
        assert_eq!(counters.total(), counts);
    }
}

#[test]
fn atomics_count_contention_beside_their_accesses() {
    let [one, bins, global, ..] = sites();
    let shared = InstructionKind::Atomic(Shared);
    let counters = counters(|log| {
        push_all(log, one, shared, 4, |_| 64);
        push_all(log, bins, shared, 4, |lane| lane % 4 * 128);
        push_all(log, global, InstructionKind::Atomic(Global), 4, |lane| {
            lane / 8 * 32
        });
    });
    let [one, bins, global] = counters.lines() else {
        panic!("{counters}");
    };
    assert_eq!((one.counts.wavefronts, one.counts.passes), (1, 32));
    assert_eq!((bins.counts.wavefronts, bins.counts.passes), (4, 8));
    assert_eq!((global.counts.sectors, global.counts.passes), (4, 8));
    let atomics = counters.atomics();
    assert_eq!((atomics.passes, atomics.max_same_address), (48, 32));
    assert_eq!(counters.shared().requests, 2);
    assert_eq!(counters.global().requests, 1);
}

#[test]
fn one_site_can_be_several_instructions() {
    let [site, ..] = sites();
    let counters = counters(|log| {
        push_all(log, site, InstructionKind::Load(Shared), 8, |lane| lane * 8);
        push_all(log, site, InstructionKind::Store(Shared), 8, |lane| {
            lane * 8
        });
        push_all(log, site, InstructionKind::Load(Shared), 4, |lane| lane * 4);
    });
    let instructions: Vec<_> = counters
        .lines()
        .iter()
        .map(|line| (line.what, line.size))
        .collect();
    let (load, store) = (
        InstructionKind::Load(Shared),
        InstructionKind::Store(Shared),
    );
    assert_eq!(instructions, [(load, 4), (load, 8), (store, 8)]);
    assert_eq!(counters.of(load).wavefronts, 3);
}

#[test]
fn blocks_add_up_in_any_order() {
    let [first, second, ..] = sites();
    let block = |site, stride| {
        let mut log = WarpLog::new();
        let mut tally = Tally::default();
        push_all(&mut log, site, InstructionKind::Load(Shared), 4, |lane| {
            lane * stride * 4
        });
        log.flush(&mut tally);
        tally
    };
    let blocks = [block(second, 2), block(first, 1), block(second, 4)];
    let sum = |order: [usize; 3]| {
        let mut sum = Tally::default();
        for block in order {
            sum.add(&blocks[block]);
        }
        sum.finish()
    };
    let counters = sum([0, 1, 2]);
    assert_eq!(counters, sum([2, 1, 0]));
    let [first, second] = counters.lines() else {
        panic!("{counters}");
    };
    assert_eq!((first.counts.requests, first.counts.max_ways), (1, 1));
    assert_eq!((second.counts.requests, second.counts.max_ways), (2, 4));
    assert_eq!(second.counts.conflicts(), 1 + 3);
}

#[test]
fn the_table_is_aligned() {
    let [load, barrier, ..] = sites();
    let counters = counters(|log| {
        push_all(log, load, InstructionKind::Load(Shared), 4, |lane| lane * 8);
        push_all(log, barrier, InstructionKind::Barrier, 0, |_| 0);
    });
    let table = counters.to_string();
    let lines: Vec<_> = table.lines().collect();
    let [head, first, second] = lines[..] else {
        panic!("{table}");
    };
    assert_eq!((head.len(), head.len()), (first.len(), second.len()));
    let cells = |line: &str| {
        line.split_whitespace()
            .map(String::from)
            .collect::<Vec<_>>()
    };
    let place = format!("{}:{}", load.file(), load.line());
    let numbers = ["4", "1", "32.00", "0", "2", "1", "2", "-", "-"];
    assert_eq!(cells(first)[0], place);
    assert_eq!(cells(first)[1..3], ["load", "shared"]);
    assert_eq!(cells(first)[3..], numbers);
    assert_eq!(
        cells(second)[1..],
        ["barrier", "-", "1", "32.00", "0", "-", "-", "-", "-", "-"]
    );
}
