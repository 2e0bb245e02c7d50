//! Starting the browser and stopping it, whatever happens.

use std::env;
use std::ffi::OsString;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use headless_chrome::Browser;
use libtest_mimic::Failed;
use tempfile::TempDir;

/// Names the browser, and nothing else is looked at then.
const CHOSEN: &str = "WARPFOLD_CHROMIUM";

/// The names it goes by in `PATH`: the one without windows starts faster.
const NAMES: [&str; 5] = [
    "chromium-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
];

/// All tests together end within this time, whatever a page or the browser does.
const ALL: Duration = Duration::from_secs(180);

/// A browser that says nothing for so long is none.
const SILENT: Duration = Duration::from_secs(30);

static START: OnceLock<Instant> = OnceLock::new();

/// [`ALL`] begins.
pub fn start_the_clock() {
    START.get_or_init(Instant::now);
}

/// The browser, if there is one. One that was chosen may be missing, which fails then.
pub fn program() -> Option<PathBuf> {
    if let Some(chosen) = env::var_os(CHOSEN).filter(|chosen| !chosen.is_empty()) {
        return Some(chosen.into());
    }
    let path = env::var_os("PATH").unwrap_or_default();
    let folders: Vec<_> = env::split_paths(&path).collect();
    let programs = NAMES
        .iter()
        .flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
    programs.into_iter().find(|program| program.is_file())
}

/// A browser of its own, with a profile of its own, that ends with this value.
pub struct Chromium {
    /// The crate's handle.
    pub browser: Browser,
    child: Arc<Mutex<Child>>,
    /// Dropped when the browser is not watched any more.
    _watched: Sender<()>,
    /// A folder that goes with the browser.
    pub profile: TempDir,
}

impl Chromium {
    /// Starts it.
    pub fn start() -> Result<Self, Failed> {
        let program = program().ok_or("no browser")?;
        let profile = TempDir::with_prefix("warpfold-browser")?;
        let child = Command::new(&program)
            .args(arguments(&profile)?)
            // What it keeps goes with it.
            .env("XDG_CACHE_HOME", profile.path().join("cache"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| format!("cannot start {}: {error}", program.display()))?;
        let child = Arc::new(Mutex::new(child));
        let watched = watch(Arc::clone(&child));
        let stop = |error: String| {
            kill(&child);
            Failed::from(format!("{}: {error}", program.display()))
        };
        let url = address(&child).map_err(stop)?;
        let browser =
            Browser::connect_with_timeout(url, SILENT).map_err(|error| stop(error.to_string()))?;
        Ok(Self {
            browser,
            child,
            _watched: watched,
            profile,
        })
    }
}

impl Drop for Chromium {
    fn drop(&mut self) {
        kill(&self.child);
    }
}

fn arguments(profile: &TempDir) -> Result<Vec<OsString>, Failed> {
    let mut folder = OsString::from("--user-data-dir=");
    folder.push(profile.path());
    let mut arguments: Vec<OsString> = [
        "--headless",
        "--remote-debugging-port=0",
        "--no-first-run",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-default-apps",
        "--disable-extensions",
        "--disable-sync",
        "--metrics-recording-only",
        "--password-store=basic",
        "--window-size=1280,900",
        // A page that asks for something gets no answer from outside.
        "--host-resolver-rules=MAP * ~NOTFOUND",
    ]
    .map(Into::into)
    .into();
    arguments.push(folder);
    // The folder is ours, so its owner is who we are; root's browser refuses to have a sandbox.
    if profile.path().metadata()?.uid() == 0 {
        arguments.push("--no-sandbox".into());
    }
    Ok(arguments)
}

/// What the browser writes when it listens; else the last that it wrote.
fn address(child: &Mutex<Child>) -> Result<String, String> {
    let stderr = child.lock().unwrap().stderr.take();
    let stderr = stderr.ok_or("it has no stderr")?;
    let (sender, lines) = mpsc::channel();
    // Reads on, or the browser stops at a full pipe.
    thread::spawn(move || {
        for line in BufReader::new(stderr).lines().map_while(Result::ok) {
            let _ = sender.send(line);
        }
    });
    let mut last = String::new();
    loop {
        match lines.recv_timeout(SILENT) {
            Ok(line) => match line.strip_prefix("DevTools listening on ") {
                Some(url) => return Ok(url.trim().into()),
                None => last = line,
            },
            Err(RecvTimeoutError::Timeout) => return Err(format!("does not listen: {last}")),
            Err(RecvTimeoutError::Disconnected) => return Err(format!("ended: {last}")),
        }
    }
}

/// Ends the browser when [`ALL`] is over, unless what is given back is dropped before.
fn watch(child: Arc<Mutex<Child>>) -> Sender<()> {
    let (sender, dropped) = mpsc::channel();
    let left = ALL.saturating_sub(START.get_or_init(Instant::now).elapsed());
    thread::spawn(move || {
        if dropped.recv_timeout(left) == Err(RecvTimeoutError::Timeout) {
            kill(&child);
        }
    });
    sender
}

fn kill(child: &Mutex<Child>) {
    let mut child = child.lock().unwrap();
    let _ = child.kill();
    let _ = child.wait();
}
