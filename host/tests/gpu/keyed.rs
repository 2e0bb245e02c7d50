//! Reduction by key and counts: every entry, with every kind of keys, from aligned and unaligned views, at all
//! boundary lengths. Keys of every width.

use std::sync::Arc;

use kernels_gpu::entry::{Entry, library};
use kernels_sim::Data;
use kernels_sim::keyed::{KeySubject, Keys};
use libtest_mimic::{Completion, Failed, Trial};
use warpfold::{
    ByKey, Determinism, Device, Error, Key, Keyed, KeyedAlgorithm, Max, Min, RejectedKey, Sum,
};

use crate::lab::Lab;
use crate::oracle::{Oracle, Subject, close};

/// A trial for each entry of each operator, element and key.
pub fn trials(lab: &Arc<Lab>) -> Vec<Trial> {
    let mut trials = vec![];
    macro_rules! sweeps {
        ($($op:ident of [$($element:ident)*] by $keys:tt;)*) => {
            $($(sweeps!(@$op $element $keys);)*)*
        };
        (@$op:ident $element:ident [$($key:ident)*]) => { $(
            for entry in <$op as Keyed<$key, $element>>::ENTRIES {
                trials.push(lab.trial(entry.name, move |lab, device| {
                    sweep::<$key, $element, $op>(lab, device, entry)
                }));
            }
        )* };
    }
    sweeps! {
        Sum of [f32 f64 i32 i64 u64] by [u32 u64];
        Min of [f32 f64 i32 i64 u64] by [u32 u64];
        Max of [f32 f64 i32 i64 u64] by [u32 u64];
    }
    let rows = library::KERNELS.entries.iter();
    // Groups, whose keys may have any value, have trials of their own.
    let is_keyed = |entry: &&Entry| !entry.key.is_empty() && !entry.kernel.starts_with("group_");
    let keyed = rows.filter(is_keyed).count();
    assert_eq!(trials.len(), keyed, "a sweep for every row");
    macro_rules! keys {
        ($($key:ident)*) => { $(
            for entry in <Sum as Keyed<$key, i32>>::ENTRIES {
                let name = format!("{}, from {}", entry.name, stringify!($key));
                trials.push(lab.trial(name, move |lab, device| {
                    sweep::<$key, i32, Sum>(lab, device, entry)
                }));
            }
            let name = concat!("count_by_key of ", stringify!($key));
            trials.push(lab.trial(name, counts::<$key>));
        )* };
    }
    keys!(u8 u16 u32 u64 i8 i16 i32 i64);
    trials.extend([
        lab.trial("keyed clear and accumulate", accumulate),
        lab.trial("keyed errors", errors),
    ]);
    trials
}

/// The algorithm of a kernel, for any number of arrays.
fn algorithm(entry: &Entry) -> KeyedAlgorithm {
    let name = entry.kernel.split("_x").next();
    let mut all = KeyedAlgorithm::ALL.into_iter();
    all.find(|algorithm| Some(algorithm.kernel_name()) == name)
        .expect("every kernel belongs to an algorithm")
}

/// Lengths around 0, a warp and a block, and longer ones.
const SIZES: [usize; 12] = [0, 1, 31, 32, 33, 127, 129, 255, 1023, 1025, 5000, 70_001];

/// The index of the first key and of the first value of the views.
const STARTS: [(usize, usize); 4] = [(0, 0), (1, 1), (0, 3), (4, 8)];

