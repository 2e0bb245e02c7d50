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
    // Reductions by key, exact sums, segments, axes and runs have several results, which are compared otherwise.
    let others = [
        "exact",
        "segments",
        "segments_combine",
        "segments_by_part",
        "axes",
        "axes_combine",
        "find_runs",
    ];
    let reductions =
        entries.filter(|entry| entry.key.is_empty() && !others.contains(&entry.kernel));
    for entry in reductions {
        assert!(kernels_sim::case::has_checker(entry), "{}", entry.name);
    }
}
