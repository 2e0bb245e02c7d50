//! Random programs.

use super::program::{Choice, Step, random, run};
use super::sites::sites;
use crate::Site;

/// A pseudo-random generator with the same numbers on every machine.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 += 1;
        random(self.0)
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }
}

fn sometimes(lane: u32, time: u32, seed: u64) -> u32 {
    below(2, lane, time, seed)
}

fn seldom(lane: u32, time: u32, seed: u64) -> u32 {
    u32::from(below(8, lane, time, seed) == 0)
}

fn trips(lane: u32, time: u32, seed: u64) -> u32 {
    below(4, lane, time, seed)
}

fn below(bound: u64, lane: u32, time: u32, seed: u64) -> u32 {
    (random(seed ^ random(u64::from(lane) << 32 | u64::from(time))) % bound) as u32
}

struct Author {
    numbers: Numbers,
    /// Unused sites in random order, so that the program jumps in the source.
    sites: Vec<Site>,
    /// Whether lanes may leave loops and the kernel early.
    leaves: bool,
}

impl Author {
    fn new(seed: u64, leaves: bool) -> Self {
        let mut numbers = Numbers(seed << 32);
        let mut sites = sites().to_vec();
        for place in 1..sites.len() {
            sites.swap(place, numbers.below(place as u64 + 1) as usize);
        }
        Self {
            numbers,
            sites,
            leaves,
        }
    }

    /// A block always starts with its own instruction, unless all sites are used: without one, the logs do
    /// not show that a lane was there.
    fn block(&mut self, depth: u32, in_loop: bool) -> Vec<Step> {
        let mut steps = Vec::from_iter(self.sites.pop().map(Step::Load));
        for _ in 0..=self.numbers.below(3) {
            let seed = self.numbers.next();
            steps.extend(match self.numbers.below(9) {
                0..3 => self.sites.pop().map(Step::Load),
                3..5 if depth > 0 => {
                    let then = self.block(depth - 1, in_loop);
                    let otherwise = if seed.is_multiple_of(2) {
                        self.block(depth - 1, in_loop)
                    } else {
                        Vec::new()
                    };
                    Some(Step::If(Choice(sometimes, seed), then, otherwise))
                }
                5..7 if depth > 0 => {
                    let body = self.block(depth - 1, true);
                    Some(Step::For(Choice(trips, seed), body))
                }
                7 if in_loop && self.leaves => Some(if seed.is_multiple_of(2) {
                    Step::Break(Choice(seldom, seed))
                } else {
                    Step::Continue(Choice(seldom, seed))
                }),
                8 if self.leaves => Some(Step::Return(Choice(seldom, seed))),
                _ => None,
            });
        }
        steps
    }
}

/// How many of 2000 programs are counted wrongly, and the wrong requests out of all.
fn wrong(leaves: bool, barrier: bool) -> (u32, u64, u64) {
    let (mut programs, mut off, mut all) = (0, 0, 0);
    for seed in 0..2000 {
        let mut author = Author::new(seed, leaves);
        let end = author.sites.pop().map(Step::Barrier).filter(|_| barrier);
        let mut program = author.block(3, false);
        program.extend(end);
        let (counted, expected) = run(&program);
        programs += u32::from(counted != expected);
        assert!(counted.keys().eq(expected.keys()), "{program:?}");
        for (counted, expected) in counted.values().zip(expected.values()) {
            assert_eq!(counted.1, expected.1, "lanes of {program:?}");
            off += counted.0.abs_diff(expected.0);
            all += expected.0;
        }
    }
    (programs, off, all)
}

/// Some are wrong: two different programs can leave the same logs.
#[test]
fn nearly_all_programs_are_counted_right() {
    for (leaves, barrier, most) in [
        (false, false, 10),
        (false, true, 10),
        (true, false, 40),
        (true, true, 40),
    ] {
        let (programs, off, all) = wrong(leaves, barrier);
        assert!(programs <= most, "{programs} of 2000 wrong");
        assert!(off * 200 <= all, "{off} of {all} requests are wrong");
    }
}
