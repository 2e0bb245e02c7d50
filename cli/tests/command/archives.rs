//! Arrays in `.npz` archives.

use std::fs;

use crate::files::{Folder, Sample, big_endian, for_every_type, header, npy};
use crate::{answer, answers, warpfold};

#[test]
fn every_type_stored_and_deflated() {
    fn check<T: Sample>(folder: &Folder) {
        let elements: Vec<T> = (0..1000).map(|i| T::of(i * 7 % 23)).collect();
        let right = answer(&[
            "argmax",
            &folder.npy("a.npy", &elements),
            "--dtype",
            T::NAME,
        ]);
        for content in [npy(&elements), big_endian(&elements)] {
            for deflated in [false, true] {
                let file = folder.npz("z.npz", deflated, &[("a.npy", &content)]);
                for file in [file.clone(), file.clone() + ":a", file + ":a.npy"] {
                    for got in answers(&["argmax", &file, "--dtype", T::NAME]) {
                        assert_eq!(got, right, "{file} {}", T::NAME);
                    }
                }
            }
        }
    }
    for_every_type!(check(&Folder::new()));
}

#[test]
fn arrays_by_their_names() {
    let folder = Folder::new();
    let (one, two) = (npy(&[1i32, 2]), npy(&[2.5f64]));
    let members = [
        ("one.npy", &one[..]),
        ("note.txt", b"not an array"),
        ("two.npy", &two),
        // An array whose name is the member name of another array.
        ("one.npy.npy", &two),
    ];
    let file = folder.npz("z.npz", true, &members);
    assert_eq!(answer(&["sum", &format!("{file}:one")]), "3\n");
    assert_eq!(answer(&["sum", &format!("{file}:two")]), "2.5\n");
    assert_eq!(answer(&["sum", &format!("{file}:one.npy")]), "2.5\n");
    let upper = folder.path("Z.NPZ");
    fs::copy(&file, &upper).unwrap();
    assert_eq!(answer(&["sum", &format!("{upper}:two")]), "2.5\n");

    let fails = |file: &str, text: &str| {
        let output = warpfold(&["sum", file, "--device=cpu"]);
        assert_eq!(
            (output.code, output.stdout.as_str()),
            (Some(1), ""),
            "{output:?}"
        );
        assert_eq!(output.stderr.lines().count(), 1);
        assert!(output.stderr.ends_with(&format!("{text}\n")), "{output:?}");
    };
    let names = "3 arrays: one, two, one.npy";
    fails(&file, &format!("z.npz has {names}; name one: {file}:NAME"));
    fails(
        &format!("{file}:six"),
        &format!("z.npz has no array \"six\"; it has {names}"),
    );
    fails(&format!("{file}:note.txt"), names);
    fails(&format!("{file}:"), names);
    fails(&folder.npz("no.npz", false, &[]), "no.npz has no arrays");
    fails(
        &(folder.npz("no.npz", false, &[]) + ":a"),
        "no.npz has no array \"a\"; it has no arrays",
    );
    let missing = folder.path("missing.npz");
    let text = "missing.npz: No such file or directory (os error 2)";
    fails(&missing, text);
    fails(&format!("{missing}:a"), text);

    let escape = [("\u{1b}[31m.npy", &one[..]), ("b.npy", &one)];
    let output = warpfold(&["sum", &folder.npz("e.npz", false, &escape)]);
    assert!(output.stderr.contains("\\u{1b}[31m"), "{output:?}");
    let many: Vec<String> = (0..1000).map(|i| format!("{i}.npy")).collect();
    let many: Vec<_> = many.iter().map(|name| (&**name, &one[..])).collect();
    let output = warpfold(&["sum", &folder.npz("m.npz", false, &many)]);
    assert!(
        output.stderr.contains("1000 arrays: 0, 1, 2,"),
        "{output:?}"
    );
    assert!(output.stderr.contains("18, 19 and 980 more"), "{output:?}");
}

#[test]
fn keys_and_values_from_one_archive() {
    let folder = Folder::new();
    let (keys, values) = (npy(&[1u32, 0, 1]), npy(&[1.5f32, 2.0, 3.0]));
    let members = [("k.npy", &keys[..]), ("v.npy", &values)];
    let file = folder.npz("z.npz", true, &members);
    let (keys, values) = (format!("{file}:k"), format!("{file}:v"));
    for got in answers(&["reduce-by-key", &values, "--keys", &keys]) {
        assert_eq!(got, "2.0\n4.5\n");
    }
}

#[test]
fn broken_archives() {
    let folder = Folder::new();
    let fails = |file: &str, text: &str| {
        let output = warpfold(&["sum", file, "--device=cpu"]);
        assert_eq!(
            (output.code, output.stdout.as_str()),
            (Some(1), ""),
            "{output:?}"
        );
        assert!(output.stderr.contains(text), "{output:?}");
    };
    fails(
        &folder.file("text.npz", b"text"),
        "text.npz: not a readable .npz archive",
    );
    fails(
        &folder.file("empty.npz", b""),
        "empty.npz: not a readable .npz archive",
    );
    let content = npy(&(0..1000).collect::<Vec<i32>>());
    for deflated in [false, true] {
        let whole = fs::read(folder.npz("z.npz", deflated, &[("a.npy", &content)])).unwrap();
        fails(
            &folder.file("z.npz", &whole[..whole.len() / 2]),
            "z.npz: not a readable",
        );
        // A wrong byte at the end of the data: the header of the array is still valid.
        let directory = whole
            .windows(4)
            .position(|bytes| bytes == b"PK\x01\x02")
            .unwrap();
        let mut wrong = whole.clone();
        wrong[directory - 1 - if deflated { 40 } else { 0 }] ^= 64;
        fails(&folder.file("z.npz", &wrong), "z.npz:a: ");
    }
    let short = &content[..content.len() - 1];
    let file = folder.npz("z.npz", true, &[("a.npy", short)]);
    fails(&file, "z.npz:a: too short: ");
    let file = folder.npz("z.npz", true, &[("a.npy", b"no array")]);
    fails(&file, "z.npz:a: not a .npy file of a plain array");
    let huge = header("<f4", 1 << 60);
    let file = folder.npz("z.npz", true, &[("a.npy", &huge)]);
    fails(&file, "z.npz:a: too short: ");
}

/// A member larger than the memory limit is reduced while it is decompressed.
#[test]
fn a_member_larger_than_memory() {
    let folder = Folder::new();
    // 64 MiB of zeroes, and a one.
    let n = (16 << 20) + 1;
    let zeroes = vec![0; 64 << 20];
    let content = [header("<i4", n), zeroes, vec![1, 0, 0, 0]].concat();
    let file = folder.npz("z.npz", true, &[("a.npy", &content)]);
    assert!(fs::metadata(&file).unwrap().len() < 1 << 20);
    // Of data, because the program's code takes as many addresses.
    let limit = "ulimit -d 32768; exec \"$0\" argmax \"$1\" --device=cpu --device-memory=1MiB";
    let mut command = std::process::Command::new("sh");
    command.env("RAYON_NUM_THREADS", "1").args(["-c", limit]);
    command.args([env!("CARGO_BIN_EXE_warpfold"), &file]);
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(
        String::from_utf8_lossy(&output.stdout),
        format!("{} 1\n", n - 1),
        "{text}"
    );
}
