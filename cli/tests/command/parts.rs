//! Reductions along axes, of segments and of rows.

use std::fs;

use npyz::NpyFile;
use serde_json::Value;
use warpfold::{bf16, f16};

use crate::files::{Folder, Sample, bytes, for_every_type, shaped_header};
use crate::{MEMORY, answer, answers, piped, warpfold};

/// The numbers of nested arrays, as text; of an object, all values with spaces between them.
fn flat(result: &Value) -> Vec<String> {
    match result {
        Value::Array(all) => all.iter().flat_map(flat).collect(),
        Value::Object(all) => vec![all.values().map(text).collect::<Vec<_>>().join(" ")],
        one => vec![text(one)],
    }
}

fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        value => value.to_string(),
    }
}

/// The results of a run on the CPU.
#[track_caller]
fn results(words: &[&str]) -> Vec<String> {
    let report: Value = serde_json::from_str(&answer(&[words, &["--json"]].concat())).unwrap();
    flat(&report["result"])
}

/// The same, which must be those of all devices, in one chunk and in many.
#[track_caller]
fn same_results(words: &[&str]) -> Vec<String> {
    let json = answers(&[words, &["--json"]].concat());
    let parsed = json.iter().map(|json| {
        let report: Value = serde_json::from_str(json).unwrap();
        flat(&report["result"])
    });
    let mut all: Vec<_> = parsed.collect();
    all.dedup();
    assert_eq!(all.len(), 1, "{words:?}");
    all.remove(0)
}

/// The results of all commands for some integers, by plain loops.
fn right<T: Sample>(part: &[i64]) -> Vec<String> {
    let none = || "null".to_owned();
    let (min, max) = (part.iter().min(), part.iter().max());
    let shown = |value: Option<&i64>| value.map_or_else(none, |value| T::shown(*value));
    let both = |value: Option<&i64>| {
        value.map_or_else(none, |value| {
            let index = part.iter().position(|x| x == value).unwrap();
            format!("{index} {}", T::shown(*value))
        })
    };
    let sum: i64 = part.iter().sum();
    let n = part.len() as f64;
    let mean = sum as f64 / n;
    let squares: i64 = part.iter().map(|x| x * x).sum();
    let spread: f64 = part.iter().map(|x| (*x as f64 - mean).powi(2)).sum();
    let float = |value: f64| match part {
        [] => none(),
        _ => format!("{value:?}"),
    };
    let count = |is: fn(i64) -> bool| part.iter().filter(|x| is(**x)).count().to_string();
    vec![
        T::shown(sum),
        T::shown(
            part.iter()
                .fold(1i64, |product, x| product.wrapping_mul(*x)),
        ),
        shown(min),
        shown(max),
        min.zip(max).map_or_else(none, |(min, max)| {
            // In the order of the keys.
            format!("{} {}", T::shown(*max), T::shown(*min))
        }),
        both(min),
        both(max),
        float(mean),
        float(spread / n),
        T::shown(part.iter().map(|x| x.abs()).sum()),
        format!("{:?}", (squares as f64).sqrt()),
        match min.zip(max) {
            Some((min, max)) => float((*max).max(-min) as f64),
            None => none(),
        },
        count(|x| x == 1),
        count(|x| x < 1),
        count(|x| x > 1),
        count(|x| x != 0),
        "0".to_owned(),
    ]
}

/// The commands of `right`, and how far results may be from those of plain loops.
const COMMANDS: [(&[&str], f64); 17] = [
    (&["sum"], 0.0),
    (&["product"], 0.0),
    (&["min"], 0.0),
    (&["max"], 0.0),
    (&["min-max"], 0.0),
    (&["argmin"], 0.0),
    (&["argmax"], 0.0),
    (&["mean"], 1e-14),
    (&["var"], 1e-14),
    (&["norm", "--order=1"], 0.0),
    (&["norm"], 1e-14),
    (&["norm", "--order=inf"], 0.0),
    (&["count", "--equal=1"], 0.0),
    (&["count", "--less=1"], 0.0),
    (&["count", "--greater=1"], 0.0),
    (&["count", "--nonzero"], 0.0),
    (&["count", "--nan"], 0.0),
];

