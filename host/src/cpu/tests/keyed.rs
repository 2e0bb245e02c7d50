//! Reductions by key.

use super::*;

#[test]
fn cells_agree_with_one_loop() {
    let mut rng = StdRng::seed_from_u64(rand::random());
    for (n, len, arrays) in [
        (0, 3, 1),
        (1, 1, 1),
        (1000, 0, 1),
        (1000, 7, 2),
        (131_071, 3, 1),
        (131_072, 3, 1),
        (131_072, 0, 1),
        (200_001, 20_000, 3),
        (200_001, 50_001, 1),
        (200_001, 70_000, 1),
    ] {
        let keys: Vec<i64> = (0..n).map(|_| rng.random_range(-1..=len as i64)).collect();
        let values: Vec<u32> = (0..n * arrays).map(|_| rng.next_u32()).collect();
        let mut cells: Vec<u32> = (0..len * arrays).map(|_| rng.next_u32()).collect();
        let mut expected = cells.clone();
        for (i, value) in values.iter().enumerate() {
            if let Ok(key @ 0..) = usize::try_from(keys[i % n])
                && key < len
            {
                let cell = &mut expected[i / n * len + key];
                *cell = cell.wrapping_add(*value);
            }
        }
        let mut rejected = [0, u64::MAX];
        reduce_by_key::<i64, u32, Sum>(Sum, &keys, &values, &mut cells, len, &mut rejected)
            .unwrap();
        assert_eq!(
            (cells == expected, rejected),
            (true, outside(&keys, len)),
            "{n} into {arrays} x {len}"
        );
    }
}

/// The number of keys without a cell, and the index of the first.
fn outside<K: Key>(keys: &[K], cells: usize) -> [u64; 2] {
    let is_outside = |key: &K| !(0..cells as i128).contains(&key.number());
    let number = keys.iter().filter(|key| is_outside(key)).count();
    let first = keys.iter().position(is_outside);
    [number as u64, first.map_or(u64::MAX, |first| first as u64)]
}

#[test]
fn keys_are_counted_like_in_a_loop() {
    fn check<K: Key + PartialEq>(key: fn(i64) -> K) {
        let seed = rand::random();
        let mut rng = StdRng::seed_from_u64(seed);
        // Below and above the numbers of elements for one piece and for one table; keys from -1 on, or equal.
        for (n, len, range) in [
            (0, 0, 0..9),
            (0, 5, 0..9),
            (3, 0, 0..9),
            (1, 1, 0..1),
            (1000, 100, 0..100),
            (100_001, 7, -1..9),
            (200_003, 256, -1..300),
            (200_003, 200, 3..4),
            (131_072, 20_000, 0..32_000),
            (300_000, 65_536, -1..65_536),
            (300_000, 70_000, -1..70_001),
            (400, 100, -1..101),
        ] {
            let keys: Vec<K> = (0..n)
                .map(|_| key(rng.random_range(range.clone())))
                .collect();
            let mut cells: Vec<u64> = (0..len).map(|_| rng.random_range(0..1 << 40)).collect();
            let mut expected = cells.clone();
            for key in &keys {
                if let Some(cell) = usize::try_from(key.number())
                    .ok()
                    .and_then(|i| expected.get_mut(i))
                {
                    *cell += 1;
                }
            }
            let mut rejected = [0, u64::MAX];
            count_by_key(&keys, &mut cells, &mut rejected).unwrap();
            assert_eq!(
                (cells == expected, rejected),
                (true, outside(&keys, len)),
                "{n} keys of {} into {len} (seed {seed})",
                std::any::type_name::<K>()
            );
        }
    }
    check::<u8>(|key| key as u8);
    check::<i8>(|key| key as i8);
    check::<u16>(|key| key as u16);
    check::<i16>(|key| key as i16);
    check::<u32>(|key| key as u32);
    check::<i32>(|key| key as i32);
    check::<u64>(|key| key as u64);
    check::<i64>(|key| key);
}

#[test]
fn a_cell_combines_its_values_in_order_within_a_piece() {
    let keys = vec![0u32; 50_000];
    let values: Vec<f32> = (0..keys.len()).map(|i| 1.0 / (i + 1) as f32).collect();
    let mut cells = [-0.0f32];
    let mut rejected = [0, u64::MAX];
    reduce_by_key::<u32, f32, Sum>(Sum, &keys, &values, &mut cells, 1, &mut rejected).unwrap();
    assert_eq!(rejected, [0, u64::MAX]);
    assert!(same(cells[0], values.iter().fold(-0.0, |sum, x| sum + x)));
}
