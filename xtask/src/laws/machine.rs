//! The laws of one entry's machine code.

mod exact;

use super::claim::Claim;
use super::kernels::{self, Block, Kernel, Loads, Stores, Warp};
use crate::sass::profile::{Counts, Profile};
use std::collections::BTreeMap;
use std::fmt::Debug;

/// The number of vectors that most kernels have in flight.
const IN_FLIGHT: usize = 4;

/// Reductions along axes between whose loads ptxas puts additions or comparisons of 64 bits, and the loads that are in
/// flight all the same.
const INTERLEAVED: [((&str, &str), usize); 11] = [
    (("sum", "i64"), 2),
    (("sum", "u64"), 2),
    (("min", "i64"), 2),
    (("min", "u64"), 2),
    (("max", "i64"), 2),
    (("max", "u64"), 2),
    (("sum_wide", "i64"), 2),
    (("sum_wide", "u64"), 2),
    (("sum_wide", "i8"), 3),
    (("arg_min", "f64"), 3),
    (("arg_max", "f64"), 3),
];

/// Steps of a reduction of 32 lanes.
const STEPS: usize = 5;

/// Checks the laws of every architecture; returns the broken ones as texts.
pub fn broken_on_every_arch(claim: &Claim, profile: &Profile) -> Vec<String> {
    let mut broken = Broken::default();
    spaces(&mut broken, claim, profile);
    let Some(kernel) = kernels::of(claim.kernel) else {
        broken.unless(
            false,
            format!(
                "kernel {} is not in the list of `laws::kernels`",
                claim.kernel
            ),
        );
        return broken.0;
    };
    loads(&mut broken, kernel, claim, &profile.counts);
    result(&mut broken, kernel, claim, &profile.counts);
    block(&mut broken, kernel, claim, profile);
    halves(&mut broken, kernel, claim, &profile.counts);
    value(&mut broken, claim, &profile.counts);
    broken.0
}

/// Checks the laws of sm_90, which adds those of warps; returns the broken ones as texts.
pub fn broken(claim: &Claim, profile: &Profile) -> Vec<String> {
    let mut broken = Broken(broken_on_every_arch(claim, profile));
    if let Some(kernel) = kernels::of(claim.kernel) {
        warp(&mut broken, kernel, claim, &profile.counts);
    }
    broken.0
}

#[derive(Default)]
struct Broken(Vec<String>);

impl Broken {
    fn unless(&mut self, holds: bool, law: String) {
        if !holds {
            self.0.push(law);
        }
    }

    fn unless_equal<T: PartialEq + Debug>(&mut self, what: &str, found: &T, expected: &T) {
        let law = format!("{what}: {found:?} instead of {expected:?}");
        self.unless(found == expected, law);
    }
}

/// No generic addresses, local memory or calls, and no spills except where a claim allows them.
fn spaces(broken: &mut Broken, claim: &Claim, profile: &Profile) {
    let (resources, counts) = (&profile.resources, &profile.counts);
    broken.unless(
        counts.generic == 0,
        format!("{} instructions with generic addresses", counts.generic),
    );
    let most = claim.most_spilled();
    broken.unless(
        (counts.local == 0 || most > 0) && resources.stack <= most,
        format!(
            "local memory: {} accesses, {} bytes of stack",
            counts.local, resources.stack
        ),
    );
    broken.unless(
        resources.spill_stores.max(resources.spill_loads) <= most,
        format!(
            "spills: {} bytes stored, {} loaded",
            resources.spill_stores, resources.spill_loads
        ),
    );
    // For some divisions of 64 bits, ptxas calls its own function.
    broken.unless(
        counts.calls <= claim.divisions() || claim.op.ends_with("mean_variance"),
        format!("{} calls of functions", counts.calls),
    );
}