#[track_caller]
fn check<T: Sample>(words: &[&str], parts: &[Vec<i64>]) {
    let right: Vec<_> = parts.iter().map(|part| right::<T>(part)).collect();
    for (number, (command, tolerance)) in COMMANDS.iter().enumerate() {
        let words = [command, words, &["--dtype", T::NAME]].concat();
        let got = same_results(&words);
        assert_eq!(got.len(), right.len(), "{words:?}");
        for (part, (got, right)) in got.iter().zip(&right).enumerate() {
            let right = &right[number];
            if *tolerance > 0.0 && right != "null" {
                let (got, right): (f64, f64) = (got.parse().unwrap(), right.parse().unwrap());
                assert!(
                    (got - right).abs() <= tolerance * right.abs(),
                    "{words:?}, part {part}: {got}, not {right}"
                );
            } else {
                assert_eq!(got, right, "{words:?}, part {part}");
            }
        }
    }
}

#[test]
fn every_command_for_every_type() {
    fn check_type<T: Sample>(folder: &Folder) {
        let least = if T::IS_SIGNED { -1 } else { 0 };
        let integers: Vec<i64> = (0..270)
            // Products are small, and zeros have no sign.
            .map(|i| match (i % 97, i * i % 31) {
                (7, _) => 3,
                (50, _) => 2,
                (_, 9) => least,
                _ => 1,
            })
            .collect();
        let elements: Vec<T> = integers.iter().map(|x| T::of(*x as i32)).collect();
        let file = folder.shaped("a.npy", &elements, &[9, 6, 5], false);
        let columns = (0..9 * 5).map(|column| {
            let (i, k) = (column / 5, column % 5);
            (0..6).map(|j| integers[i * 30 + j * 5 + k]).collect()
        });
        check::<T>(&[&file, "--axis=1"], &columns.collect::<Vec<_>>());
        let ends = [3u32, 3, 40, 41, 73, 73, 100, 105, 200, 268];
        let offsets = folder.npy("offsets.npy", &ends);
        let segments = ends.windows(2);
        let segments = segments.map(|ends| integers[ends[0] as usize..ends[1] as usize].to_vec());
        check::<T>(
            &[&file, "--segments", &offsets],
            &segments.collect::<Vec<_>>(),
        );
    }
    for_every_type!(check_type(&Folder::new()));
}

/// Floats of many exponents.
fn floats(n: usize, mut seed: u64) -> Vec<f64> {
    let mut next = || {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        seed
    };
    let mut one = |_| {
        let (digits, scale) = (next() as i32 as f64, (next() % 16) as i32 - 40);
        digits * 2f64.powi(scale)
    };
    (0..n).map(&mut one).collect()
}

