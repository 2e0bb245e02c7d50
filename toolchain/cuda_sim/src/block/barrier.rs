//! The block barrier.

use super::{Block, Stop};
use crate::count::InstructionKind;
use crate::finding::Bug;
use crate::lane::{Barrier, Request};

impl Block {
    /// A thread reaches a block barrier.
    #[inline(always)]
    pub(super) fn arrive(&mut self, i: usize, kind: Barrier) -> Result<(), Stop> {
        let lane = &self.lanes[i];
        lane.barriers.set(lane.barriers.get() + 1);
        if self.arrived == 0 {
            self.first = i;
            self.true_predicates = 0;
        }
        self.arrived += 1;
        self.true_predicates += lane.value.get() as u32;
        if self.context.launch().options.count {
            self.log(i, InstructionKind::Barrier, 0);
        }
        let first = &self.lanes[self.first];
        let same_place = std::ptr::eq(first.location.get(), lane.location.get())
            || self.site(self.first) == self.site(i);
        if !same_place || first.request.get() != Request::Barrier(kind) {
            self.report(Bug::BarrierSites, i, Some(self.first));
            return Err(Stop);
        }
        Ok(())
    }

    /// All threads that have not returned are at the barrier: releases them.
    pub(super) fn release(&mut self) -> Result<(), Stop> {
        let options = &self.context.launch().options;
        let (checks, count) = (options.checks, options.count);
        let exited = self.lanes.len() as u32 - self.live;
        if exited > 0 && checks.exited_at_barrier {
            let lost = self.find(|warp| warp.exited);
            let bug = Bug::BarrierMissed {
                barriers: self.lanes[self.first].barriers.get(),
                others: self.lanes[lost].barriers.get(),
            };
            let launch = self.context.launch();
            let other = (self.context.thread(lost as u32), None);
            launch.report(bug, Some(self.side(self.first)), Some(other));
            return Err(Stop);
        }
        if checks.races || count {
            let memory = &mut *self.context.memory.borrow_mut();
            if checks.races {
                memory.clocks.barrier();
            }
            if count {
                for log in &mut memory.logs {
                    log.flush(&mut memory.tally);
                }
            }
        }
        let result = match self.lanes[self.first].request.get() {
            Request::Barrier(Barrier::Count) => Some(self.true_predicates),
            Request::Barrier(Barrier::And) => Some(u32::from(self.true_predicates == self.arrived)),
            Request::Barrier(Barrier::Or) => Some(u32::from(self.true_predicates > 0)),
            _ => None,
        };
        if let Some(result) = result {
            for lane in &self.lanes {
                lane.result.set(result.into());
            }
        }
        self.arrived = 0;
        for warp in &mut self.warps {
            warp.ready = warp.at_barrier;
            warp.at_barrier = 0;
        }
        self.stale = 0;
        Ok(())
    }
}