/// Loads are as wide as possible, and not more than in the source.
fn loads(broken: &mut Broken, kernel: &Kernel, claim: &Claim, counts: &Counts) {
    let (wide, element) = (claim.load_bits(), claim.element_bits);
    // Loads by width in bits. Those of the width `looped` may be more, because ptxas may unroll their loop.
    let mut expected = BTreeMap::new();
    let mut add = |width, count| {
        if count > 0 {
            *expected.entry(width).or_default() += count;
        }
    };
    let looped = match kernel.loads {
        Loads::Elements => {
            add(wide, claim.loads());
            Some(wide)
        }
        Loads::Ceiling | Loads::Vectors => {
            add(wide, vectors_in_source(kernel, claim) * claim.loads());
            add(
                claim.item_load_bits(),
                items_in_source(claim) * claim.item_loads(),
            );
            Some(wide)
        }
        Loads::KeysAndValues => {
            for width in claim.key_widths() {
                add(*width, claim.vector as usize);
            }
            add(element, (claim.vector * claim.arrays) as usize);
            None
        }
        Loads::Neighbours => {
            for width in claim.key_widths() {
                let vector = (width * claim.vector).min(wide);
                add(vector, (width * claim.vector / vector) as usize);
                add(*width, claim.vector as usize);
            }
            add(wide, claim.loads());
            add(element, claim.vector as usize);
            None
        }
        Loads::Keys { single, .. } => {
            add(128, IN_FLIGHT + 1);
            add(claim.key_bits, single);
            None
        }
        Loads::Tiles => return tiles(broken, claim, counts),
        Loads::Ways => return exact::loads(broken, claim, counts),
        Loads::Windows => {
            let together = counts.in_flight.get(&128);
            broken.unless(
                together.is_some_and(|together| *together >= IN_FLIGHT),
                format!(
                    "{together:?} loads of granules are in flight together instead of {IN_FLIGHT}"
                ),
            );
            return;
        }
        Loads::Rows => {
            let (single, together) = (
                claim.item_load_bits(),
                counts.in_flight.get(&128).copied().unwrap_or(0),
            );
            broken.unless(
                together >= IN_FLIGHT && counts.ldg.contains_key(&single),
                format!(
                    "{together} vectors of keys are in flight together instead of {IN_FLIGHT}, and {:?} are loaded",
                    counts.ldg
                ),
            );
            // The words of tiles are loaded until they are stored; one load for all tiles in front.
            broken.unless_equal(
                "atomic loads by bits",
                &counts.atomic_ldg,
                &[(64, 1)].into(),
            );
            broken.unless(
                counts.fences == 0 && counts.atom == 1 && counts.red == 0,
                format!(
                    "a block draws a tile by one ATOM, and needs no fence: {} ATOM, {} RED, {} fences",
                    counts.atom, counts.red, counts.fences
                ),
            );
            return;
        }
        Loads::Strided => {
            let entry = (claim.op, claim.items);
            let known = INTERLEAVED.iter().find(|known| known.0 == entry);
            let least = known.map_or(IN_FLIGHT, |known| known.1);
            let together = counts.in_flight.values().max();
            broken.unless(
                together.is_some_and(|together| *together >= least),
                format!("{together:?} loads are in flight together instead of {least}"),
            );
            return;
        }
        Loads::Left => return,
        Loads::Words => {
            for (what, widths) in [("load", &counts.ldg), ("store", &counts.stg)] {
                broken.unless(
                    widths.keys().next_back() == Some(&wide),
                    format!("the widest {what} must have {wide} bits; widths: {widths:?}"),
                );
            }
            broken.unless_equal(
                "stores by bits, compared with loads",
                &counts.stg,
                &counts.ldg,
            );
            return;
        }
    };
    if kernel.stores == Stores::Cells {
        let mut atomic_loads = BTreeMap::new();
        // The index of the first key without a cell is loaded before it is changed.
        let rejecting = match kernel.loads {
            Loads::KeysAndValues => claim.vector as usize,
            Loads::Neighbours => 1,
            Loads::Keys { rejecting, .. } => rejecting,
            _ => 0,
        };
        if rejecting > 0 {
            atomic_loads.insert(64, rejecting);
        }
        if claim.swaps_in_a_loop() {
            // The load of the cell before the loop.
            *atomic_loads.entry(claim.acc_bits).or_default() += 1;
        }
        broken.unless_equal("atomic loads by bits", &counts.atomic_ldg, &atomic_loads);
    }
    let mut found = counts.ldg.clone();
    if let Some((found, expected)) =
        looped.and_then(|bits| Some((found.get_mut(&bits)?, expected.get(&bits)?)))
    {
        *found = (*found).min(*expected);
    }
    broken.unless_equal("loads by bits", &found, &expected);
}