#[test]
fn each_part_has_the_bits_of_the_command_for_it_alone() {
    fn check<T: Sample>(of: fn(f64) -> T, commands: &[&[&str]]) {
        let folder = Folder::new();
        let ends = [0u64, 1, 1, 34, 700, 5000, 5007, 5300, 18000, 18001];
        let elements: Vec<T> = floats(18001, 7).into_iter().map(of).collect();
        let file = folder.npy("a.npy", &elements);
        let offsets = folder.npy("offsets.npy", &ends);
        for command in commands {
            let options = ["--dtype", T::NAME];
            let parts = [&[command[0], &file, "--segments", &offsets], &options[..]].concat();
            let got = results(&[&parts[..], &command[1..]].concat());
            for (part, ends) in ends.windows(2).enumerate() {
                let alone = &elements[ends[0] as usize..ends[1] as usize];
                if alone.is_empty() {
                    continue;
                }
                let alone = folder.npy("alone.npy", alone);
                let alone = [&[command[0], &alone], &options[..], &command[1..]].concat();
                assert_eq!(
                    [got[part].clone()],
                    results(&alone)[..],
                    "{} {command:?} {part}",
                    T::NAME
                );
            }
        }
    }
    let all: &[&[&str]] = &[
        &["sum"],
        &["mean"],
        &["var"],
        &["var", "--ddof=1"],
        &["norm"],
        &["norm", "--order=1"],
        &["norm", "--order=inf"],
        &["min-max"],
        &["argmax"],
        &["product"],
    ];
    // One item has no sample variance.
    let few: Vec<&[&str]> = all
        .iter()
        .copied()
        .filter(|c| c.len() < 2 || !c[1].contains("ddof"))
        .collect();
    check::<f32>(|x| x as f32, &few);
    check::<f64>(|x| x, &few);
    check::<f16>(f16::from_f64, &few[..few.len() - 1]);
    check::<bf16>(bf16::from_f64, &few[..few.len() - 1]);
    let of_integers: &[&[&str]] = &[&["sum"], &["mean"], &["norm", "--order=1"], &["product"]];
    check::<i64>(|x| (x * 1e18) as i64, of_integers);
    check::<u64>(|x| (x.abs() * 1e18) as u64, of_integers);
    check::<i16>(|x| (x * 1e9) as i16, of_integers);
}

/// The offsets of the items of each result.
fn columns(shape: &[usize], axes: &[usize], strides: &[usize]) -> Vec<Vec<usize>> {
    let offsets = |is_reduced: bool| {
        let mut offsets = vec![0];
        for (axis, len) in shape.iter().enumerate() {
            if axes.contains(&axis) == is_reduced {
                let inner = |outer: usize| (0..*len).map(move |i| outer + i * strides[axis]);
                offsets = offsets.into_iter().flat_map(inner).collect();
            }
        }
        offsets
    };
    let items = offsets(true);
    let column = |base: usize| items.iter().map(|item| base + item).collect();
    offsets(false).into_iter().map(column).collect()
}

#[test]
fn any_axes_in_both_orders() {
    let folder = Folder::new();
    let shape = [4usize, 3, 7, 2];
    let integers: Vec<i32> = (0..168).map(|i| i * i % 101 - 50).collect();
    for (is_fortran, strides) in [(false, [42, 14, 2, 1]), (true, [1, 4, 12, 84])] {
        let file = folder.shaped("a.npy", &integers, &shape, is_fortran);
        for set in 1..16usize {
            let axes: Vec<usize> = (0..4).filter(|axis| set >> axis & 1 == 1).collect();
            // Every other one from the end, the last one first.
            let given = axes.iter().rev().map(|axis| match axis % 2 {
                0 => (*axis as i64 - 4).to_string(),
                _ => axis.to_string(),
            });
            let given: Vec<_> = given.collect();
            let words = [&file, "--axis", &given.join(",")];
            let parts = columns(&shape, &axes, &strides).into_iter();
            let parts = parts.map(|part| part.iter().map(|i| integers[*i].into()).collect());
            let parts: Vec<Vec<i64>> = parts.collect();
            let right: Vec<_> = parts.iter().map(|part| right::<i32>(part)).collect();
            for (number, command) in [(0, "sum"), (3, "max"), (5, "argmin"), (6, "argmax")] {
                let got = results(&[&[command], &words[..]].concat());
                let right: Vec<_> = right.iter().map(|right| right[number].clone()).collect();
                assert_eq!(got, right, "{command} {words:?}");
            }
        }
    }
}

