use super::super::claim::tests::claim;
use super::*;
use crate::sass::{parse, profile};
use cuda_builder::NvvmArch;

/// SASS with these opcodes, as an entry without resources. `x5` after an opcode repeats it.
pub(super) fn entry(opcodes: &str) -> Profile {
    let mut listing = String::from(".section\t.text.k,\"ax\"\n");
    let mut last = "";
    for word in opcodes.split_whitespace() {
        let times = match word.strip_prefix('x').and_then(|n| n.parse::<usize>().ok()) {
            Some(times) => times - 1,
            None => {
                last = word;
                1
            }
        };
        // All instructions have the same registers, and none depends on another.
        listing += &format!("/*0000*/ {last} R0, R4 ;\n").repeat(times);
    }
    Profile {
        name: "k".into(),
        resources: profile::Resources {
            registers: 16,
            ..Default::default()
        },
        counts: Counts::of(&parse::parse(&listing)[0], NvvmArch::Compute90),
    }
}

#[track_caller]
pub(super) fn keeps(claim: Claim, opcodes: &str) {
    let broken = broken(&claim, &entry(opcodes));
    assert!(broken.is_empty(), "{broken:?}");
}

/// Breaks exactly one law, whose text contains `law`.
#[track_caller]
pub(super) fn breaks(claim: Claim, opcodes: &str, law: &str) {
    let broken = broken(&claim, &entry(opcodes));
    assert_eq!(broken.len(), 1, "{broken:?}");
    assert!(broken[0].contains(law), "{broken:?}");
}

#[test]
fn laws_of_every_entry_can_fail() {
    let naive = claim("reduce_naive", "sum", "i32");
    keeps(naive, "LDG.E REDG.E.ADD EXIT");
    for generic in ["LD.E", "ST.E", "RED.E.ADD", "QSPC.E.S", "ATOM.E.ADD"] {
        breaks(naive, &format!("LDG.E {generic} REDG.E.ADD"), "generic");
    }
    breaks(naive, "LDG.E STL REDG.E.ADD", "local memory: 1");
    breaks(naive, "LDG.E CALL.REL REDG.E.ADD", "1 calls");
    let mut spilled = entry("LDG.E REDG.E.ADD");
    spilled.resources.spill_loads = 4;
    assert!(broken(&naive, &spilled)[0].contains("spills"));
    assert!(broken_on_every_arch(&naive, &spilled)[0].contains("spills"));
    let mut stacked = entry("LDG.E REDG.E.ADD");
    stacked.resources.stack = 16;
    assert!(broken(&naive, &stacked)[0].contains("16 bytes of stack"));
    breaks(claim("reduce_9", "sum", "i32"), "LDG.E", "reduce_9");
}

#[test]
fn laws_of_the_rungs_can_fail() {
    for kernel in [
        "reduce_0",
        "reduce_0_modulo",
        "reduce_1",
        "reduce_2",
        "reduce_3",
    ] {
        let tree = claim(kernel, "sum", "i32");
        keeps(tree, "LDG.E STS BAR.SYNC LDS STG.E");
        breaks(tree, "LDG.E STS BAR.SYNC STG.E", "must have LDS");
        breaks(tree, "LDG.E LDS BAR.SYNC STG.E", "must have LDS");
        breaks(tree, "LDG.E STS LDS STG.E", "0 BAR");
        breaks(tree, "LDG.E STS LDS BAR.SYNC STG.E SHFL.DOWN", "SHFL");
        breaks(
            tree,
            "LDG.E STS LDS BAR.SYNC STG.E STG.E",
            "bits stored: 64",
        );
        breaks(
            tree,
            "LDG.E STS LDS BAR.SYNC STG.E REDG.E.ADD",
            "a partial needs",
        );
        breaks(
            tree,
            "LDG.E.64 STS LDS BAR.SYNC STG.E",
            "loads by bits: {64: 1}",
        );
    }
    for kernel in ["reduce_4", "reduce_5", "reduce_5_x16"] {
        let shuffled = |element| claim(kernel, "sum", element);
        keeps(shuffled("i32"), "LDG.E STS LDS BAR.SYNC SHFL.DOWN x5 STG.E");
        keeps(
            shuffled("i32"),
            "LDG.E x9 STS LDS BAR.SYNC SHFL.DOWN x5 STG.E",
        );
        breaks(
            shuffled("i32"),
            "LDG.E STS LDS BAR.SYNC SHFL.DOWN x4 STG.E",
            "SHFL",
        );
        breaks(
            shuffled("i32"),
            "LDG.E STS LDS BAR.SYNC SHFL.BFLY x5 STG.E",
            "SHFL",
        );
        breaks(
            shuffled("f64"),
            "LDG.E.64 STS LDS BAR.SYNC SHFL.DOWN x5 STG.E.64",
            "SHFL",
        );
        keeps(
            shuffled("f64"),
            "LDG.E.64 STS LDS BAR.SYNC SHFL.DOWN x10 STG.E.64",
        );
    }
    let all = claim("stable_all", "sum", "f64");
    keeps(
        all,
        "LDG.E.64 x10 STS LDS BAR.SYNC SHFL.BFLY x10 SHFL.DOWN x10 STG.E.64",
    );
    breaks(
        all,
        "LDG.E.64 x10 STS LDS BAR.SYNC SHFL.DOWN x20 STG.E.64",
        "SHFL",
    );
    let redux = claim("reduce_4_redux", "sum", "i32");
    keeps(redux, "LDG.E STS LDS BAR.SYNC REDUX.SUM.S32 STG.E");
    breaks(redux, "LDG.E STS LDS BAR.SYNC STG.E", "no REDUX");
    breaks(
        redux,
        "LDG.E STS LDS BAR.SYNC REDUX.SUM SHFL.DOWN STG.E",
        "SHFL",
    );
}

