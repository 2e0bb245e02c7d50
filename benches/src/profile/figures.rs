//! The counts of a launch, in the same form for the hardware and for the simulator.

use std::collections::BTreeMap;

use anyhow::Result;
use serde::{Deserialize, Serialize};

use super::pages::{Instruction, Listing, Measured};

/// The counts of a whole launch.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Figures {
    pub global_load: Access,
    pub global_store: Access,
    pub global_atomic: Access,
    pub shared_load: Access,
    pub shared_store: Access,
    pub shared_atomic: Access,
    /// Arrivals of warps at all barriers of their blocks.
    pub barriers: u64,
    /// In warp instructions, like the fields below.
    pub shuffles: u64,
    pub votes: u64,
    pub matches: u64,
    pub reduxes: u64,
    /// Generic and local accesses.
    pub other_memory: u64,
}

/// One kind of access to one kind of memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Access {
    /// Warp instructions with at least one active lane; null if not counted.
    pub requests: Option<u64>,
    /// Active lanes, over all requests.
    pub lanes: u64,
    /// Passes of all requests through shared memory.
    pub wavefronts: u64,
    /// The passes that would be needed without bank conflicts.
    pub ideal: u64,
    /// Sectors of 32 bytes of global memory.
    pub sectors: u64,
}

impl Access {
    /// Additional wavefronts because of bank conflicts.
    pub fn conflicts(&self) -> u64 {
        self.wavefronts.saturating_sub(self.ideal)
    }
}

/// The counts of the instructions with one opcode.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Opcode {
    /// Warp instructions, including those with all lanes predicated off.
    pub issued: u64,
    pub lanes: u64,
}

/// The counts of a listing's memory accesses and collectives, by opcode.
pub fn opcodes(listing: &Listing) -> BTreeMap<String, Opcode> {
    let mut opcodes = BTreeMap::<String, Opcode>::new();
    for instruction in &listing.instructions {
        if kind(instruction.opcode()).is_some() {
            let sum = opcodes.entry(instruction.opcode().to_owned()).or_default();
            sum.issued += instruction.count("inst_executed");
            sum.lanes += instruction.count("thread_inst_executed_true");
        }
    }
    opcodes
}

/// The kind of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    GlobalLoad,
    GlobalStore,
    GlobalAtomic,
    SharedLoad,
    SharedStore,
    SharedAtomic,
    Barrier,
    Shuffle,
    Vote,
    Match,
    Redux,
    OtherMemory,
}

fn kind(opcode: &str) -> Option<Kind> {
    Some(match opcode {
        "LDG" => Kind::GlobalLoad,
        "STG" => Kind::GlobalStore,
        "RED" | "REDG" | "ATOMG" => Kind::GlobalAtomic,
        "LDS" => Kind::SharedLoad,
        "STS" => Kind::SharedStore,
        "ATOMS" => Kind::SharedAtomic,
        "BAR" => Kind::Barrier,
        "SHFL" => Kind::Shuffle,
        "VOTE" | "VOTEU" => Kind::Vote,
        "MATCH" => Kind::Match,
        "REDUX" | "CREDUX" => Kind::Redux,
        "LD" | "ST" | "ATOM" | "LDL" | "STL" | "LDGSTS" | "LDSM" | "STSM" => Kind::OtherMemory,
        _ => return None,
    })
}

impl Figures {
    /// The hardware's counts. Requests to global memory are those of the L1 cache. For elements of at most 4
    /// bytes, requests to shared memory are the ideal wavefronts, because each request needs one.
    pub fn of(launch: &Measured, listing: &Listing, element_bytes: usize) -> Result<Figures> {
        let mut figures = Figures::default();
        for instruction in &listing.instructions {
            figures.add(instruction);
        }
        let global = |operation: &str| {
            launch.count(&format!(
                "l1tex__t_requests_pipe_lsu_mem_global_op_{operation}.sum"
            ))
        };
        figures.global_load.requests = Some(global("ld")?);
        figures.global_store.requests = Some(global("st")?);
        figures.global_atomic.requests = Some(global("red")? + global("atom")?);
        for access in figures.shared() {
            access.requests = (element_bytes <= 4).then_some(access.ideal);
        }
        Ok(figures)
    }

    fn shared(&mut self) -> [&mut Access; 3] {
        [
            &mut self.shared_load,
            &mut self.shared_store,
            &mut self.shared_atomic,
        ]
    }

