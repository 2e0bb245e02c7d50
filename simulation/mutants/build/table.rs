//! The seeded bugs, one file for each file of kernels.

mod axes;
mod ceiling;
mod copies;
mod exact_sum;
mod grid;
mod groups;
mod items;
mod kepler;
mod keyed;
mod lanes;
mod memory;
mod naive;
mod operators;
mod partials;
mod reduce_0;
mod reduce_1;
mod reduce_2;
mod reduce_3;
mod reduce_4;
mod reduce_5;
mod runs;
mod segments;
mod shared_memory;
mod shifted;
mod single_pass;
mod textbook;
mod tile;
mod warp;

/// A file of kernels and its seeded bugs.
pub struct Source {
    /// The file, relative to `kernels-gpu/src`, or to `simulation/mutants/src` for a [`TEXTBOOK`] kernel.
    pub path: &'static str,
    /// The kernels that run the file's code; those without a list of operators for all of them by the names of entries.
    pub kernels: &'static [&'static str],
    pub mutants: &'static [Mutant],
}

/// The folder of the kernels with features that `kernels-gpu` lacks: fences, flags, reuse.
pub const TEXTBOOK: &str = "textbook/";

/// A seeded bug: a replacement of a piece of the file's text.
pub struct Mutant {
    pub name: &'static str,
    /// A description of the bug.
    pub breaks: &'static str,
    /// The text, which occurs exactly `occurrences` times in the file.
    pub find: &'static str,
    pub occurrences: usize,
    /// Which occurrence is replaced, from 1 on.
    pub occurrence: usize,
    pub replace: &'static str,
    /// The kernels that run the changed text, if not all do.
    pub kernels: Option<&'static [&'static str]>,
    /// The reason why nothing detects it.
    pub known_miss: Option<&'static str>,
}

/// A bug in a text that occurs once in the file.
const fn mutant(
    name: &'static str,
    breaks: &'static str,
    find: &'static str,
    replace: &'static str,
) -> Mutant {
    Mutant {
        name,
        breaks,
        find,
        occurrences: 1,
        occurrence: 1,
        replace,
        kernels: None,
        known_miss: None,
    }
}

impl Mutant {
    /// Selects one of several occurrences of the text, counted from 1.
    const fn nth(mut self, occurrence: usize, occurrences: usize) -> Self {
        self.occurrence = occurrence;
        self.occurrences = occurrences;
        self
    }

    /// Limits the bug to these kernels.
    const fn on(mut self, kernels: &'static [&'static str]) -> Self {
        self.kernels = Some(kernels);
        self
    }

    /// Marks the bug as a known miss, with the reason.
    const fn missed(mut self, reason: &'static str) -> Self {
        self.known_miss = Some(reason);
        self
    }
}

pub const SOURCES: &[Source] = &[
    naive::SOURCE,
    shared_memory::SOURCE,
    reduce_0::SOURCE,
    reduce_1::SOURCE,
    reduce_2::SOURCE,
    reduce_2::LAST_WARP,
    reduce_3::SOURCE,
    reduce_4::SOURCE,
    reduce_5::SOURCE,
    ceiling::SOURCE,
    kepler::BLOCK,
    kepler::GRID_STRIDE,
    kepler::STABLE,
    kepler::WARP_ATOMIC,
    kepler::BLOCK_ATOMIC,
    kepler::TRIPLE,
    warp::SOURCE,
    operators::SUM,
    operators::NUMBER,
    operators::EXTREMUM,
    operators::DOT,
    operators::COUNT,
    operators::ARG_EXTREMUM,
    memory::SOURCE,
    shifted::SOURCE,
    grid::SOURCE,
    single_pass::SOURCE,
    tile::SOURCE,
    tile::MORE,
    items::SOURCE,
    partials::SOURCE,
    segments::SOURCE,
    segments::PARTITION,
    segments::WINDOW,
    segments::PLAN,
    segments::ROWS,
    segments::VALUE,
    segments::LANES,
    segments::SELECT,
    segments::SELECT_TILE,
    segments::TILE_OF_A_PART,
    segments::PARTS_OF_ARRAYS,
    segments::PARTIALS,
    segments::BY_PART,
    segments::TILES,
    segments::COMBINE,
    segments::STAGED,
    axes::SOURCE,
    axes::SELECT,
    axes::COLUMNS,
    axes::COLUMN,
    axes::SHARE,
    axes::FEW,
    axes::STORE,
    axes::COMBINE,
    runs::SOURCE,
    runs::LOOK_BACK,
    runs::PART,
    groups::SOURCE,
    groups::insert::SOURCE,
    groups::insert::bins::SOURCE,
    groups::insert::sink::SOURCE,
    groups::AROUND,
    groups::parts::SAMPLE_SOURCE,
    groups::parts::SPLIT_SOURCE,
    groups::parts::COLLECT_SOURCE,
    groups::sort::SOURCE,
    groups::MOVING,
    keyed::DELIVER,
    keyed::ATOMIC,
    keyed::PEERS,
    keyed::WARP,
    keyed::BINS,
    keyed::RUNS,
    keyed::KEYS,
    keyed::COUNT,
    lanes::SEARCH,
    lanes::FILTER,
    copies::SOURCE,
    exact_sum::SOURCE,
    exact_sum::EXPANSION,
    exact_sum::DIGITS,
    exact_sum::ROWS,
    textbook::LAST_BLOCK,
    textbook::MAXIMA,
    textbook::STENCIL,
    textbook::SCAN,
];