#[test]
fn laws_of_vectors_can_fail() {
    let rest = "SHFL.DOWN x10 STS LDS BAR.SYNC STG.E";
    let stable = |element, loads: &str| {
        let profile = entry(&format!("{loads} {rest}"));
        broken(&claim("stable_vec4", "sum", element), &profile).join("; ")
    };
    assert_eq!(stable("i32", "LDG.E.128 x10 LDG.E"), "");
    assert_eq!(stable("i32", "LDG.E.128 x12 LDG.E"), "", "unrolled");
    assert_eq!(stable("i8", "LDG.E x10 LDG.E.U8"), "");
    assert_eq!(stable("bf16", "LDG.E.64 x10 LDG.E.U16"), "");
    assert!(stable("i32", "LDG.E.64 x20 LDG.E").contains("instead of {32: 1, 128: 10}"));
    assert!(stable("i32", "LDG.E.128 x9 LDG.E x5").contains("loads by bits: {32: 5, 128: 9}"));
    assert!(stable("i32", "LDG.E.128 x9 LDG.E").contains("128: 9}"));
    assert!(stable("i8", "LDG.E.U8 x41").contains("loads by bits"));

    let wide = "LDG.E.128 x20 LDG.E.64 SHFL.DOWN x20 STS LDS BAR.SYNC STG.E.64";
    keeps(claim("stable_vec4", "sum", "f64"), wide);
    breaks(
        claim("stable_vec2", "sum", "f64"),
        &wide.replace("x20", "x10"),
        "SHFL",
    );
    let stable = claim("stable", "sum", "i32");
    breaks(
        stable,
        "LDG.E x10 SHFL.DOWN x10 STS LDS BAR.SYNC x2 STG.E",
        "one BAR",
    );
    // The copy of the shuffles for a diverged warp is not counted.
    let copy = "WARPSYNC.COLLECTIVE SHFL.DOWN ENDCOLLECTIVE";
    keeps(stable, &format!("LDG.E x10 {rest} {copy} {copy}"));
}

