//! Compares the simulator's counts with Nsight Compute's.

use serde::{Deserialize, Serialize};
use warpfold_results::table;

use super::Counted;
use super::figures::Figures;
use super::reasons;
use super::simulated::Simulated;

/// A quantity that both sides count.
pub struct Quantity {
    pub name: &'static str,
    of: fn(&Figures) -> Option<u64>,
}

const fn quantity(name: &'static str, of: fn(&Figures) -> Option<u64>) -> Quantity {
    Quantity { name, of }
}

/// A table for each memory, and one for the rest.
const TABLES: [(&str, &[Quantity]); 3] = [
    (
        "Shared memory",
        &[
            quantity("load requests", |f| f.shared_load.requests),
            quantity("load lanes", |f| Some(f.shared_load.lanes)),
            quantity("load wavefronts", |f| Some(f.shared_load.wavefronts)),
            quantity("load conflicts", |f| Some(f.shared_load.conflicts())),
            quantity("store requests", |f| f.shared_store.requests),
            quantity("store lanes", |f| Some(f.shared_store.lanes)),
            quantity("store wavefronts", |f| Some(f.shared_store.wavefronts)),
            quantity("store conflicts", |f| Some(f.shared_store.conflicts())),
            quantity("atomic requests", |f| f.shared_atomic.requests),
            quantity("atomic lanes", |f| Some(f.shared_atomic.lanes)),
        ],
    ),
    (
        "Global memory",
        &[
            quantity("load requests", |f| f.global_load.requests),
            quantity("load lanes", |f| Some(f.global_load.lanes)),
            quantity("load sectors", |f| Some(f.global_load.sectors)),
            quantity("store requests", |f| f.global_store.requests),
            quantity("store sectors", |f| Some(f.global_store.sectors)),
            quantity("atomic requests", |f| f.global_atomic.requests),
            quantity("atomic lanes", |f| Some(f.global_atomic.lanes)),
            quantity("other memory", |f| Some(f.other_memory)),
        ],
    ),
    (
        "Collectives",
        &[
            quantity("barriers", |f| Some(f.barriers)),
            quantity("shuffles", |f| Some(f.shuffles)),
            quantity("votes", |f| Some(f.votes)),
            quantity("redux", |f| Some(f.reduxes)),
        ],
    ),
];

/// A count that differs between simulator and hardware.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Difference {
    pub entry: String,
    pub threads: u32,
    /// For example `shared memory: load lanes`.
    pub quantity: String,
    /// Per block.
    pub simulator: String,
    pub hardware: String,
    /// The reason, if known.
    pub reason: Option<String>,
}

/// The tables, and all differences.
pub fn compare(launches: &[(&Counted, Simulated)]) -> (String, Vec<Difference>) {
    let mut text = String::new();
    let mut differences = Vec::new();
    for (title, quantities) in TABLES {
        let mut lines = Vec::new();
        let names = quantities.iter().map(|quantity| quantity.name);
        let heads = ["entry", "threads"].into_iter().chain(names);
        for (counted, simulated) in launches {
            let mut cells = vec![counted.entry.clone(), counted.threads.to_string()];
            for quantity in quantities {
                let per_block = |figures: &Figures, blocks: u32| {
                    (quantity.of)(figures).map(|count| per_block(count, blocks))
                };
                let hardware = per_block(&counted.figures, counted.blocks);
                let simulator = per_block(&simulated.figures, simulated.blocks);
                let cell = match (simulator, hardware) {
                    (Some(simulator), Some(hardware)) if simulator != hardware => {
                        let cell = format!("**{simulator} / {hardware}**");
                        differences.push(Difference {
                            entry: counted.entry.clone(),
                            threads: counted.threads,
                            quantity: format!("{}: {}", title.to_lowercase(), quantity.name),
                            simulator,
                            hardware,
                            reason: reasons::of(&counted.entry, title, quantity.name)
                                .map(str::to_owned),
                        });
                        cell
                    }
                    (_, Some(hardware)) => hardware,
                    (Some(simulator), None) => format!("{simulator} / ?"),
                    (None, None) => "?".into(),
                };
                cells.push(cell);
            }
            lines.push(cells);
        }
        let table = table::markdown(heads, lines, 1..2 + quantities.len());
        text += &format!("### {title}\n\n{table}\n\n");
    }
    text += &explained(&differences);
    (text, differences)
}

/// A list of the distinct reasons, then of the differences without one.
fn explained(differences: &[Difference]) -> String {
    let mut text = String::new();
    let mut given: Vec<&str> = Vec::new();
    for reason in differences.iter().filter_map(|d| d.reason.as_deref()) {
        if !given.contains(&reason) {
            given.push(reason);
            text += &format!("- {reason}\n");
        }
    }
    for difference in differences.iter().filter(|d| d.reason.is_none()) {
        text += &format!(
            "- NOT EXPLAINED: {} with {} threads, {}: simulator {}, hardware {}\n",
            difference.entry,
            difference.threads,
            difference.quantity,
            difference.simulator,
            difference.hardware
        );
    }
    text
}

/// The count per block: a whole number if all blocks have the same count.
fn per_block(count: u64, blocks: u32) -> String {
    let blocks = u64::from(blocks.max(1));
    if count.is_multiple_of(blocks) {
        (count / blocks).to_string()
    } else {
        format!("{:.2}", count as f64 / blocks as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::super::figures::tests::hardware;
    use super::*;

    fn counted(entry: &str, figures: Figures) -> Counted {
        Counted {
            entry: entry.into(),
            n: 1 << 20,
            threads: 256,
            blocks: 4096,
            figures,
            opcodes: Default::default(),
        }
    }

    fn as_simulated(figures: &Figures) -> Simulated {
        Simulated {
            figures: figures.clone(),
            blocks: 4096,
        }
    }

    #[test]
    fn equal_counts_are_printed_once_and_different_ones_twice() {
        let [reduce_1, reduce_2, _] = hardware();
        let launches = [
            counted("reduce_1_sum_i32", reduce_1.clone()),
            counted("reduce_2_sum_i32", reduce_2),
        ];
        let simulated = [
            (&launches[0], as_simulated(&reduce_1)),
            (&launches[1], as_simulated(&reduce_1)),
        ];
        let (text, differences) = compare(&simulated);
        let names: Vec<_> = differences.iter().map(|d| d.quantity.as_str()).collect();
        assert_eq!(
            names,
            [
                "shared memory: load wavefronts",
                "shared memory: load conflicts",
                "shared memory: store wavefronts",
                "shared memory: store conflicts"
            ]
        );
        assert!(differences.iter().all(|d| d.entry == "reduce_2_sum_i32"));
        assert!(text.contains("**95 / 25**"), "{text}");
        assert_eq!(text.matches("NOT EXPLAINED").count(), 4, "{text}");
    }

    #[test]
    fn a_known_difference_is_explained() {
        let mut source = Figures::default();
        source.shared_load.lanes = 22 * 4096;
        let source = as_simulated(&source);
        let mut hardware = Figures::default();
        hardware.shared_load.lanes = 15 * 4096;
        let launch = counted("reduce_4_sum_i32", hardware);
        let (text, differences) = compare(&[(&launch, source)]);
        assert!(differences[0].reason.is_some());
        assert!(
            text.contains("**22 / 15**") && !text.contains("NOT EXPLAINED"),
            "{text}"
        );
    }

    #[test]
    fn figures_are_per_block() {
        assert_eq!(per_block(8192, 4096), "2");
        assert_eq!(per_block(10, 4), "2.50");
    }
}
