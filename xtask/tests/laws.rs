//! The laws of PTX and SASS, applied to every entry of the kernels' modules: `xtask::laws`.
//!
//! Handles cost nothing: no entry has more accesses to memory than its twin in `kernels-raw`,
//! which is the same kernel on raw pointers.
//!
//! Needs a device compiler and, for SASS, NVIDIA's tools; no GPU. What cannot be checked is
//! reported as ignored, never as passed.

use cuda_builder::{NvvmArch, Ptx};
use kernels_gpu::entry::{ENTRIES, Entry};
use libtest_mimic::{Arguments, Completion, Failed, Trial};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Arc, OnceLock};
use xtask::laws::memory::{self, Accesses};
use xtask::sass::profile::Profile;
use xtask::tools::{self, PtxTools};
use xtask::{laws, ptx, sass};

/// The architecture whose SASS the laws are about.
const SASS: NvvmArch = NvvmArch::Compute90;

/// The elements that have a raw twin, each by its sum: the operator is the same code for every
/// element of a width, and the handles know of no operator.
const TWINS: [&str; 3] = ["i32", "f32", "f64"];

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    if arguments.list {
        // Listing must not take a device build; the names of modules and entries are known.
        let module = |arch| Module::new(arch, PathBuf::new(), None);
        let modules = ptx::ARCHES.map(|arch| (module(arch), module(arch)));
        return libtest_mimic::run(&arguments, trials(modules)).exit_code();
    }
    let trials = match modules() {
        Err(error) => {
            let error = format!("{error:#}");
            vec![Trial::test("modules_are_built", || Err(error.into()))]
        }
        Ok(modules) => trials(modules),
    };
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// For each architecture the kernels, and the kernels on raw pointers.
fn modules() -> anyhow::Result<Vec<(Module, Module)>> {
    let tools = tools::find();
    let module = |built: Ptx| Module::new(built.arch, built.path, tools.clone());
    let kernels = ptx::build(&ptx::ARCHES, false)?;
    let raw = ptx::build_raw(&ptx::ARCHES)?;
    let pairs = kernels.into_iter().zip(raw);
    Ok(pairs.map(|(k, r)| (module(k), module(r))).collect())
}

fn trials(modules: impl IntoIterator<Item = (Module, Module)>) -> Vec<Trial> {
    let mut trials = Vec::new();
    for (module, raw) in modules {
        let (module, raw) = (Arc::new(module), Arc::new(raw));
        trials.push(trial(
            &module,
            "entries_are_the_tables",
            Module::entries_are_the_tables,
        ));
        trials.push(trial(
            &module,
            "nothing_is_unresolved",
            Module::nothing_is_unresolved,
        ));
        trials.push(trial(
            &raw,
            "every_rung_has_a_raw_twin",
            Module::entries_are_the_twins,
        ));
        trials.push(sass_trial(&module, "ptxas_accepts", |_| Ok(())));
        let twin = Arc::clone(&raw);
        trials.push(trial(&module, "handles_cost_no_ptx", move |module| {
            cost_nothing(&module.accesses_in_ptx()?, &twin.accesses_in_ptx()?)
        }));
        trials.push(sass_trial(&module, "handles_cost_no_sass", move |sass| {
            cost_nothing(&sass.accesses, &raw.sass()?.accesses)
        }));
        if module.arch == SASS {
            trials.extend(ENTRIES.iter().map(|entry| {
                sass_trial(&module, entry.name, |sass| {
                    keeps_the_laws(entry, &sass.profiles)
                })
            }));
        }
    }
    trials
}

fn trial(
    module: &Arc<Module>,
    law: &str,
    check: impl FnOnce(&Module) -> Result<(), Failed> + Send + 'static,
) -> Trial {
    let name = format!("{}::{law}", module.arch);
    let module = Arc::clone(module);
    Trial::test(name, move || check(&module))
}

/// A trial that needs the module assembled.
fn sass_trial(
    module: &Arc<Module>,
    law: &str,
    check: impl FnOnce(&Sass) -> Result<(), Failed> + Send + 'static,
) -> Trial {
    let name = format!("{}::{law}", module.arch);
    let module = Arc::clone(module);
    Trial::ignorable_test(name, move || match &module.tools {
        None => Ok(Completion::ignored_with("no ptxas")),
        Some(_) => check(module.sass()?).map(|()| Completion::Completed),
    })
}

