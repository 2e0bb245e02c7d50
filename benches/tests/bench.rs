//! Runs of `warpfold-bench bench` and `ladder`, on the CPU and in the simulator.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;
use warpfold_results::read::read;
use warpfold_results::schema::{Backend, By, Results, Suite};

/// A small sweep on the CPU and in the simulator.
const SMALL: &str = "--backend cpu,sim --suite whole,ladder --sizes 2^10,1000 --types i32,f32 \
                     --ops sum,min --quick --seed 7";

fn run(line: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_warpfold-bench"))
        .args(line.split_whitespace())
        // Hides the machine's GPUs.
        .env("CUDA_VISIBLE_DEVICES", "")
        .output()
        .unwrap()
}

fn bench(line: &str, out: &Path) -> Output {
    run(&format!("bench {line} --out {}", out.display()))
}

/// Runs the bench, and returns its standard output and its results.
fn results(line: &str, out: &Path) -> (String, Results) {
    let output = bench(line, out);
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    (
        String::from_utf8_lossy(&output.stdout).into_owned(),
        read(&out.join("results.json")).unwrap(),
    )
}

/// Runs the bench, checks its exit code, and returns its standard error.
fn fails(code: i32, line: &str, out: &Path) -> String {
    let output = bench(line, out);
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(code), "{line}: {stderr}");
    assert!(!stderr.contains("panicked"), "{stderr}");
    stderr
}