fn sweep<K: KeySubject + Key, T: Subject, O: Keyed<K, T> + Oracle<T>>(
    lab: &Lab,
    device: &Device,
    entry: &Entry,
) -> Result<Completion, Failed> {
    let device = &device.determinism(Determinism::Fast);
    let mut turn = 0;
    let sizes = if lab.light { &SIZES[..6] } else { &SIZES };
    for &n in sizes {
        for kind in Keys::ALL {
            let (keys_start, values_start) = STARTS[turn % STARTS.len()];
            let threads = [32, 256, 1024][turn % 3];
            let data = [Data::Whole, Data::Rough, Data::OneOdd, Data::Zeroes][turn / 3 % 4];
            let seed = lab.seed.wrapping_add(turn as u64);
            turn += 1;

            let (keys, cells) = kind.draw::<K>(n, seed);
            let values = data.draw::<T>(values_start + entry.arrays * n, seed);
            let memory = [vec![K::new(0); keys_start], keys.clone()].concat();
            let on_device = (device.upload(&memory)?, device.upload(&values)?);
            let mut collector = device
                .cell_arrays(entry.arrays, cells, O::OP)?
                .algorithm(algorithm(entry))
                .threads(threads);
            collector.combine(
                on_device.0.view(keys_start..)?,
                on_device.1.view(values_start..)?,
            )?;

            // A sum starts with 0.0, so the sum of -0.0 is 0.0.
            let mut collected = vec![vec![O::OP.initial()]; entry.arrays * cells];
            let mut rejected = 0;
            for (i, value) in values[values_start..].iter().enumerate() {
                let (array, cell) = (i / n, keys[i % n].cell());
                if cell < cells {
                    collected[array * cells + cell].push(*value);
                } else if array == 0 {
                    rejected += 1;
                }
            }
            let wrong = |what: String| {
                Failed::from(format!(
                    "{threads} threads, n = {n}, {kind:?} keys, views from {keys_start} and \
                     {values_start}, {data:?}: {what} (seed {seed})"
                ))
            };
            let got = collector.download()?;
            for (cell, values) in collected.iter().enumerate() {
                // In any order there is one addition for each value, and up to one for each identity between.
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

/// Counts with a counter for each cell in shared memory, and with more cells.
fn counts<K: KeySubject + Key>(lab: &Lab, device: &Device) -> Result<Completion, Failed> {
    const SPARE: [usize; 3] = [0, 300, 9000];
    // The longest has several loads in flight in many blocks.
    let (sizes, long) = match lab.light {
        true => (&SIZES[..9], None),
        false => (&SIZES[..], Some(1_000_003)),
    };
    let mut turn = 0;
    for n in sizes.iter().copied().chain(long) {
        for kind in Keys::ALL {
            let start = STARTS[turn % STARTS.len()].0;
            let seed = lab.seed.wrapping_add(turn as u64);
            let (keys, cells) = kind.draw::<K>(n, seed);
            let cells = cells + SPARE[turn / 2 % SPARE.len()];
            turn += 1;
            let memory = [vec![K::new(0); start], keys.clone()].concat();
            let on_device = device.upload(&memory)?;

            let mut expected = vec![0u64; cells];
            let (mut rejected, mut first_rejected) = (0, None);
            for (index, key) in (0u64..).zip(&keys) {
                match expected.get_mut(key.cell()) {
                    Some(count) => *count += 1,
                    None => {
                        rejected += 1;
                        let key = key.number();
                        first_rejected.get_or_insert(RejectedKey { index, key });
                    }
                }
            }
            let got = device.count_by_key(on_device.view(start..)?, cells)?;
            let right = ByKey {
                cells: expected,
                rejected,
                first_rejected,
            };
            if got != right {
                let wrong = (0..cells).find(|cell| got.cells[*cell] != right.cells[*cell]);
                return Err(format!(
                    "n = {n}, {kind:?} keys, view from {start}, {cells} cells: first wrong cell {wrong:?}, \
                     {} rejected instead of {rejected}, the first {:?} instead of {:?} (seed {seed})",
                    got.rejected, got.first_rejected, right.first_rejected
                )
                .into());
            }
        }
    }
    Ok(Completion::Completed)
}

fn accumulate(_: &Lab, device: &Device) -> Result<Completion, Failed> {
    let keys = device.upload(&[1u32, 1, 0, 9])?;
    let values = device.upload(&[2.0f64, 3.0, 4.0, 5.0])?;
    let device = device.determinism(Determinism::Fast);
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
    let values = device.upload(&[1i64, 2])?;
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
