//! Reduction by key: every entry of its table, with every kind of keys, from aligned and unaligned
//! views, at every edge of n.

use std::sync::Arc;

use kernels_gpu::entry::keyed::{ENTRIES, Entry};
use kernels_sim::Data;
use kernels_sim::keyed::{KeySubject, Keys};
use libtest_mimic::{Completion, Failed, Trial};
use warpfold::{Device, Error, Key, KeyedAlgorithm, Max, Min, Sum};

use crate::lab::Lab;
use crate::oracle::{Oracle, Subject, close};

pub fn trials(lab: &Arc<Lab>) -> Vec<Trial> {
    let entries = ENTRIES.iter().map(|entry| {
        let name = entry.name.to_owned();
        macro_rules! sweep {
            ($key:ident, $element:ident, $op:ident) => {
                lab.trial(name, |lab, device| {
                    sweep::<$key, $element, $op>(lab, device, entry)
                })
            };
        }
        macro_rules! by_element {
            ($key:ident) => {
                match (entry.op, entry.element) {
                    ("sum", "f32") => sweep!($key, f32, Sum),
                    ("sum", "f64") => sweep!($key, f64, Sum),
                    ("sum", "i32") => sweep!($key, i32, Sum),
                    ("sum", "i64") => sweep!($key, i64, Sum),
                    ("sum", "u64") => sweep!($key, u64, Sum),
                    ("min", "f32") => sweep!($key, f32, Min),
                    ("min", "f64") => sweep!($key, f64, Min),
                    ("min", "i32") => sweep!($key, i32, Min),
                    ("min", "i64") => sweep!($key, i64, Min),
                    ("min", "u64") => sweep!($key, u64, Min),
                    ("max", "f32") => sweep!($key, f32, Max),
                    ("max", "f64") => sweep!($key, f64, Max),
                    ("max", "i32") => sweep!($key, i32, Max),
                    ("max", "i64") => sweep!($key, i64, Max),
                    ("max", "u64") => sweep!($key, u64, Max),
                    (op, element) => {
                        let missing = format!("there is no sweep for the {op} of {element}");
                        Trial::test(name, move || Err(missing.into()))
                    }
                }
            };
        }
        match entry.key {
            "u32" => by_element!(u32),
            "u64" => by_element!(u64),
            "i32" => by_element!(i32),
            "i64" => by_element!(i64),
            key => {
                let missing = format!("there is no sweep for keys of {key}");
                Trial::test(name, move || Err(missing.into()))
            }
        }
    });
    entries
        .chain([
            lab.trial("keyed clear and accumulate", accumulate),
            lab.trial("keyed errors", errors),
        ])
        .collect()
}

/// The algorithm whose kernel it is, whatever the number of arrays.
fn algorithm(entry: &Entry) -> KeyedAlgorithm {
    let name = entry.kernel.split("_x").next();
    let mut all = KeyedAlgorithm::ALL.into_iter();
    all.find(|algorithm| Some(algorithm.kernel_name()) == name)
        .expect("every kernel is an algorithm's")
}

/// Around nothing, a warp, a block, and many.
const SIZES: [usize; 12] = [0, 1, 31, 32, 33, 127, 129, 255, 1023, 1025, 5000, 70_001];

/// Keys and values that a view begins late by.
const STARTS: [(usize, usize); 4] = [(0, 0), (1, 1), (0, 3), (4, 8)];

