//! The same reductions without a GPU.

use kernels_gpu::op::{Op, Predicate};
use rayon::prelude::*;

use crate::element::Element;
use crate::number::Number;

/// Elements per task: enough that handing out tasks costs nothing beside reading them.
const CHUNK: usize = 1 << 16;

/// Combines all of `input`; the identity when it is empty.
///
/// Each chunk from its first element to its last, then the chunks in their order: the
/// result does not depend on the number of threads.
pub(crate) fn reduce<T: Element, O: Op<T>>(input: &[T]) -> O::Acc {
    let fold = |(chunk, values): (usize, &[T])| {
        let indexed = (chunk * CHUNK..).zip(values);
        indexed.fold(O::IDENTITY, |all, (i, value)| {
            O::combine(all, O::lift(*value, i))
        })
    };
    let chunks = input.par_chunks(CHUNK).enumerate();
    let partials: Vec<O::Acc> = chunks.map(fold).collect();
    partials.into_iter().fold(O::IDENTITY, O::combine)
}

/// Combines the fields of the triples in `input`, each field as [`reduce`] would.
pub(crate) fn reduce_triples<T: Element, O: Op<T, Acc = T>>(input: &[T]) -> [T; 3] {
    let identities = [O::IDENTITY; 3];
    let both = |[a, b, c]: [T; 3], [d, e, f]: [T; 3]| {
        [O::combine(a, d), O::combine(b, e), O::combine(c, f)]
    };
    let fold = |values: &[T]| {
        let (triples, _) = values.as_chunks::<3>();
        triples.iter().copied().fold(identities, both)
    };
    let partials: Vec<[T; 3]> = input.par_chunks(3 * CHUNK).map(fold).collect();
    partials.into_iter().fold(identities, both)
}

/// For how many elements the predicate holds beside `value`.
pub(crate) fn count<T: Element, P: Predicate<T>>(input: &[T], value: T) -> u64 {
    let count = |values: &[T]| {
        values
            .iter()
            .filter(|element| P::holds(**element, value))
            .count()
    };
    input
        .par_chunks(CHUNK)
        .map(|values| count(values) as u64)
        .sum()
}

/// The sum of the products, chunk by chunk.
pub(crate) fn dot<T: Number>(a: &[T], b: &[T]) -> T::Wide {
    let fold = |(a, b): (&[T], &[T])| {
        let products = a.iter().zip(b).map(|(a, b)| T::product(*a, *b));
        products.fold(T::NO_PRODUCTS, T::plus)
    };
    let chunks = a.par_chunks(CHUNK).zip(b.par_chunks(CHUNK));
    let partials: Vec<T::Wide> = chunks.map(fold).collect();
    partials.into_iter().fold(T::NO_PRODUCTS, T::plus)
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernels_gpu::element::{bf16, f16};
    use kernels_gpu::op::{ArgMax, ArgMin, Max, Min, NanMin, Sum};

    #[test]
    fn agrees_with_the_naive_loop_at_every_edge() {
        for n in [0, 1, 2, 31, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK + 7] {
            let input: Vec<i32> = (0..n as i32)
                .map(|i| i.wrapping_mul(-1_640_531_527))
                .collect();
            let sum = input.iter().fold(0i32, |a, b| a.wrapping_add(*b));
            assert_eq!(reduce::<i32, Sum>(&input), sum, "n = {n}");
            let min = input.iter().copied().min().unwrap_or(i32::MAX);
            assert_eq!(reduce::<i32, Min>(&input), min, "n = {n}");
            let max = input.iter().copied().max().unwrap_or(i32::MIN);
            assert_eq!(reduce::<i32, Max>(&input), max, "n = {n}");
        }
    }

    #[test]
    fn a_nan_anywhere_wins() {
        for at in [0, 1, CHUNK, 2 * CHUNK - 1] {
            let mut input = vec![1.0f32; 2 * CHUNK];
            input[at] = f32::NAN;
            assert!(reduce::<f32, Min>(&input).is_nan());
            assert!(reduce::<f32, Max>(&input).is_nan());
            assert!(reduce::<f32, Sum>(&input).is_nan());
        }
    }

    #[test]
    fn negative_zero_is_the_smaller_one() {
        let input = [0.0f32, -0.0, 0.0];
        assert!(reduce::<f32, Min>(&input).is_sign_negative());
        assert!(reduce::<f32, Max>(&input).is_sign_positive());
    }

    #[test]
    fn narrow_types_combine_in_wide_ones() {
        let ones = vec![f16::ONE; 3 * CHUNK];
        assert_eq!(reduce::<f16, Sum>(&ones), 3.0 * CHUNK as f32);
        let ones = vec![bf16::NEG_ONE; 3 * CHUNK];
        assert_eq!(reduce::<bf16, Sum>(&ones), -3.0 * CHUNK as f32);
        let threes = vec![-3i8; CHUNK + 1];
        assert_eq!(reduce::<i8, Sum>(&threes), -3 * (CHUNK as i32 + 1));
    }

    #[test]
    fn the_first_place_wins_in_every_chunk() {
        let mut input = vec![1u8; 2 * CHUNK + 3];
        for at in [2 * CHUNK + 1, CHUNK, CHUNK - 1, 5] {
            input[at] = 0;
            let place = reduce::<u8, ArgMin>(&input);
            assert_eq!((place.value(), place.index()), (0, at as u64));
            assert_eq!(reduce::<u8, ArgMax>(&input).index(), 0);
        }
    }

    #[test]
    fn a_nan_is_no_number() {
        let mut input = vec![f16::NAN; CHUNK + 1];
        assert!(reduce::<f16, NanMin>(&input).is_nan());
        input[CHUNK] = f16::ONE;
        assert_eq!(reduce::<f16, NanMin>(&input), 1.0);
        assert_eq!(reduce::<f16, ArgMin>(&input).index(), 0);
    }
}