#[test]
fn laws_of_atomics_can_fail() {
    let atomic = |op| claim("warp_atomic", op, "i32");
    let with = |atomics: &str| format!("LDG.E x10 SHFL.DOWN x5 {atomics}");
    keeps(atomic("sum"), &with("REDG.E.ADD"));
    keeps(atomic("min"), &with("REDUX.MIN REDG.E.MIN REDG.E.MAX"));
    breaks(atomic("sum"), &with("ATOMG.E.ADD"), "0 RED and 1 ATOM");
    breaks(atomic("sum"), &with("REDG.E.ADD STG.E"), "bits stored");
    breaks(
        atomic("sum"),
        &with("REDG.E.ADD BAR.SYNC"),
        "must have no LDS",
    );
    keeps(atomic("product"), &with("LDG.E.STRONG.GPU ATOMG.E.CAS"));
    breaks(atomic("product"), &with("ATOMG.E.CAS"), "atomic loads");
    breaks(atomic("sum"), &with("ATOMG.E.CAS"), "must be RED");
    breaks(
        atomic("product"),
        &with("LDG.E.STRONG.GPU REDG.E.ADD"),
        "1 RED and 0 ATOM",
    );
    // The cell's word is wider than the elements.
    let narrow = claim("warp_atomic_vec2", "product", "i8");
    keeps(
        narrow,
        "LDG.E.U16 x10 LDG.E.U8 SHFL.DOWN x5 LDG.E.STRONG.GPU ATOMG.E.CAS",
    );

    let shared = |element| claim("reduce_shared_memory", "sum", element);
    let with = |atomic: &str| format!("LDG.E STS LDS {atomic} BAR.SYNC REDG.E.ADD");
    keeps(shared("i32"), &with("ATOMS.ADD"));
    keeps(shared("f32"), &with("ATOMS.CAST.SPIN"));
    breaks(
        shared("i32"),
        &with("ATOMS.CAST.SPIN"),
        "1 loops around ATOMS",
    );
    breaks(shared("i32"), &with(""), "0 ATOMS");
}

#[test]
fn laws_of_triples_can_fail() {
    // No instruction depends on another: `entry` gives all the same registers.
    let opcodes = "LDG.E x3 SHFL.DOWN x15 REDG.E.ADD x3";
    keeps(claim("triple_interleaved", "sum", "i32"), opcodes);
    breaks(
        claim("triple_in_turn", "sum", "i32"),
        opcodes,
        "no SHFL depends",
    );
    let mut dependent = entry(opcodes);
    dependent.counts.dependent_shfl = 1;
    assert!(broken(&claim("triple_in_turn", "sum", "i32"), &dependent).is_empty());
    let broken = broken(&claim("triple_interleaved", "sum", "i32"), &dependent);
    assert_eq!(broken, ["1 SHFL depend on the previous one"]);
}

#[test]
fn laws_of_copies_can_fail() {
    let copy = |kernel, element, vector| Claim {
        vector,
        ..claim(kernel, "", element)
    };
    let vec2 = copy("copy_vec2", "b32", 2);
    keeps(vec2, "LDG.E LDG.E.64 STG.E STG.E.64");
    breaks(
        vec2,
        "LDG.E.64 STG.E.64 LDG.E STG.E.U8",
        "compared with loads",
    );
    breaks(
        vec2,
        "LDG.E.64 STG.E.64 REDG.E.ADD",
        "a copy needs no atomics",
    );
    let vec4 = copy("copy_vec4", "b8", 16);
    keeps(vec4, "LDG.E.128 STG.E.128 LDG.E.U8 STG.E.U8");
    let halves = broken(&vec4, &entry("LDG.E.128 STG.E.64 STG.E.64"));
    assert!(
        halves[0].contains("widest store must have 128"),
        "{halves:?}"
    );
    let halves = broken(&vec4, &entry("LDG.E.64 LDG.E.64 STG.E.128"));
    assert!(
        halves[0].contains("widest load must have 128"),
        "{halves:?}"
    );
    keeps(copy("copy_scalar", "b16", 1), "LDG.E.U16 STG.E.U16");
}

