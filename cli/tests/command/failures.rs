//! Failures: the exit code and the error text.

use crate::files::Folder;
use crate::warpfold;

/// Runs a command that must fail with this exit code and text, without a result.
#[track_caller]
fn fails(words: &[&str], code: i32, text: &str) {
    let output = warpfold(words);
    assert_eq!(
        (output.code, output.stdout.as_str()),
        (Some(code), ""),
        "{output:?}"
    );
    assert!(output.stderr.contains(text), "{output:?}");
    let start = if code == 1 { "warpfold: " } else { "" };
    assert!(output.stderr.starts_with(start), "{output:?}");
}

#[test]
fn wrong_usage() {
    let folder = Folder::new();
    let (file, raw) = (folder.npy("a.npy", &[1i32]), folder.file("raw", &[0; 8]));
    fails(&[], 2, "Usage: warpfold");
    fails(&["mode", &file], 2, "unrecognized subcommand 'mode'");
    fails(&["sum"], 2, "<FILE>...");
    fails(&["sum", &raw, "--dtype", "float32"], 2, "use i8, i16");
    fails(
        &["sum", &raw],
        2,
        "raw: the file is not a .npy file; give the type of its raw elements, for example --dtype",
    );
    fails(
        &["sum", &file, "--device", "gpu"],
        2,
        "use auto, cpu, or cuda:N",
    );
    fails(
        &["sum", &file, "--device", "cuda:-1"],
        2,
        "use auto, cpu, or cuda:N",
    );
    fails(
        &["sum", &file, "--device-memory", "much"],
        2,
        "--device-memory",
    );
    fails(
        &["norm", &file, "--order", "3"],
        2,
        "[possible values: 1, 2, inf]",
    );
    fails(&["var", &file, "--ddof=-1"], 2, "--ddof");
    fails(
        &["count", &file],
        2,
        "--equal <V>|--less <V>|--greater <V>|--nan|--nonzero",
    );
    fails(
        &["count", &file, "--nan", "--nonzero"],
        2,
        "cannot be used with",
    );
    fails(
        &["count", &file, "--equal", "1.5", "--device=cpu"],
        2,
        "--equal \"1.5\" is not of type i32",
    );
    fails(&["reduce-by-key", &file], 2, "--keys <KEYS.npy>");
    fails(
        &["reduce-by-key", &file, "--keys", &file, "--op", "product"],
        2,
        "sum, min, max",
    );
}

#[test]
fn files() {
    let folder = Folder::new();
    let missing = folder.path("missing.npy");
    let sum = |file: &str, code, text: &str| fails(&["sum", file, "--dtype=f32"], code, text);
    sum(&missing, 1, "missing.npy: No such file");
    sum(&folder.path(""), 1, "a directory; name a file");
    sum(
        &folder.file("raw", &[0; 7]),
        1,
        "raw: its length, 7 bytes, is not a multiple of 4, the size of f32",
    );
    sum(&folder.npy("a.npy", &[1i32]), 1, "a.npy holds i32, not f32");
    for (content, text) in [
        (&b""[..], "the file ends inside the header"),
        (b"GIF89a..", "it does not begin with"),
        (
            b"\x93NUMPY\x01\0\x06\0{'a':}",
            "not a .npy file of a plain array",
        ),
        (
            b"\x93NUMPY\x02\0\xff\xff\xff\xff",
            "the header has 4294967295 bytes",
        ),
    ] {
        let file = folder.file("hostile.npy", content);
        fails(&["max", &file], 1, text);
    }
    let bf16 = folder.npy("b.npy", &[warpfold::bf16::ONE]);
    fails(&["max", &bf16], 1, "read them as bf16");
    let shape = "{'descr': '<f4', 'fortran_order': False, 'shape': (1000000000000,)}\n";
    let start = [
        b"\x93NUMPY\x01\0",
        &[shape.len() as u8, 0][..],
        shape.as_bytes(),
    ]
    .concat();
    fails(
        &["max", &folder.file("huge.npy", &start)],
        1,
        "the elements of its shape need 4000000000",
    );
}

