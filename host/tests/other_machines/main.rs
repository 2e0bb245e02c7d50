//! Tests of errors on other machines: with a driver that fails, or with too little host memory. Each trial
//! runs this program as a child process in such an environment.

use std::path::{Path, PathBuf};
use std::process::{self, Command, ExitCode};
use std::sync::Barrier;
use std::{env, fs, thread};

use libtest_mimic::{Arguments, Failed, Trial};
use warpfold::{Device, Element, Error, SinglePass, Sum};

/// The name of the child's work, see [`child`].
const CHILD: &str = "WARPFOLD_TEST_CHILD";

/// The elements of an `i32` array of 192 MiB, of which only one fits below [`LIMIT_KIB`].
const LEN: usize = 48 << 20;
const LIMIT_KIB: usize = 320 << 10;

fn main() -> ExitCode {
    if let Ok(role) = env::var(CHILD) {
        child(&role);
        return ExitCode::SUCCESS;
    }
    let arguments = Arguments::from_args();
    let trials = vec![
        Trial::test("a toolkit's stub library is not a driver", stub),
        Trial::test("auto chooses the CPU if the module is rejected", rejected),
        Trial::test("auto returns other failures to load a module", failing),
        Trial::test("a rejection keeps its code", rejected_once),
        Trial::test("a module is loaded when it is used", first_use),
        Trial::test("a module is loaded once for all threads", first_use_at_once),
        Trial::test("a device opened twice gives two devices", opened_twice),
        Trial::test("a download too large for the host", large_download),
        Trial::test("too little host memory on the CPU", little_memory),
    ];
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// Prints one line for each result.
fn child(role: &str) {
    match role {
        "open" => {
            report(Device::first());
            report(Device::auto().map(|device| device.fallback_reason().cloned()));
        }
        "use" => {
            let device = Device::first().unwrap();
            for _ in 0..3 {
                report(plan::<i32>(&device));
            }
            report(plan::<f32>(&device));
        }
        "use at once" => {
            let device = Device::first().unwrap();
            let start = Barrier::new(8);
            let plan = || {
                start.wait();
                plan::<i32>(&device)
            };
            thread::scope(|scope| {
                let threads: Vec<_> = (0..8).map(|_| scope.spawn(plan)).collect();
                threads.into_iter().for_each(|t| report(t.join().unwrap()));
            });
        }
        "open twice" => report(two_devices()),
        "download" => report(
            Device::first()
                .and_then(|device| device.alloc::<u64>(1 << 56))
                .and_then(|x| x.download()),
        ),
        "little memory" => {
            let device = Device::cpu();
            let data = vec![0i32; LEN];
            report(device.upload(&data));
            drop(data);
            let x = device.alloc::<i32>(LEN).unwrap();
            report(device.alloc::<i32>(LEN));
            report(x.download().map(|data| data.len()));
            report(
                x.view(1..)
                    .and_then(|x| x.download())
                    .map(|data| data.len()),
            );
            report(x.view(..10).and_then(|x| x.download()));
        }
        _ => unreachable!("{role}"),
    }
}

/// Plans a sum, which needs the module.
fn plan<T: Element>(device: &Device) -> Result<(), Error>
where
    Sum: SinglePass<T>,
{
    let x = device.alloc::<T>(1000)?;
    device.reduce(&x, Sum).plan().map(drop)
}

fn two_devices() -> Result<i32, Error> {
    let (one, other) = (Device::first()?, Device::first()?);
    let x = one.upload::<i32>(&[])?;
    assert_eq!(one.clone().sum(&x), Ok(0));
    other.sum(&x)
}

fn report<T: std::fmt::Debug>(result: Result<T, Error>) {
    match result {
        Ok(value) => println!("Ok({value:?})"),
        Err(error) => println!("{error:?}: {}", error.to_string().replace('\n', " ")),
    }
}

/// The output lines of a child that `command` runs.
fn lines(mut command: Command, role: &str) -> Result<Vec<String>, Failed> {
    let output = command.env(CHILD, role).output()?;
    if !output.status.success() {
        let words = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{role}: {}: {words}", output.status).into());
    }
    let lines = String::from_utf8(output.stdout)?;
    Ok(lines.lines().map(String::from).collect())
}

fn with_driver(role: &str, init: &str, load: &str) -> Result<Vec<String>, Failed> {
    let mut folders = vec![driver()?];
    if let Some(path) = env::var_os("LD_LIBRARY_PATH") {
        folders.extend(env::split_paths(&path));
    }
    let mut command = Command::new(env::current_exe()?);
    command
        .env("LD_LIBRARY_PATH", env::join_paths(folders)?)
        .env("FAKE_INIT", init)
        .env("FAKE_LOAD", load);
    lines(command, role)
}

/// The folder with `driver.rs` compiled as `libcuda.so.1`.
fn driver() -> Result<PathBuf, Failed> {
    static FOLDER: std::sync::OnceLock<Result<PathBuf, String>> = std::sync::OnceLock::new();
    let folder = FOLDER.get_or_init(|| compile().map_err(|error| error.to_string()));
    Ok(folder.clone()?)
}

fn compile() -> Result<PathBuf, Box<dyn std::error::Error>> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("fake-driver");
    fs::create_dir_all(&folder)?;
    // Renamed at the end, because a second run of this program may use the file.
    let library = folder.join(format!("{}.so", process::id()));
    let output = Command::new(env::var_os("RUSTC").unwrap_or("rustc".into()))
        .args(["--edition", "2024", "--crate-type", "cdylib", "-o"])
        .arg(&library)
        .arg(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/tests/other_machines/driver.rs"
        ))
        .output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into());
    }
    fs::rename(library, folder.join("libcuda.so.1"))?;
    Ok(folder)
}

