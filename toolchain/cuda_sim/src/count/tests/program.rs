//! Small structured programs, executed as a warp does: the lanes of a branch separately, and together again
//! after it.

use crate::count::{Counters, Event, InstructionKind, Tally, WarpLog};
use crate::{Site, Space};
use std::collections::BTreeMap;

/// The statements of a program. Conditions and trip counts vary with the lane and the iteration.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    /// A load at a site.
    Load(Site),
    /// `if`, `else`.
    If(Choice, Vec<Step>, Vec<Step>),
    /// `for`, with this many trips.
    For(Choice, Vec<Step>),
    /// `if .. { break }`.
    Break(Choice),
    /// `if .. { continue }`.
    Continue(Choice),
    /// `if .. { return }`.
    Return(Choice),
    /// The barrier of the block.
    Barrier(Site),
}

/// A pseudo-random number from the lane, the iteration, and a seed. As a condition, nonzero means true.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Choice(pub fn(lane: u32, time: u32, seed: u64) -> u32, pub u64);

/// A hash of its argument: the last step of SplitMix64.
pub(crate) fn random(number: u64) -> u64 {
    let mut z = number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// How often each site was executed, and by how many lanes in total.
pub(crate) type Requests = BTreeMap<Site, (u64, u64)>;

/// The state of a warp.
struct Warp {
    log: WarpLog,
    tally: Tally,
    expected: Requests,
    times: [u32; 32],
}

/// The lanes that left a loop's body before its end.
#[derive(Default)]
struct Left {
    broke: u32,
    continued: u32,
}

/// Executes a program: returns the counts from the lanes' logs, and those of the warp itself.
pub(crate) fn run(program: &[Step]) -> (Requests, Requests) {
    let mut warp = Warp {
        log: WarpLog::new(),
        tally: Tally::default(),
        expected: Requests::new(),
        times: [0; 32],
    };
    warp.all(program, u32::MAX, &mut Left::default());
    warp.log.flush(&mut warp.tally);
    (requests(&warp.tally.finish()), warp.expected)
}

pub(crate) fn requests(counters: &Counters) -> Requests {
    let line = |line: &crate::count::Line| (line.site, (line.counts.requests, line.counts.lanes));
    counters.lines().iter().map(line).collect()
}

impl Warp {
    /// Returns the lanes that reach the end.
    fn all(&mut self, steps: &[Step], mut active: u32, left: &mut Left) -> u32 {
        for step in steps {
            if active == 0 {
                break;
            }
            active = self.one(step, active, left);
        }
        active
    }

    fn one(&mut self, step: &Step, active: u32, left: &mut Left) -> u32 {
        match step {
            Step::Load(site) => self.event(*site, InstructionKind::Load(Space::Global), active),
            Step::Barrier(site) => {
                self.event(*site, InstructionKind::Barrier, active);
                self.log.flush(&mut self.tally);
            }
            Step::If(choice, then, otherwise) => {
                let true_for = self.choose(*choice, active);
                return self.all(then, true_for, left)
                    | self.all(otherwise, active & !true_for, left);
            }
            Step::For(trips, body) => return self.repeat(*trips, body, active),
            Step::Break(choice) => {
                let broke = self.choose(*choice, active);
                left.broke |= broke;
                return active & !broke;
            }
            Step::Continue(choice) => {
                let continued = self.choose(*choice, active);
                left.continued |= continued;
                return active & !continued;
            }
            Step::Return(choice) => return active & !self.choose(*choice, active),
        }
        active
    }

    fn repeat(&mut self, trips: Choice, body: &[Step], mut active: u32) -> u32 {
        let trips: [u32; 32] = std::array::from_fn(|lane| {
            if active >> lane & 1 == 1 {
                self.ask(trips, lane as u32)
            } else {
                0
            }
        });
        let mut done = 0;
        for trip in 0.. {
            let ready = (0..32).filter(|&lane| trips[lane as usize] <= trip);
            let ready = ready.fold(0, |mask, lane| mask | 1 << lane);
            done |= active & ready;
            active &= !ready;
            if active == 0 {
                break;
            }
            let mut left = Left::default();
            active = self.all(body, active, &mut left) | left.continued;
            done |= left.broke;
        }
        done
    }

    fn event(&mut self, site: Site, what: InstructionKind, active: u32) {
        for lane in lanes(active) {
            let address = u64::from(lane) * 4;
            let size = 4;
            self.log.push(
                lane,
                Event {
                    site,
                    what,
                    address,
                    size,
                },
            );
        }
        let (requests, lanes) = self.expected.entry(site).or_default();
        *requests += 1;
        *lanes += u64::from(active.count_ones());
    }

    fn choose(&mut self, choice: Choice, active: u32) -> u32 {
        lanes(active).fold(0, |mask, lane| {
            mask | u32::from(self.ask(choice, lane) != 0) << lane
        })
    }

    fn ask(&mut self, choice: Choice, lane: u32) -> u32 {
        let time = &mut self.times[lane as usize];
        *time += 1;
        choice.0(lane, *time, choice.1)
    }
}

fn lanes(mask: u32) -> impl Iterator<Item = u32> {
    (0..32).filter(move |lane| mask >> lane & 1 == 1)
}
