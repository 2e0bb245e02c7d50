//! An array on several ranks: which subtrees of the tree of tiles each of them combines, and what the bits are.

use crate::simulated::tile_sums;
use crate::tables::markdown;
use anyhow::Result;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::ops::Range;

/// The tiles of an array.
type Tiles = Range<usize>;

/// A subtree of the tree of tiles: `2^level` adjacent tiles from a multiple of that on, or fewer at the end of the array.
#[derive(Clone, Copy)]
struct Subtree {
    start: usize,
    level: u32,
    /// The tiles of the whole array.
    all: usize,
}

impl Subtree {
    fn whole(all: usize) -> Self {
        let level = all.next_power_of_two().ilog2();
        let start = 0;
        Self { start, level, all }
    }

    fn tiles(self) -> Tiles {
        self.start..self.all.min(self.start + (1 << self.level))
    }

    /// The halves, of which the right one may have no tiles; `None` of a tile.
    fn halves(self) -> Option<[Self; 2]> {
        let level = self.level.checked_sub(1)?;
        let half = |start| Self {
            start,
            level,
            ..self
        };
        Some([half(self.start), half(self.start + (1 << level))])
    }

    /// The fewest subtrees of this one that have the tiles of `own`, in their order.
    fn parts_of(self, own: &Tiles, parts: &mut Vec<Self>) {
        let tiles = self.tiles();
        if tiles.is_empty() || tiles.end <= own.start || own.end <= tiles.start {
            return;
        }
        if own.start <= tiles.start && tiles.end <= own.end {
            return parts.push(self);
        }
        // A tile has none or all of its tiles in `own`.
        for half in self.halves().into_iter().flatten() {
            half.parts_of(own, parts);
        }
    }
}

/// The value of a subtree: one that is known, or that of its halves.
fn value<A: Clone>(
    tree: Subtree,
    known: &BTreeMap<(usize, usize), A>,
    combine: &impl Fn(A, A) -> A,
) -> Option<A> {
    let tiles = tree.tiles();
    if let Some(value) = known.get(&(tiles.start, tiles.end)) {
        return Some(value.clone());
    }
    let [left, right] = tree
        .halves()?
        .map(|half| (!half.tiles().is_empty()).then(|| value(half, known, combine))?);
    match (left, right) {
        (Some(left), Some(right)) => Some(combine(left, right)),
        (left, right) => left.or(right),
    }
}

/// The values of an array's tiles, combined by the tree.
fn by_tree<A: Clone>(tiles: &[A], combine: &impl Fn(A, A) -> A) -> Option<A> {
    let known = tiles.iter().cloned().enumerate();
    let known = known.map(|(tile, value)| ((tile, tile + 1), value));
    value(Subtree::whole(tiles.len()), &known.collect(), combine)
}

/// The tiles of each rank: numbers that differ by at most one.
fn shares(tiles: usize, ranks: usize) -> impl Iterator<Item = Tiles> {
    (0..ranks).map(move |rank| tiles * rank / ranks..tiles * (rank + 1) / ranks)
}

/// Each rank combines its subtrees, and these partials are combined by the tree.
fn gathered<A: Clone>(tiles: &[A], ranks: usize, combine: &impl Fn(A, A) -> A) -> Option<A> {
    let whole = Subtree::whole(tiles.len());
    let mut partials = BTreeMap::new();
    for own in shares(tiles.len(), ranks) {
        let mut parts = vec![];
        whole.parts_of(&own, &mut parts);
        for part in parts {
            let range = part.tiles();
            let partial = by_tree(&tiles[range.clone()], combine)?;
            partials.insert((range.start, range.end), partial);
        }
    }
    value(whole, &partials, combine)
}

/// Each rank combines its tiles to one value, and these are combined one after another.
fn in_turn<A: Clone>(tiles: &[A], ranks: usize, combine: &impl Fn(A, A) -> A) -> Option<A> {
    let values = shares(tiles.len(), ranks).filter_map(|own| by_tree(&tiles[own], combine));
    values.reduce(combine)
}

