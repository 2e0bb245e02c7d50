//! The program as processes of a real MPI; `host/tests/mpi` says which.

use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode, Output};

use libtest_mimic::{Arguments, Completion, Failed, Trial};
use tempfile::TempDir;

fn main() -> ExitCode {
    let tests = vec![
        test("each rank reads its part, and rank 0 prints", parts),
        test("dot products, parts and keys", parts_and_keys),
        test("several files and a pattern are one array", several_files),
        test("a rank that fails is an error", failures),
    ];
    libtest_mimic::run(&Arguments::from_args(), tests).exit_code()
}

fn test(name: &str, run: fn() -> Result<(), Failed>) -> Trial {
    Trial::ignorable_test(name, move || match mpirun() {
        Some(_) => run().map(|()| Completion::Completed),
        None => Ok(Completion::ignored_with(
            "no mpirun in WARPFOLD_MPIRUN or PATH; `cargo xtask setup --mpi` downloads one",
        )),
    })
}

/// The launcher, if there is one.
fn mpirun() -> Option<String> {
    let runs = |program: &String| {
        let version = Command::new(program).arg("--version").output();
        version.is_ok_and(|version| version.status.success())
    };
    let chosen = std::env::var("WARPFOLD_MPIRUN").ok();
    chosen
        .filter(|chosen| !chosen.is_empty())
        .or(Some("mpirun".into()))
        .filter(runs)
}

/// Runs the program in a folder, as one process or as several.
fn warpfold(ranks: usize, folder: &Path, words: &[&str]) -> Result<Output, Failed> {
    let program = env!("CARGO_BIN_EXE_warpfold");
    let mut command = match ranks {
        1 => Command::new(program),
        _ => {
            let mut command = Command::new(mpirun().ok_or("there was a launcher")?);
            command.args(["--oversubscribe", "-n", &ranks.to_string(), program]);
            command
        }
    };
    command
        .args(words)
        .args(["--device", "cpu"])
        .current_dir(folder)
        .env("OMPI_ALLOW_RUN_AS_ROOT", "1")
        .env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
        .env("RAYON_NUM_THREADS", "1");
    Ok(command.output()?)
}

fn stdout(output: &Output) -> Result<String, Failed> {
    match output.status.success() {
        true => Ok(String::from_utf8(output.stdout.clone())?),
        false => Err(String::from_utf8_lossy(&output.stderr).into_owned().into()),
    }
}

/// Raw floats of many magnitudes, so that another order of additions would have other bits.
fn floats(n: usize) -> Vec<u8> {
    let float = |i: usize| ((i * 7919 % 10_007) as f32 - 5000.0) / (1 + i % 97) as f32;
    (0..n).flat_map(|i| float(i).to_le_bytes()).collect()
}

fn parts() -> Result<(), Failed> {
    let folder = TempDir::new()?;
    let commands: [&[&str]; 9] = [
        &["sum"],
        &["sum", "--exact"],
        &["min-max"],
        &["argmax"],
        &["mean"],
        &["mean", "--exact"],
        &["var", "--ddof", "1"],
        &["norm"],
        &["count", "--less", "0"],
    ];
    for (n, ranks) in [(1, 3), (5000, 2), (100_003, 3)] {
        fs::write(folder.path().join("x.f32"), floats(n))?;
        for command in commands {
            // Starting processes takes most of the time.
            if n == 1 && !["sum", "argmax"].contains(&command[0]) {
                continue;
            }
            let words = [
                command,
                &["x.f32", "--dtype", "f32", "--device-memory", "200kB"],
            ]
            .concat();
            let one = stdout(&warpfold(1, folder.path(), &words)?)?;
            let all = stdout(&warpfold(ranks, folder.path(), &words)?)?;
            if one != all {
                return Err(
                    format!("{words:?} of {n}: {all} on {ranks} ranks, {one} on one").into(),
                );
            }
        }
    }
    // Rank 0 reads its part and no more.
    let words = ["sum", "x.f32", "--dtype", "f32", "--json"];
    let report: serde_json::Value =
        serde_json::from_str(&stdout(&warpfold(2, folder.path(), &words)?)?)?;
    assert_eq!(
        (&report["n"], &report["ranks"]),
        (&100_003.into(), &2.into())
    );
    let bytes = report["bytes"].as_u64().ok_or("a number of bytes")?;
    assert!(
        (180_000..220_000).contains(&bytes),
        "{bytes} of 400012 bytes"
    );
    Ok(())
}

