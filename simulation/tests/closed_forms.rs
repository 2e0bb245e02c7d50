//! Checks that the simulator's counters of trees equal the theory, for every number of threads.
//!
//! The theory is a sum over the steps of the tree, with 32 banks of 4 bytes and warps of 32 lanes. It shares
//! no code with the simulator. Elements of 8 bytes are served by half warps.

use cuda_sim::{Counters, Counts, InstructionKind, Space};
use kernels_sim::ladder::{counters, entry};

const THREADS: [u64; 6] = [32, 64, 128, 256, 512, 1024];

/// The counts of a tree's load, over all steps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Tree {
    requests: u64,
    lanes: u64,
    wavefronts: u64,
    /// Wavefronts without bank conflicts.
    ideal: u64,
}

impl Tree {
    /// Adds a step in which `lanes` of each of `warps` warps are active, one in `spacing`, on elements
    /// `stride` apart.
    fn step(&mut self, warps: u64, lanes: u64, spacing: u64, stride: u64, bytes: u64) {
        // The lanes of a group, and the elements in one row of the banks.
        let (group, width) = (128 / bytes, 128 / bytes);
        let last = (lanes - 1) * spacing;
        let groups = last / group + 1;
        let in_group = lanes.div_ceil(groups);
        // The elements of a group use every `stride`-th bank, with wrap-around.
        let places = width / stride.min(width);
        self.requests += warps;
        self.lanes += warps * lanes;
        self.ideal += warps * groups;
        self.wavefronts += warps * groups * in_group.div_ceil(places);
    }

    /// Adds a step of `active` adjacent threads on elements `stride` apart.
    fn neighbours(&mut self, active: u64, stride: u64, bytes: u64) {
        if active >= 32 {
            self.step(active / 32, 32, 1, stride, bytes);
        } else {
            self.step(1, active, 1, stride, bytes);
        }
    }

    fn reduce_0(threads: u64, bytes: u64) -> Self {
        let mut tree = Self::default();
        for s in steps(1, threads) {
            // One of 2 s threads: some of each warp, or one of some warps.
            match 2 * s {
                spacing @ ..=32 => tree.step(threads / 32, 32 / spacing, spacing, spacing, bytes),
                spacing => tree.step(threads / spacing, 1, 1, 1, bytes),
            }
        }
        tree
    }

    fn reduce_1(threads: u64, bytes: u64) -> Self {
        let mut tree = Self::default();
        for s in steps(1, threads) {
            tree.neighbours(threads / (2 * s), 2 * s, bytes);
        }
        tree
    }

    /// Down to steps of size `last`.
    fn reduce_2(threads: u64, last: u64, bytes: u64) -> Self {
        let mut tree = Self::default();
        for s in steps(last, threads) {
            tree.neighbours(s, 1, bytes);
        }
        tree
    }
}

/// The powers of two from `first` to less than `threads`.
fn steps(first: u64, threads: u64) -> impl Iterator<Item = u64> {
    (0..10)
        .map(|power| 1 << power)
        .filter(move |s| (first..threads).contains(s))
}

fn count(kernel: &str, element: &str, threads: u64, n: u64) -> Counters {
    let entry = entry(kernel, "sum", element).unwrap();
    counters(entry, threads as u32, n as usize, Some(1)).unwrap_or_else(|wrong| panic!("{wrong}"))
}

/// The counts of the tree's loads and stores: all counts minus those before and after the tree, which are
/// `warps` requests of `lanes` lanes without conflicts.
fn tree(counts: Counts, warps: u64, lanes: u64, bytes: u64) -> Tree {
    let wavefronts = warps * (lanes * bytes).div_ceil(128);
    Tree {
        requests: counts.requests - warps,
        lanes: counts.lanes - warps * lanes,
        wavefronts: counts.wavefronts - wavefronts,
        ideal: counts.ideal_wavefronts - wavefronts,
    }
}

fn twice(tree: Tree) -> Tree {
    Tree {
        requests: 2 * tree.requests,
        lanes: 2 * tree.lanes,
        wavefronts: 2 * tree.wavefronts,
        ideal: 2 * tree.ideal,
    }
}

