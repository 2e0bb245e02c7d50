//! The same reductions without a GPU.

use kernels_gpu::op::Op;
use rayon::prelude::*;

use crate::element::Element;

/// Elements per task: enough that handing out tasks costs nothing beside reading them.
const CHUNK: usize = 1 << 16;

/// Combines all of `input`; the identity when it is empty.
///
/// Each chunk from its first element to its last, then the chunks in their order: the
/// result does not depend on the number of threads.
pub(crate) fn reduce<T: Element, O: Op<T>>(input: &[T]) -> T {
    let fold = |values: &[T]| values.iter().fold(O::IDENTITY, |a, b| O::combine(a, *b));
    let partials: Vec<T> = input.par_chunks(CHUNK).map(fold).collect();
    fold(&partials)
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernels_gpu::op::{Max, Min, Sum};

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
}
