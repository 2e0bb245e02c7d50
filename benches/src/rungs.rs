//! The rows of the ladder, and reductions by an algorithm chosen at run time. Not every operator and element
//! has the ladder's kernels.

use anyhow::Result;
use kernels_gpu::element::{bf16, f16};
use kernels_gpu::entry::Entry;
use warpfold::{Algorithm, Element, Max, Min, Op, Plan, Reduction, SinglePass, Sum};

use crate::options::{BadOption, bad_option};

/// The rows of the ladder; `chunks`, unless empty, replaces the numbers of chunks of its reduce_5 rows.
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
    let rest = Algorithm::LADDER.iter().copied();
    let rest = rest.filter(|algorithm| !is_reduce_5(algorithm));
    let loops = chunks
        .iter()
        .map(|&chunks| Algorithm::Reduce5Loop { chunks });
    let unrolled = chunks.iter().map(|&chunks| Algorithm::Reduce5 { chunks });
    rest.chain(loops).chain(unrolled).collect()
}

/// Elements per thread, unless the kernel's name contains them.
pub fn chunks(algorithm: Algorithm) -> Option<u32> {
    match algorithm {
        Algorithm::Reduce5Loop { chunks } => Some(chunks),
        _ => None,
    }
}

/// An operator whose reductions take an algorithm at run time.
pub trait Rungs<T: Element>: SinglePass<T> {
    /// Plans the reduction with `threads` per block, or the default; [`BadOption`] without such a kernel.
    fn plan<'a>(
        reduction: Reduction<'a, T, Self>,
        algorithm: Algorithm,
        threads: Option<u32>,
    ) -> Result<Plan<'a, Self::Output>>;
}

macro_rules! rungs {
    ($way:ident: $($op:ident of $($element:ident)*;)*) => { $($(
        impl Rungs<$element> for $op {
            fn plan<'a>(
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

/// The error for an algorithm that the operator and element lack.
pub fn no_kernel(algorithm: Algorithm, entry: &Entry) -> anyhow::Error {
    let kernel = algorithm.kernel_name();
    BadOption::new(format!(
        "there is no kernel {kernel} for the {} of {}: the ladder has the sum of i32, u32, i64, u64, f32 and \
         f64, and the min and max of i32 and f32",
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
    fn chunks_replace_those_of_the_ladder() {
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
    fn rows_are_distinct() {
        let rows: Vec<_> = ladder(&[1, 2, 4, 8, 16])
            .iter()
            .map(|&a| (a.kernel_name(), chunks(a)))
            .collect();
        assert_eq!(rows.iter().collect::<HashSet<_>>().len(), rows.len());
    }

    /// Whether the reduction can be planned, and whether its kernel exists.
    fn has<T: Element, O: Rungs<T>>(op: O) -> (bool, bool) {
        let cpu = Device::cpu();
        let one = cpu.alloc::<T>(1).unwrap();
        let planned = O::plan(cpu.reduce(&one, op), Algorithm::Reduce2, None);
        if let Err(error) = &planned {
            assert!(error.is::<BadOption>(), "{error}");
        }
        let mut entries = teaching::KERNELS.entries.iter();
        let is_kernel = |entry: &Entry| {
            (entry.kernel, entry.op, entry.items) == ("reduce_2", O::ENTRY.op, O::ENTRY.items)
        };
        (planned.is_ok(), entries.any(is_kernel))
    }

    #[test]
    fn exactly_the_missing_kernels_are_refused() {
        macro_rules! all {
            ($($element:ident)*) => { [$(
                has::<$element, _>(Sum),
                has::<$element, _>(Min),
                has::<$element, _>(Max)
            ),*] };
        }
        let all = all!(i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64);
        assert!(all.iter().all(|(planned, exists)| planned == exists));
        assert_eq!(all.iter().filter(|(planned, _)| *planned).count(), 10);
    }
}
