//! The levels of determinism of parts: every call keeps the promise, or returns `Error::Determinism`.

use std::fmt::Debug;

use libtest_mimic::Failed;
use warpfold::{
    ArgMax, ArgMin, Axes, Determinism, Device, Element, Error, GroupBy, Keyed, Max, MeanVariance,
    Min, Product, Sum, SumSquares, SumWide, f16,
};

use super::Test;
use super::compare::is;
use super::segments::bits;

pub fn tests() -> Vec<Test> {
    vec![
        Test::new("levels: parts by operators of floats that round", rounded),
        Test::new("levels: parts by operators without rounding", never_rounded),
        Test::new("levels: groups by atomics", by_atomics),
    ]
}

const LEVELS: [Determinism; 3] = [
    Determinism::Fast,
    Determinism::Reproducible,
    Determinism::Exact,
];

/// The keys of the items; each run is a group, and their numbers are the order of the runs.
const KEYS: [u32; 6] = [3, 3, 5, 8, 8, 8];

/// The name of a call, and its results or accumulators as text.
type Called = (&'static str, Result<Vec<String>, Error>);

/// Every call for parts. Those that return results come first; the first four have the same parts.
fn calls<T: Element, O: Axes<T>>(
    device: &Device,
    items: [T; 6],
    op: O,
) -> Result<Vec<Called>, Failed>
where
    O::Output: Debug,
{
    let x = device.upload(&items)?;
    let keys = device.upload(&KEYS)?;
    let offsets = device.upload(&[0u32, 2, 3, 6])?;
    let groups = device.group(&keys)?.sort()?;
    let arranged = groups.arrange(&x)?;
    let mut of_runs = device.alloc::<u32>(7)?;
    let mut unique = device.alloc::<u32>(6)?;
    let (mut scratch, mut axis_scratch) = (device.segment_scratch()?, device.axis_scratch()?);
    let mut all = vec![];
    let text = |results: Vec<O::Output>| results.iter().map(|r| format!("{r:?}")).collect();
    macro_rules! results {
        ($($name:literal: $results:expr;)*) => {
            $(all.push(($name, $results.map(text)));)*
        };
    }
    results! {
        "reduce_segments": device.reduce_segments(&x, &offsets, op);
        "reduce_runs": device.reduce_runs(&keys, &x, op).map(|runs| runs.results);
        "Groups::reduce": groups.reduce(&x, op);
        "Arranged::reduce": arranged.reduce(op);
        "reduce_rows": device.reduce_rows(&x, 2, op);
        "reduce_axis, rows": device.reduce_axis(&x, &[3, 2], &[1], op);
        "reduce_axis": device.reduce_axis(&x, &[2, 3], &[0], op);
    }
    macro_rules! accumulators {
        ($($name:literal: |$output:ident| $call:expr;)*) => { $(
            let mut $output = device.alloc::<O::Acc>(3)?;
            let called: Result<(), Error> = $call;
            let called = match called {
                Ok(()) => Ok(device.download(&$output)?.into_iter().flat_map(bits).collect()),
                Err(error) => Err(error),
            };
            all.push(($name, called));
        )* };
    }
    accumulators! {
        "reduce_segments_into": |output| {
            device.reduce_segments_into(&x, &offsets, op, &mut output, &mut scratch)
        };
        "reduce_runs_into": |output| {
            let runs = device.reduce_runs_into(
                &keys, &x, op, &mut unique, &mut of_runs, &mut output, &mut scratch,
            );
            runs.map(|_| ())
        };
        "Groups::reduce_into": |output| groups.reduce_into(&x, op, &mut output);
        "Arranged::reduce_into": |output| arranged.reduce_into(op, &mut output);
        "reduce_rows_into": |output| {
            device.reduce_rows_into(&x, 2, op, &mut output, &mut scratch)
        };
        "reduce_axis_into": |output| {
            device.reduce_axis_into(&x, &[2, 3], &[0], op, &mut output, &mut axis_scratch)
        };
    }
    // Last, because `Fast` combines them by atomics.
    let grouped = device.group_by(&keys, &x, op);
    all.push((
        "group_by",
        grouped.map(|groups| text(groups.sort().results)),
    ));
    Ok(all)
}

/// Checks every call at every level. `is_exact`, if no order of the items changes the result.
fn check<T: Element, O: Axes<T>>(
    device: &Device,
    items: [T; 6],
    op: O,
    is_exact: bool,
) -> Result<(), Failed>
where
    O::Output: Debug,
{
    let wanted = calls(&device.determinism(Determinism::Reproducible), items, op)?;
    for level in [Determinism::Fast, Determinism::Exact] {
        let got = calls(&device.determinism(level), items, op)?;
        for ((name, got), (_, wanted)) in got.into_iter().zip(&wanted) {
            let what = format!("{name} by {} at {level}", <O as Axes<T>>::ENTRIES[0].name);
            if level == Determinism::Exact && !is_exact {
                match got {
                    Err(Error::Determinism { level, .. }) => {
                        is(level, Determinism::Exact, &what)?;
                    }
                    other => return Err(format!("{what}: {other:?}").into()),
                }
            } else if level == Determinism::Fast && !is_exact && name == "group_by" {
                is(got.map(|got| got.len()), Ok(wanted.clone()?.len()), &what)?;
            } else {
                is(got, Ok(wanted.clone()?), &what)?;
            }
        }
    }
    // The results of different calls for the same parts are the same.
    let same: Vec<_> = wanted[..4].iter().map(|(_, bits)| bits.clone()).collect();
    is(same.clone(), vec![same[0].clone(); 4], "the calls")
}

/// Whether the device is a simulated one, on which a sort of keys takes a second.
pub(super) fn is_slow(device: &Device) -> bool {
    device.info().is_some_and(|info| info.multiprocessors <= 32)
}

fn rounded(device: &Device) -> Result<(), Failed> {
    let x = [1e8f32, 1.0, 0.1, 3.0, -1e-8, 0.3];
    check(device, x, Sum, false)?;
    if is_slow(device) {
        return Ok(());
    }
    check(device, x, SumWide, false)?;
    check(device, x, Product, false)?;
    check(device, x, SumSquares, false)?;
    check(device, x, MeanVariance, false)?;
    check(device, x.map(f64::from), Sum, false)?;
    check(device, x.map(|x| f16::from_f32(x / 1e4)), Sum, false)
}

fn never_rounded(device: &Device) -> Result<(), Failed> {
    let x = [1e8f32, 1.0, 0.1, 3.0, -1e-8, 0.3];
    check(device, x, ArgMax, true)?;
    if is_slow(device) {
        return Ok(());
    }
    check(device, x, Min, true)?;
    check(device, x, Max, true)?;
    check(device, x, ArgMin, true)?;
    let integers = [5i32, i32::MAX, -7, 2, 1 << 20, i32::MIN];
    check(device, integers, Sum, true)?;
    check(device, integers, SumWide, true)?;
    check(device, integers, Product, true)?;
    check(device, integers, ArgMax, true)?;
    check(device, integers.map(|x| x as u8), Sum, true)?;
    check(device, integers.map(i64::from), Min, true)
}

/// `Groups::combine`: float sums at the level `Fast` only.
fn by_atomics(device: &Device) -> Result<(), Failed> {
    fn check<T: Element, O: Keyed<u32, T>>(
        device: &Device,
        items: [T; 6],
        op: O,
        wanted: Vec<O::Output>,
        kept: [bool; 3],
    ) -> Result<(), Failed>
    where
        O::Output: Clone + PartialEq + Debug,
    {
        for (level, is_kept) in LEVELS.into_iter().zip(kept) {
            let device = device.determinism(level);
            let groups = device.group(&device.upload(&KEYS)?)?;
            let keys = groups.keys().download()?;
            let sorted = |results| GroupBy { keys, results }.sort().results;
            let what = format!("combine by {} at {level}", O::ENTRIES[0].name);
            match groups.combine(&device.upload(&items)?, op).map(sorted) {
                Err(Error::Determinism {
                    level: of_error, ..
                }) if !is_kept => {
                    is(of_error, level, &what)?;
                }
                got if is_kept => is(got, Ok(wanted.clone()), &what)?,
                other => return Err(format!("{what}: {other:?}").into()),
            }
        }
        Ok(())
    }
    let x = [1.0f32, 2.0, 4.0, 8.0, 16.0, 32.0];
    check(device, x, Sum, vec![3.0, 4.0, 56.0], [true, false, false])?;
    let maxima = vec![Some(2.0), Some(4.0), Some(32.0)];
    check(device, x, Max, maxima, [true; 3])?;
    check(device, x.map(|x| x as i64), Sum, vec![3, 4, 56], [true; 3])
}