#[test]
fn too_few_elements() {
    let folder = Folder::new();
    let (none, one) = (
        folder.npy::<f64>("none.npy", &[]),
        folder.npy("one.npy", &[1.0f64]),
    );
    for (words, what) in [
        (&["min"][..], "min"),
        (&["max"], "max"),
        (&["min-max"], "min-max"),
        (&["argmin"], "argmin"),
        (&["argmax"], "argmax"),
        (&["mean"], "mean"),
        (&["var"], "var --ddof 0"),
        (&["norm", "--order=inf"], "norm --order inf"),
    ] {
        let text = format!("none.npy: 0 element(s), too few for {what}; it requires at least 1\n");
        fails(&[words, &[&none]].concat(), 1, &text);
    }
    fails(
        &["var", &one, "--ddof", "1"],
        1,
        "1 element(s), too few for var --ddof 1; it requires at least 2",
    );
    let most = u64::MAX.to_string();
    fails(
        &["var", &one, "--ddof", &most],
        1,
        "at least 18446744073709551616",
    );
}

#[test]
fn too_little_memory() {
    let folder = Folder::new();
    let file = folder.npy("a.npy", &[1i32, 2]);
    let sum = |memory| ["sum", &file, "--device=cpu", "--device-memory", memory];
    fails(
        &sum("0"),
        1,
        "--device-memory 0 is too small: even chunks of one element require 131080 bytes",
    );
    fails(
        &sum("131079"),
        1,
        "even chunks of one element require 131080 bytes",
    );
    assert_eq!(warpfold(&sum("131080")).stdout, "3\n");
    // More cells than any machine has memory for, requested or because of one large key.
    let by_key = |keys: &str, options: &[&str], text: &str| {
        let words = ["reduce-by-key", &file, "--device=cpu", "--keys", keys];
        fails(&[&words, options].concat(), 1, text);
    };
    let keys = folder.npy("keys.npy", &[1u64 << 40, 1]);
    by_key(
        &keys,
        &[],
        "--device-memory 2147483648 is too small: 1099511627777 cells and chunks of one element require",
    );
    let keys = folder.npy("keys.npy", &[u64::MAX, 1]);
    by_key(&keys, &[], "18446744073709551615 cells");
    let most = u64::MAX.to_string();
    by_key(&keys, &["--cells", &most], "18446744073709551615 cells");
    by_key(
        &keys,
        &["--cells", "1000", "--device-memory", "140KiB"],
        "1000 cells",
    );
}

#[test]
fn keys() {
    let folder = Folder::new();
    let file = folder.npy("a.npy", &[1i32, 2]);
    let by_key = |keys: &str, text: &str| {
        fails(
            &["reduce-by-key", &file, "--device=cpu", "--keys", keys],
            1,
            text,
        );
    };
    by_key(&folder.path("missing.npy"), "missing.npy: No such file");
    by_key(
        &folder.npy("k.npy", &[1u32, 2, 3]),
        "k.npy has 3 keys, but ",
    );
    by_key(
        &folder.npy("k.npy", &[1u32]),
        "a.npy has 2 elements; each element requires one key",
    );
    by_key(
        &folder.npy("k.npy", &[1.0f32, 2.0]),
        "k.npy holds f32; keys must be integers",
    );
    by_key(
        &folder.file("k.npy", b"keys"),
        "the file ends inside the header",
    );
    let keys = folder.npy("k.npy", &[0u32, 1]);
    let output = folder.path("missing/out.npy");
    let words = [
        "reduce-by-key",
        &file,
        "--device=cpu",
        "--keys",
        &keys,
        "--output",
        &output,
    ];
    fails(&words, 1, "out.npy: No such file");
}

#[test]
fn no_such_gpu() {
    let folder = Folder::new();
    let file = folder.npy("a.npy", &[1i32]);
    let output = warpfold(&["sum", &file, "--device", "cuda:99"]);
    assert_eq!((output.code, output.stdout.as_str()), (Some(1), ""));
    match warpfold::Device::nth(99).unwrap_err() {
        warpfold::Error::NoDriver { .. } => {
            assert!(output.stderr.ends_with("on the CPU with --device cpu\n"));
        }
        error => assert_eq!(output.stderr, format!("warpfold: {error}\n")),
    }
}