#[test]
fn shapes_of_json_and_tables() {
    let folder = Folder::new();
    let integers: Vec<i32> = (0..24).collect();
    let file = folder.shaped("a.npy", &integers, &[2, 3, 4], false);
    let json = |words: &[&str]| -> Value {
        let words = [&["sum", &file], words, &["--json"]].concat();
        serde_json::from_str(&answer(&words)).unwrap()
    };
    let report = json(&["--axis=0"]);
    let sums = serde_json::json!([[12, 14, 16, 18], [20, 22, 24, 26], [28, 30, 32, 34]]);
    assert_eq!((&report["result"], &report["n"]), (&sums, &24.into()));
    assert_eq!(report["determinism"], "reproducible");
    assert_eq!(json(&["--axis=0,1,2"])["result"], 276);
    assert_eq!(json(&["--rows=12"])["result"], serde_json::json!([66, 210]));

    let lines = |words: &[&str]| answer(&[&[words[0], &file], &words[1..]].concat());
    assert_eq!(lines(&["sum", "--axis=-1"]), "[[ 6 22 38]\n [54 70 86]]\n");
    assert_eq!(lines(&["max", "--axis", "0,1,2"]), "23\n");
    assert_eq!(lines(&["argmax", "--axis", "0,1,2"]), "23 23\n");
    assert_eq!(
        lines(&["min-max", "--rows=12"]),
        "min\n[ 0 12]\nmax\n[11 23]\n"
    );
    assert_eq!(lines(&["mean", "--rows=12"]), "[ 5.5 17.5]\n");
    assert_eq!(
        answer(&["sum", &file, &file, "--axis=1,2", "--each"]),
        format!("[ 66 210] {file}\n[ 66 210] {file}\n")
    );
    // Several files are one array, but for axes.
    assert_eq!(
        answer(&["sum", &file, &file, "--rows=16"]),
        "[120 184 248]\n"
    );

    let many = folder.npy("many.npy", &(0..1001).collect::<Vec<i32>>());
    let output = warpfold(&["sum", &many, "--rows=1", "--device=cpu"]);
    assert_eq!(output.stdout, "[   0    1    2 ...  998  999 1000]\n");
    assert_eq!(
        output.stderr,
        "warpfold: 995 of 1001 results are not shown; --json prints all, and --output writes them to a file\n"
    );
}

#[test]
fn offsets_of_every_type_in_any_memory() {
    let folder = Folder::new();
    let file = folder.npy("a.npy", &(0..2000).collect::<Vec<i32>>());
    let ends = [7, 7, 100, 300, 301, 301, 480, 1990];
    let sums = ends
        .windows(2)
        .map(|ends| (ends[0]..ends[1]).sum::<i64>().to_string());
    let sums: Vec<_> = sums.collect();
    let of = |offsets: &str| {
        for memory in ["2GiB", "140000", "139000", "137144"] {
            let words = [
                "sum",
                &file,
                "--segments",
                offsets,
                "--device-memory",
                memory,
            ];
            assert_eq!(results(&words), sums, "{memory}");
        }
    };
    of(&folder.npy("i32.npy", &ends.map(|end| end as i32)));
    of(&folder.npy("u32.npy", &ends.map(|end| end as u32)));
    of(&folder.npy("i64.npy", &ends));
    of(&folder.npy("u64.npy", &ends.map(|end| end as u64)));
    let none = folder.npy("none.npy", &[5u32]);
    assert_eq!(answer(&["sum", &file, "--segments", &none]), "[]\n");
    let archive = folder.npz(
        "o.npz",
        true,
        &[("a.npy", &fs::read(folder.path("i64.npy")).unwrap())],
    );
    of(&format!("{archive}:a"));
}

