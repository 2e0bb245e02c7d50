//! The simulator's counts, as [`Figures`].

use anyhow::{Context, Result};
use cuda_sim::{Counters, InstructionKind, Simulator, Space};
use kernels_gpu::entry::teaching;
use kernels_sim::Case;

use super::Counted;
use super::figures::{Access, Figures};

/// The number of simulated blocks of each launch; in a launch of full blocks all do the same.
const BLOCKS: u32 = 2;

/// Some blocks of a launch, simulated.
#[derive(Clone, Debug)]
pub struct Simulated {
    pub figures: Figures,
    pub blocks: u32,
}

/// Simulates some blocks, each with as many elements as a block of the launch.
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

/// Converts the simulator's counters to the form of the hardware's counts.
pub fn figures(counters: &Counters) -> Figures {
    let access = |kind: InstructionKind| {
        let counts = counters.of(kind);
        Access {
            requests: Some(counts.requests),
            lanes: counts.lanes,
            wavefronts: counts.wavefronts,
            ideal: counts.ideal_wavefronts,
            sectors: counts.sectors,
        }
    };
    let requests = |kind: InstructionKind| counters.of(kind).requests;
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

    /// These kernels limit their grids: the simulated blocks must be as long as those of the launch.
    #[test]
    fn blocks_of_a_limited_grid_have_as_many_elements_as_in_the_launch() {
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
