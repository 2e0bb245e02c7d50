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
    // Reductions by key and exact sums have cells, which are compared otherwise.
    let reductions = entries.filter(|entry| entry.key.is_empty() && entry.kernel != "exact");
    for entry in reductions {
        assert!(kernels_sim::case::has_checker(entry), "{}", entry.name);
    }
}
