//! `reduce_by_key`.

use kernels_gpu::entry::Entry;
use libtest_mimic::Failed;
use warpfold::{Determinism, Device, Element, Error, Key, Keyed, KeyedAlgorithm, Max, Min, Sum};

use super::answers::{Array, Part, arrays};
use super::calls::magnitude;
use super::compare::{close, context, equal, is, same};
use super::number::Number;
use super::{Test, differences};

/// The number of cells in `make.py`.
const CELLS: usize = 5;

/// The keys in `make.py`; some are -1 or 5, which are out of range.
fn keys(n: usize) -> Vec<u32> {
    (0..n)
        .map(|i| ((i * i + 3 * i) % 7) as u32)
        .map(|key| key.wrapping_sub(1))
        .collect()
}

pub fn tests() -> Vec<Test> {
    let mut tests = vec![];
    macro_rules! all {
        ($($number:ident: $sum:ident;)*) => { $(
            tests.push(test::<$number, Sum>("sum", Sum, $sum));
            tests.push(test::<$number, Min>("min", Min, |got, cell, array, part| {
                let elements = elements_of(cell, array, part);
                differences::extremum(got, part.cells("cells_min")[cell], &elements, true)
            }));
            tests.push(test::<$number, Max>("max", Max, |got, cell, array, part| {
                let elements = elements_of(cell, array, part);
                differences::extremum(got, part.cells("cells_max")[cell], &elements, false)
            }));
        )* };
    }
    tests.push(Test::new("by_key/signed keys", signed_keys));
    all! { i32: integer_sum; i64: integer_sum; u64: integer_sum; f32: float_sum; f64: float_sum; }
    tests
}

fn elements_of<T: Number>(cell: usize, array: &Array<T>, part: &Part) -> Vec<T> {
    let keyed = keys(part.n).into_iter().zip(array.of(part));
    let of_cell = keyed.filter(|(key, _)| *key as usize == cell);
    of_cell.map(|(_, element)| *element).collect()
}

fn integer_sum<T: Number>(got: T, cell: usize, _: &Array<T>, part: &Part) -> Result<(), String> {
    same(got, part.cells("cells_sum")[cell])
}

fn float_sum<T: Number>(got: T, cell: usize, array: &Array<T>, part: &Part) -> Result<(), String> {
    let elements = elements_of(cell, array, part);
    if elements.is_empty() {
        return same(got, part.cells("cells_sum")[cell]);
    }
    let exact = part.cells("cells_sum_exact")[cell];
    close(
        got,
        exact,
        elements.len(),
        magnitude(&elements),
        T::ACCUMULATED,
    )
}

/// Every algorithm that has a kernel, and the error for those without one.
fn test<T: Number, O: Keyed<u32, T>>(
    name: &str,
    op: O,
    check: fn(T, usize, &Array<T>, &Part) -> Result<(), String>,
) -> Test {
    let run = move |device: &Device| {
        let device = &device.determinism(Determinism::Fast);
        for array in arrays::<T>() {
            let buffer = array.upload(device)?;
            for part in &array.parts {
                let wrong =
                    |wrong| Failed::from(format!("{}: {wrong}", context::<T>(array.name, part)));
                let keys = device.upload(&keys(part.n))?;
                let check_all = |cells: &[T], rejected: u64| {
                    equal(Some(rejected as usize), part.count("dropped"))?;
                    for (cell, got) in cells.iter().enumerate() {
                        check(*got, cell, &array, part)
                            .map_err(|wrong| format!("cell {cell}: {wrong}"))?;
                    }
                    Ok(())
                };
                let whole = device.reduce_by_key(&keys, part.view(&buffer)?, CELLS, op)?;
                check_all(&whole.cells, whole.rejected).map_err(wrong)?;
                for algorithm in KeyedAlgorithm::ALL {
                    let mut cells = device.cells(CELLS, op)?.algorithm(algorithm);
                    let matches = |entry: &Entry| entry.kernel == algorithm.kernel_name();
                    let exists = O::ENTRIES.iter().any(matches);
                    match (exists, cells.combine(&keys, part.view(&buffer)?)) {
                        (true, Ok(())) => {
                            check_all(&cells.download()?, cells.rejected()?).map_err(wrong)?;
                        }
                        (false, Err(Error::NoKeyedKernel { .. })) => {}
                        (_, other) => return Err(wrong(format!("{algorithm:?}: {other:?}"))),
                    }
                }
            }
        }
        Ok(())
    };
    Test::new(format!("by_key/{name}/{}", T::NAME), run)
}

/// Signed keys give the results of unsigned keys with every algorithm; negative keys are out of range.
fn signed_keys(device: &Device) -> Result<(), Failed> {
    fn signed<K: Key, T: Element, O: Keyed<K, T>>(
        device: &Device,
        op: O,
        (values, key, algorithm): (&[T], fn(i32) -> K, KeyedAlgorithm),
    ) -> Result<(Vec<T>, u64), Failed> {
        let keys: Vec<K> = (0..values.len() as i32)
            .map(|i| key(if i % 5 == 4 { -1 - i } else { i % 6 }))
            .collect();
        let device = device.determinism(Determinism::Fast);
        let mut cells = device.cells(CELLS, op)?.algorithm(algorithm);
        cells.combine(&device.upload(&keys)?, &device.upload(values)?)?;
        Ok((cells.download()?, cells.rejected()?))
    }
    for n in [0, 1, 5, 33, 1000] {
        let floats: Vec<f32> = (0..n).map(|i| (i % 9) as f32).collect();
        let integers: Vec<i64> = (0..n).map(|i| i64::from(i % 9)).collect();
        for algorithm in KeyedAlgorithm::ALL {
            let right = signed(device, Sum, (&*floats, |key| key as u32, algorithm))?;
            let sums = signed(device, Sum, (&*floats, |key| key, algorithm))?;
            is(sums, right, &format!("{n} sums by {algorithm:?}"))?;
            if algorithm == KeyedAlgorithm::Cas {
                continue; // no kernel for these types
            }
            let most = signed(device, Max, (&*integers, i64::from, algorithm))?;
            let right = signed(
                device,
                Max,
                (&*integers, |key| i64::from(key) as u64, algorithm),
            )?;
            is(most, right, &format!("{n} maxima by {algorithm:?}"))?;
        }
    }
    Ok(())
}
