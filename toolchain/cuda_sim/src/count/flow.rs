//! The control-flow graph of a warp, and where diverged lanes reconverge.
//!
//! A compiler lets diverged lanes reconverge at the immediate post-dominator of the branch. It is computed
//! here from the logs: the nodes are instructions, with an edge from each instruction to one that some lane
//! executed next. Positions in the source do not help: a helper may stand before or after its caller.

use super::event::Instruction;
use super::log::Entry;
use std::cmp::Reverse;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// The region of nodes that already have an order.
const DONE: usize = usize::MAX;

/// An instruction's node in the graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Node(usize);

/// The control-flow graph.
#[derive(Default)]
pub(super) struct Flow {
    index: HashMap<Instruction, usize, BuildHasherDefault<WordHasher>>,
    nodes: Vec<Vertex>,
    /// The first instructions of lanes.
    starts: Vec<usize>,
    /// The last instruction of each lane before its current log.
    before: [Option<Node>; 32],
}

struct Vertex {
    instruction: Instruction,
    /// Instructions that some lane executed next.
    next: Vec<usize>,
    /// Whether some lane's log ends here.
    ends: bool,
    /// Instructions that some lane executed just before.
    before: Vec<usize>,
    /// Its index in the order, from 0.
    order: usize,
    /// The last index of the loop with this head; its own index if it is no head.
    last: usize,
    /// The immediate post-dominator; the node itself at the end.
    post_dominator: usize,
    /// The number of post-dominators up to the end; `None` if no path leads to the end.
    depth: Option<usize>,
}

impl Flow {
    /// Removes all nodes.
    pub fn clear(&mut self) {
        if !self.nodes.is_empty() {
            *self = Self::default();
        }
    }

