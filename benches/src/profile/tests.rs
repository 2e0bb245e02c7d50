//! Tests of whole profiles, and of a record of an H200.

use std::path::PathBuf;

use clap::Parser;

use super::launch::Launched;
use super::run::counted;
use super::*;
use crate::options::{Cli, Command};

/// The record of an H200 that the documentation cites.
fn record() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("records/h200/2026-11-21")
}

/// The entries of the ladder that the record has: `reduce_2_warp` came later.
fn recorded() -> impl Iterator<Item = Entry> {
    let ladder = Entry::ladder().into_iter();
    ladder.filter(|entry| !entry.name().starts_with("reduce_2_warp"))
}

#[test]
fn every_difference_between_the_simulator_and_the_record_has_a_reason() {
    let profile = read(&record().join("profile.json")).unwrap();
    let kernels: std::collections::HashSet<_> = profile
        .counted
        .iter()
        .map(|counted| (counted.entry.clone(), counted.threads))
        .collect();
    for entry in recorded() {
        for threads in [128, 256, 512, 1024] {
            assert!(
                kernels.contains(&(entry.name(), threads)),
                "{}",
                entry.name()
            );
        }
    }
    let (text, unexplained) = profile.markdown().unwrap();
    assert_eq!(unexplained, 0, "{text}");
    for reason in reasons::all() {
        assert!(
            text.contains(reason),
            "no difference has this reason any more: {reason}"
        );
    }
}

#[test]
fn the_record_is_what_ncu_printed() {
    let profile = read(&record().join("profile.json")).unwrap();
    let page = |name: &str| fs::read_to_string(record().join(name)).unwrap();
    for threads in [128, 256, 512, 1024] {
        let kept: Vec<_> = profile
            .counted
            .iter()
            .filter(|counted| counted.threads == threads)
            .collect();
        let launched = Launched {
            device: profile.device.clone(),
            n: kept[0].n,
            seed: profile.seed,
            launches: kept
                .iter()
                .map(|counted| launch::Launch {
                    entry: counted.entry.clone(),
                    threads: counted.threads,
                    blocks: counted.blocks,
                })
                .collect(),
        };
        let raw = page(&format!("ncu-{threads}.csv"));
        let source = page(&format!("ncu-{threads}-sass.csv"));
        let again = counted(&launched, &raw, &source).unwrap();
        assert_eq!(again.len(), kept.len());
        for (again, kept) in again.iter().zip(kept) {
            assert_eq!(again.figures, kept.figures, "{}", kept.entry);
            assert_eq!(again.opcodes, kept.opcodes, "{}", kept.entry);
        }
    }
}

#[test]
fn profiles_of_other_launches_are_refused() {
    let raw = include_str!("testdata/raw.csv");
    let source = include_str!("testdata/source.csv");
    let launch = |entry: &str, blocks| launch::Launch {
        entry: entry.into(),
        threads: 256,
        blocks,
    };
    let mut launched = Launched {
        device: "a test".into(),
        n: 1 << 20,
        seed: 1,
        launches: vec![
            launch("reduce_1_sum_i32", 4096),
            launch("reduce_2_sum_i32", 4096),
            launch("reduce_0_sum_f64", 4096),
        ],
    };
    assert_eq!(counted(&launched, raw, source).unwrap().len(), 3);
    launched.launches[1].blocks = 16;
    let error = counted(&launched, raw, source).unwrap_err().to_string();
    assert!(error.contains("4096") && error.contains("16"), "{error}");
    launched.launches.pop();
    let error = counted(&launched, raw, source).unwrap_err().to_string();
    assert!(error.contains("2 kernels were launched"), "{error}");
}

#[test]
fn another_schema_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("profile.json");
    let text = fs::read_to_string(record().join("profile.json")).unwrap();
    fs::write(&file, text.replace(SCHEMA, "warpfold-bench/profile/99")).unwrap();
    let other = read(&file).unwrap_err();
    fs::write(&file, "{}").unwrap();
    let invalid = read(&file).unwrap_err();
    let missing = read(&folder.path().join("none.json")).unwrap_err();
    for (error, part) in [
        (other, "profile/99"),
        (invalid, "not a profile"),
        (missing, "cannot read"),
    ] {
        assert!(
            error.is::<BadOption>() && error.to_string().contains(part),
            "{error}"
        );
    }
}

fn options(words: &str) -> Result<ProfileOptions, clap::Error> {
    let words = ["warpfold-bench", "profile"]
        .into_iter()
        .chain(words.split_whitespace());
    match Cli::try_parse_from(words)?.command {
        Command::Profile(options) => Ok(options),
        other => panic!("{other:?}"),
    }
}

fn names(entries: &[Entry]) -> Vec<String> {
    entries.iter().map(|entry| entry.name()).collect()
}

#[test]
fn requested_entries_are_selected_once() {
    let select = |words: &str| Selection::of(&options(words).unwrap()).unwrap();
    let ladder = select("--ladder");
    assert_eq!(ladder.counted.len(), 16 + 4 + 4);
    assert_eq!(ladder.timed.len(), 16, "of i32");
    let kepler = select("--kepler --entries stable_sum_i32,single_pass_min_f64");
    assert_eq!((kepler.counted.len(), kepler.timed.len()), (10, 11));
    let named = select("--entries reduce_2_max_f32,single_pass_sum_f32,reduce_2_max_f32");
    assert_eq!(names(&named.counted), ["reduce_2_max_f32"]);
    assert_eq!(
        names(&named.timed),
        ["reduce_2_max_f32", "single_pass_sum_f32"]
    );
}

#[test]
fn an_impossible_profile_is_a_bad_option() {
    for words in [
        "--entries reduce_9_sum_i32",
        "--entries single_pass_sum_i32 --only counts",
    ] {
        let error = measure(&options(words).unwrap()).unwrap_err();
        assert!(error.is::<BadOption>(), "{error:#}");
    }
    for words in [
        "",
        "--ladder --read profile.json",
        "--ladder --lines --only times",
    ] {
        assert_eq!(options(words).unwrap_err().exit_code(), 2, "{words}");
    }
}

#[test]
fn a_recorded_profile_has_its_page() {
    let folder = tempfile::tempdir().unwrap();
    let profile = read(&record().join("profile.json")).unwrap();
    profile.write_to(folder.path(), "tables").unwrap();
    let written = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
    assert_eq!(written("profile.md"), "tables");
    assert_eq!(
        read(&folder.path().join("profile.json")).unwrap().timed,
        profile.timed
    );
    let page = written("profile.html");
    assert!(page.contains("NVIDIA H200"), "{page}");
    for entry in recorded() {
        let is_listed = page.contains(&format!("<td>{}</td>", entry.name()));
        assert_eq!(is_listed, entry.element == DType::I32, "{}", entry.name());
    }
}
