//! Shares, tiles and joints, for any split.

use super::*;
use proptest::prelude::*;

/// The tree of tiles as text, by its definition: pairs of neighbours, level by level.
fn tree(tiles: Range<u64>) -> Option<String> {
    let mut level: Vec<String> = tiles.map(|tile| tile.to_string()).collect();
    while level.len() > 1 {
        let pair = |pair: &[String]| match pair {
            [left, right] => format!("({left} {right})"),
            rest => rest.concat(),
        };
        level = level.chunks(2).map(pair).collect();
    }
    level.pop()
}

fn combine(left: String, right: String) -> String {
    format!("({left} {right})")
}

/// The tree of a node's tiles, as a device combines them.
fn subtree(node: Node, all: u64) -> (Node, String) {
    (node, tree(node.tiles(all)).expect("a node has tiles"))
}

proptest! {
    #[test]
    fn any_split_is_the_same_tree(lens in prop::collection::vec(0u64..40, 1..9), tile in 1u64..9) {
        let layout = Layout::of(&lens).unwrap();
        let all = layout.total().div_ceil(tile);
        let ranks = 0..lens.len();
        let nodes = ranks.clone().flat_map(|rank| layout.nodes(rank, tile));
        prop_assert_eq!(join(nodes.map(|node| subtree(node, all)), combine), tree(0..all));
        // What a rank with a cut tile combines itself: the whole tiles and the cut one.
        for rank in ranks {
            let tiles = layout.tiles(rank, tile);
            let whole = nodes_of(tiles.start..tiles.end.saturating_sub(1).max(tiles.start), all);
            let parts: Vec<_> = whole.chain(nodes_of(tiles.end.saturating_sub(1).max(tiles.start)..tiles.end, all)).collect();
            for node in layout.nodes(rank, tile) {
                let tiles = node.tiles(all);
                let inside = parts.iter().filter(|part| tiles.contains(&part.start));
                let joined = join(inside.map(|part| subtree(*part, all)), combine);
                prop_assert_eq!(joined, tree(tiles));
            }
        }
    }

    #[test]
    fn each_item_has_one_tile(lens in prop::collection::vec(0u64..40, 1..9), tile in 1u64..9) {
        let layout = Layout::of(&lens).unwrap();
        let mut seen = vec![0; layout.total() as usize];
        let mut mark = |items: Range<u64>| items.for_each(|item| seen[item as usize] += 1);
        for rank in 0..lens.len() {
            let tiles = layout.tiles(rank, tile);
            let cut = layout.cut_tile(rank, tile);
            let items = layout.items(rank);
            let whole = tiles.start * tile..tiles.end.saturating_mul(tile).min(items.end);
            prop_assert!(whole.is_empty() || items.start <= whole.start);
            mark(whole);
            if let Some(cut) = cut {
                prop_assert_eq!(cut.own, cut.tile * tile..items.end);
                for (other, piece) in cut.pieces {
                    prop_assert_eq!(layout.head(other, tile), Some((rank, piece.clone())));
                    mark(piece);
                }
            }
        }
        prop_assert!(seen.iter().all(|times| *times == 1), "{:?}", seen);
        let cuts = (0..lens.len()).any(|rank| layout.cut_tile(rank, tile).is_some());
        prop_assert_eq!(layout.cuts_no_tile(tile), !cuts);
    }

    #[test]
    fn shares_are_alike_and_follow_one_another(n in 0u64..1 << 40, size in 1usize..5000) {
        let mut end = 0;
        let layout: Vec<_> = (0..size).map(|rank| share(n, rank, size)).collect();
        let least = n / size as u64;
        for share in &layout {
            prop_assert_eq!(share.start, end);
            prop_assert!(share.start.is_multiple_of(MOST_ITEMS as u64) || share.start == n);
            let len = share.end - share.start;
            let unlike = len.abs_diff(least);
            prop_assert!(unlike <= least / 100 + 2 * MOST_ITEMS as u64, "{} of {}", len, least);
            end = share.end;
        }
        prop_assert_eq!(end, n);
    }
}

fn nodes_of(tiles: Range<u64>, all: u64) -> impl Iterator<Item = Node> {
    nodes(tiles, all)
}

#[test]
fn a_share_has_few_subtrees() {
    for size in [1, 2, 3, 5, 8, 100, 4096] {
        let n = 1 << 37;
        let lens: Vec<u64> = (0..size)
            .map(|rank| {
                let share = share(n, rank, size);
                share.end - share.start
            })
            .collect();
        let layout = Layout::of(&lens).unwrap();
        for rank in 0..size {
            let nodes = layout.nodes(rank, 1024).count();
            assert!(nodes <= 18, "{nodes} of rank {rank} of {size}");
            assert!(!size.is_power_of_two() || nodes == 1, "{size}: {nodes}");
        }
    }
}

#[test]
fn the_longest_arrays() {
    let n = u64::MAX;
    assert_eq!(share(n, 0, 1), 0..n);
    assert_eq!(share(n, 2, 3).end, n);
    let layout = Layout::of(&[1 << 63, (1 << 63) - 1]).unwrap();
    assert_eq!(layout.total(), n);
    assert!(layout.nodes(1, 256).count() <= 64);
    let error = Layout::of(&[1 << 63, 1 << 63]).unwrap_err();
    assert!(
        error.to_string().contains("more than 2^64 - 1 items"),
        "{error}"
    );
}
