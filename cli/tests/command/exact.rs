//! Exact results, and dot products.

use serde_json::Value;
use warpfold::{Accumulator, Float, bf16, f16};

use crate::files::{Folder, Sample};
use crate::{answer, warpfold};

/// The only line of a successful run on the CPU.
fn line(words: &[&str]) -> String {
    answer(words).trim_end().to_owned()
}

/// Numbers whose sum a plain loop gets wrong: they cancel but for small ones.
fn cancelling<T>(of: impl Fn(f64) -> T) -> Vec<T> {
    let large = (0..700).map(|i| f64::from(i % 50 + 1) * 1024.0);
    let all = large.clone().chain((0..77).map(|i| f64::from(i) / 8.0));
    all.chain(large.map(|x| -x)).map(of).collect()
}

fn of_type<T: Float + Sample>(folder: &Folder, name: &str, x: &[T]) {
    let file = folder.npy(name, x);
    let (mut sum, mut magnitudes) = (Accumulator::new(), Accumulator::new());
    let (mut squares, mut dot) = (Accumulator::new(), Accumulator::new());
    for (x, y) in x.iter().zip(x.iter().rev()) {
        sum.add(*x);
        magnitudes.add_abs(*x);
        squares.add_square(*x);
        dot.add_product(*x, *y);
    }
    let reversed: Vec<T> = x.iter().rev().copied().collect();
    let other = folder.npy(&format!("reversed-{name}"), &reversed);
    for memory in ["2GiB", "132000", "140000"] {
        let run = |words: &[&str]| {
            let more = ["--exact", "--device-memory", memory];
            line(&[words, &more].concat()).parse::<f64>().unwrap()
        };
        let same = |got: f64, right: f64| {
            assert_eq!(got.to_bits(), right.to_bits(), "{name} {memory}: {got}");
        };
        same(run(&["sum", &file]), sum.sum());
        same(run(&["mean", &file]), sum.mean());
        same(run(&["norm", &file]), squares.sqrt());
        same(run(&["norm", &file, "--order=1"]), magnitudes.sum());
        same(run(&["dot", &file, &other]), dot.sum());
    }
}

#[test]
fn exact_results_with_any_memory() {
    let folder = Folder::new();
    of_type(&folder, "f16.npy", &cancelling(f16::from_f64));
    of_type(&folder, "f32.npy", &cancelling(|x| (x * 1e20) as f32));
    of_type(&folder, "f64.npy", &cancelling(|x| x * 1e250));
    let spread = cancelling(|x| x.powi(40));
    of_type(&folder, "spread.npy", &spread);
    let narrow = cancelling(bf16::from_f64);
    let raw: Vec<u8> = narrow.iter().flat_map(|x| x.to_le_bytes()).collect();
    let file = folder.file("bf16.raw", &raw);
    let mut sum = Accumulator::new();
    sum.add_all(&narrow);
    let got = line(&["sum", &file, "--dtype=bf16", "--exact"]);
    assert_eq!(got, format!("{:?}", sum.sum::<f64>()));
}

#[test]
fn the_level_and_the_order_in_json() {
    let folder = Folder::new();
    let file = folder.npy("a.npy", &[1e16, 1.0, -1e16]);
    let report = |words: &[&str]| -> Value {
        serde_json::from_str(&answer(&[words, &["--json"]].concat())).unwrap()
    };
    let usual = report(&["sum", &file]);
    assert_eq!(
        (&usual["determinism"], &usual["result"]),
        (&"reproducible".into(), &0.0.into())
    );
    assert_eq!(usual["order_version"], warpfold::ORDER_VERSION);
    let exact = report(&["sum", &file, "--exact"]);
    assert_eq!(
        (&exact["determinism"], &exact["result"]),
        (&"exact".into(), &1.0.into())
    );
    let keys = folder.npy("keys.npy", &[0u32, 1, 0]);
    let by_key = report(&["reduce-by-key", &file, "--keys", &keys]);
    assert_eq!(by_key["determinism"], "fast");
}

#[test]
fn dot_products_of_every_kind_of_number() {
    let folder = Folder::new();
    let (a, b) = (
        folder.npy("a.npy", &[1i8, -2, 3]),
        folder.npy("b.npy", &[4i8, 5, -6]),
    );
    assert_eq!(line(&["dot", &a, &b]), "-24");
    assert_eq!(line(&["dot", &a, &b, "--exact"]), "-24");
    let (a, b) = (
        folder.npy("c.npy", &[0.5f32, 2.0]),
        folder.npy("d.npy", &[3.0f32, 4.0]),
    );
    assert_eq!(line(&["dot", &a, &b]), "9.5");
    let empty = folder.npy("empty.npy", &[0.0f32; 0]);
    assert_eq!(line(&["dot", &empty, &empty]), "0.0");
}

/// The standard error of a failure.
fn failure(words: &[&str]) -> String {
    let output = warpfold(&[words, &["--device=cpu"]].concat());
    assert_ne!(output.code, Some(0), "{output:?}");
    assert_eq!(output.stdout, "");
    output.stderr
}

#[test]
fn what_is_refused() {
    let folder = Folder::new();
    let (x, y) = (
        folder.npy("x.npy", &[1.0f64, 2.0]),
        folder.npy("y.npy", &[1.0f64]),
    );
    let text = failure(&["product", &x, "--exact"]);
    assert!(
        text.contains("cannot keep the promise of Determinism::Exact"),
        "{text}"
    );
    assert!(failure(&["var", &x, "--exact"]).contains("cannot keep the promise"));
    let text = failure(&["dot", &x, &y]);
    assert!(
        text.contains("has 2 elements, but") && text.contains("has 1;"),
        "{text}"
    );
    let text = failure(&["dot", &x]);
    assert!(text.contains("give two files"), "{text}");
    let z = folder.npy("z.npy", &[1.0f32, 2.0]);
    let text = failure(&["dot", &x, &z]);
    assert!(text.contains("z.npy holds f32, but"), "{text}");
    // Raw elements in a pipe have no length; the shorter one is noticed at the end.
    let raw = folder.file("raw", &[0; 24]);
    let pipe = crate::piped(&["dot", "-", &raw, "--dtype=f64", "--device=cpu"], &[0; 40]);
    assert!(pipe.stderr.contains("has 5 elements, but"), "{pipe:?}");
}