#[test]
fn laws_of_single_pass_kernels_can_fail() {
    let pass = |op, items, vector| Claim {
        vector,
        ..claim("single_pass", op, items)
    };
    let sum = pass("sum", "i32", 4);
    let block = "STS LDS BAR.SYNC x4 SHFL.DOWN x20";
    let arrivals = "ATOMG.E.INC.STRONG.GPU x2";
    let partials = "LDG.E.64.STRONG.GPU x4 STG.E.64.STRONG.GPU x5 STG.E";
    let rest = &format!("{block} {arrivals} {partials}");
    let vectors = "LDG.E.128 x8 BRA LDG.E.128 x8";
    keeps(sum, &format!("{vectors} BRA LDG.E x8 {rest}"));
    keeps(sum, &format!("{vectors} BRA LDG.E LDG.E.64 {rest}"));
    for loads in ["LDG.E.128 x8", "LDG.E.128 x8 BRA LDG.E LDG.E.U16"] {
        breaks(sum, &format!("{loads} {rest}"), "loads must have 128 bits");
    }
    breaks(
        sum,
        &format!("LDG.E.128 x3 BRA LDG.E.128 x3 BRA LDG.E {rest}"),
        "Some(3) loads of vectors are in flight together instead of 4",
    );
    let but = |old: &str, new: &str| {
        let changed = rest.replace(old, new);
        assert_ne!(&changed, rest, "{old}");
        format!("{vectors} LDG.E {changed}")
    };
    for (old, new, law) in [
        ("x5 STG.E", "x5 STG.E x2", "bits stored"),
        (
            "ATOMG.E.INC.STRONG.GPU x2",
            "ATOMG.E.INC.STRONG.GPU",
            "1 ATOM",
        ),
        ("ATOMG.E", "REDG.E", "2 RED"),
        ("BAR.SYNC x4", "", "0 BAR"),
        ("SHFL.DOWN x20", "SHFL.DOWN x15", "SHFL, one"),
        ("SHFL.DOWN x20", "SHFL.DOWN x20 SHFL.IDX", "SHFL, one"),
        (
            "LDG.E.64.STRONG.GPU x4",
            "LDG.E.64.STRONG.GPU x2",
            "partials loaded",
        ),
        (
            "LDG.E.64.STRONG.GPU x4",
            "LDG.E.STRONG.GPU x4",
            "partials loaded",
        ),
        (
            "STG.E.64.STRONG.GPU x5",
            "STG.E.64.STRONG.GPU x4",
            "stored and reset",
        ),
        ("BAR.SYNC", "MEMBAR.ALL.GPU BAR.SYNC", "fence"),
        ("BAR.SYNC", "CALL.REL BAR.SYNC", "1 calls"),
    ] {
        breaks(sum, &but(old, new), law);
    }
    let f16 = pass("sum", "f16", 8);
    let halves = format!("{vectors} LDG.E.U16 {rest}");
    // Four vectors of eight, and a single item.
    keeps(f16, &format!("{halves} HADD2.F32 x33"));
    breaks(
        f16,
        &format!("{halves} HADD2.F32 x32"),
        "conversions of f16",
    );
    keeps(pass("count_is_nan", "f16", 8), &halves);
}

#[test]
fn laws_of_single_pass_kernels_over_other_items_can_fail() {
    let block = "STS LDS BAR.SYNC x4 ATOMG.E.INC.STRONG.GPU x2";
    let dot = Claim {
        vector: 4,
        acc_bits: 64,
        ..claim("single_pass", "dot", "f32_f32")
    };
    let of_f64 =
        format!("{block} SHFL.DOWN x40 LDG.E.64.STRONG.GPU x4 STG.E.64.STRONG.GPU x6 STG.E.64");
    keeps(dot, &format!("LDG.E.128 x4 BRA LDG.E x2 {of_f64}"));
    breaks(
        dot,
        &format!("LDG.E.128 x3 BRA LDG.E.128 x3 BRA LDG.E x2 {of_f64}"),
        "instead of 4",
    );

    // A vector takes three loads; two vectors are in flight.
    let indexed = Claim {
        vector: 4,
        ..claim("single_pass", "arg_min", "indexed_f32")
    };
    let of_three_words =
        format!("{block} SHFL.DOWN x60 LDG.E.64.STRONG.GPU x6 STG.E.64.STRONG.GPU x9 STG.E x3");
    keeps(
        indexed,
        &format!("LDG.E.128 x6 BRA LDG.E x3 {of_three_words}"),
    );
    breaks(
        indexed,
        &format!("LDG.E.128 x6 BRA LDG.E.64 {of_three_words}"),
        "and 32 for single items",
    );
    breaks(
        indexed,
        &format!("LDG.E.128 x5 BRA LDG.E.128 x4 BRA LDG.E x3 {of_three_words}"),
        "instead of 6",
    );
}

#[test]
fn a_law_of_an_operators_value_can_fail() {
    let above = |value| Claim {
        value,
        ..claim("reduce_naive", "sum", "f32")
    };
    let profile = |parameters: &[u32]| {
        let mut profile = entry("LDG.E REDG.E.ADD");
        profile.counts.parameters = parameters.iter().copied().collect();
        profile
    };
    let broken = |value, parameters: &[u32]| broken(&above(value), &profile(parameters));
    assert!(broken([16, 16], &[0, 8]).is_empty());
    assert!(broken([16, 20], &[0, 8, 16]).is_empty());
    assert!(broken([16, 17], &[16]).is_empty());
    let unread = broken([16, 20], &[0, 8, 24]);
    assert!(unread[0].contains("parameter bytes 16..20"), "{unread:?}");
}

