//! Runs of `warpfold-bench accuracy` on the CPU.

use std::fs;
use std::process::{Command, Output};

fn run(line: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_warpfold-bench"))
        .arg("accuracy")
        .args(line.split_whitespace())
        .output()
        .unwrap()
}

/// Runs `accuracy` and returns its standard output.
fn accuracy(line: &str) -> String {
    let output = run(line);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn exact_sums_have_no_error_and_a_record_gives_the_same_table() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("a/b");
    let page = folder.path().join("page.md");
    let markers = ["accuracy: the command writes what follows", "accuracy: end"];
    let text = format!(
        "# A page\n<!-- {} -->\n<!-- {} -->\n",
        markers[0], markers[1]
    );
    fs::write(&page, text).unwrap();
    let out = out.display();
    let shown = accuracy(&format!("--most 1024 --device cpu --seed 7 --out {out}"));
    let lines = shown.lines().filter(|line| line.contains(" 2¹⁰ "));
    assert_eq!(lines.clone().count(), 9 * 2, "{shown}");
    for line in lines {
        let cells: Vec<_> = line.split('|').map(str::trim).collect();
        // The empty cell outside, data, type, n, condition, Fast, Reproducible, Exact, CUB.
        assert_eq!((cells[7], cells[8]), ("0", "-"), "{line}");
    }
    assert!(shown.contains("peer     CUB: absent"), "{shown}");
    assert!(shown.contains(" !!"), "a sum has a wrong sign: {shown}");
    let read = accuracy(&format!(
        "--read {out}/accuracy.json --out {out}/again --page {}",
        page.display()
    ));
    let table = |text: &str| {
        text.lines()
            .filter(|line| line.starts_with('|'))
            .collect::<Vec<_>>()
            .join("\n")
    };
    assert_eq!(table(&read), table(&shown));
    assert!(fs::read_to_string(&page).unwrap().contains(&table(&shown)));
    for name in ["accuracy.md", "accuracy-f32.svg", "accuracy-f64.png"] {
        let of = |folder: &str| fs::read(format!("{out}/{folder}{name}")).unwrap();
        assert!(of("") == of("again/"), "{name}");
    }
}

#[test]
fn an_invalid_accuracy_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("page.md");
    fs::write(&file, "{}").unwrap();
    let file = file.display();
    for (line, reason) in [
        ("--most 1000".to_owned(), "at least 1024"),
        ("--device gpu".to_owned(), "cuda:N"),
        (format!("--read {file}"), "schema"),
        (format!("--most 1024 --device cpu --page {file}"), "markers"),
    ] {
        let output = run(&line);
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{line}: {stderr}");
        assert!(stderr.contains(reason), "{line}: {stderr}");
    }
}