#[test]
fn pipes_and_archives() {
    let folder = Folder::new();
    let integers: Vec<i32> = (0..1200).collect();
    let npy = [shaped_header("<i4", &[3, 400], false), bytes(&integers)].concat();
    let sums = "[ 79800 239800 399800]\n";
    let cpu = |words: &[&str], input: &[u8]| {
        for memory in MEMORY {
            let more = ["--device=cpu", "--device-memory", memory];
            let output = piped(&[words, &more].concat(), input);
            assert_eq!((output.code, output.stderr.as_str()), (Some(0), ""));
            assert_eq!(output.stdout, sums);
        }
    };
    cpu(&["sum", "-", "--axis=1"], &npy);
    cpu(&["sum", "-", "--rows=400"], &npy);
    let raw = bytes(&integers);
    cpu(&["sum", "-", "--rows=400", "--dtype=i32"], &raw);
    let offsets = folder.npy("offsets.npy", &[0u32, 400, 800, 1200]);
    cpu(&["sum", "-", "--segments", &offsets, "--dtype=i32"], &raw);
    // Elements behind the last offset.
    let more = [&raw[..], &[1; 400]].concat();
    cpu(&["sum", "-", "--segments", &offsets, "--dtype=i32"], &more);
    let archive = folder.npz("a.npz", true, &[("x.npy", &npy)]);
    assert_eq!(answer(&["sum", &archive, "--axis=1"]), sums);
    // Without elements.
    let empty = piped(
        &["sum", "-", "--rows=4", "--dtype=i32", "--device=cpu"],
        &[],
    );
    assert_eq!((empty.code, empty.stdout.as_str()), (Some(0), "[]\n"));
    for (shape, axis, text) in [
        ([0, 2], "0", "[0 0]\n"),
        ([0, 2], "1", "[]\n"),
        ([2, 0], "1", "[0 0]\n"),
    ] {
        let file = folder.shaped::<i32>("empty.npy", &[], &shape, false);
        assert_eq!(answer(&["sum", &file, "--axis", axis]), text);
        let least = text.replace('0', "-");
        assert_eq!(answer(&["min", &file, "--axis", axis]), least);
    }
}

#[test]
fn results_in_a_file() {
    let folder = Folder::new();
    let floats: Vec<f32> = (0..12).map(|i| i as f32 / 2.0).collect();
    let file = folder.shaped("a.npy", &floats, &[2, 3, 2], false);
    let output = folder.path("out.npy");
    let read = || NpyFile::new(fs::File::open(&output).unwrap()).unwrap();
    let write = |words: &[&str]| answer(&[words, &["--output", &output]].concat());
    assert_eq!(write(&["sum", &file, "--axis=1"]), "");
    assert_eq!(read().shape(), [2, 2]);
    assert_eq!(read().into_vec::<f64>().unwrap(), [3.0, 4.5, 12.0, 13.5]);
    write(&["max", &file, "--axis=0,2"]);
    assert_eq!(read().shape(), [3]);
    assert_eq!(read().into_vec::<f32>().unwrap(), [3.5, 4.5, 5.5]);
    write(&["argmax", &file, "--axis=1"]);
    assert_eq!(read().into_vec::<i64>().unwrap(), [2; 4]);
    write(&["mean", &file, "--axis=0,1,2"]);
    assert!(read().shape().is_empty());
    assert_eq!(read().into_vec::<f64>().unwrap(), [2.75]);
    let halves = folder.shaped("h.npy", &[f16::from_f32(0.5), f16::ONE], &[2, 1], false);
    // `--out` is the same option.
    answer(&["min", &halves, "--axis=0", "--out", &output]);
    assert_eq!(read().into_vec::<f32>().unwrap(), [0.5]);
    // The file can be read again.
    let offsets = folder.npy("offsets.npy", &[0u32, 0, 12]);
    write(&["mean", &file, "--segments", &offsets]);
    let means = read().into_vec::<f64>().unwrap();
    assert!(means[0].is_nan() && means[1] == 2.75, "{means:?}");
    assert_eq!(answer(&["count", "--nan", &output]), "1\n");
    let json = write(&["sum", &file, "--axis=0", "--json"]);
    let report: Value = serde_json::from_str(&json).unwrap();
    let result = serde_json::json!({"output": output, "shape": [3, 2]});
    assert_eq!(report["result"], result);
}
