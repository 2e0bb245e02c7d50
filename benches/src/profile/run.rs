//! Launches under ncu: what is asked, and what came of it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::{env, fs};

use anyhow::{Context, Result, bail, ensure};

use super::entry::Entry;
use super::figures::{self, Figures};
use super::launch::{Launch, Launched};
use super::lines::{self, Lined};
use super::ncu::{Ask, Ncu};
use super::times::Times;
use super::{Counted, keep, pages};

/// What all runs of ncu have in common.
pub struct Run<'a> {
    pub ncu: Ncu,
    /// Of the random integers.
    pub seed: u64,
    device: Option<u32>,
    /// Where to keep what ncu printed.
    out: Option<&'a Path>,
    work: tempfile::TempDir,
}

/// So many elements, and threads per block.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    pub n: usize,
    pub threads: u32,
}

impl<'a> Run<'a> {
    /// Fails where there is no ncu.
    pub fn new(seed: u64, device: Option<u32>, out: Option<&'a Path>) -> Result<Self> {
        Ok(Self {
            ncu: Ncu::find()?,
            seed,
            device,
            out,
            work: tempfile::tempdir().context("cannot make a temporary folder")?,
        })
    }

    /// What the instructions of each entry do; and the device's name, here and below.
    pub fn count(&self, entries: &[Entry], size: Size) -> Result<(String, Vec<Counted>)> {
        let name = format!("ncu-{}", size.threads);
        let launched = self.launch(Ask::Counts, &name, entries, size)?;
        let raw = self.ncu.launches(&self.report(&name))?;
        let source = self.ncu.instructions(&self.report(&name))?;
        self.keep(&format!("{name}.csv"), &raw)?;
        self.keep(&format!("{name}-sass.csv"), &pages::without_copies(&source))?;
        let counted = counted(&launched, &raw, &source)?;
        Ok((launched.device, counted))
    }

    /// Where the time of each entry goes.
    pub fn time(&self, entries: &[Entry], size: Size) -> Result<(String, Vec<Times>)> {
        let launched = self.launch(Ask::Times, "ncu-times", entries, size)?;
        let raw = self.ncu.launches(&self.report("ncu-times"))?;
        self.keep("ncu-times.csv", &raw)?;
        let timed = timed(&launched, &raw)?;
        Ok((launched.device, timed))
    }

    /// In which lines of its source.
    pub fn lines(&self, entries: &[Entry], size: Size) -> Result<(String, Vec<Lined>)> {
        let launched = self.launch(Ask::Lines, "ncu-lines", entries, size)?;
        let report = self.report("ncu-lines");
        let raw = self.ncu.launches(&report)?;
        let page = self.ncu.lines(&report)?;
        let source = self.ncu.instructions(&report)?;
        self.keep("ncu-lines.csv", &page)?;
        self.keep("ncu-lines-sass.csv", &pages::without_copies(&source))?;
        seen(&launched, &raw)?;
        let lined = lines::lined(&launched, &page, &source)?;
        Ok((launched.device, lined))
    }

    /// Launches each entry once under ncu, which looks at a kernel's first launch.
    fn launch(&self, ask: Ask, name: &str, entries: &[Entry], size: Size) -> Result<Launched> {
        let Size { n, threads } = size;
        eprintln!("ncu: {} entries, {threads} threads, n = {n}", entries.len());
        let program = env::current_exe().context("cannot find this program itself")?;
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
            .profile(ask, &names, &self.report(name), &command)?;
        let text = fs::read_to_string(&json).context("the launched program said nothing")?;
        Ok(serde_json::from_str(&text)?)
    }

    fn report(&self, name: &str) -> PathBuf {
        self.work.path().join(format!("{name}.ncu-rep"))
    }

    fn keep(&self, name: &str, text: &str) -> Result<()> {
        self.out.map_or(Ok(()), |folder| keep(folder, name, text))
    }
}

/// The launches, held against what ncu saw of them.
pub fn counted(launched: &Launched, raw: &str, source: &str) -> Result<Vec<Counted>> {
    let measured = seen(launched, raw)?;
    let listings = pages::instructions(source)?;
    ensure!(
        listings.len() == measured.len(),
        "ncu saw {} kernels and printed {}",
        measured.len(),
        listings.len()
    );
    let each = launched.launches.iter().zip(&measured).zip(&listings);
    each.map(|((launch, measured), listing)| {
        ensure!(
            listing.kernel == launch.entry,
            "ncu printed {} for {}",
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
    let measured = seen(launched, raw)?;
    measured
        .iter()
        .map(|measured| Times::of(launched.n, measured))
        .collect()
}

/// What ncu measured, which must be what was launched.
fn seen(launched: &Launched, raw: &str) -> Result<Vec<pages::Measured>> {
    let measured = pages::launches(raw)?;
    ensure!(
        measured.len() == launched.launches.len(),
        "{} kernels were launched, ncu saw {}",
        launched.launches.len(),
        measured.len()
    );
    for (launch, measured) in launched.launches.iter().zip(&measured) {
        check(launch, measured)?;
    }
    Ok(measured)
}

fn check(launch: &Launch, measured: &pages::Measured) -> Result<()> {
    let seen = (measured.kernel.as_str(), measured.threads, measured.blocks);
    if seen != (launch.entry.as_str(), launch.threads, launch.blocks) {
        bail!("{launch:?} was launched, ncu saw {seen:?}");
    }
    Ok(())
}
