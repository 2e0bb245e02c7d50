//! Runs `launch` under ncu and reads the metrics.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::{env, fs};

use anyhow::{Context, Result, bail, ensure};

use super::entry::Entry;
use super::figures::{self, Figures};
use super::launch::{Launch, Launched};
use super::lines::{self, LineProfile};
use super::ncu::{Metrics, Ncu};
use super::times::Times;
use super::{Counted, pages, write_file};

/// The common options of all runs of ncu.
pub struct Run<'a> {
    pub ncu: Ncu,
    pub seed: u64,
    device: Option<u32>,
    /// The folder for ncu's output.
    out: Option<&'a Path>,
    work: tempfile::TempDir,
}

/// The number of elements, and of threads per block.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    pub n: usize,
    pub threads: u32,
}

impl<'a> Run<'a> {
    /// Fails if ncu is not installed.
    pub fn new(seed: u64, device: Option<u32>, out: Option<&'a Path>) -> Result<Self> {
        Ok(Self {
            ncu: Ncu::find()?,
            seed,
            device,
            out,
            work: tempfile::tempdir().context("cannot create a temporary folder")?,
        })
    }

    /// Counts the instructions of each entry. Returns the device's name too, like `time` and `lines`.
    pub fn count(&self, entries: &[Entry], size: Size) -> Result<(String, Vec<Counted>)> {
        let name = format!("ncu-{}", size.threads);
        let launched = self.launch(Metrics::Counts, &name, entries, size)?;
        let raw = self.ncu.launches(&self.report(&name))?;
        let source = self.ncu.instructions(&self.report(&name))?;
        self.keep(&format!("{name}.csv"), &raw)?;
        self.keep(&format!("{name}-sass.csv"), &pages::without_copies(&source))?;
        let counted = counted(&launched, &raw, &source)?;
        Ok((launched.device, counted))
    }

    /// Measures the times of each entry.
    pub fn time(&self, entries: &[Entry], size: Size) -> Result<(String, Vec<Times>)> {
        let launched = self.launch(Metrics::Times, "ncu-times", entries, size)?;
        let raw = self.ncu.launches(&self.report("ncu-times"))?;
        self.keep("ncu-times.csv", &raw)?;
        let timed = timed(&launched, &raw)?;
        Ok((launched.device, timed))
    }

    /// Attributes the time of each entry to source lines.
    pub fn lines(&self, entries: &[Entry], size: Size) -> Result<(String, Vec<LineProfile>)> {
        let launched = self.launch(Metrics::Lines, "ncu-lines", entries, size)?;
        let report = self.report("ncu-lines");
        let raw = self.ncu.launches(&report)?;
        let page = self.ncu.lines(&report)?;
        let source = self.ncu.instructions(&report)?;
        self.keep("ncu-lines.csv", &page)?;
        self.keep("ncu-lines-sass.csv", &pages::without_copies(&source))?;
        check_launches(&launched, &raw)?;
        let lined = lines::lined(&launched, &page, &source)?;
        Ok((launched.device, lined))
    }

    /// Launches each entry once under ncu. Kernels that others use as second passes come first, because ncu
    /// profiles the first launch of a kernel.
    fn launch(
        &self,
        metrics: Metrics,
        name: &str,
        entries: &[Entry],
        size: Size,
    ) -> Result<Launched> {
        let Size { n, threads } = size;
        eprintln!("ncu: {} entries, {threads} threads, n = {n}", entries.len());
        let program = env::current_exe().context("cannot find the path of this program")?;
        let json = self.work.path().join(format!("{name}.json"));
        let mut entries = entries.to_vec();
        entries.sort_by_key(|entry| !entry.is_second_pass());
        let names: Vec<_> = entries.iter().map(|entry| entry.name()).collect();
        let mut command: Vec<OsString> = vec![program.into(), "launch".into()];
        for (option, value) in [
            ("--entries", names.join(",")),
            ("--threads", threads.to_string()),
            ("--n", n.to_string()),
            ("--seed", self.seed.to_string()),
        ] {
            command.extend([option.into(), value.into()]);
        }
        if let Some(device) = self.device {
            command.extend(["--device".into(), device.to_string().into()]);
        }
        command.extend(["--json".into(), json.clone().into()]);
        self.ncu
            .profile(metrics, &names, &self.report(name), &command)?;
        let text =
            fs::read_to_string(&json).context("the launched program wrote no list of launches")?;
        Ok(serde_json::from_str(&text)?)
    }

    fn report(&self, name: &str) -> PathBuf {
        self.work.path().join(format!("{name}.ncu-rep"))
    }

    fn keep(&self, name: &str, text: &str) -> Result<()> {
        self.out
            .map_or(Ok(()), |folder| write_file(folder, name, text))
    }
}

/// The counts of each launch; fails if ncu profiled other launches.
pub fn counted(launched: &Launched, raw: &str, source: &str) -> Result<Vec<Counted>> {
    let measured = check_launches(launched, raw)?;
    let listings = pages::instructions(source)?;
    ensure!(
        listings.len() == measured.len(),
        "ncu profiled {} kernels, but printed instructions of {}",
        measured.len(),
        listings.len()
    );
    let each = launched.launches.iter().zip(&measured).zip(&listings);
    each.map(|((launch, measured), listing)| {
        ensure!(
            listing.kernel == launch.entry,
            "ncu printed instructions of {} instead of {}",
            listing.kernel,
            launch.entry
        );
        let bytes = Entry::named(&launch.entry)?.element.size();
        Ok(Counted {
            entry: launch.entry.clone(),
            n: launched.n,
            threads: launch.threads,
            blocks: launch.blocks,
            figures: Figures::of(measured, listing, bytes)?,
            opcodes: figures::opcodes(listing),
        })
    })
    .collect()
}

fn timed(launched: &Launched, raw: &str) -> Result<Vec<Times>> {
    let measured = check_launches(launched, raw)?;
    measured
        .iter()
        .map(|measured| Times::of(launched.n, measured))
        .collect()
}

/// ncu's metrics of each launch; fails if ncu profiled other launches.
fn check_launches(launched: &Launched, raw: &str) -> Result<Vec<pages::Measured>> {
    let measured = pages::launches(raw)?;
    ensure!(
        measured.len() == launched.launches.len(),
        "{} kernels were launched, but ncu profiled {}",
        launched.launches.len(),
        measured.len()
    );
    for (launch, measured) in launched.launches.iter().zip(&measured) {
        check(launch, measured)?;
    }
    Ok(measured)
}

fn check(launch: &Launch, measured: &pages::Measured) -> Result<()> {
    let profiled = (measured.kernel.as_str(), measured.threads, measured.blocks);
    if profiled != (launch.entry.as_str(), launch.threads, launch.blocks) {
        bail!("{launch:?} was launched, but ncu profiled {profiled:?}");
    }
    Ok(())
}
