//! `warpfold-bench bench` and `ladder` as people call them, on the CPU and the simulator.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;
use warpfold_results::read::read;
use warpfold_results::schema::{Backend, By, Results, Suite};

/// The smallest sweep that has something of everything.
const SMALL: &str = "--backend cpu,sim --suite whole,ladder --sizes 2^10,1000 --types i32,f32 \
                     --ops sum,min --quick --seed 7";

fn run(line: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_warpfold-bench"))
        .args(line.split_whitespace())
        // No device, whatever the machine has.
        .env("CUDA_VISIBLE_DEVICES", "")
        .output()
        .unwrap()
}

fn bench(line: &str, out: &Path) -> Output {
    run(&format!("bench {line} --out {}", out.display()))
}

/// Runs it, and gives what it says and its results.
fn results(line: &str, out: &Path) -> (String, Results) {
    let output = bench(line, out);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{said}");
    (
        String::from_utf8_lossy(&output.stdout).into_owned(),
        read(&out.join("results.json")).unwrap(),
    )
}

/// Runs it, wants this exit code, and gives what it says.
fn fails(code: i32, line: &str, out: &Path) -> String {
    let output = bench(line, out);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(code), "{line}: {said}");
    assert!(!said.contains("panicked"), "{said}");
    said
}

#[test]
fn without_a_device_the_ladder_is_a_sum_on_the_cpu_and_says_why() {
    let (folder, _) = folder();
    let file = folder.path().join("ladder.json");
    let output = run(&format!(
        "ladder --n 100_000 --peers --seed 7 --json {}",
        file.display()
    ));
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    for part in [
        "no CUDA device (`cargo xtask doctor` says why)",
        "sums on the CPU",
        "random, seed 7",
        "of sum i32, n 100,000",
        "| cpu ",
        "| one loop, one core (plain loop) ",
        "right |",
    ] {
        assert!(said.contains(part), "{part} is not in:\n{said}");
    }
    let results = read(&file).unwrap();
    assert!(results.complete && results.is_right());
    assert_eq!(results.rows.len(), 3);
    assert!(
        results
            .rows
            .iter()
            .all(|row| row.time.is_some() && row.n == 100_000)
    );
}

#[test]
fn a_ladder_that_cannot_be_is_refused() {
    for (line, reason) in [
        ("--threads 300", "300 threads"),
        ("--n 0", "at least 1"),
        ("--json /no/such/folder/ladder.json", "cannot write"),
    ] {
        let output = run(&format!("ladder {line}"));
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{line}: {said}");
        assert!(said.contains(reason), "{line}: {said}");
    }
}

fn folder() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("a/b");
    (folder, out)
}

#[test]
fn what_cannot_be_profiled_is_a_note_and_no_failure() {
    let (_folder, out) = folder();
    let line = "--backend sim --suite ladder --sizes 2^10 --algorithms reduce_2 --quick --profile";
    let (_, results) = results(line, &out);
    assert!(results.profiled.is_empty() && results.complete);
    let [note] = &results.notes[..] else {
        panic!("{:?}", results.notes)
    };
    assert!(note.contains("nothing was profiled"), "{note}");
}

