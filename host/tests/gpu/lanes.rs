//! The search for peers, the sums of peers and filters: the same results as on the CPU, for views with any start.

use std::sync::Arc;

use libtest_mimic::{Completion, Failed, Trial};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use warpfold::{Counter, Device, PeerSearch};

use crate::lab::Lab;
use crate::sizes::{around, start};

/// Different keys: one group in each warp, a few, and mostly groups of one lane.
const KINDS: [u32; 4] = [1, 3, 40, u32::MAX];

pub fn trials(lab: &Arc<Lab>) -> Vec<Trial> {
    let mut trials = vec![lab.trial("all_reduce_peers f64", sums)];
    for by in PeerSearch::ALL {
        trials.push(lab.trial(by.kernel_name(), move |lab, device| masks(lab, device, by)));
    }
    for counter in Counter::ALL {
        let name = counter.kernel_name();
        trials.push(lab.trial(name, move |lab, device| kept(lab, device, counter)));
    }
    trials
}

/// Calls `check` with keys on the host and their start, for every number of kinds and every length.
fn for_all_keys(
    lab: &Lab,
    mut check: impl FnMut(&[u32], usize) -> Result<(), Failed>,
) -> Result<Completion, Failed> {
    let rng = &mut StdRng::seed_from_u64(lab.seed);
    for kinds in KINDS {
        for n in around(256) {
            let start = start(n);
            let keys = (0..start + n).map(|_| rng.random_range(0..kinds));
            check(&keys.collect::<Vec<_>>(), start)
                .map_err(|wrong| format!("{kinds} kinds, n = {n}, seed {}: {wrong:?}", lab.seed))?;
        }
    }
    Ok(Completion::Completed)
}

fn masks(lab: &Lab, device: &Device, by: PeerSearch) -> Result<Completion, Failed> {
    let cpu = Device::cpu();
    for_all_keys(lab, |keys, start| {
        let masks = |device: &Device| {
            let keys = device.upload(keys)?;
            device.find_peers(keys.view(start..)?, by)?.run()
        };
        equal(&masks(device)?, &masks(&cpu)?)
    })
}

fn sums(lab: &Lab, device: &Device) -> Result<Completion, Failed> {
    let cpu = Device::cpu();
    for_all_keys(lab, |keys, start| {
        // Whole numbers, whose sums are exact in every order.
        let values: Vec<f64> = (0..keys.len()).map(|i| (i * 7 % 100) as f64).collect();
        let sums = |device: &Device| {
            let (keys, values) = (device.upload(keys)?, device.upload(&values)?);
            let plan = device.all_reduce_peers(keys.view(start..)?, values.view(start..)?);
            plan?.run()
        };
        equal(&sums(device)?, &sums(&cpu)?)
    })
}

fn kept(lab: &Lab, device: &Device, counter: Counter) -> Result<Completion, Failed> {
    let cpu = Device::cpu();
    for_all_keys(lab, |keys, start| {
        let elements: Vec<i32> = keys.iter().map(|key| *key as i32).collect();
        let above = elements.last().map_or(0, |last| last / 2);
        let kept = |device: &Device| {
            let x = device.upload(&elements)?;
            let mut plan = device.filter_above(x.view(start..)?, above, counter)?;
            plan.enqueue()?;
            plan.enqueue()?; // the counter is reset
            let mut kept = plan.result()?;
            // The warps arrive in any order.
            kept.sort_unstable();
            Ok::<_, warpfold::Error>(kept)
        };
        equal(&kept(device)?, &kept(&cpu)?)
    })
}

fn equal<T: PartialEq + std::fmt::Debug>(got: &[T], expected: &[T]) -> Result<(), Failed> {
    if got.len() != expected.len() {
        return Err(format!("{} results instead of {}", got.len(), expected.len()).into());
    }
    match got
        .iter()
        .zip(expected)
        .position(|(got, right)| got != right)
    {
        None => Ok(()),
        Some(i) => Err(format!("{:?} instead of {:?} at {i}", got[i], expected[i]).into()),
    }
}