/// Sums of the same floats on 1 to 8 ranks.
///
/// # Errors
///
/// If the kernel that sums a tile fails.
pub fn bits() -> Result<String> {
    let tiles = tile_sums(TILES)?;
    let add = |a: f32, b: f32| a + b;
    let cell = |sum: Option<f32>| {
        let sum = sum.unwrap_or_default();
        format!("{sum} (`{:#010x}`)", sum.to_bits())
    };
    let rows = (1..=8).map(|ranks| {
        vec![
            ranks.to_string(),
            cell(in_turn(&tiles, ranks, &add)),
            cell(gathered(&tiles, ranks, &add)),
        ]
    });
    let head = [
        "ranks",
        "one sum of each rank, added in turn",
        "partials gathered, added by the tree",
    ];
    Ok(markdown(&head, rows))
}

/// The tiles of the array in the drawing and in the table.
const TILES: usize = 14;

/// The ranks in the drawing.
const RANKS: usize = 3;

/// The hue of each rank.
const HUES: [u32; RANKS] = [204, 28, 145];

/// The pixels between adjacent tiles: few, so that a phone shows all of them.
const STEP: usize = 24;

/// The pixels between levels.
const LEVEL: usize = 44;

/// Where the tiles' row begins.
const TOP: usize = 56;

/// What the drawing shows.
pub const SUMMARY: &str = "the tree of 14 tiles on 3 ranks, with the 6 partials that are gathered";

/// The tree of tiles, with the ranks' subtrees in their colours.
pub fn drawing() -> String {
    let whole = Subtree::whole(TILES);
    let width = TILES * STEP + 20;
    let height = TOP + LEVEL * whole.level as usize + 20;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" \
         font-family=\"sans-serif\" font-size=\"13\" text-anchor=\"middle\">\n<title>{SUMMARY}</title>\n\
         <rect width=\"{width}\" height=\"{height}\" rx=\"4\" fill=\"#fdfdfb\"/>\n"
    );
    let mut lines = String::new();
    let mut marks = String::new();
    let mut owners = vec![];
    for (rank, own) in shares(TILES, RANKS).enumerate() {
        let hue = HUES[rank];
        let (left, right) = (own.start * STEP + 13, own.end * STEP + 7);
        let middle = left.midpoint(right);
        let _ = writeln!(
            svg,
            "<text x=\"{middle}\" y=\"22\" fill=\"#222\">rank {rank}</text>\
             <path d=\"M{left} 30H{right}\" stroke=\"hsl({hue} 60% 40%)\" stroke-width=\"3\"/>"
        );
        let mut parts = vec![];
        whole.parts_of(&own, &mut parts);
        owners.push(parts);
    }
    draw(whole, None, &owners, &mut lines, &mut marks);
    svg + &lines + &marks + "</svg>\n"
}

/// Where a subtree's value is drawn: in the middle of its halves.
fn position(tree: Subtree) -> (usize, usize) {
    let x = match tree.halves() {
        None => tree.start * STEP + STEP / 2 + 10,
        Some([left, right]) if right.tiles().is_empty() => position(left).0,
        Some([left, right]) => position(left).0.midpoint(position(right).0),
    };
    (x, TOP + LEVEL * tree.level as usize)
}

