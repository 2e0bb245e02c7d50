//! Where the parts of an array lie: the ranks' items, the tiles that belong to them, and the joints of the tree of tiles.

use std::ops::Range;

use kernels_gpu::tile::MOST_ITEMS;

use crate::error::{Error, RanksError};

/// The most units of a share for each rank, from which the shares are cut: so the shares differ by less than 1/256 of
/// one, and a rank has few subtrees.
const UNITS: u64 = 256;

/// The items of rank `rank` of `size`, if the array is to be cut between tiles.
pub(super) fn share(n: u64, rank: usize, size: usize) -> Range<u64> {
    let (rank, size) = (rank as u64, size as u64);
    let tiles = n.div_ceil(MOST_ITEMS as u64);
    // Units of a power of two of tiles: they are subtrees.
    let unit = match tiles / size.saturating_mul(UNITS) {
        0 | 1 => 1,
        most => 1u64 << most.ilog2(),
    };
    let units = u128::from(tiles.div_ceil(unit));
    let items = u128::from(unit) * MOST_ITEMS as u128;
    let start = |rank: u64| {
        let first = units * u128::from(rank) / u128::from(size);
        (first * items).min(n.into()) as u64
    };
    start(rank)..start(rank + 1)
}

/// The items of all ranks, one rank after another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    /// The first item of each rank, and the number of all items.
    starts: Vec<u64>,
}

impl Layout {
    /// The layout of ranks with so many items.
    pub(super) fn of(lens: &[u64]) -> Result<Self, Error> {
        let mut starts = vec![0u64];
        for len in lens {
            let end = starts[starts.len() - 1].checked_add(*len);
            starts.push(end.ok_or(RanksError::TooLong { size: lens.len() })?);
        }
        Ok(Self { starts })
    }

    /// The number of all items.
    pub(super) fn total(&self) -> u64 {
        self.starts[self.starts.len() - 1]
    }

    /// The items of a rank.
    pub(super) fn items(&self, rank: usize) -> Range<u64> {
        self.starts[rank]..self.starts[rank + 1]
    }

    /// Whether each rank's items begin with a tile.
    pub(super) fn cuts_no_tile(&self, tile: u64) -> bool {
        let total = self.total();
        { self.starts.iter() }.all(|start| start.is_multiple_of(tile) || *start == total)
    }

    /// The tiles whose first item a rank has: they belong to it.
    pub(super) fn tiles(&self, rank: usize, tile: u64) -> Range<u64> {
        let items = self.items(rank);
        items.start.div_ceil(tile)..items.end.div_ceil(tile)
    }

    /// The subtrees of the tiles that belong to a rank.
    pub(super) fn nodes(&self, rank: usize, tile: u64) -> impl Iterator<Item = Node> + use<> {
        nodes(self.tiles(rank, tile), self.total().div_ceil(tile))
    }

    /// The rank with an item.
    fn rank_of(&self, item: u64) -> usize {
        self.starts.partition_point(|start| *start <= item) - 1
    }

    /// The first items of a rank, and whose tile they belong to, if that begins on another rank.
    pub(super) fn head(&self, rank: usize, tile: u64) -> Option<(usize, Range<u64>)> {
        let items = self.items(rank);
        let start = items.start / tile * tile;
        let head = items.start..items.end.min(items.start.next_multiple_of(tile));
        (!head.is_empty()).then(|| (self.rank_of(start), head))
    }

    /// The last tile of a rank, if other ranks have items of it.
    pub(super) fn cut_tile(&self, rank: usize, tile: u64) -> Option<Cut> {
        let (items, total) = (self.items(rank), self.total());
        let last = self.tiles(rank, tile).last()?;
        let end = total.min((last + 1).saturating_mul(tile));
        if items.end >= end {
            return None;
        }
        let ranks = rank + 1..self.starts.len() - 1;
        let pieces = ranks.map(|other| {
            let items = self.items(other);
            (other, items.start.min(end)..items.end.min(end))
        });
        Some(Cut {
            tile: last,
            own: last * tile..items.end,
            pieces: pieces.filter(|(_, items)| !items.is_empty()).collect(),
        })
    }
}

/// A tile with items of several ranks; it belongs to the first.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Cut {
    pub(super) tile: u64,
    /// The items of the rank itself.
    pub(super) own: Range<u64>,
    /// The items of the ranks behind it.
    pub(super) pieces: Vec<(usize, Range<u64>)>,
}

/// A subtree of the tree of tiles: 2^level adjacent tiles, from a multiple of that; fewer at the end of the array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Node {
    /// The first tile.
    pub(super) start: u64,
    pub(super) level: u32,
}

impl Node {
    /// Its tiles, of `all`.
    pub(super) fn tiles(self, all: u64) -> Range<u64> {
        self.start..all.min(self.start.saturating_add(1 << self.level))
    }
}

/// The fewest subtrees of a tree of `all` tiles that have these tiles, in their order.
pub(super) fn nodes(tiles: Range<u64>, all: u64) -> impl Iterator<Item = Node> {
    let mut start = tiles.start;
    std::iter::from_fn(move || {
        if start >= tiles.end {
            return None;
        }
        // Up to half of what a number counts, so that the size of a level is a number.
        let fits = |level: &u32| {
            let node = Node {
                start,
                level: *level,
            };
            start.is_multiple_of(1 << level) && node.tiles(all).end <= tiles.end
        };
        // A level that fits has only levels that fit below it.
        let level = (0..u64::BITS - 1).take_while(fits).last()?;
        let node = Node { start, level };
        start = node.tiles(all).end;
        Some(node)
    })
}

/// Combines adjacent subtrees, which together are one subtree: first those that are complete, then, at the end of the
/// array, from right to left. `None` if there is no subtree.
pub(super) fn join<A>(
    subtrees: impl IntoIterator<Item = (Node, A)>,
    combine: impl Fn(A, A) -> A,
) -> Option<A> {
    let mut waiting: Vec<(Node, A)> = vec![];
    for (mut node, mut value) in subtrees {
        // Its left neighbour waits, if it is a right child.
        while let Some((left, _)) = waiting.last()
            && left.level == node.level
            && node.start.is_multiple_of(1 << node.level)
            && !node.start.is_multiple_of(2 << node.level)
        {
            let (left, of_left) = waiting.pop().expect("the last one");
            value = combine(of_left, value);
            node = Node {
                start: left.start,
                level: left.level + 1,
            };
        }
        waiting.push((node, value));
    }
    let values = waiting.into_iter().rev().map(|(_, value)| value);
    values.reduce(|right, left| combine(left, right))
}

#[cfg(test)]
mod tests;