#[test]
fn a_small_sweep_leaves_results_a_table_and_a_page() {
    let (_folder, out) = folder();
    let (said, results) = results(SMALL, &out);
    for name in ["results.json", "results.csv", "report.html"] {
        assert!(said.contains(name), "{said}");
    }
    let lines = said.lines().filter(|line| line.contains("| cpu "));
    assert_eq!(lines.count(), 2 * 2 * 2, "{said}");
    assert!(said.contains("Whole-array reductions (CPU)"), "{said}");
    let of = |backend, suite| {
        let rows = results.rows.iter();
        rows.filter(move |row| (row.backend, row.suite) == (backend, suite))
    };
    // Two types, two operators, two sizes: ours, a loop, and the ceiling.
    assert_eq!(of(Backend::Cpu, Suite::Whole).count(), 2 * 2 * 2 * 3);
    for row in of(Backend::Cpu, Suite::Whole) {
        assert!(row.samples_us.len() >= 20 && row.time.is_some(), "{row:?}");
        assert!(row.wrong.is_none() && row.gb_per_s().unwrap() > 0.0);
        assert_eq!(row.bytes, 4 * row.n);
    }
    let simulated: Vec<_> = of(Backend::Sim, Suite::Ladder).collect();
    assert!(simulated.len() >= 2 * 15, "{}", simulated.len());
    assert!(
        simulated
            .iter()
            .all(|row| row.counts["global load requests"] > 0)
    );
    assert!(
        results.complete && results.notes.is_empty(),
        "{:?}",
        results.notes
    );
    assert_eq!(results.method.seed, 7);

    let csv = fs::read_to_string(out.join("results.csv")).unwrap();
    assert_eq!(csv.lines().count(), 1 + results.rows.len());
    let page = fs::read_to_string(out.join("report.html")).unwrap();
    assert!(page.contains("reduce_5_x8") && page.contains("plain_read"));
    let figures = fs::read_dir(out.join("figures")).unwrap();
    let mut figures: Vec<_> = figures.map(|file| file.unwrap().path()).collect();
    figures.sort_unstable();
    assert_eq!(figures.len(), 2 * page.matches("<figure ").count());
    for pair in figures.chunks(2) {
        assert_eq!(
            [pair[0].extension(), pair[1].extension()],
            [Some("png".as_ref()), Some("svg".as_ref())]
        );
        assert_eq!(pair[0].file_stem(), pair[1].file_stem());
    }
}

#[test]
fn quiet_prints_the_files_alone_and_rows_name_their_threads() {
    let (_folder, out) = folder();
    let line = "--backend cpu --suite whole --sizes 2^16 --types i8,f16 --ops max --quick";
    let (said, results) = results(&format!("{line} --cpu-threads 2 --quiet"), &out);
    let shown = out.display().to_string();
    assert!(said.lines().all(|line| line.starts_with(&shown)), "{said}");
    assert_eq!(results.rows.len(), 2 * 3);
    for row in &results.rows {
        let threads = (row.by != By::Loop).then_some("threads: 2");
        assert_eq!(row.variant.as_deref(), threads, "{row:?}");
        assert!(row.time.is_some(), "{row:?}");
    }
}

#[test]
fn a_wrong_kernel_is_refused_and_everything_else_kept() {
    let (_folder, out) = folder();
    let line = "--backend cpu --suite whole --sizes 1000 --types i32 --ops sum --quick";
    let said = fails(1, &format!("{line} --wrong-kernel"), &out);
    assert!(
        said.contains("wrong answer") && said.contains("wrong_kernel"),
        "{said}"
    );
    let results = read(&out.join("results.json")).unwrap();
    let wrong = |name| results.rows.iter().find(|row| row.kernel == name).unwrap();
    let row = wrong("wrong_kernel");
    assert!(row.time.is_none() && row.wrong.as_ref().unwrap().runs > 20);
    assert!(wrong("cpu").time.is_some());
}

#[test]
fn runs_are_compared_and_a_regression_is_an_exit_code() {
    let (folder, out) = folder();
    let line = "--backend cpu --suite whole --sizes 2^16 --types i32 --ops sum --quick";
    let (_, mut old) = results(line, &out);
    // An old run in which the library was a thousand times as fast, and steady.
    for row in old.rows.iter_mut().filter(|row| row.by == By::Warpfold) {
        let time = row.time.as_mut().unwrap();
        time.median_us /= 1e3;
        time.interval_us = (time.median_us, time.median_us);
        time.unstable = false;
    }
    let file = folder.path().join("old.json");
    fs::write(&file, serde_json::to_string(&old).unwrap()).unwrap();
    let compare = format!("{line} --compare {}", file.display());
    let said = bench(&compare, &out);
    assert_eq!(said.status.code(), Some(0), "it was not asked to fail");
    let said = String::from_utf8_lossy(&said.stdout).into_owned();
    assert!(
        said.contains("new/old") && said.contains("beside 20"),
        "{said}"
    );
    let failing = bench(&format!("{compare} --fail-on-regression"), &out);
    let new = read(&out.join("results.json")).unwrap();
    let ours = new.rows.iter().find(|row| row.by == By::Warpfold).unwrap();
    // On a busy machine the row may be too spread to be a regression.
    let code = if ours.time.unwrap().unstable { 0 } else { 1 };
    assert_eq!(failing.status.code(), Some(code));
}

