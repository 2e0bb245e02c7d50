//! The control flow that the lanes of a warp have shown, and where it comes together.
//!
//! A compiler lets the lanes of a warp that went apart meet at the nearest place that every path
//! leads to: the post-dominator of the branch. It is found here in the graph whose nodes are the
//! instructions in the logs, with an edge from each to the one that some lane did next. Positions
//! in the source do not say where lanes meet: a helper may stand before or behind its caller.

use super::event::Instruction;
use super::log::Entry;
use std::cmp::Reverse;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// The region of nodes that have their place in the order.
const DONE: usize = usize::MAX;

/// An instruction in the graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Node(usize);

/// The graph.
#[derive(Default)]
pub(super) struct Flow {
    index: HashMap<Instruction, usize, BuildHasherDefault<Mixer>>,
    nodes: Vec<Vertex>,
    /// Where lanes began.
    starts: Vec<usize>,
    /// What each lane did last before what is in its log now.
    before: [Option<Node>; 32],
}

struct Vertex {
    instruction: Instruction,
    /// What some lane did next.
    next: Vec<usize>,
    /// Some lane's log ends here.
    ends: bool,
    /// What some lane did just before.
    before: Vec<usize>,
    /// Its place in the order, from 0.
    order: usize,
    /// The last place in the order of the loop that this is the head of; if of none, its own.
    last: usize,
    /// The nearest instruction on all paths to the end; itself where that is the end.
    meets_at: usize,
    /// How many of those follow one another to the end; `None` where no path leads to the end.
    depth: Option<usize>,
}

impl Flow {
    /// Forgets everything.
    pub fn clear(&mut self) {
        if !self.nodes.is_empty() {
            *self = Self::default();
        }
    }

    /// Learns from logs, in addition to what came before. Those of the lanes `cut` go on.
    ///
    /// Where lanes meet at the end, a log without a meeting is that of a lane that exited early:
    /// the others do not wait for it, and its last instruction is no end.
    pub fn analyse(&mut self, logs: &[&[Entry]; 32], cut: u32) {
        for node in &mut self.nodes {
            node.ends = false;
            node.before.clear();
            node.depth = None;
        }
        let any_meets = cut == 0 && logs.iter().any(|log| meets(log));
        for (lane, log) in logs.iter().enumerate() {
            let mut entries = log.iter();
            let mut at = match (self.before[lane], log.first()) {
                (_, None) => continue,
                (Some(before), _) => before.0,
                (None, Some(first)) => {
                    entries.next();
                    let start = self.vertex(first.instruction);
                    if !self.starts.contains(&start) {
                        self.starts.push(start);
                    }
                    start
                }
            };
            for entry in entries {
                at = self.step(at, entry.instruction);
            }
            self.nodes[at].ends |= cut >> lane & 1 == 0 && (!any_meets || meets(log));
        }
        for node in &mut self.nodes {
            node.ends |= node.next.is_empty();
        }
        self.set_order();
        self.set_meetings();
    }

    /// The first `done` of each log are not in the next one.
    pub fn advance(&mut self, logs: &[&[Entry]; 32], done: [usize; 32]) {
        for (lane, log) in logs.iter().enumerate() {
            self.before[lane] = self.previous(lane, &log[..done[lane]]);
        }
    }

    /// What a lane did last, whose log begins with this.
    pub fn previous(&self, lane: usize, done: &[Entry]) -> Option<Node> {
        match done.last() {
            Some(last) => Some(self.node(last.instruction)),
            None => self.before[lane],
        }
    }

    /// The node of an instruction that is in the logs.
    pub fn node(&self, instruction: Instruction) -> Node {
        Node(self.index[&instruction])
    }

    /// When a lane at `node` goes, smaller first. One that came back from `previous` to the head of
    /// a loop goes behind those that are still in it.
    pub fn order(&self, node: Node, previous: Option<Node>) -> (usize, Reverse<usize>) {
        let vertex = &self.nodes[node.0];
        match previous {
            Some(previous) if self.nodes[previous.0].order >= vertex.order => {
                (vertex.last, Reverse(vertex.order))
            }
            _ => (vertex.order, Reverse(vertex.order)),
        }
    }

    /// Whether whatever a lane at `from` does, it comes to `node`, another one.
    pub fn is_on_all_paths(&self, node: Node, from: Node) -> bool {
        let (Some(target), Some(depth)) = (self.nodes[node.0].depth, self.nodes[from.0].depth)
        else {
            return false;
        };
        let mut at = from.0;
        for _ in target..depth {
            at = self.nodes[at].meets_at;
        }
        target < depth && at == node.0
    }

    fn vertex(&mut self, instruction: Instruction) -> usize {
        *self.index.entry(instruction).or_insert_with(|| {
            self.nodes.push(Vertex {
                instruction,
                next: Vec::new(),
                ends: false,
                before: Vec::new(),
                order: 0,
                last: 0,
                meets_at: 0,
                depth: None,
            });
            self.nodes.len() - 1
        })
    }

    /// The edge from `at` to `instruction`, old or new; returns where it leads.
    #[inline]
    fn step(&mut self, at: usize, instruction: Instruction) -> usize {
        let known = self.nodes[at].next.iter().copied();
        for next in known {
            if self.nodes[next].instruction == instruction {
                return next;
            }
        }
        let next = self.vertex(instruction);
        self.nodes[at].next.push(next);
        next
    }

