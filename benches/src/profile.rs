//! `warpfold-bench profile`: Nsight Compute over chosen entries.
//!
//! Each entry is launched once under ncu, by this same program's `launch`. Two runs: one counts
//! what the instructions do, at a size whose blocks are all full, so that figures per block are
//! whole numbers; the other, at a large size, asks where the time goes. In their place a third asks in
//! which lines of the source it goes.

mod compare;
mod entry;
pub mod figures;
pub mod launch;
mod lines;
mod located;
mod ncu;
mod pages;
mod reasons;
mod run;
pub mod simulated;
mod times;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};
use warpfold::file::DType;
use warpfold_results::report::profile_html;
use warpfold_results::schema::Profiled;

use crate::machine::Started;
use crate::options::{BadOption, Only, ProfileOptions};
use crate::say;
pub use entry::Entry;
use figures::{Figures, Opcode};
use lines::Lined;
use run::Run;
pub use run::Size;
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
    /// Empty unless lines were asked for.
    #[serde(default)]
    lined: Vec<Lined>,
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
        profile.keep_in(folder, &text)?;
    }
    say(&text)?;
    ensure!(
        unexplained == 0,
        "{unexplained} differences between simulator and hardware have no reason"
    );
    Ok(())
}

/// Kernels that a sweep has measured; the error is the reason why there are no figures.
pub fn of_sweep(
    kernels: &[Entry],
    size: Size,
    device: Option<u32>,
    seed: u64,
) -> Result<Vec<Profiled>> {
    let (_, timed) = Run::new(seed, device, None)?.time(kernels, size)?;
    Ok(timed.iter().map(Times::profiled).collect())
}

/// What is profiled: where instructions are counted, and where time is measured.
#[derive(Debug)]
struct Chosen {
    counted: Vec<Entry>,
    timed: Vec<Entry>,
}

impl Chosen {
    fn of(options: &ProfileOptions) -> Result<Self> {
        let mut all = Vec::new();
        if options.ladder {
            all.extend(Entry::ladder());
        }
        if options.kepler {
            all.extend(Entry::kepler());
        }
        // What the ladder has of other elements is there for the banks' sake.
        let mut timed = all.clone();
        timed.retain(|entry| entry.element == DType::I32);
        for name in &options.entries {
            let entry = Entry::named(name)?;
            for entries in [&mut all, &mut timed] {
                if !entries.contains(&entry) {
                    entries.push(entry);
                }
            }
        }
        all.retain(|entry| entry.has_equal_blocks());
        if all.is_empty() && options.only == Some(Only::Counts) {
            return Err(BadOption::new(
                "there is nothing to count: blocks of a single pass differ, and none stands for the others",
            )
            .into());
        }
        Ok(Self {
            counted: all,
            timed,
        })
    }
}

fn measure(options: &ProfileOptions) -> Result<Profile> {
    let started = Started::now()?;
    let chosen = Chosen::of(options)?;
    let seed = options.seed.unwrap_or_else(|| rand::random::<u32>().into());
    let run = Run::new(seed, options.device, options.out.as_deref())?;
    let mut profile = Profile {
        schema: SCHEMA.into(),
        date: started.date,
        version: env!("CARGO_PKG_VERSION").into(),
        commit: env!("WARPFOLD_COMMIT").into(),
        command_line: started.command_line,
        device: String::new(),
        ncu: run.ncu.version.clone(),
        seed,
        counted: Vec::new(),
        timed: Vec::new(),
        lined: Vec::new(),
    };
    let timed_size = Size {
        n: options.timed_n,
        threads: options.timed_threads,
    };
    if options.lines {
        (profile.device, profile.lined) = run.lines(&chosen.timed, timed_size)?;
        return Ok(profile);
    }
    if options.only != Some(Only::Times) && !chosen.counted.is_empty() {
        for &threads in &options.threads {
            let n = options.n;
            let (device, counted) = run.count(&chosen.counted, Size { n, threads })?;
            profile.device = device;
            profile.counted.extend(counted);
        }
    }
    if options.only != Some(Only::Counts) {
        (profile.device, profile.timed) = run.time(&chosen.timed, timed_size)?;
    }
    Ok(profile)
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
    /// As JSON, as the tables of `text`, and as a page where times were measured.
    fn keep_in(&self, folder: &Path, text: &str) -> Result<()> {
        let json = serde_json::to_string_pretty(self)?;
        keep(folder, "profile.json", &(json + "\n"))?;
        keep(folder, "profile.md", text)?;
        let profiled: Vec<_> = self.timed.iter().map(Times::profiled).collect();
        if !profiled.is_empty() {
            let page = profile_html(&profiled, &self.about());
            keep(folder, "profile.html", &page)?;
        }
        Ok(())
    }

    /// By whom, when and on what.
    fn about(&self) -> String {
        format!(
            "{}, Nsight Compute {}, warpfold-bench {}, commit {}, {}",
            self.device, self.ncu, self.version, self.commit, self.date
        )
    }

    /// The tables, and how many differences in the ladder nobody has explained. Of other kernels they are
    /// shown alone.
    fn markdown(&self) -> Result<(String, usize)> {
        let mut text = format!(
            "# Under Nsight Compute\n\n{}\n\n    {}\n\n",
            self.about(),
            self.command_line
        );
        let mut unexplained = 0;
        if !self.timed.is_empty() {
            text += &format!("## Times\n\n{}\n", times::markdown(&self.timed));
        }
        if !self.counted.is_empty() {
            let simulated = |counted| Ok((counted, simulate(counted)?));
            let launches: Vec<_> = self.counted.iter().map(simulated).collect::<Result<_>>()?;
            let (tables, differences) = compare::compare(&launches);
            let is_of_ladder = |name: &str| Entry::named(name).is_ok_and(Entry::is_of_ladder);
            let differences = differences.iter();
            unexplained = differences
                .filter(|d| d.reason.is_none() && is_of_ladder(&d.entry))
                .count();
            text += &format!("## Counts, per block\n\n{COUNTS}\n\n{tables}\n");
        }
        if !self.lined.is_empty() {
            text += &format!("## Lines\n\n{}", lines::markdown(&self.lined));
        }
        Ok((text, unexplained))
    }
}

const COUNTS: &str = "One figure: the simulator and the hardware agree. **Two**: simulator / \
hardware; the reasons stand below the tables. A question mark: nothing counts it.";

#[cfg(test)]
mod tests;
