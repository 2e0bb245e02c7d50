//! With something beside the array: a value that its elements are compared with, or another array.

use kernels_gpu::op::Predicate;

use super::tree::Tree;
use crate::element::Element;
use crate::number::Number;

/// Accumulators of a block: independent of each other, so that they are vectors.
const LANES: usize = 16;

/// For how many elements the predicate holds beside `value`.
pub(crate) fn count<T: Element, P: Predicate<T>>(input: &[T], value: T) -> u64 {
    let leaf = |values: &[T], _| {
        // A block has fewer elements than 2^32.
        let holds = values
            .iter()
            .map(|element| u32::from(P::holds(*element, value)));
        u64::from(holds.sum::<u32>())
    };
    Tree::new::<T>(LANES, leaf, |a, b| a + b).reduce(input)
}

/// The sum of the products of `a` and `b`, which are as long as one another; pairwise, as other sums.
pub(crate) fn dot<T: Number>(a: &[T], b: &[T]) -> T::Wide {
    let leaf = |of_a: &[T], start: usize| {
        let of_b = &b[start..start + of_a.len()];
        let mut lanes = [T::NO_PRODUCTS; LANES];
        for (row_of_a, row_of_b) in of_a.chunks(LANES).zip(of_b.chunks(LANES)) {
            for ((lane, a), b) in lanes.iter_mut().zip(row_of_a).zip(row_of_b) {
                *lane = T::plus(*lane, T::product(*a, *b));
            }
        }
        let mut width = LANES;
        while width > 1 {
            width /= 2;
            for i in 0..width {
                lanes[i] = T::plus(lanes[i], lanes[i + width]);
            }
        }
        lanes[0]
    };
    Tree::new::<T>(LANES, leaf, T::plus).reduce(a)
}
