//! `warpfold-bench profile`: Nsight Compute over the ladder.
//!
//! Each entry is launched once under ncu, by this same program's `launch`. Two runs: one counts
//! what the instructions do, at a size whose blocks are all full, so that figures per block are
//! whole numbers; the other, at a large size, asks where the time goes.

mod compare;
mod entry;
pub mod figures;
pub mod launch;
mod ncu;
mod pages;
mod reasons;
pub mod simulated;
mod times;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::{env, fs};

use anyhow::{Context, Result, bail, ensure};
use serde::{Deserialize, Serialize};

use crate::options::{BadOption, Only, ProfileOptions};
use crate::report::Started;
use crate::say;
use entry::{Element, Entry};
use figures::{Figures, Opcode};
use launch::Launched;
use ncu::{Ask, Ncu};
use simulated::simulate;
use times::Times;

/// The version of the JSON; a change of meaning gives it a new number.
const SCHEMA: &str = "warpfold-bench/profile/1";

/// One run of `warpfold-bench profile`. This struct and what it is made of are the schema.
#[derive(Debug, Serialize, Deserialize)]
struct Profile {
    /// [`SCHEMA`].
    schema: String,
    /// When the run began, RFC 3339, UTC.
    date: String,
    version: String,
    /// The commit the binary was built from, or `unknown`.
    commit: String,
    /// As it was typed.
    command_line: String,
    /// The device's name.
    device: String,
    /// Nsight Compute's version.
    ncu: String,
    /// Of the random integers.
    seed: u64,
    counted: Vec<Counted>,
    timed: Vec<Times>,
}

/// What was counted of one launch.
#[derive(Debug, Serialize, Deserialize)]
struct Counted {
    entry: String,
    n: usize,
    threads: u32,
    blocks: u32,
    figures: Figures,
    opcodes: BTreeMap<String, Opcode>,
}

/// Profiles, or shows an earlier profile.
pub fn run(options: &ProfileOptions) -> Result<()> {
    if let Some(folder) = &options.out {
        fs::create_dir_all(folder)
            .with_context(|| format!("cannot make {}", folder.display()))
            .map_err(BadOption::new)?;
    }
    let profile = match &options.read {
        Some(file) => read(file)?,
        None => measure(options)?,
    };
    let (text, unexplained) = profile.markdown()?;
    if let Some(folder) = &options.out {
        let json = serde_json::to_string_pretty(&profile)?;
        keep(folder, "profile.json", &(json + "\n"))?;
        keep(folder, "profile.md", &text)?;
    }
    say(&text)?;
    ensure!(
        unexplained == 0,
        "{unexplained} differences between simulator and hardware have no reason"
    );
    Ok(())
}

fn measure(options: &ProfileOptions) -> Result<Profile> {
    let started = Started::now()?;
    let entries = match options.entries.as_slice() {
        [] => Entry::ladder(),
        names => names
            .iter()
            .map(|name| Entry::named(name))
            .collect::<Result<_>>()?,
    };
    let run = Run {
        ncu: Ncu::find()?,
        work: tempfile::tempdir().context("cannot make a temporary folder")?,
        seed: options.seed.unwrap_or_else(|| rand::random::<u32>().into()),
        options,
    };
    let mut profile = Profile {
        schema: SCHEMA.into(),
        date: started.date,
        version: env!("CARGO_PKG_VERSION").into(),
        commit: env!("WARPFOLD_COMMIT").into(),
        command_line: started.command_line,
        device: String::new(),
        ncu: run.ncu.version.clone(),
        seed: run.seed,
        counted: Vec::new(),
        timed: Vec::new(),
    };
    if options.only != Some(Only::Times) {
        for &threads in &options.threads {
            let (device, counted) = run.count(&entries, threads)?;
            profile.device = device;
            profile.counted.extend(counted);
        }
    }
    if options.only != Some(Only::Counts) {
        let (device, timed) = run.time(&entries)?;
        profile.device = device;
        profile.timed = timed;
    }
    Ok(profile)
}

/// What all runs of ncu have in common.
struct Run<'a> {
    ncu: Ncu,
    work: tempfile::TempDir,
    seed: u64,
    options: &'a ProfileOptions,
}