#[test]
fn laws_of_keys_can_fail() {
    let keyed = |kernel, element, key_bits| Claim {
        key_bits,
        ..claim(kernel, "sum", element)
    };
    // Keys of 8, 16 and 32 bits, and the index of a key without a cell.
    const KEY: &str = "LDG.E.U8 LDG.E.U16 LDG.E LDG.E.64.STRONG.GPU";
    let with = |more: &str| format!("{KEY} {more}");
    let atomic = keyed("keyed_atomic", "f64", 32);
    keeps(atomic, &with("LDG.E.64 REDG.E.ADD x2"));
    breaks(
        atomic,
        &with("LDG.E.64 LDG.E.U8 REDG.E.ADD x2"),
        "loads by bits",
    );
    breaks(
        atomic,
        &with("LDG.E.64 REDG.E.ADD x2").replace("LDG.E.64.STRONG.GPU ", ""),
        "atomic loads by bits",
    );
    breaks(
        keyed("keyed_atomic", "f64", 64),
        &with("LDG.E.64 REDG.E.ADD x2"),
        "loads by bits",
    );
    let cas = "LDG.E.64 LDG.E.64.STRONG.GPU ATOMG.E.CAS.64 REDG.E.ADD.64";
    keeps(keyed("keyed_cas", "f64", 32), &with(cas));
    breaks(
        keyed("keyed_cas", "f64", 32),
        &with("LDG.E.64 LDG.E.64.STRONG.GPU ATOMG.E.CAS"),
        "a loop around",
    );
    let three = Claim {
        arrays: 3,
        ..keyed("keyed_ballot_x3", "f64", 64)
    };
    let with_shuffles = |shuffles: &str| {
        format!("LDG.E.64 x4 LDG.E.64.STRONG.GPU SHFL.IDX {shuffles} REDG.E.ADD x4")
    };
    keeps(three, &with_shuffles("x32"));
    breaks(three, &with_shuffles("x30"), "SHFL");
    keeps(
        keyed("keyed_match", "f32", 32),
        &with("LDG.E MATCH.ANY SHFL.IDX x5 REDG.E.ADD x2"),
    );
    let bins = Claim {
        vector: 4,
        ..keyed("keyed_bins", "i32", 32)
    };
    const KEYS: &str = "LDG.E.U8 x4 LDG.E.U16 x4 LDG.E x4";
    let with = |keys: &str, atomic: &str| {
        format!("{keys} LDG.E x4 LDG.E.64.STRONG.GPU x4 STS LDS {atomic} BAR.SYNC x3 REDG.E.ADD x9")
    };
    keeps(bins, &with(KEYS, "ATOMS.MIN ATOMS.ADD"));
    breaks(bins, &with(KEYS, "ATOMS.CAST.SPIN"), "loops around ATOMS");
    keeps(
        Claim {
            key_bits: 64,
            ..bins
        },
        &with("LDG.E.64 x4", "ATOMS.MIN.64"),
    );
    let runs = Claim {
        vector: 4,
        ..keyed("keyed_runs", "f64", 32)
    };
    let with = |vectors: &str| {
        format!(
            "{vectors} LDG.E LDG.E.64 LDG.E.64 x4 {KEYS} LDG.E.64.STRONG.GPU SHFL.UP x5 REDG.E.ADD x5"
        )
    };
    keeps(runs, &with("LDG.E.128 x3"));
    breaks(
        runs,
        &with("LDG.E.64 x6"),
        "instead of {8: 4, 16: 4, 32: 5, 64: 5, 128: 3}",
    );
}