#[test]
fn without_a_device_the_ladder_is_a_sum_on_the_cpu_with_a_note() {
    let (folder, _) = folder();
    let file = folder.path().join("ladder.json");
    let output = run(&format!(
        "ladder --n 100_000 --peers --seed 7 --json {}",
        file.display()
    ));
    let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    for part in [
        "no CUDA device (`cargo xtask doctor` explains why)",
        "sums on the CPU",
        "random, seed 7",
        "op sum i32, n 100,000",
        "| cpu ",
        "| one loop, one core (plain loop) ",
        "right |",
    ] {
        assert!(stdout.contains(part), "{part} is not in:\n{stdout}");
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
fn an_invalid_ladder_is_refused() {
    for (line, reason) in [
        ("--threads 300", "300 threads"),
        ("--n 0", "at least 1"),
        ("--json /no/such/folder/ladder.json", "cannot write"),
    ] {
        let output = run(&format!("ladder {line}"));
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{line}: {stderr}");
        assert!(stderr.contains(reason), "{line}: {stderr}");
    }
}

fn folder() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("a/b");
    (folder, out)
}

#[test]
fn an_impossible_profile_is_a_note_and_not_an_error() {
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
fn a_small_sweep_writes_results_a_table_and_a_report() {
    let (_folder, out) = folder();
    let (stdout, results) = results(SMALL, &out);
    for name in ["results.json", "results.csv", "report.html"] {
        assert!(stdout.contains(name), "{stdout}");
    }
    let lines = stdout.lines().filter(|line| line.contains("| cpu "));
    assert_eq!(lines.count(), 2 * 2 * 2, "{stdout}");
    assert!(stdout.contains("Whole-array reductions (CPU)"), "{stdout}");
    let of = |backend, suite| {
        let rows = results.rows.iter();
        rows.filter(move |row| (row.backend, row.suite) == (backend, suite))
    };
    // Two types, two operators, two sizes: warpfold, a plain loop, and the ceiling.
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
fn quiet_prints_only_the_files_and_rows_name_their_threads() {
    let (_folder, out) = folder();
    let line = "--backend cpu --suite whole --sizes 2^16 --types i8,f16 --ops max --quick";
    let (stdout, results) = results(&format!("{line} --cpu-threads 2 --quiet"), &out);
    let shown = out.display().to_string();
    assert!(
        stdout.lines().all(|line| line.starts_with(&shown)),
        "{stdout}"
    );
    assert_eq!(results.rows.len(), 2 * 3);
    for row in &results.rows {
        let threads = (row.by != By::Loop).then_some("threads: 2");
        assert_eq!(row.variant.as_deref(), threads, "{row:?}");
        assert!(row.time.is_some(), "{row:?}");
    }
}

#[test]
fn a_wrong_kernel_has_no_time_and_other_rows_are_kept() {
    let (_folder, out) = folder();
    let line = "--backend cpu --suite whole --sizes 1000 --types i32 --ops sum --quick";
    let stderr = fails(1, &format!("{line} --wrong-kernel"), &out);
    assert!(
        stderr.contains("wrong answer") && stderr.contains("wrong_kernel"),
        "{stderr}"
    );
    let results = read(&out.join("results.json")).unwrap();
    let row_of = |name| results.rows.iter().find(|row| row.kernel == name).unwrap();
    let row = row_of("wrong_kernel");
    assert!(row.time.is_none() && row.wrong.as_ref().unwrap().runs > 20);
    assert!(row_of("cpu").time.is_some());
}

#[test]
fn runs_are_compared_and_a_regression_is_an_exit_code() {
    let (folder, out) = folder();
    let line = "--backend cpu --suite whole --sizes 2^16 --types i32 --ops sum --quick";
    let (_, mut old) = results(line, &out);
    // An old run in which the library was stable and a thousand times as fast.
    for row in old.rows.iter_mut().filter(|row| row.by == By::Warpfold) {
        let time = row.time.as_mut().unwrap();
        time.median_us /= 1e3;
        time.interval_us = (time.median_us, time.median_us);
        time.unstable = false;
    }
    let file = folder.path().join("old.json");
    fs::write(&file, serde_json::to_string(&old).unwrap()).unwrap();
    let compare = format!("{line} --compare {}", file.display());
    let output = bench(&compare, &out);
    assert_eq!(
        output.status.code(),
        Some(0),
        "without --fail-on-regression"
    );
    let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        stdout.contains("new/old") && stdout.contains("compared with 20"),
        "{stdout}"
    );
    let failing = bench(&format!("{compare} --fail-on-regression"), &out);
    let new = read(&out.join("results.json")).unwrap();
    let row = new.rows.iter().find(|row| row.by == By::Warpfold).unwrap();
    // On a busy machine the row may be too unstable to be a regression.
    let code = if row.time.unwrap().unstable { 0 } else { 1 };
    assert_eq!(failing.status.code(), Some(code));
}

/// Whether the process has installed a handler of interrupts.
#[cfg(target_os = "linux")]
fn handles_interrupts(pid: u32) -> bool {
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
    while !handles_interrupts(running.id()) {
        assert_eq!(running.try_wait().unwrap(), None, "the bench has ended");
        sleep(Duration::from_millis(20));
    }
    // By then some small sizes are done, and some large ones are not.
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
fn invalid_options_are_refused_before_any_measurement() {
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
        (
            "--backend cpu --block-threads 64".to_owned(),
            "--block-threads",
        ),
        ("--backend sim --cpu-threads 2".to_owned(), "--cpu-threads"),
        (format!("--compare {file}"), "not JSON"),
        (format!("--compare {file}.none"), "cannot read"),
        (format!("--backend cpu --input {file}"), "--input"),
    ] {
        let stderr = fails(2, &line, &out);
        assert!(stderr.contains(reason), "{line}: {stderr}");
    }
    let below_a_file = folder.path().join("file/out");
    let stderr = fails(2, "--backend cpu --quick", &below_a_file);
    assert!(stderr.contains("cannot create the folder"), "{stderr}");
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
fn elements_from_a_file_are_measured_unless_zero_or_nan() {
    let (folder, out) = folder();
    let file = folder.path().join("input.npy");
    npy(
        &file,
        &(0..5000).map(|i| i as f32 * 0.1).collect::<Vec<_>>(),
    );
    let line = format!(
        "--backend cpu --suite whole --quick --input {}",
        file.display()
    );
    let (_, measured) = results(&line, &out);
    assert_eq!(measured.method.input.as_deref(), file.to_str());
    assert!(
        measured
            .rows
            .iter()
            .all(|row| row.n == 5000 && row.element == "f32")
    );
    let stderr = fails(2, &format!("{line} --sizes 5001"), &out);
    assert!(stderr.contains("5000 elements; --sizes 5001"), "{stderr}");
    let stderr = fails(2, &format!("{line} --types f64"), &out);
    assert!(stderr.contains("holds f32"), "{stderr}");

    npy(&file, &[0.0; 100]);
    assert!(fails(2, &line, &out).contains("all 100 elements are zero"));
    npy(&file, &[1.0, f32::NAN]);
    assert!(fails(2, &line, &out).contains("NaN"));
}
