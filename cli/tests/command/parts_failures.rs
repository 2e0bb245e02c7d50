//! What is refused of axes, segments and rows.

use crate::files::Folder;
use crate::{piped, warpfold};

/// The exit code and the standard error of a failure on the CPU.
#[track_caller]
fn failure(words: &[&str]) -> (i32, String) {
    let output = warpfold(&[words, &["--device=cpu"]].concat());
    assert_eq!(output.stdout, "", "{words:?}");
    let text = output.stderr.strip_prefix("warpfold: ");
    let text = text.unwrap_or(&output.stderr).trim_end().to_owned();
    (output.code.unwrap(), text)
}

#[test]
fn axes_are_checked() {
    let folder = Folder::new();
    let file = folder.shaped("a.npy", &[1i32; 6], &[2, 3], false);
    let of = |axes: &str| failure(&["sum", &file, "--axis", axes]);
    for axis in ["2", "-3", "9223372036854775807", "-9223372036854775808"] {
        let text = format!(
            "{file}: axis {axis} is out of range: the array has 2 axes, 0 to 1, or -2 to -1 from the last one"
        );
        assert_eq!(of(axis), (2, text));
    }
    let twice = "axis -2 is given twice; an array is reduced along each axis only once";
    assert_eq!(of("0,-2"), (2, format!("{file}: {twice}")));
    for wrong in ["", "a", "0,", "1.5", "9223372036854775808"] {
        let (code, text) = of(wrong);
        assert!(code == 2 && text.contains("for '--axis <AXES>'"), "{text}");
    }
    let number = folder.shaped("n.npy", &[1i32], &[], false);
    let (code, text) = failure(&["sum", &number, "--axis=0"]);
    assert_eq!(code, 2);
    assert!(
        text.ends_with("axis 0 is out of range: the array has no axes"),
        "{text}"
    );
    let vector = folder.npy("v.npy", &[1i32]);
    let (_, text) = failure(&["sum", &vector, "--axis=1"]);
    assert!(text.ends_with("the array has one axis, 0 or -1"), "{text}");
    let deep = folder.shaped("deep.npy", &[1i32], &[1; 9], false);
    assert_eq!(
        failure(&["sum", &deep, "--axis=0"]),
        (
            1,
            "an array of 9 dimensions; at most 8 are supported".into()
        )
    );
    let raw = folder.raw("raw", &[1i32, 2]);
    let text = "raw elements have no axes; save the array as a .npy file, or give the length of its --rows";
    assert_eq!(
        failure(&["sum", &raw, "--dtype=i32", "--axis=0"]),
        (1, format!("{raw}: {text}"))
    );
    assert_eq!(
        failure(&["sum", &file, &file, "--axis=0"]),
        (
            2,
            "--axis reduces one array: give one file, or --each".into()
        )
    );
}

#[test]
fn options_that_exclude_each_other() {
    let folder = Folder::new();
    let file = folder.npy("a.npy", &[1i32, 2]);
    for options in [
        &["--axis=0", "--segments", &file][..],
        &["--axis=0", "--rows=1"],
        &["--segments", &file, "--rows=1"],
        &["--axis=0", "--each", "--output=b.npy"],
    ] {
        let (code, text) = failure(&[&["sum", &file], options].concat());
        assert!(code == 2 && text.contains("cannot be used with"), "{text}");
    }
    let (code, text) = failure(&["sum", &file, "--output=b.npy"]);
    assert!(
        code == 2 && text.contains("--axis <AXES>|--segments"),
        "{text}"
    );
    let (code, text) = failure(&["dot", &file, &file, "--axis=0"]);
    assert!(
        code == 2 && text.contains("unexpected argument '--axis'"),
        "{text}"
    );
    let (code, text) = failure(&["min-max", &file, "--axis=0", "--output", &folder.path("b")]);
    assert!(code == 2 && text.contains("give min or max"), "{text}");
}

#[test]
fn offsets_are_checked() {
    let folder = Folder::new();
    let file = folder.npy("a.npy", &[1i32; 10]);
    let of = |offsets: &str| failure(&["sum", &file, "--segments", offsets]);
    let range = "offsets must not decrease, and must be from 0 to 10";
    for (offsets, what) in [
        (&[0i64, 5, 4, 10][..], "offset 2 is 4, after 5"),
        (&[0, 5, 11], "offset 2 is 11, after 5"),
        (&[-1, 5], "offset 0 is -1"),
        (&[11], "offset 0 is 11"),
    ] {
        let offsets = folder.npy("o.npy", offsets);
        assert_eq!(of(&offsets), (1, format!("{offsets}: {what}; {range}")));
    }
    let huge = folder.npy("huge.npy", &[0, u64::MAX]);
    assert!(
        of(&huge)
            .1
            .contains("offset 1 is 18446744073709551615, after 0")
    );
    let floats = folder.npy("f.npy", &[0.0f32]);
    assert_eq!(
        of(&floats),
        (
            1,
            format!("{floats} holds f32; offsets of segments must be i32, u32, i64 or u64")
        )
    );
    let square = folder.shaped("s.npy", &[0u32; 4], &[2, 2], false);
    assert_eq!(
        of(&square),
        (
            1,
            format!("{square} has 2 dimensions; offsets of segments must have one")
        )
    );
    let none = folder.npy::<u32>("none.npy", &[]);
    let (code, text) = of(&none);
    assert!(code == 1 && text.starts_with(&none), "{text}");
    // A pipe's length is known at its end.
    let offsets = folder.npy("o.npy", &[0i64, 5, 7, 9]);
    let words = [
        "sum",
        "-",
        "--segments",
        &offsets,
        "--dtype=i32",
        "--device=cpu",
    ];
    let output = piped(&words, &[0; 6 * 4]);
    assert_eq!((output.code, output.stdout.as_str()), (Some(1), ""));
    assert_eq!(
        output.stderr,
        format!(
            "warpfold: {offsets}: offset 2 is 7, after 5; offsets must not decrease, and must be from 0 to 6\n"
        )
    );
}