fn parts_and_keys() -> Result<(), Failed> {
    let folder = TempDir::new()?;
    let n = 60_000;
    fs::write(folder.path().join("x.f32"), floats(n))?;
    let keys = (0..n as u32).map(|i| i * 7919 % 41);
    let keys: Vec<u8> = keys.flat_map(u32::to_le_bytes).collect();
    let header = |descr: &str, shape: &str| {
        let dict = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({shape})}}\n");
        [
            b"\x93NUMPY\x01\0",
            &[dict.len() as u8, 0][..],
            dict.as_bytes(),
        ]
        .concat()
    };
    let npy = [header("<u4", "60000,"), keys].concat();
    fs::write(folder.path().join("keys.npy"), npy)?;
    let npy = [header("<f4", "300, 200"), floats(n)].concat();
    fs::write(folder.path().join("x.npy"), npy)?;
    let commands: [&[&str]; 6] = [
        &["dot", "x.npy", "x.npy"],
        &["sum", "x.f32", "--dtype", "f32", "--rows", "100"],
        &["argmax", "x.npy", "--axis", "0"],
        &[
            "reduce-by-key",
            "x.npy",
            "--keys",
            "keys.npy",
            "--op",
            "min",
        ],
        &["count-by-key", "keys.npy"],
        &[
            "group-by", "keys.npy", "x.npy", "--ops", "sum,mean", "--sorted",
        ],
    ];
    for words in commands {
        let one = stdout(&warpfold(1, folder.path(), words)?)?;
        let all = stdout(&warpfold(3, folder.path(), words)?)?;
        if one != all || one.is_empty() {
            return Err(format!("{words:?}: {all} on 3 ranks, {one} on one").into());
        }
    }
    Ok(())
}

fn several_files() -> Result<(), Failed> {
    let folder = TempDir::new()?;
    let all = floats(30_000);
    for (file, bytes) in [
        ("a.f32", 0..20_000),
        ("b.f32", 20_000..20_004),
        ("c.f32", 20_004..120_000),
    ] {
        fs::write(folder.path().join(file), &all[bytes])?;
    }
    fs::write(folder.path().join("whole"), &all)?;
    let whole = stdout(&warpfold(
        1,
        folder.path(),
        &["sum", "whole", "--dtype", "f32"],
    )?)?;
    for words in [
        &["sum", "a.f32", "b.f32", "c.f32", "--dtype", "f32"][..],
        &["sum", "?.f32", "--dtype", "f32"],
        &["sum", "*.f32", "--dtype", "f32"],
    ] {
        for ranks in [1, 3] {
            assert_eq!(
                stdout(&warpfold(ranks, folder.path(), words)?)?,
                whole,
                "{words:?}"
            );
        }
    }
    let output = warpfold(1, folder.path(), &["sum", "*.f64", "--dtype", "f64"])?;
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(text.contains("*.f64: no file has such a name"), "{text}");
    Ok(())
}

fn failures() -> Result<(), Failed> {
    let folder = TempDir::new()?;
    fs::write(folder.path().join("x.f32"), floats(10))?;
    let fails = |words: &[&str], text: &str| -> Result<(), Failed> {
        let output = warpfold(2, folder.path(), words)?;
        let found = String::from_utf8_lossy(&output.stderr).into_owned();
        match !output.status.success() && output.stdout.is_empty() && found.contains(text) {
            true => Ok(()),
            false => Err(format!("{words:?}: no {text:?} in {found}").into()),
        }
    };
    fails(&["sum", "none.npy"], "none.npy: No such file")?;
    fails(
        &["sum", "-", "--dtype", "f32"],
        "standard input can be read",
    )?;
    fails(
        &["count-by-key", "x.f32", "--dtype", "f32"],
        "x.f32 holds f32; keys must be integers",
    )?;
    fails(
        &["sum", "x.f32", "--dtype", "f32", "--rows", "3"],
        "x.f32: 10 items",
    )
}