/// Whether the process has a handler of interrupts by now.
#[cfg(target_os = "linux")]
fn listens(pid: u32) -> bool {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
    let caught = u64::from_str_radix(caught.unwrap().trim(), 16).unwrap();
    const SIGINT: u64 = 2;
    caught & (1 << (SIGINT - 1)) != 0
}

#[cfg(target_os = "linux")]
#[test]
fn an_interrupt_keeps_what_has_been_measured() {
    use std::thread::sleep;
    use std::time::Duration;

    let (_folder, out) = folder();
    let line = "--backend cpu --suite whole --sizes 2^10..2^22 --types f64 --ops sum,min --seed 7";
    let mut running = Command::new(env!("CARGO_BIN_EXE_warpfold-bench"));
    running.arg("bench").args(line.split_whitespace());
    let mut running = running.arg("--out").arg(&out).spawn().unwrap();
    while !listens(running.id()) {
        assert_eq!(running.try_wait().unwrap(), None, "it has ended");
        sleep(Duration::from_millis(20));
    }
    // Some small sizes are done by then, and the large ones, which take longer here, are not.
    sleep(Duration::from_secs(4));
    let interrupt = ["-s", "INT", &running.id().to_string()];
    assert!(
        Command::new("kill")
            .args(interrupt)
            .status()
            .unwrap()
            .success()
    );
    assert_eq!(running.wait().unwrap().code(), Some(1));
    let results = read(&out.join("results.json")).unwrap();
    assert!(!results.complete && !results.rows.is_empty());
    assert!(
        results.notes[0].starts_with("interrupted"),
        "{:?}",
        results.notes
    );
    assert!(out.join("report.html").is_file());
}

#[test]
fn what_cannot_be_is_said_before_anything_is_measured() {
    let (folder, out) = folder();
    let file = folder.path().join("file");
    fs::write(&file, "{\"schema\": 3").unwrap();
    let file = file.display();
    for (line, reason) in [
        ("--suite maxwell".to_owned(), "maxwell"),
        ("--types f8".to_owned(), "f8"),
        ("--suite copy --types u8".to_owned(), "i32 only"),
        ("--sizes 0".to_owned(), "at least 1"),
        ("--backend cpu --tolerance=-1".to_owned(), "--tolerance"),
        ("--backend cpu --grids 64x1".to_owned(), "--grids"),
        ("--backend sim --cpu-threads 2".to_owned(), "--cpu-threads"),
        (format!("--compare {file}"), "not JSON"),
        (format!("--compare {file}.none"), "cannot read"),
        (format!("--backend cpu --input {file}"), "--input"),
    ] {
        let said = fails(2, &line, &out);
        assert!(said.contains(reason), "{line}: {said}");
    }
    let below_a_file = folder.path().join("file/out");
    let said = fails(2, "--backend cpu --quick", &below_a_file);
    assert!(said.contains("cannot make the folder"), "{said}");
}

/// A `.npy` file of `f32`.
fn npy(file: &Path, values: &[f32]) {
    let mut header = format!(
        "{{'descr': '<f4', 'fortran_order': False, 'shape': ({},), }}",
        values.len()
    );
    while (10 + header.len() + 1) % 64 != 0 {
        header.push(' ');
    }
    header.push('\n');
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(values.iter().flat_map(|value| value.to_le_bytes()));
    fs::write(file, bytes).unwrap();
}

#[test]
fn someones_own_elements_are_measured_but_not_zeros() {
    let (folder, out) = folder();
    let file = folder.path().join("own.npy");
    npy(
        &file,
        &(0..5000).map(|i| i as f32 * 0.1).collect::<Vec<_>>(),
    );
    let line = format!(
        "--backend cpu --suite whole --quick --input {}",
        file.display()
    );
    let (_, own) = results(&line, &out);
    assert_eq!(own.method.input.as_deref(), file.to_str());
    assert!(
        own.rows
            .iter()
            .all(|row| row.n == 5000 && row.element == "f32")
    );
    let said = fails(2, &format!("{line} --sizes 5001"), &out);
    assert!(said.contains("5000 elements, not 5001"), "{said}");
    let said = fails(2, &format!("{line} --types f64"), &out);
    assert!(said.contains("holds f32"), "{said}");

    npy(&file, &[0.0; 100]);
    assert!(fails(2, &line, &out).contains("all 100 elements are zero"));
    npy(&file, &[1.0, f32::NAN]);
    assert!(fails(2, &line, &out).contains("NaN"));
}
