//! The checks of results.

use kernels_gpu::entry::{library, teaching};

#[test]
fn every_reduction_has_a_checker() {
    let lists = [
        &library::KERNELS,
        &teaching::KERNELS,
        &kernels_sim::kernels::KERNELS,
    ];
    let entries = lists.into_iter().flat_map(|list| list.entries);
    for entry in entries.filter(|entry| entry.key.is_empty()) {
        assert!(kernels_sim::case::has_checker(entry), "{}", entry.name);
    }
}