#[test]
fn rows_are_checked() {
    let folder = Folder::new();
    let file = folder.npy("a.npy", &[1i32; 10]);
    for len in ["0", "3", "11"] {
        let text = format!(
            "{file}: 10 items cannot be cut into rows of {len}; the length of a row must divide their number"
        );
        assert_eq!(failure(&["sum", &file, "--rows", len]), (1, text));
    }
    let words = ["sum", "-", "--rows=4", "--dtype=i32", "--device=cpu"];
    let output = piped(&words, &[0; 10 * 4]);
    assert_eq!((output.code, output.stdout.as_str()), (Some(1), ""));
    assert!(
        output
            .stderr
            .contains("standard input: 10 items cannot be cut into rows of 4")
    );
    let fortran = folder.shaped("f.npy", &[1i32; 6], &[2, 3], true);
    let text = "is in Fortran order, in which rows and segments are not adjacent; give --axis instead of --rows, or \
                save the array in C order";
    assert_eq!(
        failure(&["sum", &fortran, "--rows=3"]),
        (1, format!("{fortran} {text}"))
    );
    // A vector has one order.
    let vector = folder.shaped("v.npy", &[1i32; 6], &[1, 6], true);
    assert_eq!(crate::answer(&["sum", &vector, "--rows=3"]), "[3 3]\n");
}

#[test]
fn too_little_memory() {
    let folder = Folder::new();
    let file = folder.shaped("a.npy", &[1i32; 6000], &[2, 1000, 3], false);
    let fortran = folder.shaped("f.npy", &[1i32; 6000], &[2, 1000, 3], true);
    let offsets = folder.npy("o.npy", &[0u32, 1000, 6000]);
    for (words, what) in [
        (
            &[&file, "--axis=0"][..],
            format!("reductions along the first axis of {file}"),
        ),
        (
            &[&file, "--axis=1"],
            format!("the 3000 elements of {file} that are reduced together"),
        ),
        (
            &[&fortran, "--axis=2"],
            format!("reductions along axes of {fortran}, which is in Fortran order,"),
        ),
        (&[&file, "--rows=3000"], "rows of 3000 elements".into()),
        (
            &[&file, "--segments", &offsets],
            format!("segments of {file} with up to 5000 elements"),
        ),
    ] {
        let limited = |memory: &str| {
            let words = [&["sum"], words, &["--device-memory", memory]].concat();
            let output = warpfold(&[&words[..], &["--device=cpu"]].concat());
            (output.code, output.stdout, output.stderr)
        };
        let (code, stdout, stderr) = limited("140000");
        assert_eq!((code, stdout.as_str()), (Some(1), ""));
        let text = format!("warpfold: --device-memory 140000 is too small: {what} require ");
        let rest = stderr
            .strip_prefix(&text)
            .unwrap_or_else(|| panic!("{stderr}"));
        // With the memory that the text asks for, but not with less.
        let needed: u64 = rest.split(' ').next().unwrap().parse().unwrap();
        assert_eq!(limited(&(needed - 1).to_string()).0, Some(1));
        let (code, stdout, _) = limited(&needed.to_string());
        assert_eq!((code, stdout), (Some(0), limited("2GiB").1));
    }
}

#[test]
fn what_exact_cannot_promise() {
    let folder = Folder::new();
    let floats = folder.npy("f.npy", &[1.0f32; 4]);
    for command in ["mean", "norm"] {
        let (code, text) = failure(&[command, &floats, "--rows=2", "--exact"]);
        let right = format!("--exact: the {command} of each part is not exact");
        assert!(code == 2 && text.starts_with(&right), "{text}");
    }
    for command in ["product", "var"] {
        let (code, text) = failure(&[command, &floats, "--axis=0", "--exact"]);
        assert!(
            code == 1 && text.contains("cannot keep the promise"),
            "{text}"
        );
    }
    // Nothing is rounded.
    let integers = folder.npy("i.npy", &[1i8; 4]);
    let exact = |words: &[&str]| crate::answer(&[words, &["--rows=2", "--exact"]].concat());
    assert_eq!(exact(&["sum", &integers]), "[2 2]\n");
    assert_eq!(exact(&["mean", &integers]), "[1.0 1.0]\n");
    assert_eq!(exact(&["max", &floats]), "[1.0 1.0]\n");
    // A result that a file of integers cannot hold.
    let offsets = folder.npy("o.npy", &[0u32, 2, 2]);
    let output = folder.path("out.npy");
    let words = [
        "min",
        &integers,
        "--segments",
        &offsets,
        "--output",
        &output,
    ];
    let (code, text) = failure(&words);
    assert_eq!(code, 1);
    assert!(
        text.starts_with(&format!("{output}: result 1 does not exist")),
        "{text}"
    );
    assert!(std::fs::metadata(&output).is_err());
}