fn keeps_the_laws(entry: &Entry, profiles: &BTreeMap<String, Profile>) -> Result<(), Failed> {
    let profile = profiles
        .get(entry.name)
        .ok_or("ptxas reports no such entry")?;
    let broken = laws::broken(entry.kernel, profile);
    if !broken.is_empty() {
        return Err(broken.join("; ").into());
    }
    Ok(())
}

/// Whether no entry has more accesses than its twin in `raw`, which must have some.
fn cost_nothing(
    kernels: &BTreeMap<String, Accesses>,
    raw: &BTreeMap<String, Accesses>,
) -> Result<(), Failed> {
    let mut worse = Vec::new();
    for (name, twin) in raw {
        let handles = kernels.get(name).ok_or(format!("no entry {name}"))?;
        if twin.is_empty() {
            worse.push(format!("{name}: no access at all on raw pointers"));
        }
        let more = memory::excess(handles, twin).into_iter();
        worse.extend(more.map(|more| format!("{name}: {more}")));
    }
    if raw.is_empty() || !worse.is_empty() {
        return Err(format!("of {} entries: {}", raw.len(), worse.join("\n")).into());
    }
    Ok(())
}

/// A module's machine code.
struct Sass {
    /// What each entry costs.
    profiles: BTreeMap<String, Profile>,
    /// Each entry's accesses to memory.
    accesses: BTreeMap<String, Accesses>,
}

impl Sass {
    fn of(tools: &PtxTools, ptx: &Path, arch: NvvmArch) -> anyhow::Result<Self> {
        let assembled = sass::assemble(tools, ptx, arch, false)?;
        let profiles = assembled.profiles(arch)?.into_iter();
        let functions = assembled.functions.iter();
        Ok(Self {
            profiles: profiles.map(|p| (p.name.clone(), p)).collect(),
            accesses: functions
                .map(|f| (f.name.clone(), memory::in_sass(f)))
                .collect(),
        })
    }
}

/// A PTX module under test.
struct Module {
    arch: NvvmArch,
    path: PathBuf,
    tools: Option<PtxTools>,
    /// Its machine code, or why there is none; made by the first test that asks.
    sass: OnceLock<Result<Sass, String>>,
}

impl Module {
    fn new(arch: NvvmArch, path: PathBuf, tools: Option<PtxTools>) -> Self {
        let sass = OnceLock::new();
        Self {
            arch,
            path,
            tools,
            sass,
        }
    }

    fn sass(&self) -> Result<&Sass, Failed> {
        let sass = self.sass.get_or_init(|| {
            let tools = self.tools.as_ref().ok_or("no ptxas")?;
            Sass::of(tools, &self.path, self.arch).map_err(|error| format!("{error:#}"))
        });
        sass.as_ref().map_err(|error| error.into())
    }

    fn accesses_in_ptx(&self) -> Result<BTreeMap<String, Accesses>, Failed> {
        Ok(memory::in_ptx(&std::fs::read_to_string(&self.path)?))
    }

    fn entries_are_the_tables(&self) -> Result<(), Failed> {
        self.entries_are(ENTRIES.iter().map(|entry| entry.name).collect())
    }

    /// The raw module has a twin of every kernel, for the elements that have any.
    fn entries_are_the_twins(&self) -> Result<(), Failed> {
        let has_twin = |entry: &&Entry| entry.op == "sum" && TWINS.contains(&entry.element);
        let twins = ENTRIES.iter().filter(has_twin);
        self.entries_are(twins.map(|entry| entry.name).collect())
    }

    fn entries_are(&self, expected: BTreeSet<&str>) -> Result<(), Failed> {
        let text = std::fs::read_to_string(&self.path)?;
        let entries = laws::entries(&text);
        if entries != expected {
            let missing: Vec<_> = expected.difference(&entries).collect();
            let foreign: Vec<_> = entries.difference(&expected).collect();
            return Err(format!("missing: {missing:?}, not in the table: {foreign:?}").into());
        }
        Ok(())
    }

    fn nothing_is_unresolved(&self) -> Result<(), Failed> {
        let text = std::fs::read_to_string(&self.path)?;
        let unresolved = laws::unresolved(&text);
        if !unresolved.is_empty() {
            return Err(format!("declared and never defined: {unresolved:?}").into());
        }
        Ok(())
    }
}
