//! Warp collectives: all lanes of the member mask arrive, then all get their results.

use super::{Block, Stop};
use crate::count::InstructionKind;
use crate::finding::Bug;
use crate::lane::{Collective, Redux, Request, Shuffle};

/// The value of an undefined result.
const UNDEFINED: u64 = 0xDEAD_BEEF;

impl Block {
    /// A lane reaches a collective.
    #[inline(always)]
    pub(super) fn enter_collective(&mut self, i: usize, op: Collective) -> Result<(), Stop> {
        let lane = &self.lanes[i];
        if self.context.launch().options.count
            && let Some(what) = what(op)
        {
            let source = match op {
                Collective::Shuffle(mode) => source(mode, lane.lane(), lane.operands.get()).0,
                _ => 0,
            };
            self.log(i, what, source);
        }
        let mask = lane.mask.get();
        if op != Collective::ActiveMask && mask >> lane.lane() & 1 == 0 {
            self.report(Bug::MaskWithoutCaller { mask }, i, None);
            return Err(Stop);
        }
        Ok(())
    }

    /// Completes every collective of the warp whose members have all arrived; returns whether there was one.
    pub(super) fn run_collectives(&mut self, w: usize) -> Result<bool, Stop> {
        let mut undecided = self.warps[w].in_collective;
        let mut met = false;
        while undecided != 0 {
            let leader = 32 * w + undecided.trailing_zeros() as usize;
            let Request::Collective(op) = self.lanes[leader].request.get() else {
                unreachable!("a lane in the set waits in a collective")
            };
            if op == Collective::ActiveMask {
                undecided &= undecided - 1;
                continue;
            }
            let mask = self.lanes[leader].mask.get();
            let here = self.arrived(w, undecided & mask, op, mask);
            undecided &= !here;
            if here == mask {
                self.complete(w, op, mask)?;
                met = true;
            } else {
                self.check_members(w, leader, mask)?;
            }
        }
        if !met && self.warps[w].in_collective != 0 {
            met = self.answer_activemask(w);
        }
        Ok(met)
    }

    /// The lanes of `lanes` that have arrived at this collective.
    #[inline]
    fn arrived(&self, w: usize, lanes: u32, op: Collective, mask: u32) -> u32 {
        let mut here = 0;
        let mut rest = lanes;
        while rest != 0 {
            let l = rest.trailing_zeros();
            rest &= rest - 1;
            let lane = &self.lanes[32 * w + l as usize];
            if lane.request.get() == Request::Collective(op) && lane.mask.get() == mask {
                here |= 1 << l;
            }
        }
        here
    }

    /// Checks that all missing members can still arrive.
    fn check_members(&self, w: usize, leader: usize, mask: u32) -> Result<(), Stop> {
        let threads = self.lanes.len() - 32 * w;
        let present = u32::MAX >> (32 - threads.min(32));
        let bug = if mask & !present != 0 {
            let lane = (mask & !present).trailing_zeros();
            Bug::MaskAbsent { lane, mask }
        } else if mask & self.warps[w].exited != 0 {
            let lane = (mask & self.warps[w].exited).trailing_zeros();
            Bug::MaskExited { lane, mask }
        } else {
            return Ok(());
        };
        self.report(bug, leader, None);
        Err(Stop)
    }

    /// Answers `activemask` when nothing else in the warp can continue: lanes that wait at the same site are
    /// active together.
    fn answer_activemask(&mut self, w: usize) -> bool {
        let asking = self.arrived(w, self.warps[w].in_collective, Collective::ActiveMask, 0);
        if asking == 0 {
            return false;
        }
        let site = self.site(32 * w + asking.trailing_zeros() as usize);
        let together = lanes(asking)
            .filter(|&l| self.site(32 * w + l as usize) == site)
            .fold(0, |set, l| set | 1 << l);
        for l in lanes(together) {
            self.lanes[32 * w + l as usize].result.set(together.into());
        }
        self.wake(w, together);
        true
    }

    fn wake(&mut self, w: usize, members: u32) {
        self.warps[w].in_collective &= !members;
        self.warps[w].ready |= members;
    }

