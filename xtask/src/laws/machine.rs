//! The laws of one entry's machine code.

use super::claim::Claim;
use super::kernels::{self, Block, Kernel, Leaves, Loads, Warp};
use crate::sass::profile::{Counts, Profile};
use std::collections::BTreeMap;
use std::fmt::Debug;

/// How many vectors the ladder's kernels have in flight; and items, what loads each by itself.
const IN_FLIGHT: usize = 4;

/// Steps in which a warp of 32 lanes becomes one value.
const STEPS: usize = 5;

/// What an entry breaks of the laws of every architecture. Empty where it keeps them.
pub fn broken_anywhere(claim: &Claim, profile: &Profile) -> Vec<String> {
    let mut broken = Broken::default();
    spaces(&mut broken, claim, profile);
    let Some(kernel) = kernels::of(claim.kernel) else {
        broken.unless(
            false,
            format!("no law speaks of the kernel {}", claim.kernel),
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

/// What an entry breaks of the laws of sm_90, which are those and the warps'. Empty where it keeps
/// them.
pub fn broken(claim: &Claim, profile: &Profile) -> Vec<String> {
    let mut broken = Broken(broken_anywhere(claim, profile));
    if let Some(kernel) = kernels::of(claim.kernel) {
        warp(&mut broken, kernel, claim, &profile.counts);
    }
    broken.0
}

/// What has been found, in words.
#[derive(Default)]
struct Broken(Vec<String>);

impl Broken {
    fn unless(&mut self, holds: bool, law: String) {
        if !holds {
            self.0.push(law);
        }
    }

    fn unless_equal<T: PartialEq + Debug>(&mut self, what: &str, found: &T, expected: &T) {
        let law = format!("{what}: {found:?}, and should be {expected:?}");
        self.unless(found == expected, law);
    }
}

/// Registers, and memory whose space is known.
fn spaces(broken: &mut Broken, claim: &Claim, profile: &Profile) {
    let (resources, counts) = (&profile.resources, &profile.counts);
    broken.unless(
        counts.generic == 0,
        format!("{} instructions take a generic address", counts.generic),
    );
    broken.unless(
        counts.local == 0 && resources.stack == 0,
        format!(
            "local memory: {} accesses, {} bytes of stack",
            counts.local, resources.stack
        ),
    );
    broken.unless(
        resources.spill_stores + resources.spill_loads == 0,
        format!(
            "spills: {} bytes stored, {} loaded",
            resources.spill_stores, resources.spill_loads
        ),
    );
    // ptxas calls a function of its own where a quotient of 64 bits is not an easy one.
    broken.unless(
        counts.calls == 0 || claim.op.ends_with("mean_variance"),
        format!("{} calls of functions", counts.calls),
    );
}

/// Loads are as wide as they can be, and no more than the source has.
fn loads(broken: &mut Broken, kernel: &Kernel, claim: &Claim, counts: &Counts) {
    let (wide, element) = (claim.load_bits(), claim.element_bits);
    // By width in bits, and the width that a loop has, which may be unrolled.
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
        Loads::Ceiling | Loads::Vectors | Loads::VectorsAndPartials => {
            add(wide, vectors_in_source(kernel, claim) * claim.loads());
            add(
                claim.item_load_bits(),
                items_in_source(kernel, claim) * claim.item_loads(),
            );
            Some(wide)
        }
        Loads::KeysAndValues => {
            add(claim.key_bits, claim.vector as usize);
            add(element, (claim.vector * claim.arrays) as usize);
            None
        }
        Loads::Neighbours => {
            let whole = (claim.key_bits * claim.vector).div_ceil(wide) as usize;
            add(wide, whole + claim.loads());
            add(claim.key_bits, claim.vector as usize);
            add(element, claim.vector as usize);
            None
        }
        Loads::Words => {
            for (what, widths) in [("load", &counts.ldg), ("store", &counts.stg)] {
                broken.unless(
                    widths.keys().next_back() == Some(&wide),
                    format!("the widest {what} moves {wide} bits; widths in bits: {widths:?}"),
                );
            }
            broken.unless_equal(
                "stores by bits, of what is loaded",
                &counts.stg,
                &counts.ldg,
            );
            return;
        }
    };
    if kernel.leaves == Leaves::Cells {
        // The cell as it was before the loop.
        let looks: &[(u32, usize)] = match claim.swaps_in_a_loop() {
            true => &[(claim.acc_bits, 1)],
            false => &[],
        };
        let looks = looks.iter().copied().collect();
        broken.unless_equal("atomic loads by bits", &counts.atomic_ldg, &looks);
    }
    let mut found = counts.ldg.clone();
    if let Some((found, expected)) =
        looped.and_then(|bits| Some((found.get_mut(&bits)?, expected.get(&bits)?)))
    {
        *found = (*found).min(*expected);
    }
    broken.unless_equal("loads by bits", &found, &expected);
    // Of bytes and halves ptxas begins loads between the many steps that it takes to combine them; in
    // kernels without launch bounds it may spare the registers for one of four.
    if matches!(kernel.loads, Loads::VectorsAndPartials) && element >= 32 {
        let mut together = |bits, step, what| {
            let together = counts.in_flight.get(&bits).copied().unwrap_or(0);
            broken.unless(
                together >= step,
                format!("{together} of a step's {step} loads {what} are in flight together"),
            );
        };
        together(
            wide,
            claim.vectors_in_flight() * claim.loads(),
            "of vectors",
        );
        if claim.may_lack_vectors() {
            together(
                claim.item_load_bits(),
                IN_FLIGHT * claim.item_loads(),
                "of items",
            );
        }
    }
}

/// A partial is stored once; a cell gets a `RED`, and a loop only where no instruction will do.
fn result(broken: &mut Broken, kernel: &Kernel, claim: &Claim, counts: &Counts) {
    let stored: usize = counts
        .stg
        .iter()
        .map(|(&bits, &count)| bits as usize * count)
        .sum();
    let atomics = format!("{} RED and {} ATOM", counts.red, counts.atom);
    match kernel.leaves {
        Leaves::Partial => {
            broken.unless_equal("bits stored", &stored, &(claim.acc_bits as usize));
            broken.unless(
                counts.red + counts.atom == 0,
                format!("a partial is nobody else's: {atomics}"),
            );
        }
        Leaves::Whole => {
            // Of two numbers side by side, ptxas stores at the end of each of two paths.
            let stores = if claim.op == "weighted_mean" { 2 } else { 1 };
            broken.unless_equal(
                "bits stored, the result",
                &stored,
                &(claim.acc_bits as usize * stores),
            );
            broken.unless(
                counts.red == 0 && counts.atom == 1,
                format!("an arrival number is drawn by one ATOM: {atomics}"),
            );
            partials(broken, claim, counts);
        }
        Leaves::Cells => {
            broken.unless_equal("bits stored beside atomics", &stored, &0);
            // Who has no cell is counted by a `RED` in any case.
            let counted = claim.key_bits > 0;
            if claim.swaps_in_a_loop() {
                broken.unless(
                    counts.atom == 1 && (counts.red > 0) == counted,
                    format!("a loop around one ATOM: {atomics}"),
                );
            } else {
                broken.unless(
                    counts.atom == 0 && counts.red > 0,
                    format!("nobody needs the atomics' answers: {atomics}"),
                );
            }
        }
        Leaves::Copy => broken.unless(
            counts.red + counts.atom == 0,
            format!("a copy combines nothing: {atomics}"),
        ),
    }
}

/// Blocks hand partials over in words of 64 bits, each with half as many of the value.
fn partials(broken: &mut Broken, claim: &Claim, counts: &Counts) {
    let (words, in_flight) = (claim.words(), claim.partials_in_flight());
    broken.unless_equal(
        "words of partials looked at, by bits",
        &counts.atomic_ldg,
        &[(64, in_flight * words)].into(),
    );
    broken.unless_equal(
        "words of partials left and emptied, by bits",
        &counts.atomic_stg,
        &[(64, (1 + in_flight) * words)].into(),
    );
    broken.unless(
        counts.fences == 0,
        format!("nobody waits at a fence: {} are there", counts.fences),
    );
}

/// Shared memory and barriers, where the kernel has them.
fn block(broken: &mut Broken, kernel: &Kernel, claim: &Claim, profile: &Profile) {
    let counts = &profile.counts;
    let found = format!(
        "{} LDS, {} STS, {} ATOMS, {} BAR",
        counts.lds, counts.sts, counts.atoms, counts.bar
    );
    let memory = counts.lds > 0 && counts.sts > 0;
    match kernel.block {
        Block::Apart => broken.unless(
            counts.lds + counts.sts + counts.atoms + counts.bar == 0
                && profile.resources.shared == 0,
            format!("warps do not meet: {found}"),
        ),
        Block::Memory => broken.unless(
            memory && counts.atoms == 0 && counts.bar > 0,
            format!("a block meets in shared memory, without atomics: {found}"),
        ),
        Block::OneBarrier => broken.unless(
            memory && counts.atoms == 0 && counts.bar == 1,
            format!("a block meets in shared memory, at one barrier: {found}"),
        ),
        Block::Atomics => {
            broken.unless(
                memory && counts.atoms > 0 && counts.bar > 0,
                format!("a block meets at atomics in shared memory: {found}"),
            );
            broken.unless(
                counts.atoms_loops == 0 || claim.swaps_in_a_loop_in_shared(),
                format!("{} loops around ATOMS", counts.atoms_loops),
            );
        }
    }
}

/// Shuffles: 64-bit values by halves, and none that the source does not have.
fn warp(broken: &mut Broken, kernel: &Kernel, claim: &Claim, counts: &Counts) {
    let values = claim.arrays as usize * claim.words();
    let (mode, expected) = match kernel.warp {
        Warp::Apart | Warp::Redux => ("", 0),
        Warp::Down(reductions) => ("DOWN", reductions * STEPS * values),
        Warp::Match => ("IDX", STEPS * values),
        Warp::Ballot => ("IDX", claim.key_words() + STEPS * values),
        Warp::Runs => ("UP", claim.key_words() + 2 * values),
    };
    let expected: BTreeMap<String, usize> = match expected {
        0 => BTreeMap::new(),
        count => [(mode.to_owned(), count)].into(),
    };
    let mut found = counts.shfl.clone();
    if kernel.leaves == Leaves::Whole {
        // The block's arrival number.
        broken.unless_equal("SHFL.IDX", &found.remove("IDX"), &Some(1));
        // Where combining takes long, the steps stay a loop.
        if claim.op.ends_with("mean_variance") {
            found.values_mut().for_each(|count| *count *= STEPS);
        }
    }
    broken.unless_equal("SHFL, one for each 32 bits", &found, &expected);
    // Elsewhere ptxas may take one to add up a warp's atomics.
    if kernel.warp == Warp::Redux {
        broken.unless(counts.redux > 0, "no REDUX".into());
    }
    match claim.kernel {
        "triple_interleaved" => broken.unless(
            counts.dependent_shfl == 0,
            format!("{} SHFL wait for the one before", counts.dependent_shfl),
        ),
        "triple_in_turn" => broken.unless(
            counts.dependent_shfl > 0,
            "no SHFL waits for the one before: there is nothing to compare with".into(),
        ),
        _ => {}
    }
}

/// Every `f16` that is loaded is converted by an instruction.
fn halves(broken: &mut Broken, kernel: &Kernel, claim: &Claim, counts: &Counts) {
    let vectors = matches!(kernel.loads, Loads::Vectors | Loads::VectorsAndPartials);
    // What only compares does it in 16 bits.
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

/// The operator's value is read where the launch has put it, in the constant bank.
fn value(broken: &mut Broken, claim: &Claim, counts: &Counts) {
    let [start, end] = claim.value;
    // A value of less than 32 bits may be read as a part of them.
    let is_read = counts.parameters.range(start / 4 * 4..end).next().is_some();
    broken.unless(
        start == end || is_read,
        format!("no instruction reads the operator, parameter bytes {start}..{end}, as a constant"),
    );
}

/// What breaks the law of 16-bit floats that are reduced by vectors: `own` instructions may be
/// at most three more for each element than the `f32` entry has, in which it computes. The
/// hardware converts an `f16` by one; a `bf16` is the upper half of an `f32`, and one shift. In
/// software an `f16` takes a dozen, and a branch.
pub fn converts_in_software(claim: &Claim, own: usize, of_f32: usize) -> Option<String> {
    let kernel = kernels::of(claim.kernel)?;
    let elements = elements_loaded(kernel, claim);
    // Where loads are as wide, those of `f32` bring fewer elements.
    let of_f32 = match kernel.loads {
        Loads::VectorsAndPartials => of_f32 * 32 / claim.element_bits as usize,
        _ => of_f32,
    };
    (own > of_f32 + 3 * elements).then(|| {
        format!("{own} instructions for {elements} elements in the source, {of_f32} of f32")
    })
}

/// How many elements the loads of a kernel by vectors bring, each counted once as it stands in the
/// code.
fn elements_loaded(kernel: &Kernel, claim: &Claim) -> usize {
    let of_vectors = vectors_in_source(kernel, claim) * claim.vector as usize;
    (of_vectors + items_in_source(kernel, claim)) * claim.side_by_side as usize
}

/// How many vectors stand in the source of a kernel that reads by them.
fn vectors_in_source(kernel: &Kernel, claim: &Claim) -> usize {
    match kernel.loads {
        // The last ones one by one.
        Loads::Ceiling => IN_FLIGHT + 1,
        Loads::VectorsAndPartials => in_steps(claim.vectors_in_flight()),
        _ => in_steps(IN_FLIGHT),
    }
}

/// How many items stand there that are loaded by themselves: the one around the vectors, and those of an
/// input that has no vectors.
fn items_in_source(kernel: &Kernel, claim: &Claim) -> usize {
    let around = usize::from(claim.vector > 1);
    match kernel.loads {
        Loads::VectorsAndPartials if claim.may_lack_vectors() => around + in_steps(IN_FLIGHT),
        _ => around,
    }
}

/// How many loads the steps of a grid's stride have: `in_flight` in each, and fewer in the last, which has a
/// case for each number.
fn in_steps(in_flight: usize) -> usize {
    (1..=in_flight).sum()
}

#[cfg(test)]
mod tests;
