//! The tree loops of Harris' first kernels with one block each, compared with closed forms.

use super::sites::sites;
use crate::Space::Shared;
use crate::count::{Counters, Counts, Event, InstructionKind, Tally, WarpLog};

#[derive(Clone, Copy, Debug)]
enum Rung {
    /// `if tid % (2 * s) == 0 { s[tid] += s[tid + s] }`
    Interleaved,
    /// `let i = 2 * s * tid; if i < threads { s[i] += s[i + s] }`
    Strided,
    /// `if tid < s { s[tid] += s[tid + s] }`, with `s` halved in each step
    Sequential,
}

impl Rung {
    const ALL: [Self; 3] = [Self::Interleaved, Self::Strided, Self::Sequential];

    fn index(self, thread: u64, s: u64, threads: u64) -> Option<u64> {
        match self {
            Self::Interleaved => thread.is_multiple_of(2 * s).then_some(thread),
            Self::Strided => Some(2 * s * thread).filter(|&index| index < threads),
            Self::Sequential => (thread < s).then_some(thread),
        }
    }
}

fn steps(threads: u64) -> impl Iterator<Item = u64> {
    (0..threads.ilog2()).map(|step| 1 << step)
}

/// The counters from the logs of the block's threads.
fn count(rung: Rung, threads: u64, size: u32) -> Counters {
    let [left, right, result, barrier, ..] = sites();
    let mut tally = Tally::default();
    for warp in 0..threads / 32 {
        let mut log = WarpLog::new();
        for s in steps(threads) {
            for lane in 0..32 {
                let mut push = |site, what, index: u64, size| {
                    let address = index * u64::from(size);
                    log.push(
                        lane,
                        Event {
                            site,
                            what,
                            address,
                            size,
                        },
                    );
                };
                if let Some(index) = rung.index(warp * 32 + u64::from(lane), s, threads) {
                    push(left, InstructionKind::Load(Shared), index, size);
                    push(right, InstructionKind::Load(Shared), index + s, size);
                    push(result, InstructionKind::Store(Shared), index, size);
                }
                push(barrier, InstructionKind::Barrier, 0, 0);
            }
            log.flush(&mut tally);
        }
    }
    tally.finish()
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// The counts for one access in each step.
fn model(rung: Rung, threads: u64, size: u32) -> Counts {
    let words = u64::from(size) / 4;
    let group = 32 / words;
    let mut sum = Counts::default();
    for s in steps(threads) {
        let active = threads / (2 * s);
        let mut ways = 1;
        match rung {
            // Every 2s-th thread of the block: in every warp, until they are more than a warp apart.
            Rung::Interleaved => {
                sum.requests += active.min(threads / 32);
                sum.partial += active.min(threads / 32);
                sum.ideal_wavefronts += active.min(threads / group);
                sum.wavefronts += active.min(threads / group);
            }
            // As many threads as in the interleaved step, but adjacent.
            Rung::Strided => {
                let repeat = gcd(2 * s * words, 32);
                let full = active / group;
                let rest = active % group;
                ways = (active.min(group) * repeat).div_ceil(32);
                sum.requests += active.div_ceil(32);
                sum.partial += u64::from(active < 32);
                sum.ideal_wavefronts += active.div_ceil(group);
                sum.wavefronts += full * (group * repeat / 32) + (rest * repeat).div_ceil(32);
            }
            Rung::Sequential => {
                sum.requests += active.div_ceil(32);
                sum.partial += u64::from(active < 32);
                sum.ideal_wavefronts += active.div_ceil(group);
                sum.wavefronts += active.div_ceil(group);
            }
        }
        sum.lanes += active;
        sum.max_ways = sum.max_ways.max(ways as u32);
    }
    sum
}

#[test]
fn logs_give_what_closed_forms_say() {
    for rung in Rung::ALL {
        for threads in [32, 64, 128, 256, 512, 1024] {
            for size in [4, 8] {
                let counters = count(rung, threads, size);
                let expected = model(rung, threads, size);
                let mut sum = expected;
                sum += expected;
                let case = format!("{rung:?}, {threads} threads, {size} bytes");
                assert_eq!(
                    counters.of(InstructionKind::Load(Shared)),
                    sum,
                    "loads, {case}"
                );
                assert_eq!(
                    counters.of(InstructionKind::Store(Shared)),
                    expected,
                    "store, {case}"
                );
                let barriers = u64::from(threads.ilog2()) * threads / 32;
                assert_eq!(
                    counters.of(InstructionKind::Barrier).requests,
                    barriers,
                    "{case}"
                );
                assert_eq!(counters.of(InstructionKind::Barrier).partial, 0, "{case}");
            }
        }
    }
}

/// The loads' requests, wavefronts, conflicts, most ways, and lanes per request.
#[test]
fn the_ladder_in_numbers() {
    use Rung::{Interleaved, Sequential, Strided};
    for (rung, threads, size, requests, wavefronts, conflicts, ways, lanes) in [
        (Interleaved, 128, 4, 46, 46, 0, 1, "5.52"),
        (Strided, 128, 4, 16, 46, 30, 4, "15.88"),
        (Sequential, 128, 4, 16, 16, 0, 1, "15.88"),
        (Interleaved, 256, 4, 94, 94, 0, 1, "5.43"),
        (Strided, 256, 4, 24, 94, 70, 8, "21.25"),
        (Sequential, 256, 4, 24, 24, 0, 1, "21.25"),
        (Sequential, 256, 8, 24, 38, 0, 1, "21.25"),
        (Strided, 1024, 4, 72, 382, 310, 32, "28.42"),
        (Strided, 1024, 8, 72, 638, 504, 16, "28.42"),
    ] {
        let loads = count(rung, threads, size).of(InstructionKind::Load(Shared));
        let case = format!("{rung:?}, {threads} threads, {size} bytes");
        assert_eq!(loads.requests, requests, "{case}");
        assert_eq!(loads.wavefronts, wavefronts, "{case}");
        assert_eq!(loads.conflicts(), conflicts, "{case}");
        assert_eq!(loads.max_ways, ways, "{case}");
        assert_eq!(format!("{:.2}", loads.lanes_per_request()), lanes, "{case}");
    }
}
