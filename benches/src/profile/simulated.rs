//! The simulator's figures.

use anyhow::{Context, Result};
use cuda_sim::{Counters, InstructionKind, Simulator, Space};
use kernels_gpu::entry::teaching;
use kernels_sim::Case;

use super::Counted;
use super::figures::{Access, Figures};

/// Blocks that are simulated of each launch. In a launch that fills them all are alike.
const BLOCKS: u32 = 2;

/// Some blocks of a launch, simulated.
#[derive(Clone, Debug)]
pub struct Simulated {
    pub figures: Figures,
    pub blocks: u32,
}

/// Simulates blocks with as many elements each as those of the launch had.
pub(super) fn simulate(counted: &Counted) -> Result<Simulated> {
    let entry = teaching::KERNELS
        .entries
        .iter()
        .find(|entry| entry.name == counted.entry);
    let entry = entry.with_context(|| format!("there is no entry {} any more", counted.entry))?;
    let blocks = counted.blocks.min(BLOCKS);
    let case = Case {
        blocks,
        ..Case::new(
            *entry,
            counted.threads,
            counted.n / counted.blocks as usize * blocks as usize,
        )
    };
    let report = case.run(Simulator::new().count())?;
    let counters = report.counters.context("the simulator counted nothing")?;
    Ok(Simulated {
        figures: figures(&counters),
        blocks,
    })
}

/// What was counted, by the names that the hardware's figures have too.
pub fn figures(counters: &Counters) -> Figures {
    let access = |what: InstructionKind| {
        let counts = counters.of(what);
        Access {
            requests: Some(counts.requests),
            lanes: counts.lanes,
            wavefronts: counts.wavefronts,
            ideal: counts.ideal_wavefronts,
            sectors: counts.sectors,
        }
    };
    let requests = |what: InstructionKind| counters.of(what).requests;
    Figures {
        global_load: access(InstructionKind::Load(Space::Global)),
        global_store: access(InstructionKind::Store(Space::Global)),
        global_atomic: access(InstructionKind::Atomic(Space::Global)),
        shared_load: access(InstructionKind::Load(Space::Shared)),
        shared_store: access(InstructionKind::Store(Space::Shared)),
        shared_atomic: access(InstructionKind::Atomic(Space::Shared)),
        barriers: requests(InstructionKind::Barrier),
        shuffles: requests(InstructionKind::Shuffle),
        votes: requests(InstructionKind::Vote),
        matches: requests(InstructionKind::Match),
        reduxes: requests(InstructionKind::Redux),
        other_memory: 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::Entry;

    /// Threads of these kernels go on until the input ends: with fewer blocks, of as many elements each.
    #[test]
    fn blocks_of_a_grid_that_does_not_grow_are_simulated() {
        for entry in Entry::kepler() {
            let counted = Counted {
                entry: entry.name(),
                n: 1 << 20,
                threads: 256,
                blocks: 1024,
                figures: Figures::default(),
                opcodes: Default::default(),
            };
            let simulated = simulate(&counted).unwrap();
            assert_eq!(simulated.blocks, BLOCKS);
            // 4096 bytes each.
            let sectors = u64::from(BLOCKS) * 128;
            assert_eq!(
                simulated.figures.global_load.sectors,
                sectors,
                "{}",
                entry.name()
            );
        }
    }
}
