//! Differences between two runs other than the times.

use std::collections::{BTreeMap, BTreeSet};

use crate::schema::{Backend, Results, Suite};
use crate::words::size;

/// One sentence for each difference.
pub fn notes(old: &Results, new: &Results) -> Vec<String> {
    let device = |results: &Results, text: fn(&crate::machine::Cuda) -> String| {
        results.device.as_ref().map_or("none".to_owned(), text)
    };
    let pairs = [
        (
            "the machine",
            old.machine.to_string(),
            new.machine.to_string(),
        ),
        (
            "the device",
            device(old, |cuda| cuda.name.clone()),
            device(new, |cuda| cuda.name.clone()),
        ),
        (
            "the driver",
            device(old, |cuda| format!("CUDA {}", cuda.driver)),
            device(new, |cuda| format!("CUDA {}", cuda.driver)),
        ),
        (
            "the kernels' PTX",
            device(old, |cuda| cuda.ptx_arch.clone()),
            device(new, |cuda| cuda.ptx_arch.clone()),
        ),
        (
            "the stream",
            device(old, |cuda| cuda.stream.clone()),
            device(new, |cuda| cuda.stream.clone()),
        ),
        ("the compiler", old.compiler.clone(), new.compiler.clone()),
        (
            "the bytes flushed",
            old.method.flush_bytes.to_string(),
            new.method.flush_bytes.to_string(),
        ),
    ];
    let mut notes: Vec<_> = pairs
        .into_iter()
        .filter(|(_, old, new)| old != new)
        .map(|(what, old, new)| format!("{what} differs: {old} before, {new} now"))
        .collect();
    notes.extend(peers(old, new));
    notes.extend(sizes(old, new));
    for (which, results) in [("old", old), ("new", new)] {
        if !results.complete {
            notes.push(format!("the {which} run is incomplete"));
        }
    }
    let (was, is) = (counts(old), counts(new));
    let differ = is
        .iter()
        .filter(|(key, counts)| was.get(key).is_some_and(|was| was != *counts));
    match differ.count() {
        0 => {}
        differ => notes.push(format!(
            "the simulator's counts differ in {differ} of {} rows",
            is.len()
        )),
    }
    notes
}

/// The simulator's counts by row.
fn counts(results: &Results) -> BTreeMap<impl Ord, &BTreeMap<String, u64>> {
    let rows = results.rows.iter();
    rows.filter(|row| row.backend == Backend::Sim)
        .map(|row| (row.key(), &row.counts))
        .collect()
}

fn peers(old: &Results, new: &Results) -> Vec<String> {
    let versions = |results: &Results| -> BTreeMap<_, _> {
        let peers = results.peers.iter();
        peers
            .map(|peer| (peer.by, peer.version.clone().unwrap_or("absent".into())))
            .collect()
    };
    let (was, is) = (versions(old), versions(new));
    let all: BTreeSet<_> = was.keys().chain(is.keys()).copied().collect();
    let text = |versions: &BTreeMap<_, String>, by| {
        let version = versions.get(&by).cloned();
        version.unwrap_or("not requested".into())
    };
    all.into_iter()
        .map(|by| (by, text(&was, by), text(&is, by)))
        .filter(|(_, was, is)| was != is)
        .map(|(by, was, is)| format!("{} differs: {was} before, {is} now", by.title()))
        .collect()
}

fn sizes(old: &Results, new: &Results) -> Vec<String> {
    let of = |results: &Results, suite: Suite| -> BTreeSet<u64> {
        let rows = results.rows.iter().filter(|row| row.suite == suite);
        rows.map(|row| row.n).collect()
    };
    let mut notes = Vec::new();
    for suite in Suite::ALL {
        let (was, is) = (of(old, suite), of(new, suite));
        let list = |sizes: Vec<&u64>| {
            let sizes: Vec<_> = sizes.into_iter().map(|n| size(*n)).collect();
            sizes.join(", ")
        };
        for (which, only) in [
            ("old", list(was.difference(&is).collect())),
            ("new", list(is.difference(&was).collect())),
        ] {
            if !only.is_empty() {
                notes.push(format!("{suite}: only the {which} run has n = {only}"));
            }
        }
    }
    notes
}