#[test]
fn the_trees_are_as_theory_says() {
    type Form = fn(u64, u64) -> Tree;
    let forms: [(&str, Form); 3] = [
        ("reduce_0", Tree::reduce_0),
        ("reduce_1", Tree::reduce_1),
        ("reduce_2", |threads, bytes| {
            Tree::reduce_2(threads, 1, bytes)
        }),
    ];
    for (kernel, form) in forms {
        for (element, bytes) in [("f32", 4), ("f64", 8)] {
            for threads in THREADS {
                let counters = count(kernel, element, threads, threads);
                let what = format!("{kernel} of {element}, {threads} threads");
                let form = form(threads, bytes);
                // One thread loads the partial at the end.
                let loads = tree(
                    counters.of(InstructionKind::Load(Space::Shared)),
                    1,
                    1,
                    bytes,
                );
                assert_eq!(loads, twice(form), "{what}");
                // Every thread stores its element at the start.
                let stores = tree(
                    counters.of(InstructionKind::Store(Space::Shared)),
                    threads / 32,
                    32,
                    bytes,
                );
                assert_eq!(stores, form, "{what}");

                let barriers = counters.of(InstructionKind::Barrier);
                let steps = u64::from(threads.ilog2());
                assert_eq!(barriers.requests, (1 + steps) * threads / 32, "{what}");
                assert_eq!(barriers.partial, 0, "{what}");
                neighbours(&counters, threads, bytes, &what);
            }
        }
    }
}

#[test]
fn the_tree_that_ends_in_shuffles_is_as_theory_says() {
    for (element, bytes) in [("f32", 4), ("f64", 8)] {
        for threads in THREADS {
            let counters = count("reduce_4", element, threads, 2 * threads);
            let what = format!("reduce_4 of {element}, {threads} threads");
            let form = Tree::reduce_2(threads, 32, bytes);
            for (kind, tree_of) in [
                // Every thread loads its own element at the end.
                (InstructionKind::Load(Space::Shared), twice(form)),
                (InstructionKind::Store(Space::Shared), form),
            ] {
                assert_eq!(
                    tree(counters.of(kind), threads / 32, 32, bytes),
                    tree_of,
                    "{what}"
                );
            }
            let steps = steps(32, threads).count() as u64;
            assert_eq!(
                counters.of(InstructionKind::Barrier).requests,
                (1 + steps) * threads / 32,
                "{what}"
            );
            // A shuffle of 8 bytes is two shuffles of 4 bytes.
            let shuffles = counters.of(InstructionKind::Shuffle);
            assert_eq!(
                (shuffles.requests, shuffles.lanes),
                (5 * bytes / 4, 160 * bytes / 4),
                "{what}"
            );
            neighbours(&counters, 2 * threads, bytes, &what);
        }
    }
}

/// Global loads of adjacent elements: whole warps on consecutive sectors.
fn neighbours(counters: &Counters, n: u64, bytes: u64, what: &str) {
    let loads = counters.of(InstructionKind::Load(Space::Global));
    assert_eq!((loads.requests, loads.lanes), (n / 32, n), "{what}");
    assert_eq!(loads.sectors, n * bytes / 32, "{what}");
}

/// The theory itself, at points calculated by hand.
#[test]
fn theory_is_as_on_paper() {
    let loads = |tree: Tree| {
        let tree = twice(tree);
        (tree.requests, tree.wavefronts, tree.wavefronts - tree.ideal)
    };
    for (tree, requests, wavefronts, conflicts) in [
        (Tree::reduce_0(128, 4), 46, 46, 0),
        (Tree::reduce_1(128, 4), 16, 46, 30),
        (Tree::reduce_2(128, 1, 4), 16, 16, 0),
        (Tree::reduce_0(256, 4), 94, 94, 0),
        (Tree::reduce_1(256, 4), 24, 94, 70),
        (Tree::reduce_2(256, 1, 4), 24, 24, 0),
        (Tree::reduce_2(256, 1, 8), 24, 38, 0),
        (Tree::reduce_1(1024, 4), 72, 382, 310),
        (Tree::reduce_1(1024, 8), 72, 638, 504),
    ] {
        assert_eq!(loads(tree), (requests, wavefronts, conflicts));
    }
}
