//! The kernels that can be profiled.

use anyhow::Result;
use kernels_gpu::entry::{library, teaching};
use warpfold::Algorithm;
use warpfold::file::DType;

use crate::options::BadOption;
use crate::sweep::options::Op;

/// An entry point: one reduction of one element type by one algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    pub algorithm: Algorithm,
    pub operator: Op,
    pub element: DType,
}

impl Entry {
    /// The name of its symbol: `reduce_2_sum_i32`.
    pub fn name(self) -> String {
        let kernel = self.algorithm.kernel_name();
        format!("{kernel}_{}_{}", self.operator.name(), self.element.name())
    }

    pub fn named(name: &str) -> Result<Entry> {
        let found = Entry::all().find(|entry| entry.name() == name && entry.exists());
        found.ok_or_else(|| {
            BadOption::new(format!(
                "there is no entry {name} to profile; names are <kernel>_<operator>_<element>, e.g. \
                 reduce_2_sum_i32, block_atomic_vec4_sum_i32 or single_pass_min_f32; single_pass has sum, \
                 min and max of all types; the other kernels have the sum of i32, u32, i64, u64, f32 and \
                 f64, and the min and max of i32 and f32 (`cargo xtask sass` lists all entries)"
            ))
            .into()
        })
    }

    fn all() -> impl Iterator<Item = Entry> {
        Algorithm::all().flat_map(|algorithm| {
            Op::ALL.into_iter().flat_map(move |operator| {
                DType::ALL.into_iter().map(move |element| Entry {
                    algorithm,
                    operator,
                    element,
                })
            })
        })
    }

    /// Whether there is such a kernel.
    fn exists(self) -> bool {
        let name = self.name();
        let lists = [&library::KERNELS, &teaching::KERNELS];
        let mut entries = lists.iter().flat_map(|list| list.entries);
        entries.any(|entry| entry.name == name)
    }

    /// Every rung on `i32`; on `f32` and `f64` the rungs whose bank conflicts may differ.
    pub fn ladder() -> Vec<Entry> {
        let trees = [
            Algorithm::Reduce0,
            Algorithm::Reduce1,
            Algorithm::Reduce2,
            Algorithm::Reduce4,
        ];
        let mut ladder = sums(Algorithm::LADDER, DType::I32);
        ladder.extend(sums(&trees, DType::F32));
        ladder.extend(sums(&trees, DType::F64));
        ladder
    }

    /// Shuffles and atomics with every vector width, on `i32`.
    pub fn kepler() -> Vec<Entry> {
        sums(Algorithm::KEPLER, DType::I32)
    }

    /// Whether this is a sum by a rung of the ladder.
    pub fn is_of_ladder(self) -> bool {
        self.operator == Op::Sum && Algorithm::LADDER.contains(&self.algorithm)
    }

    /// Whether all blocks do the same work, so that it is enough to simulate some of them.
    pub fn has_equal_blocks(self) -> bool {
        self.algorithm != Algorithm::SinglePass
    }

    /// Whether other entries launch this kernel as their second pass.
    pub fn is_second_pass(self) -> bool {
        self.algorithm == Algorithm::Stable { vector: 1 }
    }
}

fn sums(algorithms: &[Algorithm], element: DType) -> Vec<Entry> {
    let sum = |&algorithm| Entry {
        algorithm,
        operator: Op::Sum,
        element,
    };
    algorithms.iter().map(sum).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn an_entry_is_found_by_its_name() {
        let entries = [Entry::ladder(), Entry::kepler()].concat();
        for entry in entries {
            assert_eq!(Entry::named(&entry.name()).unwrap(), entry);
        }
        for name in [
            "block_atomic_vec4_min_f32",
            "single_pass_sum_f32",
            "single_pass_max_u64",
            "reduce_4_redux_max_i32",
            "reduce_5_sum_i64",
            "stable_vec2_max_i32",
        ] {
            assert_eq!(Entry::named(name).unwrap().name(), name);
        }
    }

    #[test]
    fn an_unknown_entry_is_a_bad_option() {
        for name in [
            "",
            "reduce_9_sum_i32",
            "reduce_2",
            "reduce_2_sum_i16",
            // The ladder has no minimum of f64 and no redux of floats.
            "reduce_2_min_f64",
            "reduce_4_redux_sum_f32",
            "single_pass_sum_wide_i32",
            "read_ceiling_sum_i32",
        ] {
            let error = Entry::named(name).unwrap_err();
            assert!(error.is::<BadOption>(), "{error}");
            let text = error.to_string();
            assert!(text.contains("block_atomic_vec4_sum_i32"), "{text}");
        }
    }

    #[test]
    fn a_suite_has_every_kernel_once() {
        for (entries, algorithms) in [
            (Entry::ladder(), Algorithm::LADDER),
            (Entry::kepler(), Algorithm::KEPLER),
        ] {
            let names: HashSet<_> = entries.iter().map(|entry| entry.name()).collect();
            assert_eq!(names.len(), entries.len());
            for algorithm in algorithms {
                let name = format!("{}_sum_i32", algorithm.kernel_name());
                assert!(names.contains(&name), "{name}");
            }
        }
    }
}