#[test]
fn laws_of_runs_can_fail() {
    let runs = Claim {
        acc_bits: 64,
        ..claim("find_runs", "", "u32")
    };
    let right = "ATOMG.E.INC.STRONG.GPU LDG.E.128 x4 LDG.E x16 SHFL.IDX x16 STS LDS BAR.SYNC LDG.E.64.STRONG.GPU SHFL.DOWN x10 STG.E.64";
    keeps(runs, right);
    breaks(
        runs,
        &right.replace("LDG.E.128 x4", "LDG.E.128 x3"),
        "3 vectors of keys are in flight together",
    );
    breaks(
        runs,
        &right.replace("LDG.E.64.STRONG.GPU", "LDG.E.64"),
        "atomic loads",
    );
    breaks(runs, &format!("{right} MEMBAR.SC.GPU"), "1 fences");
    breaks(runs, &format!("{right} ATOMS.ADD"), "ATOMS");
    breaks(runs, &format!("{right} CALL.REL"), "1 calls");
}

#[test]
fn laws_of_segments_can_fail() {
    let segments = Claim {
        vector: 4,
        ..claim("segments", "sum", "f32")
    };
    let with =
        |loads: &str, others: &str| format!("{loads} STG.E LDS STS ATOMS.ADD BAR.SYNC {others}");
    let right = with("LDG.E.128 x8", "SHFL.DOWN x5 CALL.REL x2");
    keeps(segments, &right);
    breaks(segments, &right.replace("x8", "x3"), "in flight together");
    breaks(segments, &right.replace("SHFL.DOWN x5", ""), "SHFL.DOWN");
    breaks(segments, &right.replace("STG.E ", ""), "bits stored");
    breaks(segments, &right.replace("ATOMS.ADD", ""), "ATOMS");
    breaks(segments, &format!("{right} CALL.REL"), "3 calls");
    let combine = Claim {
        kernel: "segments_combine",
        ..segments
    };
    keeps(combine, "LDG.E STG.E SHFL.DOWN x5");
    breaks(combine, "LDG.E STG.E SHFL.DOWN x5 CALL.REL", "1 calls");
    breaks(combine, "LDG.E STG.E SHFL.DOWN x5 BAR.SYNC", "BAR");
}

#[test]
fn laws_of_counts_can_fail() {
    let few = Claim {
        op: "",
        items: "",
        item_arrays: 0,
        element_bits: 0,
        acc_bits: 64,
        key_bits: 8,
        vector: 16,
        ..claim("count_few", "sum", "f64")
    };
    let with = |loads: &str, counter: &str| {
        format!(
            "{loads} LDG.E.U8 x5 LDG.E.64.STRONG.GPU x3 STS LDS {counter} BAR.SYNC x2 REDG.E.ADD x2"
        )
    };
    keeps(few, &with("LDG.E.128 x5", "ATOMS.POPC.INC"));
    breaks(
        few,
        &with("LDG.E.64 x10", "ATOMS.POPC.INC"),
        "loads by bits",
    );
    breaks(few, &with("LDG.E.128 x5", "LDS"), "ATOMS");
    let divides = with("LDG.E.128 x5", "ATOMS.POPC.INC CALL.REL");
    keeps(few, &divides);
    breaks(few, &format!("{divides} CALL.REL"), "2 calls");
    let exchanges = with("LDG.E.128 x5", "ATOMS.POPC.INC ATOMG.E.EXCH");
    breaks(few, &exchanges, "1 ATOM");
    let wide = Claim {
        key_bits: 64,
        vector: 2,
        ..few
    };
    keeps(wide, &exchanges.replace("U8", "64"));
    let many = Claim {
        kernel: "count_many",
        key_bits: 32,
        vector: 4,
        ..few
    };
    let with = |noted: &str| {
        format!("LDG.E.128 x5 LDG.E x2 {noted} STS LDS ATOMS.CAS BAR.SYNC x2 REDG.E.ADD x2")
    };
    keeps(many, &with("LDG.E.64.STRONG.GPU"));
    breaks(many, &with(""), "atomic loads by bits");
}

#[test]
fn laws_of_halves_can_fail() {
    let half = claim("stable_vec2", "sum", "f16");
    let with = |conversions: &str| {
        format!("LDG.E x10 LDG.E.U16 {conversions} SHFL.DOWN x10 STS LDS BAR.SYNC STG.E")
    };
    keeps(half, &with("HADD2.F32 x21"));
    keeps(half, &with("HADD2.F32 x20 F2F.F64.F16"));
    breaks(
        half,
        &with("HADD2.F32 x20"),
        "20 conversions of f16 for 21 elements",
    );
    assert_eq!(converts_in_software(&half, 163, 100), None);
    assert!(converts_in_software(&half, 164, 100).is_some());
}