/// A tile's vectors are loaded as wide as possible, several at a time, single items by their own width. A vector of an
/// array that starts elsewhere is loaded by granules, parts of which may not be needed.
fn tiles(broken: &mut Broken, claim: &Claim, counts: &Counts) {
    let (wide, item) = (claim.load_bits(), claim.item_load_bits());
    let known = |bits: &u32| [wide, item, 32, 64].contains(bits);
    broken.unless(
        counts.ldg.keys().all(known)
            && [wide, item]
                .iter()
                .all(|bits| counts.ldg.contains_key(bits)),
        format!(
            "loads must have {wide} bits, and {item} for single items: {:?}",
            counts.ldg
        ),
    );
    let (rows, together) = (
        claim.vectors_in_flight() * claim.loads(),
        counts.in_flight.get(&wide),
    );
    broken.unless(
        together.is_some_and(|together| *together >= rows),
        format!("{together:?} loads of vectors are in flight together instead of {rows}"),
    );
}

/// A partial is stored once; a cell gets a `RED`, or a loop if no instruction applies the operator.
fn result(broken: &mut Broken, kernel: &Kernel, claim: &Claim, counts: &Counts) {
    let stored: usize = counts
        .stg
        .iter()
        .map(|(&bits, &count)| bits as usize * count)
        .sum();
    let atomics = format!("{} RED and {} ATOM", counts.red, counts.atom);
    match kernel.stores {
        Stores::Partial => {
            broken.unless_equal("bits stored", &stored, &(claim.acc_bits as usize));
            broken.unless(
                counts.red + counts.atom == 0,
                format!("a partial needs no atomics: {atomics}"),
            );
        }
        Stores::PartialsAndResult => {
            broken.unless_equal(
                "bits stored as the result",
                &stored,
                &(claim.acc_bits as usize),
            );
            broken.unless(
                counts.red == 0 && counts.atom == 2,
                format!("a block arrives in its group by one ATOM, the group in the next one by another: {atomics}"),
            );
            partials(broken, claim, counts);
        }
        Stores::Cells => {
            broken.unless_equal("bits stored besides atomics", &stored, &0);
            // Keys without a cell are counted by a `RED`.
            let counted = claim.key_bits > 0;
            if claim.swaps_in_a_loop() {
                broken.unless(
                    counts.atom == 1 && (counts.red > 0) == counted,
                    format!("the atomic must be a loop around one ATOM: {atomics}"),
                );
            } else {
                broken.unless(
                    counts.atom == claim.exchanges() && counts.red > 0,
                    format!("atomics without a result must be RED: {atomics}"),
                );
            }
        }
        Stores::CellsAndRounds => {
            broken.unless_equal("bits stored besides atomics", &stored, &32);
        }
        Stores::CellsAndZeros => exact::result(broken, claim, counts),
        Stores::Results => broken.unless(
            stored >= claim.acc_bits as usize,
            format!("{stored} bits stored; a result has {}", claim.acc_bits),
        ),
        Stores::Copy => broken.unless(
            counts.red + counts.atom == 0,
            format!("a copy needs no atomics: {atomics}"),
        ),
    }
}

/// Blocks exchange partials in words of 64 bits, each with 32 bits of the value and a ready flag.
fn partials(broken: &mut Broken, claim: &Claim, counts: &Counts) {
    let (words, in_flight) = (claim.words(), claim.partials_in_flight());
    broken.unless_equal(
        "words of partials loaded, by bits",
        &counts.atomic_ldg,
        &[(64, in_flight * words)].into(),
    );
    broken.unless_equal(
        "words of partials stored and reset, by bits",
        &counts.atomic_stg,
        &[(64, (1 + in_flight) * words)].into(),
    );
    broken.unless(
        counts.fences == 0,
        format!("ready flags need no fences: {} fences", counts.fences),
    );
}

