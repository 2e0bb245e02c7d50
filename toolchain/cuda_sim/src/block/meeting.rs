//! Lanes of a warp that do something together: each member has come, all get their results.

use super::{Block, Stop};
use crate::count::What;
use crate::finding::Bug;
use crate::lane::{Meeting, Redux, Request, Shuffle};

/// What a lane gets when nothing is defined.
const UNDEFINED: u64 = 0xDEAD_BEEF;

impl Block {
    /// A lane has come to a meeting.
    #[inline(always)]
    pub(super) fn attend(&mut self, i: usize, meeting: Meeting) -> Result<(), Stop> {
        let lane = &self.lanes[i];
        if self.context.launch().options.count
            && let Some(what) = what(meeting)
        {
            self.log(i, what);
        }
        let mask = lane.mask.get();
        if meeting != Meeting::ActiveMask && mask >> lane.lane() & 1 == 0 {
            self.report(Bug::MaskWithoutCaller { mask }, i, None);
            return Err(Stop);
        }
        Ok(())
    }

    /// Lets every complete meeting of the warp take place; whether there was one.
    pub(super) fn meet(&mut self, w: usize) -> Result<bool, Stop> {
        let mut undecided = self.warps[w].meeting;
        let mut met = false;
        while undecided != 0 {
            let leader = 32 * w + undecided.trailing_zeros() as usize;
            let Request::Meeting(meeting) = self.lanes[leader].request.get() else {
                unreachable!("a lane in a meeting asked for one")
            };
            if meeting == Meeting::ActiveMask {
                undecided &= undecided - 1;
                continue;
            }
            let mask = self.lanes[leader].mask.get();
            let here = self.present(w, undecided & mask, meeting, mask);
            undecided &= !here;
            if here == mask {
                self.hold(w, meeting, mask)?;
                met = true;
            } else {
                self.check_members(w, leader, mask)?;
            }
        }
        if !met && self.warps[w].meeting != 0 {
            met = self.tell_active(w);
        }
        Ok(met)
    }

    /// Which of the lanes have come to this meeting.
    #[inline]
    fn present(&self, w: usize, lanes: u32, meeting: Meeting, mask: u32) -> u32 {
        let mut here = 0;
        let mut rest = lanes;
        while rest != 0 {
            let l = rest.trailing_zeros();
            rest &= rest - 1;
            let lane = &self.lanes[32 * w + l as usize];
            if lane.request.get() == Request::Meeting(meeting) && lane.mask.get() == mask {
                here |= 1 << l;
            }
        }
        here
    }

    /// That all members can still come.
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

    /// `activemask`, when nothing else in the warp can go on: the lanes that wait at one place are
    /// active together.
    fn tell_active(&mut self, w: usize) -> bool {
        let asking = self.present(w, self.warps[w].meeting, Meeting::ActiveMask, 0);
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
        self.let_go(w, together);
        true
    }

    fn let_go(&mut self, w: usize, members: u32) {
        self.warps[w].meeting &= !members;
        self.warps[w].ready |= members;
    }

    /// Gives each member its result.
    fn hold(&mut self, w: usize, meeting: Meeting, mask: u32) -> Result<(), Stop> {
        let options = &self.context.launch().options;
        let (races, count) = (options.checks.races, options.count);
        let members = &self.lanes[32 * w..];
        let value = |l: u32| members[l as usize].value.get();
        let give = |result: u64| lanes(mask).for_each(|l| members[l as usize].result.set(result));
        match meeting {
            Meeting::SyncWarp => {
                if races {
                    let mut memory = self.context.memory.borrow_mut();
                    memory.clocks.sync_warp(w as u32, mask);
                }
            }
            Meeting::Shuffle(mode) => self.shuffle(w, mode, mask),
            Meeting::VoteAll => give(lanes(mask).all(|l| value(l) != 0).into()),
            Meeting::VoteAny => give(lanes(mask).any(|l| value(l) != 0).into()),
            Meeting::Ballot => give(
                lanes(mask)
                    .filter(|&l| value(l) != 0)
                    .fold(0, |set, l| set | 1 << l),
            ),
            Meeting::MatchAny(_) => {
                for l in lanes(mask) {
                    let same = lanes(mask)
                        .filter(|&other| value(other) == value(l))
                        .fold(0, |set, other| set | 1 << other);
                    members[l as usize].result.set(same);
                }
            }
            Meeting::MatchAll(_) => {
                let first = value(mask.trailing_zeros());
                give(lanes(mask).all(|l| value(l) == first).into());
            }
            Meeting::Redux(op) => {
                let all = lanes(mask).map(|l| value(l) as u32);
                give(all.reduce(|a, b| combine(op, a, b)).unwrap_or(0).into());
            }
            Meeting::ActiveMask => unreachable!("nobody waits for its members"),
        }
        self.let_go(w, mask);
        let warp = &self.warps[w];
        if count && warp.meeting | warp.resting | warp.at_barrier == 0 {
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

/// `shfl`'s source lane and predicate, from the PTX ISA.
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

/// What a meeting counts as.
fn what(meeting: Meeting) -> Option<What> {
    Some(match meeting {
        Meeting::SyncWarp => What::SyncWarp,
        Meeting::Shuffle(_) => What::Shuffle,
        Meeting::VoteAll | Meeting::VoteAny | Meeting::Ballot => What::Vote,
        Meeting::MatchAny(_) | Meeting::MatchAll(_) => What::Match,
        Meeting::Redux(_) => What::Redux,
        Meeting::ActiveMask => return None,
    })
}

/// The lanes of a set, the lowest first.
fn lanes(mut set: u32) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let lane = (set != 0).then(|| set.trailing_zeros());
        set &= set.wrapping_sub(1);
        lane
    })
}
