//! Reports a deadlock: where each thread of the block waits.

use std::collections::BTreeMap;

use super::{Block, Warp};
use crate::Site;
use crate::finding::Bug;
use crate::lane::{Collective, Request};

impl Block {
    /// Reports a deadlock. The finding names a lane in a collective that a member does not reach, and that
    /// member. Such a lane exists: a barrier that all other threads have reached is complete.
    pub(super) fn report_deadlock(&self) {
        let (mut at, mut other) = (self.find(|warp| warp.in_collective | warp.at_barrier), None);
        'search: for (w, warp) in self.warps.iter().enumerate() {
            for l in (0..32).filter(|l| warp.in_collective >> l & 1 != 0) {
                let i = 32 * w + l;
                if let Some(member) = self.missing_member(w, i) {
                    (at, other) = (i, Some(member));
                    break 'search;
                }
            }
        }
        let waiting = self
            .warps
            .iter()
            .enumerate()
            .flat_map(|(w, warp)| self.groups(w, warp));
        let bug = Bug::Deadlock {
            waiting: waiting.collect(),
        };
        self.report(bug, at, other);
    }

    /// A member of the lane's collective that waits at another synchronisation point.
    fn missing_member(&self, w: usize, i: usize) -> Option<usize> {
        let (request, mask) = (self.lanes[i].request.get(), self.lanes[i].mask.get());
        (0..32)
            .filter(|l| mask >> l & 1 != 0)
            .map(|l| 32 * w + l)
            .find(|&m| {
                let member = &self.lanes[m];
                member.request.get() != request || member.mask.get() != mask
            })
    }

    /// One line for all lanes of a warp that wait in the same operation at the same site.
    fn groups(&self, w: usize, warp: &Warp) -> Vec<String> {
        let mut groups: BTreeMap<(&str, Option<u32>, Site), u32> = BTreeMap::new();
        for l in (0..32).filter(|l| (warp.in_collective | warp.at_barrier) >> l & 1 != 0) {
            let lane = &self.lanes[32 * w + l];
            let request = lane.request.get();
            let mask = match request {
                Request::Collective(Collective::ActiveMask) | Request::Barrier(_) => None,
                _ => Some(lane.mask.get()),
            };
            let key = (request.name(), mask, self.site(32 * w + l));
            *groups.entry(key).or_default() |= 1 << l;
        }
        let mut lines: Vec<String> = groups
            .into_iter()
            .map(|((name, mask, site), lanes)| {
                let members = mask.map_or(String::new(), |mask| {
                    format!(" with member mask {mask:#010x}")
                });
                format!("warp {w} lanes {lanes:#010x} wait in {name}{members} at {site}")
            })
            .collect();
        if warp.exited != 0 {
            lines.push(format!("warp {w} lanes {:#010x} have exited", warp.exited));
        }
        lines
    }
}
