//! Fuzzes reductions by key.

use arbitrary::{Arbitrary, Unstructured};
use warpfold::{Determinism, Device, Error, Key, Keyed, KeyedAlgorithm, Max, Min, Sum};

use super::input;
use super::number::Number;

/// Fuzzes reductions by key of numbers of one type.
pub fn any<T: Number>(source: &mut Unstructured<'_>) -> arbitrary::Result<()>
where
    Sum: Keyed<u32, T> + Keyed<u64, T>,
    Min: Keyed<u32, T> + Keyed<u64, T>,
    Max: Keyed<u32, T> + Keyed<u64, T>,
{
    match source.int_in_range(0..=7)? {
        0 => by_operator::<T, u32>(source, |key| key),
        4 => by_operator::<T, u8>(source, |key| key as u8),
        5 => by_operator::<T, i8>(source, |key| key as i8),
        6 => by_operator::<T, u16>(source, |key| key as u16),
        7 => by_operator::<T, i16>(source, |key| key as i16),
        1 => by_operator::<T, u64>(source, |key| key.into()),
        2 => by_operator::<T, i32>(source, |key| key as i32),
        _ => by_operator::<T, i64>(source, |key| (key as i32).into()),
    }
}

fn by_operator<T: Number, K: Key>(
    source: &mut Unstructured<'_>,
    key: fn(u32) -> K,
) -> arbitrary::Result<()>
where
    Sum: Keyed<K, T>,
    Min: Keyed<K, T>,
    Max: Keyed<K, T>,
{
    match source.int_in_range(0..=2)? {
        0 => by_key::<T, K, Sum>(source, key, Sum),
        1 => by_key::<T, K, Min>(source, key, Min),
        _ => by_key::<T, K, Max>(source, key, Max),
    }
}

/// The number of cells: few, or too many for any machine's memory.
#[derive(Arbitrary, Clone, Copy, Debug)]
enum Count {
    Few(u8),
    TooMany(u32),
}

fn by_key<T: Number, K: Key, O: Keyed<K, T>>(
    source: &mut Unstructured<'_>,
    key: fn(u32) -> K,
    op: O,
) -> arbitrary::Result<()> {
    let len = match source.arbitrary()? {
        Count::Few(few) => few.into(),
        Count::TooMany(many) => usize::MAX - many as usize,
    };
    let arrays = usize::from(source.arbitrary::<u8>()? % 5);
    let algorithm = *source.choose(&KeyedAlgorithm::ALL)?;
    let threads = input::threads(source)?;
    let spare = usize::from(source.arbitrary::<bool>()?);
    let keys: Vec<u8> = source.arbitrary()?;
    // Sign-extended, so that some are negative.
    let numbers: Vec<u32> = keys.iter().map(|key| (*key as i8 as i32) as u32).collect();
    let values = input::elements::<T>(source)?;
    let count = keys.len() * arrays + spare;
    let values: Vec<T> = values.into_iter().take(count).collect();

    let device = Device::cpu().determinism(Determinism::Fast);
    let cells = match device.cell_arrays(arrays, len, op) {
        Ok(cells) => cells,
        Err(error) => {
            assert!(matches!(error, Error::OutOfHostMemory { .. }), "{error}");
            assert!(len > 255 && arrays > 0);
            return Ok(());
        }
    };
    let mut cells = cells.algorithm(algorithm);
    if let Some(threads) = threads {
        cells = cells.threads(threads);
    }
    let keys: Vec<K> = numbers.iter().map(|number| key(*number)).collect();
    let indices: Vec<usize> = keys.iter().map(|key| key.cell()).collect();
    let upload = "enough memory";
    let (keys, x) = (
        device.upload(&keys).expect(upload),
        device.upload(&values).expect(upload),
    );
    let has_kernel = O::ENTRIES.iter().any(|entry| {
        let name = entry.kernel.split("_x").next();
        name == Some(algorithm.kernel_name()) && entry.arrays == arrays
    });
    let lengths_match = values.len() == indices.len() * arrays;
    match cells.combine(&keys, &x) {
        Ok(()) => assert!(lengths_match && has_kernel && input::is_block_size(threads)),
        Err(error) => {
            match error {
                Error::KeysAndValues { .. } => assert!(!lengths_match),
                Error::NoKeyedKernel { .. } => assert!(!has_kernel),
                Error::BlockSize { .. } => assert!(!input::is_block_size(threads)),
                other => panic!("{other}"),
            }
            return Ok(());
        }
    }

    let initial = op.initial();
    let mut expected = vec![initial; len * arrays];
    for (i, value) in values.iter().enumerate() {
        let (array, key) = (i / indices.len(), indices[i % indices.len()]);
        if key < len {
            let cell = &mut expected[array * len + key];
            *cell = op.combine(*cell, *value);
        }
    }
    let same = |got: Vec<T>, expected: &[T]| {
        assert_eq!(got.len(), expected.len());
        assert!(
            got.iter()
                .zip(expected)
                .all(|(got, expected)| got.is(*expected))
        );
    };
    let rejected = indices.iter().filter(|cell| **cell >= len).count() as u64;
    same(cells.download().expect(upload), &expected);
    assert_eq!(cells.rejected(), Ok(rejected));
    cells.clear().expect("the CPU cannot fail");
    same(
        cells.download().expect(upload),
        &vec![initial; len * arrays],
    );
    assert_eq!(cells.rejected(), Ok(0));
    Ok(())
}
