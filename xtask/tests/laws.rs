//! The laws of PTX and SASS, applied to every entry of the kernels' modules: `xtask::laws`.
//!
//! Needs a device compiler and, for SASS, NVIDIA's tools; no GPU. What cannot be checked is
//! reported as ignored, never as passed.

use cuda_builder::NvvmArch;
use kernels_gpu::entry::{ENTRIES, Entry};
use libtest_mimic::{Arguments, Completion, Failed, Trial};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::{Arc, OnceLock};
use xtask::sass::profile::Profile;
use xtask::tools::{self, PtxTools};
use xtask::{laws, ptx, sass};

/// The architecture whose SASS the laws are about.
const SASS: NvvmArch = NvvmArch::Compute90;

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    if arguments.list {
        // Listing must not take a device build; the names of modules and entries are known.
        let modules = ptx::ARCHES.map(|arch| Module::new(arch, PathBuf::new(), None));
        return libtest_mimic::run(&arguments, trials(modules)).exit_code();
    }
    let tools = tools::find();
    let trials = match ptx::build(&ptx::ARCHES, false) {
        Err(error) => {
            let error = format!("{error:#}");
            vec![Trial::test("modules_are_built", || Err(error.into()))]
        }
        Ok(built) => trials(
            built
                .into_iter()
                .map(|module| Module::new(module.arch, module.path, tools.clone())),
        ),
    };
    libtest_mimic::run(&arguments, trials).exit_code()
}

fn trials(modules: impl IntoIterator<Item = Module>) -> Vec<Trial> {
    let mut trials = Vec::new();
    for module in modules {
        let module = Arc::new(module);
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
        trials.push(sass_trial(&module, "ptxas_accepts", |_| Ok(())));
        if module.arch == SASS {
            trials.extend(ENTRIES.iter().map(|entry| {
                sass_trial(&module, entry.name, |profiles| {
                    keeps_the_laws(entry, profiles)
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
    check: impl FnOnce(&Profiles) -> Result<(), Failed> + Send + 'static,
) -> Trial {
    let name = format!("{}::{law}", module.arch);
    let module = Arc::clone(module);
    Trial::ignorable_test(name, move || match &module.tools {
        None => Ok(Completion::ignored_with("no ptxas")),
        Some(tools) => check(module.profiles(tools)?).map(|()| Completion::Completed),
    })
}

fn keeps_the_laws(entry: &Entry, profiles: &Profiles) -> Result<(), Failed> {
    let profile = profiles
        .get(entry.name)
        .ok_or("ptxas reports no such entry")?;
    let broken = laws::broken(entry.kernel, profile);
    if !broken.is_empty() {
        return Err(broken.join("; ").into());
    }
    Ok(())
}

/// What each entry costs.
type Profiles = BTreeMap<String, Profile>;

/// A PTX module under test.
struct Module {
    arch: NvvmArch,
    path: PathBuf,
    tools: Option<PtxTools>,
    /// Each entry's profile, or why there is none; made by the first test that asks.
    profiles: OnceLock<Result<Profiles, String>>,
}

impl Module {
    fn new(arch: NvvmArch, path: PathBuf, tools: Option<PtxTools>) -> Self {
        let profiles = OnceLock::new();
        Self {
            arch,
            path,
            tools,
            profiles,
        }
    }

    fn profiles(&self, tools: &PtxTools) -> Result<&Profiles, Failed> {
        let profiles = self.profiles.get_or_init(|| {
            let profiles = sass::profiles(tools, &self.path, self.arch);
            let profiles = profiles.map_err(|error| format!("{error:#}"))?;
            Ok(profiles.into_iter().map(|p| (p.name.clone(), p)).collect())
        });
        profiles.as_ref().map_err(|error| error.into())
    }

    fn entries_are_the_tables(&self) -> Result<(), Failed> {
        let text = std::fs::read_to_string(&self.path)?;
        let entries = laws::entries(&text);
        let table: BTreeSet<_> = ENTRIES.iter().map(|entry| entry.name).collect();
        if entries != table {
            let missing: Vec<_> = table.difference(&entries).collect();
            let foreign: Vec<_> = entries.difference(&table).collect();
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
