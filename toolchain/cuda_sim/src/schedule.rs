//! The order in which blocks, warps and lanes run.

/// The order in which the simulator runs blocks, warps and lanes.
///
/// CUDA guarantees no order, so a correct kernel gives the same result under each. The checks do not depend
/// on the order. Without checks, a bug may give a wrong result under one order only.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Schedule {
    /// Lowest index first.
    #[default]
    Forward,
    /// Highest index first.
    Reverse,
    /// A random order, drawn again in each round; the same seed gives the same order. A thread may then also
    /// be interrupted at an atomic operation, in favour of other threads or of other resident blocks.
    Random(u64),
}

/// The state of a schedule for one block.
pub(crate) struct Order {
    schedule: Schedule,
    state: u64,
}

impl Order {
    /// The order for the block with this index; it does not depend on earlier blocks.
    pub fn new(schedule: Schedule, block: u32) -> Self {
        let seed = match schedule {
            Schedule::Random(seed) => seed,
            Schedule::Forward | Schedule::Reverse => 0,
        };
        Self {
            schedule,
            state: scramble(seed ^ scramble(u64::from(block) + 1)) | 1,
        }
    }

    /// Picks a lane of the non-empty set.
    #[inline(always)]
    pub fn pick(&mut self, lanes: u32) -> u32 {
        match self.schedule {
            Schedule::Forward => lanes.trailing_zeros(),
            Schedule::Reverse => 31 - lanes.leading_zeros(),
            Schedule::Random(_) => {
                let mut rest = lanes;
                for _ in 0..self.below(lanes.count_ones()) {
                    rest &= rest - 1;
                }
                rest.trailing_zeros()
            }
        }
    }

    /// The warp for turn `turn` of `warps`. A random order may pick one warp twice and delay another one to a
    /// later round.
    #[inline(always)]
    pub fn warp(&mut self, turn: usize, warps: usize) -> usize {
        match self.schedule {
            Schedule::Forward => turn,
            Schedule::Reverse => warps - 1 - turn,
            Schedule::Random(_) => self.below(warps as u32) as usize,
        }
    }

    /// Whether to interrupt a thread that does not have to wait.
    #[inline]
    pub fn interrupts(&mut self) -> bool {
        matches!(self.schedule, Schedule::Random(_)) && self.below(4) == 0
    }

    fn below(&mut self, bound: u32) -> u32 {
        // xorshift64*; the upper half is a fraction of 2^32.
        self.state ^= self.state >> 12;
        self.state ^= self.state << 25;
        self.state ^= self.state >> 27;
        let high = self.state.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 32;
        ((high * u64::from(bound)) >> 32) as u32
    }
}

/// SplitMix64's finaliser: maps similar values to unrelated ones.
fn scramble(mut value: u64) -> u64 {
    value = value.wrapping_add(0x9E37_79B9_7F4A_7C15);
    value = (value ^ value >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    value = (value ^ value >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    value ^ value >> 31
}

/// The blocks of a grid in the order of a schedule.
pub(crate) struct Blocks {
    schedule: Schedule,
    count: u64,
    /// For the random order: block `i * step + first` modulo `count` is the `i`-th.
    step: u64,
    first: u64,
}

impl Blocks {
    pub fn new(schedule: Schedule, count: u32) -> Self {
        let count = u64::from(count);
        let (mut step, mut first) = (1, 0);
        if let Schedule::Random(seed) = schedule
            && count > 0
        {
            step = scramble(seed) % count;
            while gcd(step, count) != 1 {
                step += 1;
            }
            first = scramble(!seed) % count;
        }
        Self {
            schedule,
            count,
            step,
            first,
        }
    }

    /// The block that runs as number `turn`.
    pub fn get(&self, turn: u32) -> Option<u32> {
        let turn = u64::from(turn);
        (turn < self.count).then(|| match self.schedule {
            Schedule::Forward => turn,
            Schedule::Reverse => self.count - 1 - turn,
            // No overflow: a grid has fewer than 2^32 blocks.
            Schedule::Random(_) => (turn * self.step + self.first) % self.count,
        } as u32)
    }
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_block_has_one_turn() {
        for count in [0, 1, 2, 3, 8, 97, 1000] {
            for schedule in [Schedule::Forward, Schedule::Reverse]
                .into_iter()
                .chain((0..50).map(Schedule::Random))
            {
                let blocks = Blocks::new(schedule, count);
                let mut order: Vec<u32> =
                    (0..count).map(|turn| blocks.get(turn).unwrap()).collect();
                assert_eq!(blocks.get(count), None);
                order.sort_unstable();
                assert!(
                    order.iter().copied().eq(0..count),
                    "{schedule:?} of {count}"
                );
            }
        }
    }

    #[test]
    fn random_orders_differ_and_repeat() {
        let order = |seed| {
            let mut order = Order::new(Schedule::Random(seed), 3);
            (0..40).map(|_| order.pick(u32::MAX)).collect::<Vec<_>>()
        };
        assert_eq!(order(1), order(1));
        assert_ne!(order(1), order(2));
        let lanes: u32 = order(5).iter().fold(0, |set, lane| set | 1 << lane);
        assert!(lanes.count_ones() > 16, "{lanes:#x}");
    }

    #[test]
    fn picks_are_members() {
        for schedule in [Schedule::Forward, Schedule::Reverse, Schedule::Random(9)] {
            let mut order = Order::new(schedule, 0);
            for set in [1, 1 << 31, 0x8001_0010, u32::MAX] {
                assert_ne!(set >> order.pick(set) & 1, 0, "{schedule:?} {set:#x}");
            }
        }
        assert_eq!(Order::new(Schedule::Forward, 0).pick(0x10100), 8);
        assert_eq!(Order::new(Schedule::Reverse, 0).pick(0x10100), 16);
    }
}
