//! The entries whose lanes vote: functions that read their arguments and call the copy's body.

/// By kernel: the entry's name, and the call.
const ENTRIES: [(&str, &str, &str); 6] = [
    (
        "find_peers_ballot",
        "find_peers_ballot_u32",
        "find_peers::<u32, Ballot>(first, Global::new(values.take(), values.take()))",
    ),
    (
        "find_peers_match",
        "find_peers_match_u32",
        "find_peers::<u32, Match>(first, Global::new(values.take(), values.take()))",
    ),
    (
        "find_peers_hash",
        "find_peers_hash_u32",
        "let slots = Slots {
            owners: Shared::new(kernels_gpu::shared_array![u32; MOST_THREADS]),
            peers: Shared::new(kernels_gpu::shared_array![u32; MOST_THREADS]),
        };
        find_peers_by_hash(first, Global::new(values.take(), values.take()), slots)",
    ),
    (
        "all_reduce_peers",
        "all_reduce_peers_f64",
        "let numbers = Global::<f64>::from_slice(values.slice());
        let output = Global::new(values.take(), values.take());
        search::all_reduce_peers(super::op::Sum, first, numbers, output)",
    ),
    ("filter_atomic", "filter_atomic_i32", FILTER),
    ("filter_warp", "filter_warp_i32", FILTER),
];

/// The call of a filter, without its name.
const FILTER: &str = "let output = Global::new(values.take(), values.take());
        let count = Global::new(values.take(), values.take());
        let keep = super::op::Greater(values.take::<u64>() as i32);
        super::filter::KERNEL(keep, first, output, count)";

/// The name of the kernel's entry, if it is one of these.
pub fn entry(kernel: &str) -> Option<&'static str> {
    let mut entries = ENTRIES.iter();
    let found = entries.find(|(name, ..)| *name == kernel);
    found.map(|(_, entry, _)| *entry)
}

/// The modules that the kernel's entry refers to.
pub fn modules(kernel: &str) -> &'static [&'static str] {
    match kernel.starts_with("filter") {
        true => &["filter", "op", "mem"],
        false => &["keyed", "op", "mem"],
    }
}

/// The body of the kernel's entry.
pub fn body(kernel: &str) -> String {
    let mut entries = ENTRIES.iter();
    let found = entries.find(|(name, ..)| *name == kernel);
    let (.., call) = found.unwrap_or_else(|| panic!("there is no copied entry {kernel}"));
    let (element, uses) = match kernel.starts_with("filter") {
        true => ("i32", ""),
        false => ("u32", "use super::keyed::{peers::*, search::{self, *}};"),
    };
    format!(
        "{uses}
        let first = Global::<{element}>::from_slice(values.slice());
        {};",
        call.replace("KERNEL", kernel)
    )
}