    /// Computes the results of a collective and releases its members.
    fn complete(&mut self, w: usize, op: Collective, mask: u32) -> Result<(), Stop> {
        let options = &self.context.launch().options;
        let (races, count) = (options.checks.races, options.count);
        let members = &self.lanes[32 * w..];
        let value = |l: u32| members[l as usize].value.get();
        let give = |result: u64| lanes(mask).for_each(|l| members[l as usize].result.set(result));
        match op {
            Collective::SyncWarp => {
                if races {
                    let mut memory = self.context.memory.borrow_mut();
                    memory.clocks.sync_warp(w as u32, mask);
                }
            }
            Collective::Shuffle(mode) => self.shuffle(w, mode, mask),
            Collective::VoteAll => give(lanes(mask).all(|l| value(l) != 0).into()),
            Collective::VoteAny => give(lanes(mask).any(|l| value(l) != 0).into()),
            Collective::Ballot => give(
                lanes(mask)
                    .filter(|&l| value(l) != 0)
                    .fold(0, |set, l| set | 1 << l),
            ),
            Collective::MatchAny(_) => {
                for l in lanes(mask) {
                    let same = lanes(mask)
                        .filter(|&other| value(other) == value(l))
                        .fold(0, |set, other| set | 1 << other);
                    members[l as usize].result.set(same);
                }
            }
            Collective::MatchAll(_) => {
                let first = value(mask.trailing_zeros());
                give(lanes(mask).all(|l| value(l) == first).into());
            }
            Collective::Redux(op) => {
                let all = lanes(mask).map(|l| value(l) as u32);
                give(all.reduce(|a, b| combine(op, a, b)).unwrap_or(0).into());
            }
            Collective::ActiveMask => unreachable!("`activemask` has no members"),
        }
        self.wake(w, mask);
        let warp = &self.warps[w];
        if count && warp.in_collective | warp.yielded | warp.at_barrier == 0 {
            let memory = &mut *self.context.memory.borrow_mut();
            memory.logs[w].flush(&mut memory.tally);
        }
        Ok(())
    }

    fn shuffle(&self, w: usize, mode: Shuffle, mask: u32) {
        let members = &self.lanes[32 * w..];
        for l in lanes(mask) {
            let lane = &members[l as usize];
            let (source, in_range) = source(mode, l, lane.operands.get());
            lane.in_range.set(in_range);
            let result = if mask >> source & 1 != 0 {
                members[source as usize].value.get()
            } else {
                if self.context.launch().options.checks.shuffle_sources {
                    let bug = Bug::ShuffleOutside { lane: source, mask };
                    self.report(bug, 32 * w + l as usize, None);
                }
                UNDEFINED
            };
            lane.result.set(result);
        }
    }
}

/// `shfl`'s source lane and predicate, after the PTX ISA.
fn source(mode: Shuffle, lane: u32, [b, c]: [u32; 2]) -> (u32, bool) {
    let (b, bound, segment) = (b & 31, c & 31, c >> 8 & 31);
    let max_lane = lane & segment | bound & !segment;
    let min_lane = lane & segment;
    let (source, in_range) = match mode {
        Shuffle::Up => (
            lane.wrapping_sub(b),
            lane as i32 - b as i32 >= max_lane as i32,
        ),
        Shuffle::Down => (lane + b, lane + b <= max_lane),
        Shuffle::Xor => (lane ^ b, lane ^ b <= max_lane),
        Shuffle::Idx => {
            let source = min_lane | b & !segment;
            (source, source <= max_lane)
        }
    };
    if in_range {
        (source, true)
    } else {
        (lane, false)
    }
}

fn combine(op: Redux, a: u32, b: u32) -> u32 {
    match op {
        Redux::Add => a.wrapping_add(b),
        Redux::MinI32 => (a as i32).min(b as i32) as u32,
        Redux::MaxI32 => (a as i32).max(b as i32) as u32,
        Redux::MinU32 => a.min(b),
        Redux::MaxU32 => a.max(b),
        Redux::And => a & b,
        Redux::Or => a | b,
        Redux::Xor => a ^ b,
    }
}

/// The instruction that a collective counts as.
fn what(op: Collective) -> Option<InstructionKind> {
    Some(match op {
        Collective::SyncWarp => InstructionKind::SyncWarp,
        Collective::Shuffle(_) => InstructionKind::Shuffle,
        Collective::VoteAll | Collective::VoteAny | Collective::Ballot => InstructionKind::Vote,
        Collective::MatchAny(_) | Collective::MatchAll(_) => InstructionKind::Match,
        Collective::Redux(_) => InstructionKind::Redux,
        Collective::ActiveMask => return None,
    })
}

/// The lanes of a set in ascending order.
fn lanes(mut set: u32) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let lane = (set != 0).then(|| set.trailing_zeros());
        set &= set.wrapping_sub(1);
        lane
    })
}