    fn add(&mut self, instruction: &Instruction) {
        let Some(kind) = kind(instruction.opcode()) else {
            return;
        };
        let issued = instruction.count("inst_executed");
        let access = match kind {
            Kind::GlobalLoad => &mut self.global_load,
            Kind::GlobalStore => &mut self.global_store,
            Kind::GlobalAtomic => &mut self.global_atomic,
            Kind::SharedLoad => &mut self.shared_load,
            Kind::SharedStore => &mut self.shared_store,
            Kind::SharedAtomic => &mut self.shared_atomic,
            Kind::Barrier => return self.barriers += issued,
            Kind::Shuffle => return self.shuffles += issued,
            Kind::Vote => return self.votes += issued,
            Kind::Match => return self.matches += issued,
            Kind::Redux => return self.reduxes += issued,
            Kind::OtherMemory => return self.other_memory += issued,
        };
        access.lanes += instruction.count("thread_inst_executed_true");
        access.wavefronts += instruction.count("memory_l1_wavefronts_shared");
        access.ideal += instruction.count("memory_l1_wavefronts_shared_ideal");
        access.sectors += instruction.count("memory_l2_theoretical_sectors_global");
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::super::pages;
    use super::*;

    /// The hardware's counts of reduce_1 and reduce_2 on i32 and reduce_0 on f64, in 4096 blocks of 256 threads.
    pub fn hardware() -> [Figures; 3] {
        let launches = pages::launches(include_str!("testdata/raw.csv")).unwrap();
        let listings = pages::instructions(include_str!("testdata/source.csv")).unwrap();
        [(0, 4), (1, 4), (2, 8)].map(|(i, bytes): (usize, usize)| {
            Figures::of(&launches[i], &listings[i], bytes).unwrap()
        })
    }

    /// By the source, a block of 256 threads does this: 8 warps store and wait at a barrier. In each of 8
    /// steps the active threads load twice and store once, and all warps wait at a barrier. One thread loads
    /// the result.
    #[test]
    fn the_hardwares_counts_follow_from_the_source() {
        let [reduce_1, reduce_2, _] = hardware();
        let [reduce_1, reduce_2] = [reduce_1, reduce_2].map(|figures| {
            let per_block = |count: u64| {
                assert_eq!(count % 4096, 0, "all blocks do the same");
                count / 4096
            };
            let access =
                |a: &Access| [a.requests.unwrap(), a.lanes, a.wavefronts, a.sectors].map(per_block);
            [
                access(&figures.shared_load),
                access(&figures.shared_store),
                access(&figures.global_load),
                access(&figures.global_store),
                [
                    per_block(figures.barriers),
                    figures.shuffles,
                    figures.other_memory,
                    0,
                ],
            ]
        });
        let (warps, lanes) = (8, 255);
        // Active warps: 4, 2, 1, then one in each of the last five steps.
        let requests = 4 + 2 + 1 + 5;
        let rest = [
            [warps, 256, 0, 4 * warps],
            [1, 1, 0, 1],
            [9 * warps, 0, 0, 0],
        ];
        let load = |wavefronts| [2 * requests + 1, 2 * lanes + 1, 2 * wavefronts + 1, 0];
        let store = |wavefronts| [requests + warps, lanes + 256, wavefronts + warps, 0];
        // Strides of 2, 4, 8 and 16 elements cause bank conflicts; from 32 on all lanes access one bank.
        let strided = 4 * 2 + 2 * 4 + 8 + 8 + 8 + 4 + 2 + 1;
        assert_eq!(reduce_1[..2], [load(strided), store(strided)]);
        assert_eq!(reduce_1[2..], rest);
        assert_eq!(reduce_2[..2], [load(requests), store(requests)]);
        assert_eq!(reduce_2[2..], rest);
    }

    /// Shared memory serves elements of 8 bytes by half warps. In the first four steps of reduce_0 every half
    /// warp has an active lane, in the fifth every warp, in the last three every second, fourth and eighth
    /// warp.
    #[test]
    fn the_hardware_serves_8_bytes_by_half_warps() {
        let [.., reduce_0] = hardware();
        let tree = 4 * 16 + 8 + 4 + 2 + 1;
        assert_eq!(reduce_0.shared_load.wavefronts, 4096 * (2 * tree + 1));
        assert_eq!(reduce_0.shared_store.wavefronts, 4096 * (16 + tree));
        assert_eq!(reduce_0.shared_load.requests, None);
        assert_eq!(reduce_0.global_load.sectors, 4096 * 8 * 8);
    }

    #[test]
    fn opcodes_include_predicated_off_instructions() {
        let listings = pages::instructions(include_str!("testdata/source.csv")).unwrap();
        let opcodes = opcodes(&listings[1]);
        let per_block = |name: &str| opcodes[name].issued / 4096;
        assert_eq!(per_block("LDS"), 2 * 8 * 8 + 1, "every warp, in every step");
        assert_eq!(per_block("BAR"), 9 * 8);
        assert!(!opcodes.contains_key("IMAD"));
    }
}