fn sweep<K: KeySubject + Key, T: Subject, O: Oracle<T>>(
    lab: &Lab,
    device: &Device,
    entry: &Entry,
) -> Result<Completion, Failed> {
    let mut turn = 0;
    let sizes = if lab.light { &SIZES[..6] } else { &SIZES };
    for &n in sizes {
        for kind in Keys::ALL {
            let (late_keys, late_values) = STARTS[turn % STARTS.len()];
            let threads = [32, 256, 1024][turn % 3];
            let data = [Data::Whole, Data::Rough, Data::OneOdd, Data::Zeroes][turn / 3 % 4];
            let seed = lab.seed.wrapping_add(turn as u64);
            turn += 1;

            let (keys, cells) = kind.draw::<K>(n, seed);
            let values = data.draw::<T>(late_values + entry.arrays * n, seed);
            let memory = [vec![K::new(0); late_keys], keys.clone()].concat();
            let on_device = (device.upload(&memory)?, device.upload(&values)?);
            let mut collector = device
                .cell_arrays(entry.arrays, cells, O::OP)?
                .algorithm(algorithm(entry))
                .threads(threads);
            collector.combine(
                on_device.0.view(late_keys..)?,
                on_device.1.view(late_values..)?,
            )?;

            let mut collected = vec![Vec::new(); entry.arrays * cells];
            let mut rejected = 0;
            for (i, value) in values[late_values..].iter().enumerate() {
                let (array, cell) = (i / n, keys[i % n].cell());
                if cell < cells {
                    collected[array * cells + cell].push(*value);
                } else if array == 0 {
                    rejected += 1;
                }
            }
            let wrong = |what: String| {
                Failed::from(format!(
                    "{threads} threads, n = {n}, {kind:?} keys, views from {late_keys} and \
                     {late_values}, {data:?}: {what} (seed {seed})"
                ))
            };
            let got = collector.download()?;
            for (cell, values) in collected.iter().enumerate() {
                // Any order of additions, one for each value and for each identity on the way.
                let chain = match data {
                    Data::Whole => 2.0,
                    _ => 2.0 * values.len() as f64 + 2.0,
                };
                close(got[cell], &O::expected(values), chain)
                    .map_err(|what| wrong(format!("cell {cell}: {what}")))?;
            }
            match collector.rejected()? {
                got if got == rejected => {}
                got => return Err(wrong(format!("{got} rejected, not {rejected}"))),
            }
        }
    }
    Ok(Completion::Completed)
}

fn accumulate(_: &Lab, device: &Device) -> Result<Completion, Failed> {
    let keys = device.upload(&[1u32, 1, 0, 9])?;
    let values = device.upload(&[2.0f64, 3.0, 4.0, 5.0])?;
    let mut cells = device.cells(2, Sum)?;
    cells.combine(&keys, &values)?;
    cells.combine(&keys, &values)?;
    assert_eq!((cells.download()?, cells.rejected()?), (vec![8.0, 10.0], 2));
    cells.clear()?;
    assert_eq!((cells.download()?, cells.rejected()?), (vec![0.0, 0.0], 0));
    let by_key = device.reduce_by_key(&keys, &values, 2, Sum)?;
    assert_eq!((by_key.cells, by_key.rejected), (vec![4.0, 5.0], 1));
    Ok(Completion::Completed)
}

fn errors(_: &Lab, device: &Device) -> Result<Completion, Failed> {
    let keys = device.upload(&[1u32, 1, 0])?;
    let values = device.upload(&[1i32, 2])?;
    let error = device.cells(2, Sum)?.combine(&keys, &values).unwrap_err();
    assert!(
        matches!(
            error,
            Error::KeysAndValues {
                keys: 3,
                values: 2,
                arrays: 1
            }
        ),
        "{error}"
    );
    let mut cells = device.cells(2, Sum)?.algorithm(KeyedAlgorithm::Cas);
    let keys = keys.view(..2)?;
    let error = cells.combine(keys, &values).unwrap_err();
    assert!(matches!(error, Error::NoKeyedKernel { .. }), "{error}");
    let mut cells = device.cells(2, Sum)?.threads(48);
    let error = cells.combine(keys, &values).unwrap_err();
    assert!(
        matches!(error, Error::BlockSize { threads: 48, .. }),
        "{error}"
    );
    let cpu = Device::cpu();
    let error = cpu.cells(2, Sum)?.combine(keys, &values).unwrap_err();
    assert!(matches!(error, Error::OtherDevice { .. }), "{error}");
    Ok(Completion::Completed)
}