/// Shared memory and barriers.
fn block(broken: &mut Broken, kernel: &Kernel, claim: &Claim, profile: &Profile) {
    let counts = &profile.counts;
    let found = format!(
        "{} LDS, {} STS, {} ATOMS, {} BAR",
        counts.lds, counts.sts, counts.atoms, counts.bar
    );
    let memory = counts.lds > 0 && counts.sts > 0;
    match kernel.block {
        Block::None => broken.unless(
            counts.lds + counts.sts + counts.atoms + counts.bar == 0
                && profile.resources.shared == 0,
            format!("must have no LDS, STS, ATOMS or BAR, and no shared memory: {found}"),
        ),
        Block::Memory => broken.unless(
            memory && counts.atoms == 0 && counts.bar > 0,
            format!("must have LDS, STS and BAR, no ATOMS: {found}"),
        ),
        Block::OneBarrier => broken.unless(
            memory && counts.atoms == 0 && counts.bar == 1,
            format!("must have LDS, STS and one BAR, no ATOMS: {found}"),
        ),
        Block::OfWarps => broken.unless(
            memory && counts.atoms > 0 && counts.bar == 0,
            format!("must have LDS, STS and ATOMS, no BAR: {found}"),
        ),
        Block::Atomics => {
            broken.unless(
                memory && counts.atoms > 0 && counts.bar > 0,
                format!("must have LDS, STS, ATOMS and BAR: {found}"),
            );
            broken.unless(
                counts.atoms_loops == 0 || claim.swaps_in_a_loop_in_shared(),
                format!("{} loops around ATOMS", counts.atoms_loops),
            );
        }
    }
}

/// Shuffles: one for each 32 bits, and no more than in the source.
fn warp(broken: &mut Broken, kernel: &Kernel, claim: &Claim, counts: &Counts) {
    if kernel.warp == Warp::Several {
        // Segments by an operator that selects: lanes exchange items, all of which have the result.
        let selects =
            matches!(claim.kernel, "segments" | "segments_by_part") && claim.op.starts_with("arg_");
        let (mode, words) = match selects {
            true => ("BFLY", claim.item_load_bits().div_ceil(32) as usize),
            false => ("DOWN", claim.words()),
        };
        let found = counts.shfl.get(mode).copied().unwrap_or_default();
        broken.unless(
            found >= words,
            format!("{found} SHFL.{mode} for values of {words} words"),
        );
        return;
    }
    // `sort_scatter` finds equal digits by ballots, and sums counts by shuffles as the others.
    if kernel.warp == Warp::Others {
        broken.unless(!counts.shfl.is_empty(), "no SHFL".into());
        return;
    }
    let values = claim.arrays as usize * claim.words();
    let steps = STEPS * values;
    let expected = match kernel.warp {
        Warp::None | Warp::Redux => vec![],
        Warp::Down(reductions) => vec![("DOWN", reductions * steps)],
        Warp::AllReduce => vec![("BFLY", steps), ("DOWN", steps)],
        Warp::Match => vec![("IDX", steps)],
        Warp::Ballot => vec![("IDX", claim.key_words() + steps)],
        Warp::NextLane(words) => vec![("DOWN", words)],
        Warp::Runs => vec![("UP", claim.key_words() + 2 * values)],
        Warp::Several | Warp::Others => unreachable!("checked above"),
    };
    let expected = expected.into_iter();
    let expected: BTreeMap<String, usize> = expected
        .map(|(mode, count)| (mode.to_owned(), count))
        .collect();
    let mut found = counts.shfl.clone();
    if kernel.stores == Stores::PartialsAndResult {
        // A long `combine` keeps the steps in a loop.
        if claim.op.ends_with("mean_variance") {
            found.values_mut().for_each(|count| *count *= STEPS);
        }
    }
    broken.unless_equal("SHFL, one for each 32 bits", &found, &expected);
    // Other kernels may have one, by which ptxas combines a warp's atomics.
    if kernel.warp == Warp::Redux {
        broken.unless(counts.redux > 0, "no REDUX".into());
    }
    match claim.kernel {
        "triple_interleaved" => broken.unless(
            counts.dependent_shfl == 0,
            format!("{} SHFL depend on the previous one", counts.dependent_shfl),
        ),
        "triple_in_turn" => broken.unless(
            counts.dependent_shfl > 0,
            "no SHFL depends on the previous one, so the kernel is no baseline".into(),
        ),
        _ => {}
    }
}

