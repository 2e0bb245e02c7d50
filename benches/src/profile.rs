//! `warpfold-bench profile`: profiles entries with Nsight Compute.
//!
//! ncu runs this program's command `launch`, which launches each entry once. The first run counts
//! instructions; all its blocks are full, so that counts per block are whole numbers. The second run measures
//! times at a large size. With `--lines`, one run attributes the time to source lines instead.

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
use crate::print_line;
pub use entry::Entry;
use figures::{Figures, Opcode};
use lines::LineProfile;
use run::Run;
pub use run::Size;
use simulated::simulate;
use times::Times;

/// The version of the JSON; incremented when the meaning of a field changes.
const SCHEMA: &str = "warpfold-bench/profile/1";

/// One run of `warpfold-bench profile`. This struct and the types of its fields are the schema.
#[derive(Debug, Serialize, Deserialize)]
struct Profile {
    /// [`SCHEMA`].
    schema: String,
    /// When the run began, RFC 3339, UTC.
    date: String,
    version: String,
    /// The commit the binary was built from, or `unknown`.
    commit: String,
    command_line: String,
    /// The device's name.
    device: String,
    /// Nsight Compute's version.
    ncu: String,
    seed: u64,
    counted: Vec<Counted>,
    timed: Vec<Times>,
    /// Empty without `--lines`.
    #[serde(default)]
    lined: Vec<LineProfile>,
}

/// The counts of one launch.
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
            .with_context(|| format!("cannot create {}", folder.display()))
            .map_err(BadOption::new)?;
    }
    let profile = match &options.read {
        Some(file) => read(file)?,
        None => measure(options)?,
    };
    let (text, unexplained) = profile.markdown()?;
    if let Some(folder) = &options.out {
        profile.write_to(folder, &text)?;
    }
    print_line(&text)?;
    ensure!(
        unexplained == 0,
        "{unexplained} differences between simulator and hardware have no known reason"
    );
    Ok(())
}

/// Profiles the kernels that a sweep has measured.
pub fn profile_kernels(
    kernels: &[Entry],
    size: Size,
    device: Option<u32>,
    seed: u64,
) -> Result<Vec<Profiled>> {
    let (_, timed) = Run::new(seed, device, None)?.time(kernels, size)?;
    Ok(timed.iter().map(Times::profiled).collect())
}

/// The entries to count and the entries to time.
#[derive(Debug)]
struct Selection {
    counted: Vec<Entry>,
    timed: Vec<Entry>,
}

impl Selection {
    fn of(options: &ProfileOptions) -> Result<Self> {
        let mut all = Vec::new();
        if options.ladder {
            all.extend(Entry::ladder());
        }
        if options.kepler {
            all.extend(Entry::kepler());
        }
        // The ladder's entries on f32 and f64 are only for counting bank conflicts.
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
                "there is nothing to count: single_pass is not counted, because its blocks do different work",
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
    let selection = Selection::of(options)?;
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
        (profile.device, profile.lined) = run.lines(&selection.timed, timed_size)?;
        return Ok(profile);
    }
    if options.only != Some(Only::Times) && !selection.counted.is_empty() {
        for &threads in &options.threads {
            let n = options.n;
            let (device, counted) = run.count(&selection.counted, Size { n, threads })?;
            profile.device = device;
            profile.counted.extend(counted);
        }
    }
    if options.only != Some(Only::Counts) {
        (profile.device, profile.timed) = run.time(&selection.timed, timed_size)?;
    }
    Ok(profile)
}

fn read(file: &Path) -> Result<Profile> {
    let name = file.display();
    let text = fs::read_to_string(file)
        .map_err(|error| BadOption::new(format!("cannot read {name}: {error}")))?;
    let profile: Profile = serde_json::from_str(&text)
        .map_err(|error| BadOption::new(format!("{name} is not a profile: {error}")))?;
    if profile.schema != SCHEMA {
        let other = &profile.schema;
        return Err(BadOption::new(format!("{name} has schema {other}; must be {SCHEMA}")).into());
    }
    Ok(profile)
}

fn write_file(folder: &Path, name: &str, text: &str) -> Result<()> {
    let file = folder.join(name);
    fs::write(&file, text)
        .with_context(|| format!("cannot write {}", file.display()))
        .map_err(BadOption::new)?;
    Ok(())
}

impl Profile {
    /// Writes JSON, the tables of `text`, and an HTML page if times were measured.
    fn write_to(&self, folder: &Path, text: &str) -> Result<()> {
        let json = serde_json::to_string_pretty(self)?;
        write_file(folder, "profile.json", &(json + "\n"))?;
        write_file(folder, "profile.md", text)?;
        let profiled: Vec<_> = self.timed.iter().map(Times::profiled).collect();
        if !profiled.is_empty() {
            let page = profile_html(&profiled, &self.about());
            write_file(folder, "profile.html", &page)?;
        }
        Ok(())
    }

    /// The device, the versions, the commit and the date.
    fn about(&self) -> String {
        format!(
            "{}, Nsight Compute {}, warpfold-bench {}, commit {}, {}",
            self.device, self.ncu, self.version, self.commit, self.date
        )
    }

    /// The tables, and the number of unexplained differences in the ladder; others are only printed.
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
hardware; the reasons are below the tables. A question mark: not counted.";

#[cfg(test)]
mod tests;