/// An error unless there is one line for each list of words, which contains all words of the list.
fn expect(lines: &[String], words: &[&[&str]]) -> Result<(), Failed> {
    let has = |(line, words): (&String, &&[&str])| words.iter().all(|word| line.contains(word));
    if lines.len() == words.len() && lines.iter().zip(words).all(has) {
        return Ok(());
    }
    Err(format!("{lines:#?}\nwithout {words:?}").into())
}

fn stub() -> Result<(), Failed> {
    let words = [
        "NoDriver",
        "libcuda.so.1 cannot be used (A_NAME (34): a text)",
    ];
    let lines = with_driver("open", "34", "0")?;
    expect(&lines, &[&words, &["Ok(Some(NoDriver"]])
}

fn rejected() -> Result<(), Failed> {
    for code in ["200", "209", "218", "221", "222", "223"] {
        let lines = with_driver("open", "0", code)?;
        let text = format!("the driver rejects the sm_80 module: A_NAME ({code}): a text");
        expect(
            &lines,
            &[
                &["ModuleRejected", &text, "a line of the log"],
                &["Ok(Some(ModuleRejected", code],
            ],
        )?;
    }
    Ok(())
}

/// Among the codes: too little memory, a hardware error, and a code that `cust` does not know.
fn failing() -> Result<(), Failed> {
    for code in ["1", "2", "220", "225", "700", "999"] {
        let lines = with_driver("open", "0", code)?;
        let text = format!("cuModuleLoadDataEx: A_NAME ({code}): a text");
        expect(&lines, &[&["Cuda {", &text], &["Cuda {", &text]])?;
    }
    Ok(())
}

/// The second load, which is for the log, may succeed.
fn rejected_once() -> Result<(), Failed> {
    let lines = with_driver("open", "0", "222 0")?;
    expect(&lines, &[&["ModuleRejected", "(222)"], &["Ok(None)"]])
}

/// Opening a device loads the probe. The module is rejected at first, then loaded for the log and for the
/// next call. After that it is not loaded again, which would fail.
fn first_use() -> Result<(), Failed> {
    let lines = with_driver("use", "0", "0 222 0 0 700")?;
    let rejected = [
        "ModuleRejected",
        "the driver rejects the sm_80 module",
        "(222)",
    ];
    let failed = ["Cuda {", "cuModuleLoadDataEx", "(700)"];
    expect(&lines, &[&rejected, &["Ok(())"], &["Ok(())"], &failed])
}

fn first_use_at_once() -> Result<(), Failed> {
    let lines = with_driver("use at once", "0", "0 0 700")?;
    expect(&lines, &[&["Ok(())"] as &[_]; 8])
}

fn opened_twice() -> Result<(), Failed> {
    let lines = with_driver("open twice", "0", "0")?;
    let words = "opened separately: open it once and clone that `Device`";
    expect(&lines, &[&["OtherDevice", "Fake (device 0)", words]])
}

fn large_download() -> Result<(), Failed> {
    let lines = with_driver("download", "0", "0")?;
    let wanted = (8u64 << 56).to_string();
    expect(&lines, &[&["OutOfHostMemory", &wanted]])
}

fn little_memory() -> Result<(), Failed> {
    let mut command = Command::new("sh");
    command
        .args(["-c", r#"ulimit -v "$1" && exec "$0""#])
        .arg(env::current_exe()?)
        .arg(LIMIT_KIB.to_string());
    let (all, rest) = ((4 * LEN).to_string(), (4 * LEN - 4).to_string());
    expect(
        &lines(command, "little memory")?,
        &[
            &["OutOfHostMemory", &all],
            &["OutOfHostMemory", &all],
            &["OutOfHostMemory", &all],
            &["OutOfHostMemory", &rest],
            &["Ok([0, 0, 0, 0, 0, 0, 0, 0, 0, 0])"],
        ],
    )
}