/// Draws a subtree, which is inside a rank's if `hue` is its colour.
fn draw(
    tree: Subtree,
    hue: Option<u32>,
    owners: &[Vec<Subtree>],
    lines: &mut String,
    marks: &mut String,
) {
    let is_this = |part: &Subtree| part.tiles() == tree.tiles();
    let owner = owners.iter().position(|parts| parts.iter().any(is_this));
    let is_partial = hue.is_none() && owner.is_some();
    let own_hue = hue.or(owner.map(|rank| HUES[rank]));
    let colour = own_hue.map_or("#777".to_owned(), |hue| format!("hsl({hue} 60% 40%)"));
    let (x, y) = position(tree);
    let mut line = |half| {
        let (from_x, from_y) = position(half);
        let _ = writeln!(
            lines,
            "<path d=\"M{from_x} {from_y}L{x} {y}\" stroke=\"{colour}\" stroke-width=\"2\"/>"
        );
    };
    let mark = match tree.halves() {
        None => {
            let (left, top, tile) = (x - 10, y - 14, tree.start);
            let fill = own_hue.unwrap_or_default();
            let stroke = if is_partial { 3 } else { 1 };
            format!(
                "<rect x=\"{left}\" y=\"{top}\" width=\"20\" height=\"28\" rx=\"3\" fill=\"hsl({fill} 60% 90%)\" \
                 stroke=\"{colour}\" stroke-width=\"{stroke}\"/><text x=\"{x}\" y=\"{}\" fill=\"#222\">{tile}</text>",
                y + 5
            )
        }
        // A value without a neighbour is passed on.
        Some([left, right]) if right.tiles().is_empty() => {
            line(left);
            return draw(left, hue, owners, lines, marks);
        }
        Some(halves) => {
            for half in halves {
                line(half);
            }
            for half in halves {
                draw(half, own_hue, owners, lines, marks);
            }
            let circle = match (is_partial, own_hue) {
                (true, _) => format!("r=\"8\" fill=\"{colour}\""),
                (_, Some(_)) => format!("r=\"4\" fill=\"{colour}\""),
                _ => format!("r=\"6\" fill=\"#fdfdfb\" stroke=\"{colour}\" stroke-width=\"2\""),
            };
            format!("<circle cx=\"{x}\" cy=\"{y}\" {circle}/>")
        }
    };
    marks.push_str(&mark);
    marks.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn join(left: String, right: String) -> String {
        format!("({left} {right})")
    }

    fn named(tiles: usize) -> Vec<String> {
        (0..tiles).map(|tile| tile.to_string()).collect()
    }

    #[test]
    fn the_tree_is_that_of_adjacent_pairs() {
        let trees = [
            (1, "0"),
            (2, "(0 1)"),
            (3, "((0 1) 2)"),
            (7, "(((0 1) (2 3)) ((4 5) 6))"),
        ];
        for (tiles, tree) in trees {
            assert_eq!(by_tree(&named(tiles), &join).as_deref(), Some(tree));
        }
        assert_eq!(by_tree(&[], &join), None);
    }

    #[test]
    fn gathered_partials_have_the_tree_of_one_rank() {
        for tiles in 1..40 {
            let names = named(tiles);
            let whole = by_tree(&names, &join);
            for ranks in 1..=tiles + 2 {
                let of_ranks = gathered(&names, ranks, &join);
                assert_eq!(of_ranks, whole, "{tiles} tiles on {ranks} ranks");
            }
        }
        let turn = in_turn(&named(4), 4, &join);
        assert_eq!(turn.as_deref(), Some("(((0 1) 2) 3)"));
    }

    #[test]
    fn the_table_shows_what_the_page_says() {
        let sums = tile_sums(TILES).unwrap();
        let add = |a: f32, b: f32| a + b;
        let one = by_tree(&sums, &add).map(f32::to_bits);
        let bits = |sum: Option<f32>| sum.map(f32::to_bits);
        assert!((1..=8).all(|ranks| bits(gathered(&sums, ranks, &add)) == one));
        assert!((2..=8).any(|ranks| bits(in_turn(&sums, ranks, &add)) != one));
    }

    #[test]
    fn the_drawing_has_every_partial() {
        let svg = drawing();
        let (thick, large) = ("stroke-width=\"3\"/><text", "r=\"8\"");
        let partials = svg.matches(thick).count() + svg.matches(large).count();
        assert_eq!(partials, 6, "{SUMMARY}");
        assert_eq!(svg.matches("<rect x=").count(), TILES);
        // A binary tree combines one time less than it has tiles.
        assert_eq!(svg.matches("<circle").count(), TILES - 1);
    }
}