    /// A weak topological order (Bourdoncle, "Efficient chaotic iteration strategies with
    /// widenings"): along all edges but those that go back to the head of a loop, and the
    /// instructions of a loop stand together. Where it leaves a choice, as the source.
    fn set_order(&mut self) {
        for node in 0..self.nodes.len() {
            let mut next = std::mem::take(&mut self.nodes[node].next);
            self.backwards(&mut next);
            for &next in &next {
                self.nodes[next].before.push(node);
            }
            self.nodes[node].next = next;
        }
        let mut starts = self.starts.clone();
        self.backwards(&mut starts);
        let mut region = vec![0; self.nodes.len()];
        self.order_region(&mut region, 0, starts, 0);
    }

    /// Orders the nodes of one region, which all can be reached from `starts`, from `place` on.
    /// Every loop becomes a region one deeper. Returns the place behind the last.
    fn order_region(
        &mut self,
        region: &mut [usize],
        depth: usize,
        starts: Vec<usize>,
        mut place: usize,
    ) -> usize {
        let inside = |region: &[usize], node: &usize| region[*node] == depth;
        let next = |node: usize, nth: usize| {
            let next = self.nodes[node].next.get(nth)?;
            Some(inside(region, next).then_some(*next))
        };
        let order = postorder(self.nodes.len(), &starts, next);
        for &head in order.iter().rev() {
            if !inside(region, &head) {
                continue;
            }
            // What leads to the head is in a loop with it: whatever stands before it is done.
            let mut body = vec![head];
            region[head] = depth + 1;
            let mut seen = 0;
            while let Some(&node) = body.get(seen) {
                seen += 1;
                for &before in &self.nodes[node].before {
                    if inside(region, &before) {
                        region[before] = depth + 1;
                        body.push(before);
                    }
                }
            }
            region[head] = DONE;
            self.nodes[head].order = place;
            place += 1;
            if body.len() > 1 {
                let starts = self.nodes[head].next.clone();
                let starts = starts.into_iter().filter(|&next| region[next] == depth + 1);
                place = self.order_region(region, depth + 1, starts.collect(), place);
            }
            self.nodes[head].last = place - 1;
        }
        place
    }

    /// The last in the source first, each once.
    fn backwards(&self, list: &mut Vec<usize>) {
        if list.len() > 1 {
            list.sort_unstable_by_key(|&node| self.nodes[node].instruction.position());
            list.dedup();
            list.reverse();
        }
    }

    /// Post-dominators, after Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm".
    fn set_meetings(&mut self) {
        let count = self.nodes.len();
        let end = count;
        let ends: Vec<_> = (0..count).filter(|&node| self.nodes[node].ends).collect();
        // From the end backwards; what does not lead there is not in it.
        let order = postorder(count + 1, &[end], |node, nth| {
            let before = self.nodes.get(node).map_or(&ends, |vertex| &vertex.before);
            before.get(nth).map(|&before| Some(before))
        });
        let mut place = vec![usize::MAX; count + 1];
        for (nth, &node) in order.iter().enumerate() {
            place[node] = nth;
        }
        let mut meets_at = vec![None; count + 1];
        meets_at[end] = Some(end);
        let mut changed = true;
        while changed {
            changed = false;
            for &node in order.iter().rev().filter(|&&node| node != end) {
                let vertex = &self.nodes[node];
                let next = vertex.next.iter().copied();
                let known = next
                    .chain(vertex.ends.then_some(end))
                    .filter(|&next| meets_at[next].is_some());
                let new = known.reduce(|mut a, mut b| {
                    while a != b {
                        let lower = if place[a] < place[b] { &mut a } else { &mut b };
                        *lower = meets_at[*lower].expect("known, since it is filtered");
                    }
                    a
                });
                changed |= meets_at[node] != new;
                meets_at[node] = new;
            }
        }
        for &node in order.iter().rev().filter(|&&node| node != end) {
            let next = meets_at[node].expect("every node in this order leads to the end");
            let (next, depth) = match next == end {
                true => (node, Some(0)),
                false => (next, self.nodes[next].depth.map(|depth| depth + 1)),
            };
            self.nodes[node].meets_at = next;
            self.nodes[node].depth = depth;
        }
    }
}

/// A hash of one word. Nobody chooses instructions in order to make it slow.
#[derive(Default)]
struct Mixer(u64);

impl Hasher for Mixer {
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u64(u64::from(byte));
        }
    }

    fn write_u64(&mut self, word: u64) {
        let mixed = (self.0 ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        self.0 = mixed ^ mixed >> 32;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// Whether a log ends with a collective or a barrier.
pub(super) fn meets(log: &[Entry]) -> bool {
    log.last().is_some_and(|last| last.instruction.is_meeting())
}

/// The nodes that can be reached from `starts`, each behind those that it leads to. `next` is the
/// nth edge of a node, if there is one, and where it leads, unless it is to be left out.
fn postorder(
    count: usize,
    starts: &[usize],
    next: impl Fn(usize, usize) -> Option<Option<usize>>,
) -> Vec<usize> {
    let mut seen = vec![false; count];
    let mut order = Vec::with_capacity(count);
    let mut path = Vec::new();
    for &start in starts {
        if !std::mem::replace(&mut seen[start], true) {
            path.push((start, 0));
        }
        while let Some((node, nth)) = path.last_mut() {
            let Some(next) = next(*node, *nth) else {
                order.push(*node);
                path.pop();
                continue;
            };
            *nth += 1;
            if let Some(next) = next
                && !std::mem::replace(&mut seen[next], true)
            {
                path.push((next, 0));
            }
        }
    }
    order
}
