//! Sums of triples.

use super::*;

#[test]
fn chains_of_roundings_are_as_short_as_documented() {
    for n in (1..=672).step_by(7).chain([672]) {
        let depths = reduce_triples::<f32, Depth>(Depth, &vec![1.0; n * 3]);
        assert!(depths[0] <= 18, "{depths:?}");
    }
}

#[test]
fn sums_of_negative_zeros_keep_their_sign() {
    for n in [0, 1, 256, 5000] {
        let sums = reduce_triples::<f64, Sum>(Sum, &vec![-0.0; 3 * n]);
        assert!(sums.iter().all(|sum| sum.is_sign_negative()), "{n}");
    }
}

#[test]
fn the_bits_do_not_depend_on_the_number_of_threads() {
    let mut rng = StdRng::seed_from_u64(rand::random());
    let data: Vec<f32> = (0..3 * ((1 << 18) + 5))
        .map(|_| f32::rough(&mut rng))
        .collect();
    let bits = || reduce_triples::<f32, Sum>(Sum, &data).map(f32::to_bits);
    let expected = on(1, bits);
    for threads in [2, 3, 7] {
        assert!(on(threads, bits) == expected, "{threads} threads");
    }
}

#[test]
fn fields_of_triples_are_summed_separately() {
    let mut rng = StdRng::seed_from_u64(rand::random());
    for n in [
        0, 1, 2, 31, 32, 33, 63, 64, 65, 255, 256, 257, 671, 672, 673, 1343, 1344, 1345, 5000,
    ] {
        let data: Vec<f64> = (0..3 * n).map(|_| f64::rough(&mut rng)).collect();
        let sums = reduce_triples::<f64, Sum>(Sum, &data);
        let integers: Vec<i32> = (0..3 * n).map(|_| i32::rough(&mut rng)).collect();
        let integer_sums = reduce_triples::<i32, Sum>(Sum, &integers);
        for field in 0..3 {
            let one: Vec<f64> = data.iter().skip(field).step_by(3).copied().collect();
            let chain = chain::<f64>(3 * n);
            close(sums[field], &Sum::expected(&one), chain).unwrap_or_else(|e| panic!("{n}: {e}"));
            let one = integers.iter().skip(field).step_by(3);
            let sum = one.fold(0i32, |sum, x| sum.wrapping_add(*x));
            assert_eq!(integer_sums[field], sum, "{n}");
        }
    }
}