    /// Adds logs to the graph. Logs of the lanes `cut` are continued later.
    ///
    /// If logs end with a collective, a log without one is that of a lane that exited early. The other lanes
    /// do not wait for it, and its last instruction is not an end.
    pub fn analyse(&mut self, logs: &[&[Entry]; 32], cut: u32) {
        for node in &mut self.nodes {
            node.ends = false;
            node.before.clear();
            node.depth = None;
        }
        let any_collective = cut == 0 && logs.iter().any(|log| ends_in_collective(log));
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
            self.nodes[at].ends |=
                cut >> lane & 1 == 0 && (!any_collective || ends_in_collective(log));
        }
        for node in &mut self.nodes {
            node.ends |= node.next.is_empty();
        }
        self.set_order();
        self.set_post_dominators();
    }

    /// Prepares for the next logs, which lack the first `done` entries of each log.
    pub fn advance(&mut self, logs: &[&[Entry]; 32], done: [usize; 32]) {
        for (lane, log) in logs.iter().enumerate() {
            self.before[lane] = self.previous(lane, &log[..done[lane]]);
        }
    }

    /// The last instruction of a lane after the entries `done`.
    pub fn previous(&self, lane: usize, done: &[Entry]) -> Option<Node> {
        match done.last() {
            Some(last) => Some(self.node(last.instruction)),
            None => self.before[lane],
        }
    }

    /// The node of an instruction in the logs.
    pub fn node(&self, instruction: Instruction) -> Node {
        Node(self.index[&instruction])
    }

    /// The key of a lane at `node`; the smallest key runs first. A lane that came back from `previous` to the
    /// head of a loop runs after the lanes that are still in the loop.
    pub fn order(&self, node: Node, previous: Option<Node>) -> (usize, Reverse<usize>) {
        let vertex = &self.nodes[node.0];
        match previous {
            Some(previous) if self.nodes[previous.0].order >= vertex.order => {
                (vertex.last, Reverse(vertex.order))
            }
            _ => (vertex.order, Reverse(vertex.order)),
        }
    }

    /// Whether every path from `from` leads to `node`, a different node.
    pub fn is_on_all_paths(&self, node: Node, from: Node) -> bool {
        let (Some(target), Some(depth)) = (self.nodes[node.0].depth, self.nodes[from.0].depth)
        else {
            return false;
        };
        let mut at = from.0;
        for _ in target..depth {
            at = self.nodes[at].post_dominator;
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
                post_dominator: 0,
                depth: None,
            });
            self.nodes.len() - 1
        })
    }

    /// Adds the edge from `at` to `instruction` unless it exists; returns its target.
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

    /// A weak topological order (Bourdoncle, "Efficient chaotic iteration strategies with widenings"). It
    /// follows all edges except those back to a loop's head, and keeps the instructions of a loop together.
    /// Ties are broken by source order.
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

    /// Orders the nodes of one region that can be reached from `starts`, from index `index` on. Each loop
    /// becomes a nested region. Returns the next free index.
    fn order_region(
        &mut self,
        region: &mut [usize],
        depth: usize,
        starts: Vec<usize>,
        mut index: usize,
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
            // A predecessor of the head that is not ordered yet is in a loop with it.
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
            self.nodes[head].order = index;
            index += 1;
            if body.len() > 1 {
                let starts = self.nodes[head].next.clone();
                let starts = starts.into_iter().filter(|&next| region[next] == depth + 1);
                index = self.order_region(region, depth + 1, starts.collect(), index);
            }
            self.nodes[head].last = index - 1;
        }
        index
    }

    /// Sorts in descending source order, without duplicates.
    fn backwards(&self, list: &mut Vec<usize>) {
        if list.len() > 1 {
            list.sort_unstable_by_key(|&node| self.nodes[node].instruction.position());
            list.dedup();
            list.reverse();
        }
    }

    /// Computes post-dominators, after Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm".
    fn set_post_dominators(&mut self) {
        let count = self.nodes.len();
        let end = count;
        let ends: Vec<_> = (0..count).filter(|&node| self.nodes[node].ends).collect();
        // Backwards from the end; nodes without a path to the end are left out.
        let order = postorder(count + 1, &[end], |node, nth| {
            let before = self.nodes.get(node).map_or(&ends, |vertex| &vertex.before);
            before.get(nth).map(|&before| Some(before))
        });
        let mut index = vec![usize::MAX; count + 1];
        for (nth, &node) in order.iter().enumerate() {
            index[node] = nth;
        }
        let mut post_dominator = vec![None; count + 1];
        post_dominator[end] = Some(end);
        let mut changed = true;
        while changed {
            changed = false;
            for &node in order.iter().rev().filter(|&&node| node != end) {
                let vertex = &self.nodes[node];
                let next = vertex.next.iter().copied();
                let known = next
                    .chain(vertex.ends.then_some(end))
                    .filter(|&next| post_dominator[next].is_some());
                let new = known.reduce(|mut a, mut b| {
                    while a != b {
                        let lower = if index[a] < index[b] { &mut a } else { &mut b };
                        *lower = post_dominator[*lower]
                            .expect("the filter leaves out nodes without one");
                    }
                    a
                });
                changed |= post_dominator[node] != new;
                post_dominator[node] = new;
            }
        }
        for &node in order.iter().rev().filter(|&&node| node != end) {
            let next =
                post_dominator[node].expect("every node in this order has a path to the end");
            let (next, depth) = match next == end {
                true => (node, Some(0)),
                false => (next, self.nodes[next].depth.map(|depth| depth + 1)),
            };
            self.nodes[node].post_dominator = next;
            self.nodes[node].depth = depth;
        }
    }
}

/// A fast hash of one word; the keys are not under an attacker's control.
#[derive(Default)]
struct WordHasher(u64);

impl Hasher for WordHasher {
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
pub(super) fn ends_in_collective(log: &[Entry]) -> bool {
    log.last()
        .is_some_and(|last| last.instruction.is_collective())
}

/// The nodes that can be reached from `starts`, in postorder. `next(node, n)` returns the `n`-th edge of a
/// node, if it exists, and its target unless the edge is left out.
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
