//! The rows of the ladder, and reductions by an algorithm that is known at run time only: not every pair of
//! operator and element has the ladder.

use anyhow::Result;
use kernels_gpu::element::{bf16, f16};
use kernels_gpu::entry::Entry;
use warpfold::{Algorithm, Element, Max, Min, Op, Plan, Reduction, SinglePass, Sum};

use crate::options::{BadOption, bad_option};

/// The rows of the ladder, with the reduce_5 rows that `chunks` asks for in place of its own.
pub fn ladder(chunks: &[u32]) -> Vec<Algorithm> {
    if chunks.is_empty() {
        return Algorithm::LADDER.to_vec();
    }
    let is_reduce_5 = |algorithm: &Algorithm| {
        matches!(
            algorithm,
            Algorithm::Reduce5Loop { .. } | Algorithm::Reduce5 { .. }
        )
    };
    let others = Algorithm::LADDER.iter().copied();
    let others = others.filter(|algorithm| !is_reduce_5(algorithm));
    let loops = chunks
        .iter()
        .map(|&chunks| Algorithm::Reduce5Loop { chunks });
    let unrolled = chunks.iter().map(|&chunks| Algorithm::Reduce5 { chunks });
    others.chain(loops).chain(unrolled).collect()
}

/// Elements per thread, where the kernel's name does not say it.
pub fn chunks(algorithm: Algorithm) -> Option<u32> {
    match algorithm {
        Algorithm::Reduce5Loop { chunks } => Some(chunks),
        _ => None,
    }
}

/// An operator whose reductions can be asked for by any algorithm.
pub trait Rungs<T: Element>: SinglePass<T> {
    /// The plan, with so many threads per block or with the default; [`BadOption`] where there is no such
    /// kernel.
    fn by<'a>(
        reduction: Reduction<'a, T, Self>,
        algorithm: Algorithm,
        threads: Option<u32>,
    ) -> Result<Plan<'a, Self::Output>>;
}

macro_rules! rungs {
    ($way:ident: $($op:ident of $($element:ident)*;)*) => { $($(
        impl Rungs<$element> for $op {
            fn by<'a>(
                reduction: Reduction<'a, $element, Self>,
                algorithm: Algorithm,
                threads: Option<u32>,
            ) -> Result<Plan<'a, <Self as Op<$element>>::Output>> {
                let reduction = match threads {
                    Some(threads) => reduction.threads(threads),
                    None => reduction,
                };
                rungs!(@$way $element reduction algorithm)
            }
        }
    )*)* };

    (@ladder $element:ident $reduction:ident $algorithm:ident) => {
        $reduction.algorithm($algorithm).plan().map_err(bad_option)
    };

    (@single_pass $element:ident $reduction:ident $algorithm:ident) => {
        match $algorithm {
            Algorithm::SinglePass => $reduction.plan().map_err(bad_option),
            _ => Err(no_kernel($algorithm, <Self as SinglePass<$element>>::ENTRY)),
        }
    };
}

rungs! { ladder:
    Sum of i32 u32 i64 u64 f32 f64;
    Min of i32 f32;
    Max of i32 f32;
}

rungs! { single_pass:
    Sum of i8 i16 u8 u16 f16 bf16;
    Min of i8 i16 i64 u8 u16 u32 u64 f16 bf16 f64;
    Max of i8 i16 i64 u8 u16 u32 u64 f16 bf16 f64;
}

/// Refuses an algorithm for an operator that has a single pass alone.
pub fn no_kernel(algorithm: Algorithm, entry: &Entry) -> anyhow::Error {
    let kernel = algorithm.kernel_name();
    BadOption::new(format!(
        "there is no kernel {kernel} of {} over {}: the ladder has sums of i32, u32, i64, u64, f32 and f64, \
         and minima and maxima of i32 and f32",
        entry.op, entry.items
    ))
    .into()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use kernels_gpu::entry::teaching;
    use warpfold::Device;

    use super::*;

    #[test]
    fn chunks_take_the_place_of_the_ladders_own() {
        assert_eq!(ladder(&[]), Algorithm::LADDER);
        let rungs = ladder(&[2, 3]);
        let five: Vec<_> = rungs
            .iter()
            .filter(|a| a.kernel_name().starts_with("reduce_5"))
            .collect();
        assert_eq!(
            five,
            [
                &Algorithm::Reduce5Loop { chunks: 2 },
                &Algorithm::Reduce5Loop { chunks: 3 },
                &Algorithm::Reduce5 { chunks: 2 },
                &Algorithm::Reduce5 { chunks: 3 },
            ]
        );
        assert_eq!(rungs[0], Algorithm::Naive);
    }

    #[test]
    fn rows_can_be_told_apart() {
        let rows: Vec<_> = ladder(&[1, 2, 4, 8, 16])
            .iter()
            .map(|&a| (a.kernel_name(), chunks(a)))
            .collect();
        assert_eq!(rows.iter().collect::<HashSet<_>>().len(), rows.len());
    }

    /// Whether there is a plan, and whether the kernels are there.
    fn has<T: Element, O: Rungs<T>>(op: O) -> (bool, bool) {
        let cpu = Device::cpu();
        let one = cpu.alloc::<T>(1).unwrap();
        let planned = O::by(cpu.reduce(&one, op), Algorithm::Reduce2, None);
        if let Err(error) = &planned {
            assert!(error.is::<BadOption>(), "{error}");
        }
        let mut entries = teaching::KERNELS.entries.iter();
        let is_there = |entry: &Entry| {
            (entry.kernel, entry.op, entry.items) == ("reduce_2", O::ENTRY.op, O::ENTRY.items)
        };
        (planned.is_ok(), entries.any(is_there))
    }

    #[test]
    fn what_has_no_ladder_is_refused_and_nothing_else() {
        macro_rules! all {
            ($($element:ident)*) => { [$(
                has::<$element, _>(Sum),
                has::<$element, _>(Min),
                has::<$element, _>(Max)
            ),*] };
        }
        let all = all!(i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64);
        assert!(all.iter().all(|(planned, is_there)| planned == is_there));
        assert_eq!(all.iter().filter(|(planned, _)| *planned).count(), 10);
    }
}
