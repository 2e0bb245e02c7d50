//! Random data.

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use crate::case::MARGIN;
use crate::launch::bytes_of;
use crate::oracle::Drawn;
use kernels_gpu::items::Items;

/// A kind of random elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Data {
    /// Random integers, whose sums wrap; floats from -1 to 1, whose sums round.
    Rough,
    /// Random integers; floats with integer values, whose sums are exact.
    Whole,
    /// The greatest value only: a sum of integers wraps, a sum of floats is infinite.
    Greatest,
    /// Zeros: of both signs for floats; for integers some are -1, or the greatest value.
    Zeroes,
    /// Like [`Rough`](Self::Rough), with one NaN or one smallest integer.
    OneOdd,
}

impl Data {
    /// All kinds.
    pub const ALL: [Self; 5] = [
        Self::Rough,
        Self::Whole,
        Self::Greatest,
        Self::Zeroes,
        Self::OneOdd,
    ];

    /// `n` elements; the same for the same seed.
    pub fn draw<T: Drawn>(self, n: usize, seed: u64) -> Vec<T> {
        let rng = &mut StdRng::seed_from_u64(seed);
        let mut draw = |element: fn(&mut StdRng) -> T| (0..n).map(|_| element(rng)).collect();
        let mut elements: Vec<T> = match self {
            Self::Rough | Self::OneOdd => draw(T::rough),
            Self::Whole => draw(T::whole),
            Self::Greatest => draw(|_| T::GREATEST),
            Self::Zeroes => draw(|rng| T::ZEROES[usize::from(rng.random::<bool>())]),
        };
        if self == Self::OneOdd && n > 0 {
            elements[rng.random_range(0..n)] = T::ODD;
        }
        elements
    }
}

/// Items whose arrays have random data.
pub trait DrawnItems: Items {
    /// The alignment of each array in bytes.
    const ALIGNMENTS: [usize; 3];

    /// `n` items, and the memory of each array: `skew` times the alignment in bytes, elements before the
    /// start, the array, and a margin. The same for the same seed.
    fn draw(
        data: Data,
        starts: [usize; 3],
        skew: usize,
        n: usize,
        seed: u64,
    ) -> (Vec<Self>, Vec<Vec<u8>>);
}

impl<T: Drawn> DrawnItems for T {
    const ALIGNMENTS: [usize; 3] = [align_of::<T>(), 1, 1];

    fn draw(
        data: Data,
        [start, ..]: [usize; 3],
        skew: usize,
        n: usize,
        seed: u64,
    ) -> (Vec<T>, Vec<Vec<u8>>) {
        let elements = data.draw::<T>(start + n + MARGIN, seed);
        let mut memory = vec![0; skew * align_of::<T>()];
        memory.extend(bytes_of(&elements));
        (elements[start..][..n].to_vec(), vec![memory])
    }
}

macro_rules! side_by_side {
    ($($element:ident $i:tt $seed:literal),+) => {
        impl<$($element: Drawn),+> DrawnItems for ($($element),+) {
            const ALIGNMENTS: [usize; 3] = {
                let mut alignments = [1; 3];
                $(alignments[$i] = align_of::<$element>();)+
                alignments
            };

            fn draw(
                data: Data,
                starts: [usize; 3],
                skew: usize,
                n: usize,
                seed: u64,
            ) -> (Vec<Self>, Vec<Vec<u8>>) {
                let drawn = ($($element::draw(data, [starts[$i]; 3], skew, n, seed ^ $seed)),+);
                let items = (0..n).map(|i| ($(drawn.$i.0[i]),+)).collect();
                (items, [$(drawn.$i.1),+].concat())
            }
        }
    };
}

side_by_side!(T 0 0, U 1 0x5555, V 2 0xAAAA);
side_by_side!(T 0 0, U 1 0x5555);

/// A float whose sums with others are rounded, so that they depend on the order.
pub fn rough(random: &mut StdRng) -> f32 {
    random.random_range(-1.0..1.0) * 2f32.powi(random.random_range(0..16))
}

/// The sum of at least one number, as a binary tree of adjacent ones.
pub fn sum_of_tree(mut level: Vec<f32>) -> f32 {
    while level.len() > 1 {
        let sum = |pair: &[f32]| pair[1..].iter().fold(pair[0], |a, b| a + b);
        level = level.chunks(2).map(sum).collect();
    }
    level[0]
}