impl Run<'_> {
    fn count(&self, entries: &[Entry], threads: u32) -> Result<(String, Vec<Counted>)> {
        let name = format!("ncu-{threads}");
        let launched = self.launch(Ask::Counts, &name, entries, self.options.n, threads)?;
        let raw = self.ncu.launches(&self.report(&name))?;
        let source = self.ncu.instructions(&self.report(&name))?;
        if let Some(folder) = &self.options.out {
            keep(folder, &format!("{name}.csv"), &raw)?;
            keep(
                folder,
                &format!("{name}-sass.csv"),
                &pages::without_copies(&source),
            )?;
        }
        let counted = counted(&launched, &raw, &source)?;
        Ok((launched.device, counted))
    }

    fn time(&self, entries: &[Entry]) -> Result<(String, Vec<Times>)> {
        let (n, threads) = (self.options.timed_n, self.options.timed_threads);
        let mut entries = entries.to_vec();
        if self.options.ladder {
            entries.retain(|entry| entry.element == Element::I32);
        }
        let launched = self.launch(Ask::Times, "ncu-times", &entries, n, threads)?;
        let raw = self.ncu.launches(&self.report("ncu-times"))?;
        if let Some(folder) = &self.options.out {
            keep(folder, "ncu-times.csv", &raw)?;
        }
        let timed = timed(&launched, &raw)?;
        Ok((launched.device, timed))
    }

    /// Launches each entry once under ncu.
    fn launch(
        &self,
        ask: Ask,
        name: &str,
        entries: &[Entry],
        n: usize,
        threads: u32,
    ) -> Result<Launched> {
        eprintln!("ncu: {} entries, {threads} threads, n = {n}", entries.len());
        let program = env::current_exe().context("cannot find this program itself")?;
        let json = self.work.path().join(format!("{name}.json"));
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
        if let Some(device) = self.options.device {
            command.extend(["--device".into(), device.to_string().into()]);
        }
        command.extend(["--json".into(), json.clone().into()]);
        self.ncu.profile(ask, &self.report(name), &command)?;
        let text = fs::read_to_string(&json).context("the launched program said nothing")?;
        Ok(serde_json::from_str(&text)?)
    }

    fn report(&self, name: &str) -> PathBuf {
        self.work.path().join(format!("{name}.ncu-rep"))
    }
}

/// The launches, held against what ncu saw of them.
fn counted(launched: &Launched, raw: &str, source: &str) -> Result<Vec<Counted>> {
    let measured = pages::launches(raw)?;
    let listings = pages::instructions(source)?;
    ensure!(
        measured.len() == launched.launches.len() && listings.len() == measured.len(),
        "{} kernels were launched, ncu saw {} and printed {}",
        launched.launches.len(),
        measured.len(),
        listings.len()
    );
    let each = launched.launches.iter().zip(&measured).zip(&listings);
    each.map(|((launch, measured), listing)| {
        check(launch, measured)?;
        ensure!(
            listing.kernel == launch.entry,
            "ncu printed {} for {}",
            listing.kernel,
            launch.entry
        );
        let bytes = match Entry::named(&launch.entry)?.element.name() {
            "i64" | "u64" | "f64" => 8,
            _ => 4,
        };
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
    let measured = pages::launches(raw)?;
    ensure!(
        measured.len() == launched.launches.len(),
        "{} kernels were launched, ncu saw {}",
        launched.launches.len(),
        measured.len()
    );
    let each = launched.launches.iter().zip(&measured);
    each.map(|(launch, measured)| {
        check(launch, measured)?;
        Times::of(launched.n, measured)
    })
    .collect()
}

/// What ncu saw is what was launched.
fn check(launch: &launch::Launch, measured: &pages::Measured) -> Result<()> {
    let seen = (measured.kernel.as_str(), measured.threads, measured.blocks);
    if seen != (launch.entry.as_str(), launch.threads, launch.blocks) {
        bail!("{launch:?} was launched, ncu saw {seen:?}");
    }
    Ok(())
}

fn read(file: &Path) -> Result<Profile> {
    let name = file.display();
    let text = fs::read_to_string(file)
        .map_err(|error| BadOption::new(format!("cannot read {name}: {error}")))?;
    let profile: Profile = serde_json::from_str(&text)
        .map_err(|error| BadOption::new(format!("{name} is no profile: {error}")))?;
    if profile.schema != SCHEMA {
        let other = &profile.schema;
        return Err(BadOption::new(format!("{name}: its schema is {other}, not {SCHEMA}")).into());
    }
    Ok(profile)
}

fn keep(folder: &Path, name: &str, text: &str) -> Result<()> {
    let file = folder.join(name);
    fs::write(&file, text)
        .with_context(|| format!("cannot write {}", file.display()))
        .map_err(BadOption::new)?;
    Ok(())
}

impl Profile {
    /// The tables, and how many differences in them nobody has explained.
    fn markdown(&self) -> Result<(String, usize)> {
        let mut text = format!(
            "# The ladder under Nsight Compute\n\n{}, Nsight Compute {}, warpfold-bench {}, commit {}, {}\n\n    {}\n\n",
            self.device, self.ncu, self.version, self.commit, self.date, self.command_line
        );
        let mut unexplained = 0;
        if !self.counted.is_empty() {
            let simulated = |counted| Ok((counted, simulate(counted)?));
            let launches: Vec<_> = self.counted.iter().map(simulated).collect::<Result<_>>()?;
            let (tables, differences) = compare::compare(&launches);
            unexplained = differences.iter().filter(|d| d.reason.is_none()).count();
            text += &format!("## Counts, per block\n\n{COUNTS}\n\n{tables}\n");
        }
        if !self.timed.is_empty() {
            text += &format!("## Times\n\n{}", times::markdown(&self.timed));
        }
        Ok((text, unexplained))
    }
}

const COUNTS: &str = "One figure: the simulator and the hardware agree. **Two**: simulator / \
hardware; the reasons stand below the tables. A question mark: nothing counts it.";

#[cfg(test)]
mod tests;
