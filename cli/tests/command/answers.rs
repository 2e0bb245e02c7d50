//! Whole-array reductions.

use std::io;
use std::process::{Command, Stdio};

use serde_json::Value;
use warpfold::{bf16, f16};

use crate::files::{Folder, Sample, for_every_type};
use crate::{answer, answers, warpfold};

/// The results of all commands, computed by plain loops over integers.
fn right_answers<T: Sample>(
    integers: &[i64],
) -> Vec<(&'static str, &'static [&'static str], String)> {
    let n = integers.len();
    let (min, max) = (
        *integers.iter().min().unwrap(),
        *integers.iter().max().unwrap(),
    );
    let indexed = |value: i64| {
        let index = integers.iter().position(|x| *x == value).unwrap();
        format!("{index} {}", T::shown(value))
    };
    let sum: i64 = integers.iter().sum();
    let magnitudes: i64 = integers.iter().map(|x| x.abs()).sum();
    let squares: i64 = integers.iter().map(|x| x * x).sum();
    let count = |is: fn(i64) -> bool| integers.iter().filter(|x| is(**x)).count().to_string();
    vec![
        ("sum", &[], T::shown(sum)),
        ("min", &[], T::shown(min)),
        ("max", &[], T::shown(max)),
        (
            "min-max",
            &[],
            format!("{} {}", T::shown(min), T::shown(max)),
        ),
        ("argmin", &[], indexed(min)),
        ("argmax", &[], indexed(max)),
        ("norm", &["--order", "1"], T::shown(magnitudes)),
        ("norm", &[], format!("{:?}", (squares as f64).sqrt())),
        (
            "norm",
            &["--order=inf"],
            format!("{:?}", max.max(-min) as f64),
        ),
        ("count", &["--equal", "3"], count(|x| x == 3)),
        ("count", &["--less=3"], count(|x| x < 3)),
        ("count", &["--greater", "3"], count(|x| x > 3)),
        ("count", &["--nonzero"], count(|x| x != 0)),
        ("count", &["--nan"], "0".into()),
        ("mean", &[], format!("{:?}", sum as f64 / n as f64)),
    ]
}

#[test]
fn every_command_for_every_type_in_one_chunk_and_in_many() {
    fn check<T: Sample>(folder: &Folder) {
        let shift = if T::IS_SIGNED { 11 } else { 0 };
        let integers: Vec<i64> = (0..1000).map(|i| i * 7 % 23 - shift).collect();
        let elements: Vec<T> = integers.iter().map(|x| T::of(*x as i32)).collect();
        let file = folder.npy("a.npy", &elements);
        for (command, options, right) in right_answers::<T>(&integers) {
            let words = [&[command, &file, "--dtype", T::NAME][..], options].concat();
            for got in answers(&words) {
                match command {
                    // The mean of 64-bit integers is rounded more than once.
                    "mean" => close(&got, right.parse().unwrap()),
                    _ => assert_eq!(got.trim_end(), right, "{words:?}"),
                }
            }
        }
    }
    for_every_type!(check(&Folder::new()));
}

#[track_caller]
fn close(got: &str, right: f64) {
    let got: f64 = got.trim().parse().unwrap();
    assert!((got - right).abs() <= 1e-13 * right.abs(), "{got} {right}");
}

#[test]
fn products_and_variances() {
    fn check<T: Sample>(folder: &Folder) {
        let mut factors = [T::of(1); 600];
        (factors[3], factors[300], factors[599]) = (T::of(2), T::of(5), T::of(3));
        let product = folder.raw("factors", &factors);
        let elements: Vec<T> = (0..600).map(|i| T::of(i % 3)).collect();
        let values = folder.raw("values", &elements);
        for product in answers(&["product", &product, "--dtype", T::NAME]) {
            assert_eq!(product.trim_end(), T::shown(30));
        }
        // 0, 1 and 2, each 200 times.
        for (ddof, right) in [("0", 400.0 / 600.0), ("1", 400.0 / 599.0)] {
            for var in answers(&["var", &values, "--dtype", T::NAME, "--ddof", ddof]) {
                close(&var, right);
            }
        }
    }
    for_every_type!(check(&Folder::new()));
}

#[test]
fn without_a_gpu_auto_prints_one_message_and_computes() {
    let folder = Folder::new();
    let file = folder.npy("a.npy", &[1i32, 2, 3]);
    let output = warpfold(&["sum", &file]);
    assert_eq!((output.code, output.stdout.as_str()), (Some(0), "6\n"));
    match output.stderr.as_str() {
        "" => assert_eq!(warpfold(&["sum", &file, "--device=cuda:0"]).stdout, "6\n"),
        text => {
            assert!(text.starts_with("warpfold: on the CPU: "), "{text}");
            assert!(text.len() < 70 && text.lines().count() == 1, "{text}");
            // With the advice.
            let output = warpfold(&["sum", &file, "-v"]);
            assert_eq!((output.code, output.stdout.as_str()), (Some(0), "6\n"));
            assert!(
                output.stderr.starts_with("warpfold: on the CPU: "),
                "{text}"
            );
            assert!(output.stderr.contains("nvidia-smi"), "{}", output.stderr);
        }
    }
}

#[test]
fn printed_numbers_read_back() {
    let folder = Folder::new();
    let min = |file: String| answer(&["min", &file]);
    assert_eq!(min(folder.npy("a.npy", &[0.1f32, 1e30])), "0.1\n");
    assert_eq!(min(folder.npy("a.npy", &[1e300f64])), "1e300\n");
    assert_eq!(min(folder.npy("a.npy", &[0.0f64, -0.0])), "-0.0\n");
    assert_eq!(min(folder.npy("a.npy", &[5e-324f64])), "5e-324\n");
    assert_eq!(min(folder.npy("a.npy", &[f32::NEG_INFINITY])), "-inf\n");
    assert_eq!(min(folder.npy("a.npy", &[1.0f64, f64::NAN])), "NaN\n");
    assert_eq!(
        min(folder.npy("a.npy", &[i64::MIN, 0])),
        "-9223372036854775808\n"
    );
    assert_eq!(
        min(folder.npy("a.npy", &[u64::MAX])),
        "18446744073709551615\n"
    );
    let tenth = f16::from_f32(0.1);
    let text = min(folder.npy("a.npy", &[tenth]));
    assert_eq!(text.trim().parse::<f16>().unwrap(), tenth);
    // Sums are in 64 bits, products in the type of the elements.
    assert_eq!(
        answer(&["sum", &folder.npy("a.npy", &[i8::MAX; 3])]),
        "381\n"
    );
    assert_eq!(
        answer(&["sum", &folder.npy("a.npy", &[u32::MAX; 2])]),
        "8589934590\n"
    );
    assert_eq!(
        answer(&["sum", &folder.npy("a.npy", &[0.1f64, 0.2])]),
        "0.30000000000000004\n"
    );
    assert_eq!(
        answer(&["product", &folder.npy("a.npy", &[100i8, 3])]),
        "44\n"
    );
}

#[test]
fn indices_across_chunks() {
    let folder = Folder::new();
    let indexed = |command: &str, elements: &[f32]| {
        let file = folder.npy("a.npy", elements);
        let mut answers = answers(&[command, &file]);
        answers.dedup();
        assert_eq!(answers.len(), 1, "{answers:?}");
        answers.remove(0)
    };
    let mut elements = vec![1.0; 1000];
    (elements[400], elements[700]) = (-2.0, -2.0);
    assert_eq!(indexed("argmin", &elements), "400 -2.0\n");
    assert_eq!(indexed("argmax", &elements), "0 1.0\n");
    (elements[900], elements[950]) = (f32::NAN, f32::NAN);
    assert_eq!(indexed("argmin", &elements), "900 NaN\n");
    assert_eq!(indexed("argmax", &elements), "900 NaN\n");
    assert_eq!(indexed("min-max", &elements), "NaN NaN\n");
    assert_eq!(indexed("norm", &elements), "NaN\n");
}

#[test]
fn counts_of_floats() {
    let folder = Folder::new();
    let file = folder.npy("a.npy", &[f64::NAN, -0.0, 0.0, -1.5, f64::NEG_INFINITY]);
    let count = |words: &[&str]| answer(&[&["count", &file], words].concat());
    assert_eq!(count(&["--nan"]), "1\n");
    assert_eq!(count(&["--nonzero"]), "3\n");
    assert_eq!(count(&["--equal", "0"]), "2\n");
    assert_eq!(count(&["--equal", "nan"]), "0\n");
    assert_eq!(count(&["--less", "-1.5"]), "1\n");
    assert_eq!(count(&["--greater", "-inf"]), "3\n");
}

#[test]
fn empty_input_and_one_element() {
    fn check<T: Sample>(folder: &Folder) {
        let (none, one) = (
            folder.npy::<T>("none.npy", &[]),
            folder.npy("one.npy", &[T::of(7)]),
        );
        let run = |file: &str, words: &[&str]| {
            answer(&[words, &[file, "--dtype", T::NAME]].concat())
                .trim()
                .to_owned()
        };
        let (zero, seven) = (T::shown(0), T::shown(7));
        for (words, for_none, for_one) in [
            (&["sum"][..], &zero, &seven),
            (&["product"], &T::shown(1), &seven),
            (&["norm", "--order", "1"], &zero, &seven),
            (&["norm"], &"0.0".into(), &"7.0".into()),
            (&["count", "--equal", "7"], &"0".into(), &"1".into()),
        ] {
            assert_eq!(run(&none, words), *for_none, "{words:?}");
            assert_eq!(run(&one, words), *for_one, "{words:?}");
        }
        assert_eq!(run(&one, &["argmax"]), format!("0 {seven}"));
        assert_eq!(run(&one, &["mean"]), "7.0");
        assert_eq!(run(&one, &["var"]), "0.0");
    }
    for_every_type!(check(&Folder::new()));
}

#[test]
fn json() {
    let folder = Folder::new();
    let json = |words: &[&str]| -> Value {
        let text = answer(&[words, &["--json"]].concat());
        assert_eq!(text.lines().count(), 1);
        serde_json::from_str(&text).unwrap()
    };
    let file = folder.npy("a.npy", &(0..1000).collect::<Vec<i32>>());
    let report = json(&["sum", &file, "--device-memory", "132000"]);
    for (key, value) in [
        ("op", Value::from("sum")),
        ("file", file.as_str().into()),
        ("dtype", "i32".into()),
        ("n", 1000.into()),
        ("result", 499_500.into()),
        ("device", "CPU".into()),
        ("bytes", 4000.into()),
        ("chunk_bytes", 464.into()),
    ] {
        assert_eq!(report[key], value, "{key}");
    }
    let seconds = |key| report[key].as_f64().unwrap();
    assert!(seconds("seconds") >= seconds("seconds_reading"));
    assert!(seconds("seconds_reading") > 0.0);

    let floats = folder.npy("b.npy", &[0.1f32, f32::INFINITY]);
    let extrema = serde_json::json!({"min": 0.1, "max": "inf"});
    assert_eq!(json(&["min-max", &floats])["result"], extrema);
    let indexed = serde_json::json!({"index": 0, "value": 0.1});
    assert_eq!(json(&["argmin", &floats])["result"], indexed);
    let nan = folder.npy("c.npy", &[bf16::from_f32(f32::NAN)]);
    assert_eq!(json(&["sum", &nan, "--dtype=bf16"])["result"], "NaN");
    let large = folder.npy("d.npy", &[u64::MAX]);
    assert_eq!(json(&["max", &large])["result"], u64::MAX);
}

#[test]
fn closed_and_full_standard_output() {
    let folder = Folder::new();
    let file = folder.npy("a.npy", &[1i32]);
    let with_stdout = |words: &[&str], stdout: Stdio| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_warpfold"));
        let output = command.args(words).stdout(stdout).output().unwrap();
        (
            output.status.code(),
            String::from_utf8(output.stderr).unwrap(),
        )
    };
    let sum = ["sum", &file, "--device=cpu"];
    for words in [&sum[..], &["--help"], &["--version"]] {
        let (reader, writer) = io::pipe().unwrap();
        drop(reader);
        assert_eq!(with_stdout(words, writer.into()), (Some(0), "".into()));
    }
    let full = std::fs::File::options()
        .write(true)
        .open("/dev/full")
        .unwrap();
    let (code, text) = with_stdout(&sum, full.into());
    assert_eq!(code, Some(1));
    assert!(
        text.starts_with("warpfold: cannot print: No space left"),
        "{text}"
    );
}