/// An instruction converts every `f16` that is loaded.
fn halves(broken: &mut Broken, kernel: &Kernel, claim: &Claim, counts: &Counts) {
    let vectors = matches!(kernel.loads, Loads::Vectors | Loads::Tiles | Loads::Ways);
    // Comparisons need no conversion.
    let compares = claim.op.starts_with("count_");
    if !claim.has("f16") || !vectors || compares {
        return;
    }
    let elements = elements_loaded(kernel, claim);
    broken.unless(
        counts.from_f16 >= elements,
        format!(
            "{} conversions of f16 for {elements} elements",
            counts.from_f16
        ),
    );
}

/// The operator's value is read from the constant bank.
fn value(broken: &mut Broken, claim: &Claim, counts: &Counts) {
    let [start, end] = claim.value;
    // A value of less than 32 bits may be read as a part of a word.
    let is_read = counts.parameters.range(start / 4 * 4..end).next().is_some();
    broken.unless(
        start == end || is_read,
        format!("the operator, parameter bytes {start}..{end}, is not read from the constant bank"),
    );
}

/// Checks that an entry of 16-bit floats has at most three more instructions per element than the same entry
/// of `f32`, in which it computes; returns the law if broken.
///
/// The hardware converts an `f16` by one instruction and a `bf16` by a shift. In software, an `f16` takes a
/// dozen instructions and a branch.
pub fn converts_in_software(
    claim: &Claim,
    instructions: usize,
    f32_instructions: usize,
) -> Option<String> {
    let kernel = kernels::of(claim.kernel)?;
    let elements = elements_loaded(kernel, claim);
    // Loads of the same width, and rows of a lane, have fewer elements of `f32`.
    let f32_instructions = match kernel.loads {
        Loads::Tiles | Loads::Ways | Loads::Windows | Loads::Strided => {
            f32_instructions * 32 / claim.element_bits as usize
        }
        _ => f32_instructions,
    };
    (instructions > f32_instructions + 3 * elements).then(|| {
        format!("{instructions} instructions for {elements} elements, {f32_instructions} for f32")
    })
}

/// The number of elements that the source of a kernel with vectors loads, each loop counted once.
fn elements_loaded(kernel: &Kernel, claim: &Claim) -> usize {
    let in_vectors = vectors_in_source(kernel, claim) * claim.vector as usize;
    (in_vectors + items_in_source(claim)) * claim.item_arrays as usize
}

/// The number of vectors that a kernel's source loads, each loop counted once.
fn vectors_in_source(kernel: &Kernel, claim: &Claim) -> usize {
    match kernel.loads {
        // The last vectors are loaded one by one.
        Loads::Ceiling => IN_FLIGHT + 1,
        Loads::Tiles | Loads::Windows | Loads::Strided => claim.vectors_in_flight(),
        Loads::Ways => claim.ways() * claim.vectors_in_flight(),
        _ => in_steps(IN_FLIGHT),
    }
}

/// The number of single items that a kernel's source loads around its vectors.
fn items_in_source(claim: &Claim) -> usize {
    usize::from(claim.vector > 1)
}

/// The number of loads in a grid-stride loop: `in_flight` in a step, and every smaller number in the cases of
/// the last step.
fn in_steps(in_flight: usize) -> usize {
    (1..=in_flight).sum()
}

#[cfg(test)]
mod tests;
