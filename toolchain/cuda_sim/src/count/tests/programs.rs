//! Control flow that kernels use.

use super::program::{Choice, Requests, Step, run};
use super::{library, sites::sites};
use crate::Site;
use Step::{Barrier, Break, Continue, For, If, Load, Return};

fn by_lane(of: fn(lane: u32, time: u32, seed: u64) -> u32) -> Choice {
    Choice(of, 0)
}

/// Checks that the counts equal the warp's; returns the requests.
#[track_caller]
fn exact(program: &[Step]) -> Requests {
    let (counted, expected) = run(program);
    assert_eq!(counted, expected);
    counted
}

#[track_caller]
fn assert_requests(program: &[Step], expected: &[(Site, (u64, u64))]) {
    assert_eq!(exact(program), expected.iter().copied().collect());
}

#[test]
fn straight_code() {
    let [a, b, c, ..] = sites();
    let all = (1, 32);
    assert_requests(
        &[Load(c), Load(a), Load(b)],
        &[(a, all), (b, all), (c, all)],
    );
}

#[test]
fn both_sides_of_a_branch_reconverge_after_it() {
    let [a, b, c, d, ..] = sites();
    let upper = by_lane(|lane, _, _| u32::from(lane >= 12));
    let branch = [If(upper, vec![Load(a)], vec![Load(b), Load(c)]), Load(d)];
    assert_requests(
        &branch,
        &[(a, (1, 20)), (b, (1, 12)), (c, (1, 12)), (d, (1, 32))],
    );
    let [a, b, c, d, ..] = [d, b, a, c];
    let branch = [If(upper, vec![Load(a)], vec![Load(b), Load(c)]), Load(d)];
    assert_requests(
        &branch,
        &[(a, (1, 20)), (b, (1, 12)), (c, (1, 12)), (d, (1, 32))],
    );
}

#[test]
fn loops_go_round_by_round() {
    let [a, b, ..] = sites();
    let program = [For(by_lane(|lane, _, _| lane % 4), vec![Load(a)]), Load(b)];
    assert_requests(&program, &[(a, (3, 8 + 16 + 24)), (b, (1, 32))]);
}

/// Lane 0 runs 3 and 1 inner iterations, lane 1 runs 1 and 3: the lanes wait for each other after each.
#[test]
fn nested_loops_with_trips_that_differ() {
    let [a, b, c, ..] = sites();
    let twice = by_lane(|_, _, _| 2);
    // The first call is for the outer trip count, the later ones for the inner loop.
    let inner = by_lane(|lane, time, _| if (lane + time) % 2 == 0 { 3 } else { 1 });
    let expected = [(a, (6, 32 * 4)), (b, (2, 64))];
    let program = |a, b| [For(twice, vec![For(inner, vec![Load(a)]), Load(b)])];
    assert_requests(&program(a, b), &expected);
    assert_eq!(exact(&program(b, a))[&b], (6, 32 * 4));
    let headed = [For(
        twice,
        vec![Load(c), For(inner, vec![Load(a)]), Load(b)],
    )];
    assert_eq!(exact(&headed)[&a], (6, 32 * 4));
}

/// As if a helper stood above its caller, below it, or in another file.
#[test]
fn helpers_in_loops_at_any_position() {
    let [first, second, third, fourth, ..] = sites();
    let [elsewhere, ..] = library::sites();
    let odd = by_lane(|lane, _, _| lane % 2);
    for (before, helper, behind) in [
        (second, first, third),
        (second, fourth, third),
        (second, elsewhere, third),
    ] {
        let called = vec![
            Load(before),
            If(odd, vec![Load(helper)], vec![]),
            Load(behind),
        ];
        let program = [For(by_lane(|_, _, _| 2), called)];
        let all = (2, 64);
        assert_requests(&program, &[(before, all), (helper, (2, 32)), (behind, all)]);
    }
}

/// In each iteration other lanes call the helper; the call is not delayed to a later iteration.
#[test]
fn a_helper_is_called_by_other_lanes_in_each_round() {
    let [before, behind, helper, ..] = sites();
    let turns = by_lane(|lane, time, _| u32::from(time % 2 == lane % 2));
    let called = vec![
        Load(before),
        If(turns, vec![Load(helper)], vec![]),
        Load(behind),
    ];
    let program = [For(by_lane(|_, _, _| 4), called)];
    assert_eq!(exact(&program)[&helper], (4, 64));
}

#[test]
fn lanes_do_not_wait_for_exited_lanes() {
    let [a, b, c, d, end, ..] = sites();
    let quarter = by_lane(|lane, _, _| u32::from(lane % 4 == 0));
    let program = [Return(quarter), Load(a), Barrier(end)];
    assert_requests(&program, &[(a, (1, 24)), (end, (1, 24))]);

    // One lane at a time leaves the middle of a loop.
    let one = by_lane(|lane, time, _| u32::from(lane < 16 && time == lane));
    let odd = by_lane(|lane, _, _| lane % 2);
    for barrier in [false, true] {
        for [a, b, c, d] in [[a, b, c, d], [d, c, b, a], [b, d, a, c]] {
            let then = vec![Load(b), Return(one), Load(c)];
            let body = vec![Load(a), If(odd, then, vec![]), Load(d)];
            let mut program = vec![For(by_lane(|_, _, _| 5), body)];
            program.extend(barrier.then_some(Barrier(end)));
            assert_eq!(exact(&program)[&a].0, 5);
        }
    }
}

#[test]
fn break_and_continue() {
    let [a, b, c, d, ..] = sites();
    let stop = by_lane(|lane, time, _| u32::from(time > 2 + lane % 8));
    let skip = by_lane(|lane, time, _| u32::from((lane + time) % 3 == 0));
    for [a, b, c] in [[a, b, c], [c, b, a]] {
        let body = vec![Load(a), Continue(skip), Load(b), Break(stop), Load(c)];
        exact(&[For(by_lane(|_, _, _| 6), body), Load(d)]);
    }
}
